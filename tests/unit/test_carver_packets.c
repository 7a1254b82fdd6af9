/* Captured packets in pieces. */
#include "bytes.h"
#include "joints_case.h"

enum { FILE_HEAD = 24, RECORD = 16, IP = 14, UDP = 34, CONTENT = 42, PACKET = 1000, PACKETS = 12 };
enum kind { RIGHT, PARTIAL, UNKNOWN };

static void put_be(uint8_t *p, uint32_t value, int width)
{
	for (int i = 0; i < width; i++)
		p[i] = (uint8_t)(value >> 8 * (width - 1 - i));
}

static uint32_t fold(uint32_t sum)
{
	while (sum >> 16)
		sum = (sum & 0xffff) + (sum >> 16);
	return sum;
}

static uint32_t add_up(const uint8_t *p, size_t len)
{
	uint32_t sum = 0;

	for (size_t i = 0; i < len; i += 2)
		sum += be16(p + i);
	return sum;
}

/* UDP in IP in Ethernet, with a sum over all, or over the addresses only, or a packet of nothing known. */
static void add_packet(struct bytes *bytes, unsigned number, enum kind kind)
{
	size_t at = bytes->len;
	uint32_t sum;
	uint8_t *p;

	bytes_add_random(bytes, 100 + number, PACKET);
	p = bytes->data + at;
	memset(p, 0, CONTENT);
	if (kind == UNKNOWN)
		return;
	p[12] = 8;
	p[IP] = 0x45;
	put_be(p + IP + 2, PACKET - IP, 2);
	p[IP + 9] = 17;
	put_be(p + IP + 12, 0x0a000001, 4);
	put_be(p + IP + 16, 0x0a000002 + number, 4);
	put_be(p + UDP + 4, PACKET - UDP, 2);
	sum = 17 + (PACKET - UDP) + add_up(p + IP + 12, 8);
	if (kind == RIGHT)
		sum = ~fold(sum + add_up(p + UDP, PACKET - UDP)) & 0xffff;
	put_be(p + UDP + 6, fold(sum), 2);
}

static struct bytes capture(enum kind kind, unsigned count)
{
	struct bytes bytes = { 0 };

	bytes_add(&bytes, "\xd4\xc3\xb2\xa1\2\0\4\0\0\0\0\0\0\0\0\0\0\0\4\0\1\0\0\0", FILE_HEAD);
	for (unsigned i = 0; i < count; i++) {
		bytes_add_le(&bytes, 1500000000 + 2 * i, 4);
		bytes_add_le(&bytes, 0, 4);
		bytes_add_le(&bytes, PACKET, 4);
		bytes_add_le(&bytes, PACKET, 4);
		add_packet(&bytes, i, kind);
	}
	return bytes;
}

static uint64_t record_at(unsigned number)
{
	return FILE_HEAD + number * (uint64_t)(RECORD + PACKET);
}

static enum verdict check_assembled(
	const char *carver, const struct bytes *bytes, struct finding *found, bool *agrees)
{
	struct view *view = view_new_memory(bytes->data, bytes->len);
	enum verdict verdict;

	memset(found, 0, sizeof(*found));
	view_set_thorough(view, true);
	view_set_trial(view, true);
	verdict = carver_find(carver)->check(view, found);
	*agrees = view_agreed(view);
	view_free(view);
	return verdict;
}

Test(carver_packets, a_right_sum_shows_the_end)
{
	for (enum kind kind = RIGHT; kind <= UNKNOWN; kind++) {
		struct bytes bytes = capture(kind, PACKETS);
		struct finding found;
		bool agrees;

		bytes_fill(&bytes, 0xee, 5000);
		expect("pcap", &bytes, CARVE_UNVERIFIED, record_at(PACKETS), "not stored");
		cr_expect_eq(check_assembled("pcap", &bytes, &found, &agrees), CARVE_UNVERIFIED);
		cr_expect_eq(found.length, record_at(PACKETS));
		cr_expect_eq(agrees, kind == RIGHT);
		free(bytes.data);
	}
}

