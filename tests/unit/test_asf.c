/* What payloads in the packets of ASF show where pieces are put together. */
#include "asf_payloads.h"
#include "carver_case.h"
#include "memory_image.h"

enum { PACKET = 1000, PACKETS = 12, HEAD = 13, PAYLOAD_HEAD = 17, DATA = 30 + 104 + 50 };

#define TAIL "\x8e\x66\xcf\x11\xa6\xd9\x00\xaa\x00\x62\xce\x6c"

/* The next object's size: of several classes, unless it is constant. */
static uint32_t object_size(uint32_t number, bool constant)
{
	return constant ? 300 : 700 + number * 37 % 600;
}

static void add_payload(struct bytes *bytes, uint8_t stream, uint32_t object, uint32_t offset,
	uint32_t size, uint32_t len)
{
	bytes_fill(bytes, stream, 1);
	bytes_fill(bytes, (uint8_t)object, 1);
	bytes_add_le(bytes, offset, 4);
	bytes_fill(bytes, 8, 1);
	bytes_add_le(bytes, size, 4);
	bytes_add_le(bytes, object * 40, 4);
	bytes_add_le(bytes, len, 2);
	bytes_add_random(bytes, object * 7 + stream, len);
}

/* A film of packets with several payloads, each with one of sound, all of whose objects have the same size if that is constant. The
 * last packet ends with zeros. */
static struct bytes film(bool constant_sound)
{
	struct bytes bytes = { 0 };
	uint32_t object = 1, offset = 0;

	bytes_add(&bytes, "\x30\x26\xb2\x75" TAIL, 16);
	bytes_add_le(&bytes, 30 + 104, 8);
	bytes_add(&bytes, "\1\0\0\0\1\2", 6);
	bytes_add(&bytes, "\xa1\xdc\xab\x8c\x47\xa9\xcf\x11\x8e\xe4\x00\xc0\x0c\x20\x53\x65", 16);
	bytes_add_le(&bytes, 104, 8);
	bytes_fill(&bytes, 0, 16);
	bytes_add_le(&bytes, DATA + PACKETS * PACKET, 8);
	bytes_fill(&bytes, 0, 40);
	bytes_add_le(&bytes, 2, 4);
	bytes_add_le(&bytes, PACKET, 4);
	bytes_add_le(&bytes, PACKET, 4);
	bytes_add_le(&bytes, 1000, 4);
	bytes_add(&bytes, "\x36\x26\xb2\x75" TAIL, 16);
	bytes_add_le(&bytes, 50 + PACKETS * PACKET, 8);
	bytes_fill(&bytes, 0, 26);
	for (uint32_t n = 0; n < PACKETS; n++) {
		uint32_t padding = n + 1 == PACKETS ? 100 : 0,
			 sound = object_size(n, constant_sound) % 400;
		uint32_t left = PACKET - HEAD - padding - PAYLOAD_HEAD - sound, count = 2;
		size_t count_at;

		bytes_add(&bytes, "\x82\0\0\x11\x5d", 5);
		bytes_add_le(&bytes, padding, 2);
		bytes_add_le(&bytes, n * 80, 4);
		bytes_add_le(&bytes, 80, 2);
		count_at = bytes.len;
		bytes_fill(&bytes, 0x81, 1);
		add_payload(&bytes, 2, n, 0, sound, sound);
		for (left--; left > PAYLOAD_HEAD; count++) {
			uint32_t size = object_size(object, false), len = size - offset;

			len = len < left - PAYLOAD_HEAD ? len : left - PAYLOAD_HEAD;
			add_payload(&bytes, 1, object, offset, size, len);
			left -= PAYLOAD_HEAD + len;
			offset += len;
			if (offset == size) {
				object++;
				offset = 0;
			}
		}
		/* Too little room for another head. */
		bytes.data[count_at] = (uint8_t)(0x80 | (count - 1));
		bytes.data[count_at - 8] = (uint8_t)(padding + left);
		bytes_fill(&bytes, 0, padding + left);
	}
	cr_assert_eq(bytes.len, DATA + PACKETS * PACKET);
	return bytes;
}

static unsigned check_in_two(
	const struct bytes *bytes, uint64_t joint, enum verdict *verdict, struct finding *found)
{
	const struct range runs[] = { { 0, joint }, { joint, bytes->len - joint } };
	struct memory_image evidence = MEMORY_IMAGE(bytes->data, bytes->len);
	struct view *view = view_new();
	unsigned bits;

	*found = (struct finding){ 0 };
	view_point_runs(view, &evidence.image, runs, 2, bytes->len);
	view_set_thorough(view, true);
	*verdict = carver_find("asf")->check(view, found);
	bits = view_proof(view, joint);
	view_free(view);
	return bits;
}

