/*
 * Entropy-coded numbers of JPEG XL (ISO/IEC 18181-1, Annex C). A number belongs to a context, the
 * contexts to clusters, and each cluster has a distribution of tokens: by ANS or by a prefix code.
 * A token is a small number itself, or gives how many bits of a larger one follow. With LZ77,
 * tokens from some value on mean that numbers are repeated.
 *
 * ANS ends in the state in which all encoders start. That confirms what was read, since the state
 * depends on every bit. Prefix codes have no such check.
 */
#include "jxl_entropy.h"

#include <stdlib.h>
#include <string.h>

#include "jxl_distribution.h"

#define WINDOW_LEN (1u << 20)
#define PREFIX_ALPHA 15
#define CLUSTERS_MAX 256
#define STATE_END 0x130000
/* Chance ends in that state once in about this many bits. */
#define STATE_PROOF 20
#define NEAR_COUNT 120
/* Units of work (view_work) for a number, and after how many they are counted. */
#define NUMBER_WORK 3
#define NUMBERS_STEP 64

struct jxl_cluster {
	struct jxl_hybrid hybrid;
	size_t alphabet;
	struct prefix_code prefix;
	struct jxl_ans ans;
};

static void read_hybrid(struct jxl_bits *bits, unsigned alpha, struct jxl_hybrid *hybrid)
{
	unsigned split = jxl_bits_read(bits, jxl_bit_len(alpha)), high = 0, low = 0;

	if (split != alpha) {
		high = jxl_bits_read(bits, jxl_bit_len(split));
		jxl_bits_expect(bits, high <= split);
		if (high <= split)
			low = jxl_bits_read(bits, jxl_bit_len(split - high));
	}
	jxl_bits_expect(bits, split <= alpha && high + low <= split);
	hybrid->split = (uint8_t)split;
	hybrid->high = (uint8_t)high;
	hybrid->low = (uint8_t)low;
}

static uint32_t decode_hybrid(
	struct jxl_bits *bits, const struct jxl_hybrid *hybrid, uint32_t token)
{
	unsigned fixed = hybrid->high + hybrid->low, n;
	uint64_t value;

	if (token < 1u << hybrid->split)
		return token;
	n = hybrid->split - fixed + ((token - (1u << hybrid->split)) >> fixed);
	jxl_bits_expect(bits, n < 32);
	if (n >= 32)
		return 0;
	value = 1u << hybrid->high | (token >> hybrid->low & ((1u << hybrid->high) - 1));
	value = value << n | jxl_bits_read(bits, n);
	return (uint32_t)(value << hybrid->low | (token & ((1u << hybrid->low) - 1)));
}

/* Each number is the position of a cluster in a list, from which it then moves to the front. */
static void move_to_front(uint8_t *map, size_t count)
{
	uint8_t order[CLUSTERS_MAX];

	for (unsigned i = 0; i < CLUSTERS_MAX; i++)
		order[i] = (uint8_t)i;
	for (size_t i = 0; i < count; i++) {
		uint8_t index = map[i], value = order[index];

		map[i] = value;
		memmove(order + 1, order, index);
		order[0] = value;
	}
}

/* A map is coded with one context, and so has no map itself, except with LZ77: then it has one of
 * two contexts, in which LZ77 is not allowed. That ends the recursion. */
static bool read_coded_map(struct jxl_bits *bits, uint8_t *map, size_t count)
{
	bool front = jxl_bits_bool(bits), right;
	struct jxl_code code = { 0 };

	right = jxl_code_read(bits, count > 2 ? 1 : 0, &code) && jxl_code_begin(bits, &code, 0);
	for (size_t i = 0; i < count && right && jxl_bits_ok(bits); i++) {
		uint32_t cluster = jxl_code_next(bits, &code, 0);

		right = cluster < CLUSTERS_MAX;
		map[i] = (uint8_t)cluster;
	}
	if (right)
		jxl_code_end(bits, &code);
	jxl_code_free(&code);
	if (front)
		move_to_front(map, count);
	return right && jxl_bits_ok(bits);
}

bool jxl_map_read(struct jxl_bits *bits, uint8_t *map, size_t count, unsigned *cluster_count)
{
	bool named[CLUSTERS_MAX] = { false };
	unsigned n;

	if (jxl_bits_bool(bits)) {
		n = jxl_bits_read(bits, 2);
		for (size_t i = 0; i < count; i++)
			map[i] = (uint8_t)jxl_bits_read(bits, n);
	} else if (!read_coded_map(bits, map, count)) {
		return false;
	}
	*cluster_count = 0;
	for (size_t i = 0; i < count; i++) {
		named[map[i]] = true;
		if (map[i] >= *cluster_count)
			*cluster_count = map[i] + 1u;
	}
	for (unsigned i = 0; i < *cluster_count; i++)
		if (!named[i])
			return false;
	return jxl_bits_ok(bits);
}

