/*
 * Payloads of ASF's packets (Microsoft, ASF specification 01.20.05, 5.2.3).
 *
 *	payload: stream, number of its media object, where it is in the object, the object's size and the time when it is presented
 *	         (replicated data), its length if the packet has several; data
 *
 * Objects of a stream are numbered, and the payloads of one follow each other without gaps; the next one begins when all of it
 * is there, and no earlier. Zeros are after the last one. So the first payload after a joint shows whether its piece is where it should be. It is not shown where in
 * the payload before the joint is.
 *
 * In sound of constant rate all objects have the same size, and another file by the same program has the same ones in its packets of the
 * same number: they show nothing. Where a stream is like that the others' objects prove nothing either: a copy of the film with other
 * sound has the same. See tests/bench/RESULTS.md, "Payloads of ASF".
 */
#include "asf_payloads.h"

#include "bytes.h"
#include "walk.h"

#define HEAD_MAX 64
#define REPLICATED_MIN 8
#define SIZES_MIN 8  /* classes of sizes that objects must have if they are to show anything */
#define PART_BITS 18 /* the next part of an object follows: see view_proved */
#define NEXT_BITS 10 /* the next object does */

/* Reads a field of 0, 1, 2 or 4 bytes at *at of p. */
static uint32_t take_field(const uint8_t *p, size_t *at, unsigned kind)
{
	size_t from = *at;

	kind &= 3;
	*at += kind == 3 ? 4 : kind;
	return kind == 0 ? 0 : kind == 1 ? p[from] : kind == 2 ? le16(p + from) : le32(p + from);
}

/* The bits of a number that has a field of this kind. */
static uint32_t field_mask(unsigned kind)
{
	kind &= 3;
	return kind == 3 ? UINT32_MAX : kind == 2 ? UINT16_MAX : kind == 1 ? UINT8_MAX : 0;
}

struct payload {
	uint8_t stream;
	bool sized;
	uint32_t object, mask; /* numbers begin again after the mask */
	uint32_t offset, size, time;
	uint64_t head_end, end;
	bool single; /* its data are one or more whole objects, each after a byte with its length */
};

/* Reads the head of a payload at `at` of a packet that ends at `end`. len_kind: of its length; 0: it goes on to the end. */
static bool read_payload(struct view *view, const struct asf_packet *packet, uint64_t at,
	uint64_t end, unsigned len_kind, struct payload *payload)
{
	size_t len = end - at < HEAD_MAX ? (size_t)(end - at) : HEAD_MAX, in = 1;
	const uint8_t *p = len ? view_peek(view, at, len) : NULL;
	uint8_t bytes[HEAD_MAX * 2] = { 0 };
	uint32_t replicated, data_len;

	if (!p)
		return false;
	for (size_t i = 0; i < len; i++)
		bytes[i] = p[i];
	*payload = (struct payload){ .stream = bytes[0] & 0x7f,
		.mask = field_mask(packet->flags >> 4) };
	payload->object = take_field(bytes, &in, packet->flags >> 4);
	payload->offset = take_field(bytes, &in, packet->flags >> 2);
	replicated = take_field(bytes, &in, packet->flags);
	payload->single = replicated == 1;
	if (replicated >= REPLICATED_MIN) {
		payload->sized = true;
		payload->size = le32(bytes + in);
		payload->time = le32(bytes + in + 4);
	}
	if (replicated > HEAD_MAX - in - 4)
		return false;
	in += replicated;
	data_len = len_kind ? take_field(bytes, &in, len_kind) : 0;
	payload->head_end = at + in;
	if (payload->head_end > end)
		return false;
	payload->end = len_kind ? payload->head_end + data_len : end;
	return payload->end <= end && payload->stream;
}

static struct asf_stream *find_stream(struct asf_payloads *payloads, uint8_t number, bool *is_new)
{
	*is_new = false;
	for (unsigned i = 0; i < payloads->count; i++)
		if (payloads->streams[i].number == number)
			return &payloads->streams[i];
	if (payloads->count == ASF_STREAMS)
		return NULL;
	*is_new = true;
	payloads->streams[payloads->count].number = number;
	return &payloads->streams[payloads->count++];
}

/* The bits by which a payload belongs after the last one of its stream; -1: it does not. */
static int follow(const struct asf_stream *last, const struct payload *payload)
{
	if (last->sized != payload->sized || payload->single)
		return payload->single ? 0 : -1;
	if (payload->object == last->object && payload->offset == last->end &&
		payload->size == last->size && payload->time == last->time && payload->offset)
		return PART_BITS;
	if (payload->offset || payload->object != ((last->object + 1) & payload->mask) ||
		(last->sized && last->end != last->size) || payload->time < last->time)
		return -1;
	return NEXT_BITS;
}

static bool are_varied(uint64_t sizes)
{
	unsigned count = 0;

	for (; sizes; sizes &= sizes - 1)
		count++;
	return count >= SIZES_MIN;
}

void asf_payloads_prove(struct view *view, const struct asf_payloads *payloads)
{
	for (unsigned i = 0; i < payloads->count; i++)
		if (!are_varied(payloads->streams[i].sizes))
			return;
	for (unsigned i = 0; i < payloads->joint_count && payloads->count < ASF_STREAMS; i++) {
		const struct asf_joint *joint = &payloads->joints[i];

		view_proved(view, joint->from, joint->to, joint->bits);
	}
}

static bool add_payload(struct view *view, struct asf_payloads *payloads,
	const struct payload *payload, uint64_t at)
{
	bool is_new;
	struct asf_stream *stream = find_stream(payloads, payload->stream, &is_new);
	uint64_t len = payload->end - payload->head_end;
	int bits;

	if (!stream)
		return true;
	bits = is_new ? 0 : follow(stream, payload);
	if (bits < 0 || (payload->sized && payload->offset + len > payload->size))
		return false;
	if (bits && payloads->known && payloads->joint_count < ASF_JOINTS &&
		view_linked(view, payloads->known - 1, payload->head_end, 0))
		payloads->joints[payloads->joint_count++] =
			(struct asf_joint){ payloads->known - 1, at + 1, (unsigned)bits };
	stream->sized = payload->sized;
	stream->object = payload->object;
	stream->size = payload->size;
	stream->time = payload->time;
	stream->end = payload->offset + (uint32_t)len;
	if (payload->sized)
		stream->sizes |= UINT64_C(1)
				 << (payload->size * UINT64_C(0x9e3779b97f4a7c15) >> 58);
	return true;
}

bool asf_follow_packet(struct view *view, struct asf_payloads *payloads,
	const struct asf_packet *packet, uint64_t at, uint64_t len, uint64_t *wrong)
{
	uint64_t all = packet->len ? packet->len : len, end = at + all - packet->padding;
	unsigned count = 1, len_kind = 0;

	*wrong = at;
	at += packet->head_len;
	if (packet->time < payloads->time || packet->padding > all || at >= end)
		return false;
	payloads->time = packet->time;
	if (packet->lengths & 1) {
		const uint8_t *p = view_peek(view, at++, 1);

		count = p ? *p & 63 : 0;
		len_kind = p ? *p >> 6 : 0;
		if (!count || !len_kind)
			return false;
	}
	while (count--) {
		struct payload payload;

		*wrong = at;
		if (!read_payload(view, packet, at, end, len_kind, &payload) ||
			!add_payload(view, payloads, &payload, at))
			return false;
		payloads->known = payload.head_end;
		at = payload.end;
	}
	*wrong = at;
	return at == end && walk_zeros(view, end, end + packet->padding);
}