static uint64_t packet_at(unsigned number)
{
	return DATA + number * PACKET;
}

Test(asf, heads_of_payloads_prove_a_joint)
{
	struct bytes varied = film(false), constant = film(true);
	struct finding found;
	enum verdict verdict;
	unsigned bits;

	bits = check_in_two(&varied, packet_at(6) - 20, &verdict, &found);
	cr_expect_eq(verdict, CARVE_COMPLETE, "%s", found.why);
	cr_expect(bits >= 10 && bits < 20, "%u", bits);
	/* A copy of the film with other sound has the same heads. */
	cr_expect_eq(check_in_two(&constant, packet_at(6) - 20, &verdict, &found), 0);
	cr_expect_eq(verdict, CARVE_COMPLETE, "%s", found.why);
	/* Nor is anything after a joint in the last payload. */
	cr_expect_eq(check_in_two(&varied, varied.len - 120, &verdict, &found), 0);
	free(varied.data);
	free(constant.data);
}

/* In one piece a packet's beginning is enough. */
static void expect_wrong(const struct bytes *bytes, uint64_t from, uint64_t to)
{
	struct finding found, scanned;
	enum verdict verdict;

	cr_expect_eq(carve("asf", bytes->data, bytes->len, &scanned), CARVE_COMPLETE);
	check_in_two(bytes, packet_at(6), &verdict, &found);
	cr_expect_eq(verdict, CARVE_TRUNCATED);
	cr_expect(found.length >= from && found.length <= to, "%llu",
		(unsigned long long)found.length);
}

Test(asf, packets_out_of_order_are_noticed)
{
	struct bytes right = film(false), wrong = { 0 };

	/* One twice, and two of them in the other order. */
	bytes_add(&wrong, right.data, right.len);
	memcpy(wrong.data + packet_at(6), right.data + packet_at(5), PACKET);
	expect_wrong(&wrong, packet_at(6), packet_at(6) + 100);
	memcpy(wrong.data + packet_at(5), right.data + packet_at(6), PACKET);
	expect_wrong(&wrong, packet_at(5), packet_at(5) + 100);
	free(right.data);
	free(wrong.data);
}

/* Whether a packet of 40 bytes, of which a payload's head has 20, may have so much padding. */
static bool has_room(uint32_t padding)
{
	const struct asf_packet packet = {
		.head_len = 13, .flags = 0x1d, .len = 40, .padding = padding
	};
	const uint8_t bytes[200] = { [113] = 1 };
	struct view *view = view_new_memory(bytes, sizeof(bytes));
	struct asf_payloads payloads = { 0 };
	uint64_t wrong;
	bool has = asf_follow_packet(view, &payloads, &packet, 100, 100, &wrong);

	view_free(view);
	return has;
}

Test(asf, packets_have_room_for_their_padding)
{
	cr_expect(has_room(0));
	cr_expect(has_room(20));
	cr_expect_not(has_room(21));
	/* It would begin before the file. */
	cr_expect_not(has_room(900));
}

Test(asf, goes_on_from_a_state)
{
	struct bytes bytes = film(false);
	struct view *saving = view_new_memory(bytes.data, bytes.len);
	struct finding found = { 0 };

	view_keep_states(saving, 256);
	cr_assert_eq(carver_find("asf")->check(saving, &found), CARVE_COMPLETE, "%s", found.why);
	for (unsigned n = 1; n < PACKETS; n++) {
		const struct carve_state *state = view_state_before(saving, packet_at(n));

		for (unsigned wrong = n; wrong < PACKETS; wrong += 3) {
			struct finding from_start = { 0 }, from_state = { 0 };
			struct bytes other = { 0 };
			enum verdict verdict;
			struct view *view;

			cr_assert(state && state->offset == packet_at(n));
			bytes_add(&other, bytes.data, bytes.len);
			other.data[packet_at(wrong) + HEAD + 2] ^= 3;
			view = view_new_memory(other.data, other.len);
			view_set_thorough(view, true);
			verdict = carver_find("asf")->check(view, &from_start);
			cr_expect_eq(verdict, CARVE_TRUNCATED);
			view_free(view);
			view = view_new_memory(other.data, other.len);
			view_set_thorough(view, true);
			cr_expect_eq(carver_find("asf")->resume(view, state, &from_state), verdict);
			cr_expect_eq(from_state.length, from_start.length);
			cr_expect_str_eq(from_state.why, from_start.why);
			view_free(view);
			free(other.data);
		}
	}
	view_free(saving);
	free(bytes.data);
}