/* Nothing shows whether the rest of a packet in the next cluster is the file's. */
Test(carver_packets, a_packet_in_two_clusters_may_be_broken)
{
	for (enum kind kind = RIGHT; kind <= UNKNOWN; kind++) {
		struct bytes bytes = capture(kind, 9); /* the last one begins at 8152 */
		struct finding found;
		bool agrees;

		bytes_fill(&bytes, 0xee, 5000);
		expect("pcap", &bytes, CARVE_UNVERIFIED, record_at(9), "not stored");
		cr_expect_eq(check_assembled("pcap", &bytes, &found, &agrees),
			kind == RIGHT ? CARVE_UNVERIFIED : CARVE_TRUNCATED);
		cr_expect_eq(found.length, record_at(kind == RIGHT ? 9 : 8));
		free(bytes.data);
	}
}

Test(carver_packets, a_wrong_sum_among_right_ones_is_a_break)
{
	struct bytes bytes = capture(RIGHT, PACKETS);
	struct finding found;
	bool agrees;

	bytes.data[record_at(7) + 700] ^= 1;
	expect("pcap", &bytes, CARVE_UNVERIFIED, bytes.len, "12 are plausible");
	cr_expect_eq(check_assembled("pcap", &bytes, &found, &agrees), CARVE_TRUNCATED);
	cr_expect_eq(found.length, record_at(7));
	/* With several before it, it shows nothing. */
	for (unsigned i = 0; i < 5; i++)
		bytes.data[record_at(i) + 700] ^= 1;
	cr_expect_eq(check_assembled("pcap", &bytes, &found, &agrees), CARVE_UNVERIFIED);
	free(bytes.data);
}

Test(carver_packets, records_go_on_in_time)
{
	struct bytes bytes = capture(UNKNOWN, PACKETS);
	struct finding found;
	bool agrees;

	put_le(bytes.data + record_at(6), 1500000000 + 10 - 60, 4);
	cr_expect_eq(check_assembled("pcap", &bytes, &found, &agrees), CARVE_UNVERIFIED);
	cr_expect_eq(found.length, bytes.len);
	put_le(bytes.data + record_at(6), 1500000000 + 10 - 61, 4);
	expect("pcap", &bytes, CARVE_UNVERIFIED, bytes.len, "12 are plausible");
	check_assembled("pcap", &bytes, &found, &agrees);
	cr_expect_leq(found.length, record_at(6));
	free(bytes.data);
}

Test(carver_packets, sums_prove_joints)
{
	for (enum kind kind = RIGHT; kind <= UNKNOWN; kind++) {
		struct bytes bytes = capture(kind, PACKETS);
		/* In a packet's content, in its headers, in its last bytes, in a record's head. */
		uint64_t joints[] = { record_at(2) + 512, record_at(4) + RECORD + UDP + 4,
			record_at(6) - 4, record_at(8) + 8 };
		unsigned bits[4];

		prove_joints("pcap", &bytes, joints, 4, true, bits);
		cr_expect_eq(bits[0], kind == RIGHT ? 12 : 0, "%u", bits[0]);
		cr_expect_eq(bits[1] + bits[2] + bits[3], 0);
		free(bytes.data);
	}
}

static void add_block(struct bytes *bytes, uint32_t type, const void *content, size_t len)
{
	size_t padded = (len + 3) / 4 * 4;

	bytes_add_le(bytes, type, 4);
	bytes_add_le(bytes, 12 + padded, 4);
	bytes_add(bytes, content, len);
	bytes_fill(bytes, 0, padded - len);
	bytes_add_le(bytes, 12 + padded, 4);
}

/* The newer format: 12 packets in blocks of 1032 bytes, and names. */
static struct bytes captured_blocks(void)
{
	struct bytes bytes = { 0 }, names = { 0 };

	add_block(
		&bytes, 0x0a0d0d0a, "\x4d\x3c\x2b\x1a\1\0\0\0\xff\xff\xff\xff\xff\xff\xff\xff", 16);
	add_block(&bytes, 1, "\1\0\0\0\0\0\4\0", 8);
	for (unsigned i = 0; i < PACKETS; i++) {
		struct bytes packet = { 0 };

		bytes_fill(&packet, 0, 12);
		bytes_add_le(&packet, PACKET, 4);
		bytes_add_le(&packet, PACKET, 4);
		add_packet(&packet, i, RIGHT);
		add_block(&bytes, 6, packet.data, packet.len);
		free(packet.data);
	}
	for (unsigned i = 0; i < 100; i++)
		bytes_add(&names, "\1\0\x0a\0\1\2\3\4name0\0\0\0", 16);
	bytes_fill(&names, 0, 4);
	add_block(&bytes, 4, names.data, names.len);
	free(names.data);
	return bytes;
}

