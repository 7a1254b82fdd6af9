/*
 * A block: magic, CRC (32 bits), whether it is randomised, where the sorted text begins (24), which bytes it has, the
 * number of tables (3) and of groups (15), each group's table (how far it is in a list whose last used ones are
 * first, in unary), and each table's code lengths, as differences. Then the codes, up to the end's symbol: two for
 * the length of a repetition, and one for each place in a list of bytes whose last used ones are first.
 */
#include "bz2_codes.h"

#include <stdlib.h>
#include <string.h>

#include "bits.h"
#include "code_tail.h"
#include "walk.h"

#define BLOCK_MAGIC 0x314159265359
#define END_MAGIC 0x177245385090
#define TABLES_MAX 6
#define SYMBOLS_MAX 258
#define LEN_MAX 20
#define GROUPS_MAX 32768
#define GROUP_LEN 50
#define SPARE_GROUPS 8 /* that some programs add */
#define FAST_BITS 10
#define LEARN_EVERY 512     /* bytes */
#define CODE_WORK 6         /* units, for a byte of codes */
#define BLOCK_TRUST_BITS 40 /* a block's magic is seldom found in other data */
#define RUN_MAX 24          /* symbols of a repetition's length; 19 are enough for 900,000 */
#define CLASS_END 15

struct reader {
	struct view *view; /* NULL: window has all bytes */
	struct msb_bits bits;
	uint64_t from, at; /* bytes: where it began, and the next to be pushed */
	const uint8_t *window;
	uint64_t window_at;
	size_t window_len;
	bool lacks;                  /* bits were taken after the view's end */
	uint8_t ring[EVENNESS_RING]; /* the last bytes that were pushed */
};

struct table {
	uint16_t
		fast[1 << FAST_BITS]; /* by the next bits: length << 9 | symbol; 0: a longer code */
	uint32_t limit[LEN_MAX + 2];  /* of each length: the first longer code, as LEN_MAX bits */
	int32_t first[LEN_MAX + 2];   /* index in symbols that code 0 of that length would have */
	uint16_t symbols[SYMBOLS_MAX];
	uint8_t lens[SYMBOLS_MAX];
	struct habits_shares shares;
};

struct block_tables {
	uint32_t symbol_count, group_count;
	uint8_t groups[GROUPS_MAX];
	struct table tables[TABLES_MAX];
};

/* ---- bits ---------------------------------------------------------------------------------- */

static void fill(struct reader *reader)
{
	while (reader->bits.count <= 48) {
		uint64_t in = reader->at - reader->window_at;

		if (in >= reader->window_len) {
			if (!reader->view)
				return;
			reader->window_at = reader->at;
			reader->window =
				walk_stream(reader->view, reader->at, view_size(reader->view),
					reader->at - reader->from, &reader->window_len);
			if (!reader->window) {
				reader->window_len = 0;
				return;
			}
			in = 0;
		}
		msb_push(&reader->bits, reader->window[in]);
		reader->ring[reader->at++ % EVENNESS_RING] = reader->window[in];
	}
}

/* At most 24 bits. */
static uint32_t take(struct reader *reader, int n)
{
	if (reader->bits.count < n)
		fill(reader);
	if (reader->bits.count < n) {
		reader->lacks = true;
		return 0;
	}
	return msb_take(&reader->bits, n);
}

static uint64_t take_magic(struct reader *reader)
{
	uint64_t high = take(reader, 24);

	return high << 24 | take(reader, 24);
}

static uint64_t position(const struct reader *reader)
{
	return reader->at * 8 - (uint64_t)reader->bits.count;
}

static void seek(struct reader *reader, uint64_t bit)
{
	reader->bits = (struct msb_bits){ 0 };
	reader->from = reader->at = bit / 8;
	take(reader, (int)(bit % 8));
}

/* ---- tables -------------------------------------------------------------------------------- */

/* False: no symbols, or an impossible list. */
static bool read_groups(struct reader *reader, struct block_tables *block, uint32_t table_count)
{
	uint8_t order[TABLES_MAX] = { 0, 1, 2, 3, 4, 5 };

	block->group_count = take(reader, 15);
	for (uint32_t i = 0; i < block->group_count; i++) {
		uint32_t place = 0;
		uint8_t table;

		while (take(reader, 1))
			if (++place >= table_count)
				return false;
		if (reader->lacks)
			return false;
		table = order[place];
		for (; place; place--)
			order[place] = order[place - 1];
		order[0] = table;
		block->groups[i] = table;
	}
	return block->group_count != 0;
}