static void read_lz77(struct jxl_bits *bits, struct jxl_code *code)
{
	static const struct jxl_choice symbols[4] = { { 0, 224 }, { 0, 512 }, { 0, 4096 },
		{ 15, 8 } };
	static const struct jxl_choice lens[4] = { { 0, 3 }, { 0, 4 }, { 2, 5 }, { 8, 9 } };

	code->min_symbol = jxl_bits_u32(bits, symbols);
	code->min_len = jxl_bits_u32(bits, lens);
	read_hybrid(bits, 8, &code->lengths);
}

static bool read_prefixes(struct jxl_bits *bits, struct jxl_code *code)
{
	for (unsigned i = 0; i < code->cluster_count; i++) {
		unsigned n = 0;

		code->clusters[i].alphabet = 1;
		if (jxl_bits_bool(bits)) {
			n = jxl_bits_read(bits, 4);
			code->clusters[i].alphabet = 1 + (1u << n) + jxl_bits_read(bits, n);
		}
		if (code->clusters[i].alphabet > 1u << PREFIX_ALPHA || !jxl_bits_ok(bits))
			return false;
	}
	for (unsigned i = 0; i < code->cluster_count; i++)
		if (!jxl_prefix_read(bits, code->clusters[i].alphabet, &code->clusters[i].prefix) ||
			!jxl_bits_ok(bits))
			return false;
	return true;
}

/* context_count 0: one context, and LZ77 is not allowed. */
bool jxl_code_read(struct jxl_bits *bits, size_t context_count, struct jxl_code *code)
{
	memset(code, 0, sizeof(*code));
	code->lz77 = jxl_bits_bool(bits);
	if (code->lz77)
		read_lz77(bits, code);
	if (!jxl_bits_ok(bits) || (code->lz77 && context_count == 0))
		return false;
	code->context_count = (context_count ? context_count : 1) + code->lz77;
	code->map = calloc(code->context_count, 1);
	code->cluster_count = 1;
	if (!code->map)
		view_no_memory(bits->view);
	if (!code->map ||
		(code->context_count > 1 &&
			!jxl_map_read(bits, code->map, code->context_count, &code->cluster_count)))
		return false;
	code->prefix = jxl_bits_bool(bits);
	code->alpha = code->prefix ? PREFIX_ALPHA : 5 + jxl_bits_read(bits, 2);
	code->clusters = calloc(code->cluster_count, sizeof(*code->clusters));
	if (!code->clusters) {
		view_no_memory(bits->view);
		return false;
	}
	for (unsigned i = 0; i < code->cluster_count; i++)
		read_hybrid(bits, code->alpha, &code->clusters[i].hybrid);
	if (!jxl_bits_ok(bits))
		return false;
	if (code->prefix)
		return read_prefixes(bits, code);
	for (unsigned i = 0; i < code->cluster_count; i++)
		if (!jxl_ans_read(bits, code->alpha, &code->clusters[i].ans))
			return false;
	return true;
}

bool jxl_code_begin(struct jxl_bits *bits, struct jxl_code *code, uint32_t width)
{
	code->state = code->prefix ? STATE_END : jxl_bits_read(bits, 32);
	code->width = width;
	code->copy_count = 0;
	code->copy_at = code->done = 0;
	if (code->lz77 && !code->window)
		code->window = malloc(WINDOW_LEN * sizeof(*code->window));
	if (code->lz77 && !code->window)
		view_no_memory(bits->view);
	return !code->lz77 || code->window;
}

static uint32_t decode_token(struct jxl_bits *bits, struct jxl_code *code, unsigned cluster)
{
	if (code->prefix)
		return jxl_prefix_next(bits, &code->clusters[cluster].prefix);
	return jxl_ans_next(bits, &code->clusters[cluster].ans, &code->state);
}