Test(carver_packets, blocks_are_checked_where_pieces_meet)
{
	struct bytes bytes = captured_blocks();
	uint64_t first = 28 + 20, joints[] = { first + 2 * 1032 + 512, bytes.len - 800 };
	struct finding found;
	unsigned bits[2];
	bool agrees;

	prove_joints("pcapng", &bytes, joints, 2, true, bits);
	cr_expect_eq(bits[0], 20, "%u", bits[0]); /* of the sum, and of the second length */
	cr_expect_eq(bits[1], 8, "%u", bits[1]);
	cr_expect_eq(check_assembled("pcapng", &bytes, &found, &agrees), CARVE_UNVERIFIED);
	cr_expect(agrees);
	/* A record of another kind than names have. */
	bytes.data[bytes.len - 8 - 160] = 9;
	expect("pcapng", &bytes, CARVE_UNVERIFIED, bytes.len, "15 blocks");
	cr_expect_eq(check_assembled("pcapng", &bytes, &found, &agrees), CARVE_TRUNCATED);
	cr_expect_eq(found.length, bytes.len - 12 - 1604);
	bytes.data[bytes.len - 8 - 160] = 1;
	bytes.data[first + 9 * 1032 + 500] ^= 1;
	cr_expect_eq(check_assembled("pcapng", &bytes, &found, &agrees), CARVE_TRUNCATED);
	cr_expect_eq(found.length, first + 9 * 1032);
	free(bytes.data);
}

/* Where a file is cut in a record, all of it is valid: then what follows is tried. */
Test(carver_packets, what_is_cut_is_valid_to_there)
{
	struct bytes packets = capture(RIGHT, PACKETS), blocks = captured_blocks();
	struct finding found;
	bool agrees;

	packets.len = blocks.len = 8192;
	cr_expect_eq(check_assembled("pcap", &packets, &found, &agrees), CARVE_TRUNCATED);
	cr_expect_eq(found.length, 8192);
	cr_expect_eq(check_assembled("pcapng", &blocks, &found, &agrees), CARVE_TRUNCATED);
	cr_expect_eq(found.length, 8192);
	free(packets.data);
	free(blocks.data);
}

/* A check that goes on from a state finds what one from the beginning finds. */
Test(carver_packets, go_on_from_states)
{
	for (int is_new = 0; is_new < 2; is_new++) {
		const struct carver *carver = carver_find(is_new ? "pcapng" : "pcap");
		struct bytes bytes = is_new ? captured_blocks() : capture(RIGHT, PACKETS);
		struct view *saving = view_new_memory(bytes.data, bytes.len);
		struct finding found = { 0 };
		unsigned states = 0;

		view_keep_states(saving, 128);
		carver->check(saving, &found);
		for (size_t cut = bytes.len - 50; cut > 1500; cut -= 400) {
			const struct carve_state *state = view_state_before(saving, cut);
			struct finding from_start = { 0 }, from_state = { 0 };
			enum verdict verdict;
			struct view *view;

			if (!state)
				continue;
			states++;
			memset(bytes.data + cut, 0x77, bytes.len - cut < 80 ? bytes.len - cut : 80);
			view = view_new_memory(bytes.data, bytes.len);
			view_set_trial(view, true);
			verdict = carver->check(view, &from_start);
			view_free(view);
			view = view_new_memory(bytes.data, bytes.len);
			view_set_trial(view, true);
			cr_expect_eq(carver->resume(view, state, &from_state), verdict);
			cr_expect_eq(from_state.length, from_start.length);
			cr_expect_str_eq(from_state.why, from_start.why);
			cr_expect_eq(from_state.time, from_start.time);
			view_free(view);
		}
		cr_expect_geq(states, 5);
		view_free(saving);
		free(bytes.data);
	}
}