static unsigned class_of(uint32_t symbol, uint32_t count)
{
	static const uint8_t small[9] = { 0, 1, 2, 3, 4, 4, 5, 5, 5 };

	if (symbol == count - 1)
		return CLASS_END;
	return symbol < 9     ? small[symbol]
	       : symbol < 15  ? 6u
	       : symbol < 25  ? 7u
	       : symbol < 41  ? 8u
	       : symbol < 65  ? 9u
	       : symbol < 101 ? 10u
			      : 11u;
}

/* Sorts the symbols by their codes. False: there are more codes than bits for them. */
static bool build(struct table *table, uint32_t count)
{
	uint32_t code = 0, index = 0;

	table->shares = (struct habits_shares){ 0 };
	for (uint32_t i = 0; i < 1u << FAST_BITS; i++)
		table->fast[i] = 0;
	for (uint32_t len = 1; len <= LEN_MAX; len++) {
		code <<= 1;
		table->first[len] = (int32_t)index - (int32_t)code;
		for (uint32_t symbol = 0; symbol < count; symbol++) {
			if (table->lens[symbol] != len)
				continue;
			if (code >= 1u << len)
				return false;
			for (uint32_t i = 0; len <= FAST_BITS && i < 1u << (FAST_BITS - len); i++)
				table->fast[(code << (FAST_BITS - len)) + i] =
					(uint16_t)(len << 9 | symbol);
			table->symbols[index++] = (uint16_t)symbol;
			code++;
		}
		table->limit[len] = code << (LEN_MAX - len);
	}
	for (uint32_t symbol = 0; symbol < count; symbol++)
		habits_add_code(&table->shares, class_of(symbol, count), table->lens[symbol]);
	return true;
}

static bool read_lens(struct reader *reader, struct table *table, uint32_t count)
{
	uint32_t len = take(reader, 5);

	for (uint32_t i = 0; i < count; i++) {
		for (;;) {
			if (len < 1 || len > LEN_MAX || reader->lacks)
				return false;
			if (!take(reader, 1))
				break;
			len += take(reader, 1) ? UINT32_MAX : 1;
		}
		table->lens[i] = (uint8_t)len;
	}
	return !reader->lacks && build(table, count);
}

/* Reads what is between a block's magic and its codes. */
static bool read_tables(struct reader *reader, struct block_tables *block)
{
	uint32_t used, table_count;

	take(reader, 16); /* CRC, randomised or not, origin */
	take(reader, 16);
	take(reader, 1);
	take(reader, 24);
	used = take(reader, 16);
	block->symbol_count = 2;
	for (int i = 15; i >= 0; i--)
		if (used >> i & 1)
			block->symbol_count += (uint32_t)__builtin_popcount(take(reader, 16));
	table_count = take(reader, 3);
	if (reader->lacks || block->symbol_count < 3 || table_count < 2 ||
		table_count > TABLES_MAX || !read_groups(reader, block, table_count) ||
		!view_work(reader->view, block->group_count + table_count * 4096))
		return false;
	for (uint32_t i = 0; i < table_count; i++)
		if (!read_lens(reader, &block->tables[i], block->symbol_count))
			return false;
	return true;
}

/* ---- codes --------------------------------------------------------------------------------- */

/* The next symbol; UINT32_MAX: it is no code, or bits lack. */
static uint32_t take_symbol(struct reader *reader, const struct table *table)
{
	uint32_t bits, entry;
	int len = FAST_BITS + 1;

	if (reader->bits.count < LEN_MAX)
		fill(reader);
	bits = msb_peek(&reader->bits, LEN_MAX);
	entry = table->fast[bits >> (LEN_MAX - FAST_BITS)];
	if (entry) {
		len = (int)(entry >> 9);
		entry &= 511;
	} else {
		while (len <= LEN_MAX && bits >= table->limit[len])
			len++;
		if (len > LEN_MAX)
			return UINT32_MAX;
		entry = table->symbols[table->first[len] + (int32_t)(bits >> (LEN_MAX - len))];
	}
	if (len > reader->bits.count) {
		reader->lacks = true;
		return UINT32_MAX;
	}
	msb_skip(&reader->bits, len);
	return entry;
}

