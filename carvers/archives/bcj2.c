/*
 * BCJ2 (7-Zip's DOC/Methods.txt and Bcj2.txt): the targets of calls and jumps are in streams of their own, as absolute
 * addresses, big-endian. For each byte in the code that may be such an instruction (E8, E9, or 0F 80 to 0F 8F), a bit says whether
 * its target is there; the bits are range-coded as LZMA's, with a probability for each byte before E8, one for E9, and one
 * for the others.
 */
#include "bcj2.h"

#include "bytes.h"

#define OUTPUT_LEN 4096
#define TOP (UINT32_C(1) << 24)

enum { PROBABILITY_BITS = 11, MOVE_BITS = 5, AFTER_E9 = 256, OTHERS, PROBABILITIES };

struct range_coder {
	const uint8_t *p, *end;
	uint32_t range, code;
	uint16_t probabilities[PROBABILITIES];
};

static bool open_coder(struct range_coder *coder, const struct bcj2_input *input)
{
	if (input->len < 5)
		return false;
	*coder = (struct range_coder){ .p = input->bytes + 5,
		.end = input->bytes + input->len,
		.range = UINT32_MAX,
		.code = be32(input->bytes + 1) };
	for (int i = 0; i < PROBABILITIES; i++)
		coder->probabilities[i] = 1 << (PROBABILITY_BITS - 1);
	return true;
}

/* The next bit, with a probability; false, too, if there are no more bytes, and then coder->p is past the end. */
static bool next_bit(struct range_coder *coder, uint16_t *probability)
{
	uint32_t bound;
	bool bit;

	if (coder->range < TOP) {
		if (coder->p == coder->end) {
			coder->end = NULL;
			return false;
		}
		coder->range <<= 8;
		coder->code = coder->code << 8 | *coder->p++;
	}
	bound = (coder->range >> PROBABILITY_BITS) * *probability;
	bit = coder->code >= bound;
	if (bit) {
		coder->range -= bound;
		coder->code -= bound;
		*probability -= *probability >> MOVE_BITS;
	} else {
		coder->range = bound;
		*probability += ((1 << PROBABILITY_BITS) - *probability) >> MOVE_BITS;
	}
	return bit;
}

bool bcj2_join(const struct bcj2_input inputs[BCJ2_STREAMS], uint64_t len,
	bool (*take)(void *context, const uint8_t *bytes, size_t len), void *context)
{
	const uint8_t *code = inputs[BCJ2_CODE].bytes, *end = code + inputs[BCJ2_CODE].len;
	size_t used[BCJ2_STREAMS] = { 0 }, filled = 0;
	uint8_t output[OUTPUT_LEN + 4], before = 0;
	struct range_coder coder;
	uint64_t done = 0;

	if (!open_coder(&coder, &inputs[BCJ2_RANGE]))
		return false;
	while (done + filled < len) {
		enum bcj2_stream stream;
		uint16_t *probability;
		uint8_t byte;

		if (filled >= OUTPUT_LEN) {
			if (!take(context, output, filled))
				return false;
			done += filled;
			filled = 0;
			continue;
		}
		if (code == end)
			return false;
		byte = output[filled++] = *code++;
		if ((byte & 0xfe) != 0xe8 && !(before == 0x0f && (byte & 0xf0) == 0x80)) {
			before = byte;
			continue;
		}
		if (done + filled == len)
			break;
		probability = coder.probabilities + (byte == 0xe8          ? before
							    : byte == 0xe9 ? AFTER_E9
									   : OTHERS);
		before = byte;
		stream = byte == 0xe8 ? BCJ2_CALLS : BCJ2_JUMPS;
		if (next_bit(&coder, probability)) {
			uint32_t target;

			if (inputs[stream].len - used[stream] < 4)
				return false;
			target = be32(inputs[stream].bytes + used[stream]);
			used[stream] += 4;
			target -= (uint32_t)(done + filled + 4);
			for (int i = 0; i < 4 && done + filled < len; i++)
				output[filled++] = (uint8_t)(target >> 8 * i);
			before = (uint8_t)(target >> 24);
		}
		if (!coder.end)
			return false;
	}
	return take(context, output, filled);
}