/* The distance of a repetition: small values mean near positions in the picture. */
static uint64_t distance(uint32_t width, uint32_t value)
{
	static const int8_t near[NEAR_COUNT][2] = { { 0, 1 }, { 1, 0 }, { 1, 1 }, { -1, 1 },
		{ 0, 2 }, { 2, 0 }, { 1, 2 }, { -1, 2 }, { 2, 1 }, { -2, 1 }, { 2, 2 }, { -2, 2 },
		{ 0, 3 }, { 3, 0 }, { 1, 3 }, { -1, 3 }, { 3, 1 }, { -3, 1 }, { 2, 3 }, { -2, 3 },
		{ 3, 2 }, { -3, 2 }, { 0, 4 }, { 4, 0 }, { 1, 4 }, { -1, 4 }, { 4, 1 }, { -4, 1 },
		{ 3, 3 }, { -3, 3 }, { 2, 4 }, { -2, 4 }, { 4, 2 }, { -4, 2 }, { 0, 5 }, { 3, 4 },
		{ -3, 4 }, { 4, 3 }, { -4, 3 }, { 5, 0 }, { 1, 5 }, { -1, 5 }, { 5, 1 }, { -5, 1 },
		{ 2, 5 }, { -2, 5 }, { 5, 2 }, { -5, 2 }, { 4, 4 }, { -4, 4 }, { 3, 5 }, { -3, 5 },
		{ 5, 3 }, { -5, 3 }, { 0, 6 }, { 6, 0 }, { 1, 6 }, { -1, 6 }, { 6, 1 }, { -6, 1 },
		{ 2, 6 }, { -2, 6 }, { 6, 2 }, { -6, 2 }, { 4, 5 }, { -4, 5 }, { 5, 4 }, { -5, 4 },
		{ 3, 6 }, { -3, 6 }, { 6, 3 }, { -6, 3 }, { 0, 7 }, { 7, 0 }, { 1, 7 }, { -1, 7 },
		{ 5, 5 }, { -5, 5 }, { 7, 1 }, { -7, 1 }, { 4, 6 }, { -4, 6 }, { 6, 4 }, { -6, 4 },
		{ 2, 7 }, { -2, 7 }, { 7, 2 }, { -7, 2 }, { 3, 7 }, { -3, 7 }, { 7, 3 }, { -7, 3 },
		{ 5, 6 }, { -5, 6 }, { 6, 5 }, { -6, 5 }, { 8, 0 }, { 4, 7 }, { -4, 7 }, { 7, 4 },
		{ -7, 4 }, { 8, 1 }, { 8, 2 }, { 6, 6 }, { -6, 6 }, { 8, 3 }, { 5, 7 }, { -5, 7 },
		{ 7, 5 }, { -7, 5 }, { 8, 4 }, { 6, 7 }, { -6, 7 }, { 7, 6 }, { -7, 6 }, { 8, 5 },
		{ 7, 7 }, { -7, 7 }, { 8, 6 }, { 8, 7 } };
	int64_t back;

	if (!width)
		return value + UINT64_C(1);
	if (value >= NEAR_COUNT)
		return value + UINT64_C(1) - NEAR_COUNT;
	back = near[value][0] + (int64_t)width * near[value][1];
	return back > 1 ? (uint64_t)back : 1;
}

static void begin_copy(struct jxl_bits *bits, struct jxl_code *code, uint32_t token)
{
	unsigned cluster = code->map[code->context_count - 1];
	uint64_t back;

	code->copy_count =
		decode_hybrid(bits, &code->lengths, token - code->min_symbol) + code->min_len;
	token = decode_token(bits, code, cluster);
	back = distance(code->width, decode_hybrid(bits, &code->clusters[cluster].hybrid, token));
	back = back < code->done ? back : code->done;
	back = back < WINDOW_LEN ? back : WINDOW_LEN;
	code->copy_at = code->done - back;
	jxl_bits_expect(bits, code->copy_count >= code->min_len);
}

uint32_t jxl_code_next(struct jxl_bits *bits, struct jxl_code *code, size_t context)
{
	unsigned cluster = code->map[context];
	uint32_t value = 0;

	if (++bits->numbers % NUMBERS_STEP == 0)
		bits->cut = !view_work(bits->view, NUMBERS_STEP * NUMBER_WORK) || bits->cut;
	if (!code->copy_count) {
		uint32_t token = decode_token(bits, code, cluster);

		if (code->lz77 && token >= code->min_symbol)
			begin_copy(bits, code, token);
		else
			value = decode_hybrid(bits, &code->clusters[cluster].hybrid, token);
	}
	if (!jxl_bits_ok(bits))
		return 0;
	if (code->copy_count) {
		/* Before the first number, zeros are copied. */
		if (code->copy_at != code->done)
			value = code->window[code->copy_at % WINDOW_LEN];
		code->copy_at++;
		code->copy_count--;
	}
	if (code->lz77)
		code->window[code->done++ % WINDOW_LEN] = value;
	return value;
}

void jxl_code_end(struct jxl_bits *bits, struct jxl_code *code)
{
	jxl_bits_expect(bits, code->state == STATE_END);
	bits->proof += code->prefix ? 0 : STATE_PROOF;
}

void jxl_code_free(struct jxl_code *code)
{
	for (unsigned i = 0; code->clusters && i < code->cluster_count; i++) {
		prefix_code_free(&code->clusters[i].prefix);
		free(code->clusters[i].ans.slots);
	}
	free(code->clusters);
	free(code->map);
	free(code->window);
}