/* What came before: the last symbol's class, and roughly that of the one before it. */
static unsigned context_of(uint8_t context, uint8_t before)
{
	return context * 6u + before;
}

static void remember(uint8_t *context, uint8_t *before, unsigned class)
{
	uint8_t last = *context;

	*before = last < 2 ? last : last < 4 ? 2 : last < 7 ? 3 : last < 9 ? 4 : 5;
	*context = (uint8_t) class;
}

static enum codes_state failed(const struct reader *reader)
{
	return reader->lacks ? CODES_CUT : CODES_BAD;
}

/* The codes of a block. END: its end's symbol. */
static enum codes_state walk_block(
	struct reader *reader, const struct block_tables *block, struct bz2_codes *codes)
{
	uint64_t learnt = codes->bit / 8;
	uint32_t symbol;

	for (; codes->group < block->group_count; codes->group++, codes->in_group = 0) {
		const struct table *table = &block->tables[block->groups[codes->group]];

		for (; codes->in_group < GROUP_LEN; codes->in_group++) {
			symbol = take_symbol(reader, table);
			if (symbol == UINT32_MAX)
				return failed(reader);
			habits_add(&codes->habits, context_of(codes->context, codes->before),
				class_of(symbol, block->symbol_count), &table->shares, codes->bit);
			codes->bit = position(reader);
			evenness_add(&codes->evenness, reader->ring, codes->bit / 8);
			if (symbol == block->symbol_count - 1)
				return codes->group + 1 + SPARE_GROUPS >= block->group_count
					       ? CODES_END
					       : CODES_BAD;
			remember(&codes->context, &codes->before,
				class_of(symbol, block->symbol_count));
			codes->run = symbol < 2 ? codes->run + 1 : 0;
			if (codes->run > RUN_MAX)
				return CODES_BAD;
		}
		if (!codes->is_own &&
			(codes->evenness.is_foreign || habits_are_lost(&codes->habits, codes->bit)))
			return CODES_FOREIGN;
		if (codes->stop && codes->bit >= codes->stop) {
			codes->group++;
			codes->in_group = 0;
			return CODES_CUT;
		}
		if (codes->bit / 8 - learnt < LEARN_EVERY)
			continue;
		if (!view_work(reader->view, (codes->bit / 8 - learnt) * CODE_WORK))
			return CODES_CUT;
		learnt = codes->bit / 8;
		habits_learn(&codes->habits);
		if (view_wants_states(reader->view)) {
			struct bz2_codes next = *codes;

			next.group++;
			next.in_group = 0;
			codes_save(reader->view, next.bit, &next, sizeof(next));
		}
	}
	return CODES_BAD;
}

/* Begins a block, or goes on in one. END: the stream's end. */
static enum codes_state begin_block(
	struct reader *reader, struct bz2_codes *codes, struct block_tables *block)
{
	bool is_new = !codes->block;
	uint64_t bit = codes->bit, magic;

	if (is_new) {
		magic = take_magic(reader);
		if (!reader->lacks && magic == END_MAGIC) {
			take(reader, 16);
			take(reader, 16);
			codes->bit = position(reader);
			return reader->lacks ? CODES_CUT : CODES_END;
		}
		if (reader->lacks || magic != BLOCK_MAGIC)
			return failed(reader);
		habits_trust(&codes->habits, BLOCK_TRUST_BITS);
		codes->block = position(reader);
		codes->group = codes->in_group = 0;
	} else {
		seek(reader, codes->block);
	}
	if (!read_tables(reader, block))
		return failed(reader);
	if (!is_new)
		seek(reader, bit);
	else
		codes->bit = position(reader);
	return CODES_FOREIGN; /* neither of the others */
}

enum codes_state bz2_codes_walk(struct view *view, struct bz2_codes *codes)
{
	struct reader reader = { .view = view };
	struct block_tables *block = malloc(sizeof(*block));
	enum codes_state state = CODES_END;

	if (!block) {
		view_no_memory(view);
		return CODES_CUT;
	}
	seek(&reader, codes->bit);
	while (state == CODES_END && !codes->ended) {
		state = begin_block(&reader, codes, block);
		codes->ended = state == CODES_END;
		if (state != CODES_FOREIGN)
			break;
		state = walk_block(&reader, block, codes);
		if (state == CODES_END)
			codes->block = 0;
	}
	free(block);
	return state == CODES_END && habits_are_broken(&codes->habits, codes->bit) && !codes->is_own
		       ? CODES_FOREIGN
		       : state;
}

