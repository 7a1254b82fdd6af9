/*
 * Asymmetric numeral systems in JPEG XL (ISO/IEC 18181-1, C.2.5 and C.2.6): frequencies of tokens
 * that add up to 4096, stored as one or two symbols, all equal, or as their logarithms and lower
 * bits; and the alias table that yields a token from the state's lowest 12 bits.
 */
#include "jxl_distribution.h"

#include <stdlib.h>
#include <string.h>

#define RANGE_BITS 12
#define RANGE (1u << RANGE_BITS)
#define TOKENS_MAX 256
#define RUN 13

/* The values from `cutoff` on belong to another token. */
struct jxl_slot {
	uint16_t cutoff, offset; /* offset: added to the value for that one */
	uint16_t own, others;    /* frequencies */
	uint16_t other;
};

static uint32_t read_u8(struct jxl_bits *bits)
{
	unsigned n;

	if (!jxl_bits_bool(bits))
		return 0;
	n = jxl_bits_read(bits, 3);
	return (1u << n) + jxl_bits_read(bits, n);
}

static uint32_t read_logarithm(struct jxl_bits *bits)
{
	static const uint8_t three_bits[8] = { 10, 0, 7, 0, 6, 8, 9, 0 };
	unsigned code = jxl_bits_read(bits, 3);

	if (three_bits[code])
		return three_bits[code];
	if (code == 3)
		return jxl_bits_bool(bits) ? 1 : 3;
	if (code == 7)
		return jxl_bits_bool(bits) ? 2 : 5;
	if (jxl_bits_bool(bits))
		return 4;
	if (jxl_bits_bool(bits))
		return 0;
	if (jxl_bits_bool(bits))
		return 11;
	return jxl_bits_bool(bits) ? RUN : 12;
}

static void read_few(struct jxl_bits *bits, int32_t *counts, size_t *count)
{
	bool two = jxl_bits_bool(bits);
	uint32_t first = read_u8(bits), second = two ? read_u8(bits) : first;

	*count = (first > second ? first : second) + 1;
	counts[first] = RANGE;
	if (!two)
		return;
	jxl_bits_expect(bits, first != second);
	counts[first] = (int32_t)jxl_bits_read(bits, RANGE_BITS);
	counts[second] = (int32_t)RANGE - counts[first];
}

static void read_flat(struct jxl_bits *bits, int32_t *counts, size_t *count)
{
	*count = read_u8(bits) + 1;
	for (size_t i = 0; i < *count; i++)
		counts[i] = (int32_t)(RANGE / *count + (i < RANGE % *count));
}

/* How many bits are stored for a count whose highest bit is 2^log. */
static unsigned precision(unsigned log, unsigned shift)
{
	int stored = (int)shift - (int)((RANGE_BITS - log) >> 1);

	return stored < 0 ? 0 : (unsigned)stored < log ? (unsigned)stored : log;
}

/* Reads the logarithms, and the length of each run with its first token. Returns which is the
 * largest: its count is what remains of the total. */
static size_t read_logarithms(struct jxl_bits *bits, size_t count, uint8_t *logs, uint16_t *runs)
{
	size_t largest = count;
	int max = -1;

	for (size_t i = 0; i < count && jxl_bits_ok(bits); i++) {
		logs[i] = (uint8_t)read_logarithm(bits);
		if (logs[i] == RUN) {
			runs[i] = (uint16_t)(read_u8(bits) + 4);
			i += runs[i] - 1u;
		} else if (logs[i] > max) {
			max = logs[i];
			largest = i;
		}
	}
	return largest;
}

static void read_many(struct jxl_bits *bits, int32_t *counts, size_t *count)
{
	uint8_t logs[TOKENS_MAX + 3] = { 0 };
	uint16_t runs[TOKENS_MAX + 3] = { 0 };
	unsigned n = 0, shift, run = 0;
	int32_t total = 0, last = 0;
	size_t largest;

	while (n < 3 && jxl_bits_bool(bits))
		n++;
	shift = (1u << n) - 1 + jxl_bits_read(bits, n);
	*count = read_u8(bits) + 3;
	largest = read_logarithms(bits, *count, logs, runs);
	jxl_bits_expect(bits, shift <= RANGE_BITS + 1 && largest < *count);
	for (size_t i = 0; i < *count && jxl_bits_ok(bits); i++) {
		if (runs[i]) {
			run = runs[i];
			last = i ? counts[i - 1] : 0;
		}
		if (run) {
			counts[i] = last;
			run--;
		} else if (i != largest && logs[i]) {
			unsigned log = logs[i] - 1u, written = precision(log, shift);

			counts[i] = (int32_t)((1u << log) +
					      (jxl_bits_read(bits, written) << (log - written)));
		}
		total += counts[i];
	}
	jxl_bits_expect(bits, total < (int32_t)RANGE);
	if (jxl_bits_ok(bits))
		counts[largest] = (int32_t)RANGE - total;
}

