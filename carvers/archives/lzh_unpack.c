/*
 * LHA's methods 4 to 7 (described in LHa for UNIX, and by H. Okumura as ar002) and ARJ's 1 to 3 (TECHNOTE.TXT) are the same but for their windows: blocks of a
 * number of symbols (16 bits), which begin with three codes. The first code is that of the second one's lengths; the second of
 * bytes and of lengths of repetitions; the third of how many bits their distances have. Lengths: a number of
 * symbols, and for each 3 bits, 7 followed by a 1 for each more, and a 0; or no symbols, and the only one. All codes are complete.
 * ARJ's method 4 has numbers in unary and binary, without codes.
 */
#include "lzh_unpack.h"

#include <stdlib.h>
#include <string.h>

#include "cursor_bits.h"
#include "symbol_code.h"
#include "walk.h"

enum {
	SYMBOLS = 510,
	LEN_SYMBOLS = 19, /* of the first code */
	LEN_COUNT_BITS = 5,
	DISTANCES_MAX = 17,
	SYMBOL_BITS = 9,
	SHORTEST = 3, /* repetition */
	FIRST_LEN = 256,
	WINDOW_LEN = 65536,
	ARJ_WINDOW_LEN = 26624,
	SLACK = 2, /* bytes that a program may add at the end */
	WORK_EVERY = 1024,
	WORK = 2, /* units that a symbol takes... */
	OUTPUT_UNIT =
		16, /* ...and as many bytes that come take one: codes without bits may yield any number */
};

struct code {
	struct symbol_code words;
	uint16_t only;
	bool single; /* no bits are read */
};

struct unpacker {
	const struct lzh_data *data;
	struct cursor_bits bits;
	struct code symbols, distances, lens;
	unsigned distance_count, distance_count_bits;
	uint32_t window_len;
	uint32_t left; /* symbols of the block */
	uint64_t done; /* bytes that came */
	size_t held;   /* of these, those that were not given yet */
	uint8_t window[WINDOW_LEN];
};

static bool build_code(struct code *code, const uint8_t *lens, unsigned count)
{
	code->single = false;
	return symbol_code_build(&code->words, lens, count) == SYMBOL_CODE_FULL;
}

static unsigned read_symbol(struct unpacker *unpacker, const struct code *code)
{
	int symbol = code->single ? code->only : symbol_code_read(&code->words, &unpacker->bits);

	return symbol < 0 ? 0 : (unsigned)symbol; /* a complete code has a symbol for all bits */
}

static uint32_t take_bits(struct unpacker *unpacker, int count)
{
	return cursor_bits_take(&unpacker->bits, count);
}

/* A code of which one symbol alone is used. */
static bool set_single(struct code *code, uint32_t only, unsigned count)
{
	code->single = true;
	code->only = (uint16_t)only;
	return only < count;
}

/* The first code, and the third. pause: the symbol before which 2 bits say how many have no code; 0: none. */
static bool read_short_code(struct unpacker *unpacker, struct code *code, unsigned count,
	unsigned count_bits, unsigned pause)
{
	uint8_t lens[LEN_SYMBOLS] = { 0 };
	unsigned given = take_bits(unpacker, (int)count_bits);

	if (!given)
		return set_single(code, take_bits(unpacker, (int)count_bits), count);
	if (given > count)
		return false;
	for (unsigned i = 0; i < given;) {
		unsigned len = take_bits(unpacker, 3);

		while (len >= 7 && len <= SYMBOL_CODE_BITS && take_bits(unpacker, 1))
			len++;
		if (len > SYMBOL_CODE_BITS)
			return false;
		lens[i++] = (uint8_t)len;
		if (i == pause)
			i += take_bits(unpacker, 2);
	}
	return build_code(code, lens, count);
}

static bool read_symbols_code(struct unpacker *unpacker)
{
	uint8_t lens[SYMBOLS] = { 0 };
	unsigned given = take_bits(unpacker, SYMBOL_BITS);

	if (!given)
		return set_single(&unpacker->symbols, take_bits(unpacker, SYMBOL_BITS), SYMBOLS);
	if (given > SYMBOLS)
		return false;
	for (unsigned i = 0; i < given;) {
		unsigned symbol = read_symbol(unpacker, &unpacker->lens);

		if (symbol > 2)
			lens[i++] = (uint8_t)(symbol - 2);
		else
			i += !symbol       ? 1
			     : symbol == 1 ? take_bits(unpacker, 4) + 3
					   : take_bits(unpacker, SYMBOL_BITS) + 20;
		if (i > SYMBOLS)
			return false;
	}
	return build_code(&unpacker->symbols, lens, SYMBOLS);
}

static bool begin_block(struct unpacker *unpacker)
{
	unpacker->left = take_bits(unpacker, 16);
	return unpacker->left &&
	       read_short_code(unpacker, &unpacker->lens, LEN_SYMBOLS, LEN_COUNT_BITS, 3) &&
	       read_symbols_code(unpacker) &&
	       read_short_code(unpacker, &unpacker->distances, unpacker->distance_count,
		       unpacker->distance_count_bits, 0);
}

static void give(struct unpacker *unpacker)
{
	size_t end = (unpacker->done - 1) % WINDOW_LEN + 1;

	if (unpacker->held)
		unpacker->data->take(unpacker->data->context,
			unpacker->window + end - unpacker->held, unpacker->held);
	unpacker->held = 0;
}

static void put(struct unpacker *unpacker, uint8_t byte)
{
	unpacker->window[unpacker->done++ % WINDOW_LEN] = byte;
	unpacker->held++;
	if (unpacker->done % WINDOW_LEN == 0)
		give(unpacker);
}