_Static_assert(sizeof(struct bz2_codes) <= CARVE_STATE_MAX, "a state");

bool bz2_codes_load(struct bz2_codes *codes, const struct carve_state *state)
{
	if (state->len != sizeof(*codes))
		return false;
	memcpy(codes, state->data, sizeof(*codes));
	return true;
}

void bz2_codes_forgive(struct bz2_codes *codes)
{
	habits_forgive(&codes->habits, codes->bit);
	evenness_forgive(&codes->evenness);
}

uint64_t bz2_codes_valid(const struct bz2_codes *codes)
{
	if (codes->evenness.is_foreign)
		return codes->evenness.foreign_from;
	return (habits_are_broken(&codes->habits, codes->bit) ? codes->habits.since : codes->bit) /
	       8;
}

/* ---- where they break off ------------------------------------------------------------------ */

#define TAIL_MAX 8 /* bytes that the symbol has in which the break is */

struct bz2_break {
	struct bz2_codes codes;
	struct block_tables block;
	struct code_tail tail;
};

/* Reads the block's tables again, and the bytes of the symbol that is cut. */
static bool read_break(struct view *view, struct bz2_break *broken)
{
	struct reader reader = { .view = view };

	return view_size(view) - broken->codes.bit / 8 <= TAIL_MAX &&
	       begin_block(&reader, &broken->codes, &broken->block) == CODES_FOREIGN &&
	       code_tail_read(&broken->tail, view, broken->codes.bit);
}

struct bz2_break *bz2_break_new(struct view *view, struct bz2_codes *codes)
{
	struct bz2_break *broken;

	codes->is_own = true;
	codes->stop = 0;
	if (bz2_codes_walk(view, codes) != CODES_CUT || !codes->block ||
		codes->habits.symbols < CODE_TAIL_KNOWN)
		return NULL;
	broken = calloc(1, sizeof(*broken));
	if (!broken) {
		view_no_memory(view);
		return NULL;
	}
	broken->codes = *codes;
	if (read_break(view, broken))
		return broken;
	bz2_break_free(broken);
	return NULL;
}

void bz2_break_free(void *broken)
{
	free(broken);
}

/* Whether the symbols are likely the file's own. */
static bool decode_symbols(const void *asked, const uint8_t *bytes, size_t len,
	struct habits_trial *trial, uint32_t *symbols)
{
	const struct bz2_break *broken = asked;
	const struct block_tables *block = &broken->block;
	uint32_t group = broken->codes.group, in_group = broken->codes.in_group;
	uint32_t run = broken->codes.run;
	uint8_t context = broken->codes.context, before = broken->codes.before;
	struct reader reader = { .window = bytes, .window_len = len };

	take(&reader, (int)broken->tail.bit);
	for (;; ++*symbols) {
		const struct table *table;
		uint32_t symbol;
		unsigned class;

		if (in_group == GROUP_LEN) {
			in_group = 0;
			group++;
		}
		if (group >= block->group_count)
			return false;
		in_group++;
		table = &block->tables[block->groups[group]];
		symbol = take_symbol(&reader, table);
		if (symbol == UINT32_MAX)
			return reader.lacks && habits_trial_bits(trial) >= CODE_TAIL_LIKELY_BITS;
		class = class_of(symbol, block->symbol_count);
		if (class == CLASS_END) {
			habits_trial_trust(trial, CODE_TAIL_LIKELY_BITS);
			return group + 1 + SPARE_GROUPS >= block->group_count;
		}
		habits_trial_add(trial, context_of(context, before), class, &table->shares);
		remember(&context, &before, class);
		run = symbol < 2 ? run + 1 : 0;
		if (run > RUN_MAX)
			return false;
		if (!habits_trial_may_be_own(trial, reader.at))
			return false;
	}
}

unsigned bz2_break_ask(const void *context, const uint8_t *bytes, size_t len, uint64_t *work)
{
	const struct bz2_break *broken = context;

	return code_tail_ask(&broken->tail, &broken->codes.evenness, &broken->codes.habits,
		decode_symbols, broken, bytes, len, work);
}