/* Fills the slots that have room with what does not fit into others. */
static void share_slots(struct jxl_slot *slots, const int32_t *counts, size_t slot_count)
{
	uint16_t over[TOKENS_MAX], under[TOKENS_MAX];
	uint32_t left[TOKENS_MAX], size = RANGE / (uint32_t)slot_count;
	size_t over_count = 0, under_count = 0;

	for (size_t i = 0; i < slot_count; i++) {
		left[i] = (uint32_t)counts[i];
		if (left[i] > size)
			over[over_count++] = (uint16_t)i;
		else if (left[i] < size)
			under[under_count++] = (uint16_t)i;
	}
	/* The excess of some fills the room of others. */
	while (over_count > 0 && under_count > 0) {
		uint16_t from = over[--over_count], to = under[--under_count];

		left[from] -= size - left[to];
		slots[to].other = from;
		slots[to].offset = (uint16_t)left[from];
		if (left[from] < size)
			under[under_count++] = from;
		else if (left[from] > size)
			over[over_count++] = from;
	}
	for (size_t i = 0; i < slot_count; i++) {
		struct jxl_slot *slot = &slots[i];

		slot->cutoff = (uint16_t)left[i];
		slot->offset = (uint16_t)(slot->offset - left[i]);
		if (left[i] == size) {
			slot->other = (uint16_t)i;
			slot->cutoff = slot->offset = 0;
		}
		slot->own = (uint16_t)counts[i];
		slot->others = (uint16_t)counts[slot->other];
	}
}

/* A single token leaves the state unchanged. */
static bool share_alone(struct jxl_slot *slots, const int32_t *counts, size_t slot_count)
{
	size_t token = 0;

	while (token < slot_count && counts[token] != (int32_t)RANGE)
		token++;
	if (token == slot_count)
		return false;
	for (size_t i = 0; i < slot_count; i++) {
		slots[i].other = (uint16_t)token;
		slots[i].others = RANGE;
		slots[i].offset = (uint16_t)(i * (RANGE / slot_count));
	}
	return true;
}

bool jxl_ans_read(struct jxl_bits *bits, unsigned alpha, struct jxl_ans *ans)
{
	size_t slot_count = (size_t)1 << alpha, count;
	int32_t counts[TOKENS_MAX + 3] = { 0 };

	if (jxl_bits_bool(bits))
		read_few(bits, counts, &count);
	else if (jxl_bits_bool(bits))
		read_flat(bits, counts, &count);
	else
		read_many(bits, counts, &count);
	jxl_bits_expect(bits, count <= slot_count);
	if (!jxl_bits_ok(bits))
		return false;
	ans->slot_bits = RANGE_BITS - alpha;
	if (!view_work(bits->view, slot_count))
		return false;
	ans->slots = calloc(slot_count, sizeof(*ans->slots));
	if (!ans->slots) {
		view_no_memory(bits->view);
		return false;
	}
	if (!share_alone(ans->slots, counts, slot_count))
		share_slots(ans->slots, counts, slot_count);
	return true;
}

uint32_t jxl_ans_next(struct jxl_bits *bits, const struct jxl_ans *ans, uint32_t *state)
{
	uint32_t value = *state & (RANGE - 1), index = value >> ans->slot_bits;
	uint32_t place = value & ((1u << ans->slot_bits) - 1);
	const struct jxl_slot *slot = &ans->slots[index];
	bool other = place >= slot->cutoff;

	*state = (other ? slot->others : slot->own) * (*state >> RANGE_BITS) +
		 (other ? (uint16_t)(slot->offset + place) : place);
	if (*state < 1u << 16)
		*state = *state << 16 | jxl_bits_read(bits, 16);
	return other ? slot->other : index;
}