static bool repeat(struct unpacker *unpacker, uint32_t len, uint32_t distance)
{
	bool is_arj = unpacker->data->method >= LZH_ARJ;

	/* LHA's window is full of blanks at first. */
	if (distance > unpacker->window_len || (is_arj && distance > unpacker->done) ||
		len > unpacker->data->plain_len - unpacker->done)
		return false;
	while (len--)
		put(unpacker, unpacker->window[(unpacker->done - distance) % WINDOW_LEN]);
	return true;
}

/* The next symbol, and what it yields. */
static bool take_symbol(struct unpacker *unpacker)
{
	uint32_t symbol, distance;

	if (!unpacker->left && !begin_block(unpacker))
		return false;
	unpacker->left--;
	symbol = read_symbol(unpacker, &unpacker->symbols);
	if (symbol < FIRST_LEN) {
		put(unpacker, (uint8_t)symbol);
		return true;
	}
	distance = read_symbol(unpacker, &unpacker->distances);
	if (distance > 1)
		distance = (UINT32_C(1) << (distance - 1)) + take_bits(unpacker, (int)distance - 1);
	return repeat(unpacker, symbol - FIRST_LEN + SHORTEST, distance + 1);
}

/* A number of ARJ's method 4: one of `bits` bits, or of more by each 1 before, less than `last`. */
static uint32_t take_unary(struct unpacker *unpacker, int bits, int last)
{
	uint32_t before = 0;

	while (bits < last && take_bits(unpacker, 1))
		before += UINT32_C(1) << bits++;
	return before + take_bits(unpacker, bits);
}

static bool take_fast_symbol(struct unpacker *unpacker)
{
	uint32_t len = take_unary(unpacker, 0, 7), distance;

	if (!len) {
		put(unpacker, (uint8_t)take_bits(unpacker, 8));
		return true;
	}
	distance = take_unary(unpacker, 9, 13) + 1;
	return repeat(unpacker, len - 1 + SHORTEST, distance);
}

static enum lzh_state unpack_stored(
	struct view *view, const struct lzh_data *data, uint64_t *noticed)
{
	const uint8_t *window;
	size_t len;

	for (*noticed = data->at; *noticed < data->end; *noticed += len) {
		window = walk_window(view, *noticed, data->end, &len);
		if (!window)
			return LZH_CUT;
		data->take(data->context, window, len);
	}
	return data->end - data->at == data->plain_len ? LZH_DONE : LZH_BROKEN;
}

static void open_unpacker(struct unpacker *unpacker, struct view *view, const struct lzh_data *data)
{
	static const uint8_t windows[] = {
		[LZH_LH4] = 12, [LZH_LH5] = 13, [LZH_LH6] = 15, [LZH_LH7] = 16
	};
	bool is_lha = data->method < LZH_ARJ;

	unpacker->data = data;
	unpacker->bits = (struct cursor_bits){ .cursor = { .view = view, .at = data->at },
		.end = data->end < view_size(view) ? data->end : view_size(view) };
	unpacker->window_len = is_lha ? UINT32_C(1) << windows[data->method] : ARJ_WINDOW_LEN;
	unpacker->distance_count = is_lha && data->method <= LZH_LH5 ? 14
				   : data->method == LZH_LH6         ? 16
								     : DISTANCES_MAX;
	unpacker->distance_count_bits = is_lha && data->method <= LZH_LH5 ? 4 : 5;
	unpacker->left = 0;
	unpacker->done = unpacker->held = 0;
	memset(unpacker->window, ' ', sizeof(unpacker->window));
}

static enum lzh_state unpack(struct view *view, struct unpacker *unpacker, uint64_t *noticed)
{
	const struct lzh_data *data = unpacker->data;
	struct cursor_bits *bits = &unpacker->bits;
	bool is_valid = true, is_spent = false;
	uint64_t counted = 0;

	for (unsigned symbols = 1; is_valid && !is_spent && unpacker->done < data->plain_len &&
				   !cursor_bits_ran_out(bits);
		symbols++) {
		is_valid = data->method == LZH_ARJ_FAST ? take_fast_symbol(unpacker)
							: take_symbol(unpacker);
		if (symbols % WORK_EVERY)
			continue;
		is_spent = !view_work(
			view, WORK * WORK_EVERY + (unpacker->done - counted) / OUTPUT_UNIT);
		counted = unpacker->done;
	}
	give(unpacker);
	*noticed = (cursor_bits_at(bits) + 7) / 8;
	if (*noticed > bits->end)
		*noticed = bits->end;
	if (is_spent || (cursor_bits_ran_out(bits) && bits->end < data->end))
		return LZH_CUT;
	return is_valid && !cursor_bits_ran_out(bits) && unpacker->done == data->plain_len &&
			       data->end - *noticed <= SLACK
		       ? LZH_DONE
		       : LZH_BROKEN;
}

enum lzh_state lzh_unpack(struct view *view, const struct lzh_data *data, uint64_t *noticed)
{
	struct unpacker *unpacker;
	enum lzh_state state = LZH_CUT;

	if (data->method == LZH_STORED)
		return unpack_stored(view, data, noticed);
	*noticed = data->at;
	unpacker = malloc(sizeof(*unpacker));
	if (unpacker) {
		open_unpacker(unpacker, view, data);
		state = unpack(view, unpacker, noticed);
	} else {
		view_no_memory(view);
	}
	free(unpacker);
	return state;
}
