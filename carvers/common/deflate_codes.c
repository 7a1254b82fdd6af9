#include "deflate_codes.h"

#include <stdlib.h>
#include <string.h>

#include "code_tail.h"
#include "prefix_code.h"
#include "walk.h"

#define END_OF_BLOCK 256
#define LITERALS 286
#define DISTANCES 30
#define WINDOW 32768
#define SAVE_EVERY 512      /* bytes */
#define CODE_WORK 6         /* units, for a byte of codes */
#define FOLLOWED_LONG 24576 /* bytes */
#define CHANGED_BITS 64
#define CHANGED_LEN 2048
#define BLOCK_TRUST_BITS 16 /* a block's code lengths are seldom valid in other data */

/* What would have been a repetition, or a longer one. */
#define REPEATS 4
#define REPEAT_BITS 4
#define LONGEST 285

/* Classes of symbols. */
enum {
	CLASS_PUNCTUATION = 11,
	CLASS_OTHER = 12,
	CLASS_SHORT = 13, /* repetitions, those of 3 to 5 bytes */
	CLASS_LONG = 14,
	CLASS_END = 15,
};

struct reader {
	struct view *view; /* NULL: window has all bytes */
	struct lsb_bits bits;
	uint64_t from, at; /* bytes: where it began, and the next to be pushed */
	bool is_close; /* little is looked at ahead: how far the view was looked at shows where codes end */
	const uint8_t *window;
	uint64_t window_at;
	size_t window_len;
	uint32_t lacking;            /* bits that were taken after the view's end */
	uint8_t ring[EVENNESS_RING]; /* the last bytes that were pushed */
};

struct block_codes {
	struct prefix_code literals, distances;
	uint8_t classes[LITERALS + 2];
	uint8_t lens[LITERALS + 2];
	struct habits_shares shares;
	bool one_distance; /* its code is a zero */
	bool no_distance;
	uint16_t distance;
};

/* ---- bits ---------------------------------------------------------------------------------- */

static bool next_window(struct reader *reader)
{
	if (!reader->view)
		return false;
	reader->window_at = reader->at;
	reader->window = walk_stream(reader->view, reader->at, view_size(reader->view),
		reader->is_close ? 0 : reader->at - reader->from, &reader->window_len);
	if (!reader->window)
		reader->window_len = 0;
	return reader->window != NULL;
}

/* Makes 32 bits or more known, as far as the view has them. */
static void fill(struct reader *reader)
{
	while (reader->bits.count <= 48) {
		uint64_t in = reader->at - reader->window_at;

		if (in >= reader->window_len) {
			if (!next_window(reader))
				return;
			in = 0;
		}
		lsb_push(&reader->bits, reader->window[in]);
		reader->ring[reader->at++ % EVENNESS_RING] = reader->window[in];
	}
}

static uint32_t take(struct reader *reader, uint32_t n)
{
	uint32_t value;

	if (reader->bits.count < n)
		fill(reader);
	if (reader->bits.count < n) {
		reader->lacking += n;
		return 0;
	}
	value = lsb_peek(&reader->bits, n);
	lsb_skip(&reader->bits, n);
	return value;
}

static uint32_t take_code(struct reader *reader, const struct prefix_code *code)
{
	uint32_t len, symbol;

	if (reader->bits.count < PREFIX_CODE_LEN_MAX)
		fill(reader);
	symbol = prefix_code_find(code, &reader->bits, &len);
	if (len > reader->bits.count) {
		reader->lacking += len;
		return 0;
	}
	lsb_skip(&reader->bits, len);
	return symbol;
}

static uint64_t position(const struct reader *reader)
{
	return reader->at * 8 - reader->bits.count;
}

static void seek(struct reader *reader, uint64_t bit)
{
	reader->bits = (struct lsb_bits){ 0 };
	reader->from = reader->at = bit / 8;
	take(reader, bit % 8);
}

/* ---- tables -------------------------------------------------------------------------------- */

static uint8_t class_of(uint32_t symbol)
{
	if (symbol >= END_OF_BLOCK)
		return symbol == END_OF_BLOCK ? CLASS_END : symbol < 260 ? CLASS_SHORT : CLASS_LONG;
	if (symbol >= 'a' && symbol <= 'z') {
		static const char vowels[] = "aeiouy", common[] = "tnrsl";

		for (const char *c = vowels; *c; c++)
			if ((uint32_t)*c == symbol)
				return 0;
		for (const char *c = common; *c; c++)
			if ((uint32_t)*c == symbol)
				return 1;
		return 2;
	}
	if (symbol >= 'A' && symbol <= 'Z')
		return 3;
	if (symbol >= '0' && symbol <= '9')
		return 4;
	switch (symbol) {
	case ' ':
	case '\t':
		return 5;
	case '\n':
	case '\r':
		return 6;
	case 0:
		return 7;
	case '.':
	case ',':
	case ';':
	case ':':
	case '-':
	case '_':
	case '/':
		return CLASS_PUNCTUATION;
	}
	return symbol < 32 ? 8 : symbol >= 192 ? 9 : symbol >= 128 ? 10 : CLASS_OTHER;
}

static void free_codes(struct block_codes *codes)
{
	prefix_code_free(&codes->literals);
	prefix_code_free(&codes->distances);
}

static bool build(struct reader *reader, struct block_codes *codes, const uint8_t *lens,
	uint32_t literal_count, uint32_t distance_count)
{
	uint32_t distances = 0;

	for (uint32_t i = 0; i < distance_count; i++)
		if (lens[literal_count + i]) {
			distances++;
			codes->distance = (uint16_t)i;
		}
	codes->no_distance = !distances;
	codes->one_distance = distances == 1;
	for (uint32_t i = 0; i < literal_count; i++) {
		codes->lens[i] = lens[i];
		codes->classes[i] = class_of(i);
		if (lens[i])
			habits_add_code(&codes->shares, codes->classes[i], lens[i]);
	}
	return lens[END_OF_BLOCK] &&
	       prefix_code_build(reader->view, &codes->literals, lens, literal_count) &&
	       !codes->literals.single &&
	       (distances < 2 || prefix_code_build(reader->view, &codes->distances,
					 lens + literal_count, distance_count));
}

static bool build_fixed(struct reader *reader, struct block_codes *codes)
{
	uint8_t lens[LITERALS + 2 + DISTANCES + 2];

	for (uint32_t i = 0; i < LITERALS + 2; i++)
		lens[i] = i < 144 ? 8 : i < 256 ? 9 : i < 280 ? 7 : 8;
	for (uint32_t i = 0; i < DISTANCES + 2; i++)
		lens[LITERALS + 2 + i] = 5;
	return build(reader, codes, lens, LITERALS + 2, DISTANCES + 2);
}

/* Reads the lengths of the codes, which are coded themselves. */
static bool read_lens(
	struct reader *reader, const struct prefix_code *code, uint8_t *lens, uint32_t count)
{
	for (uint32_t i = 0; i < count;) {
		uint32_t symbol = take_code(reader, code), repeat = 1;
		uint8_t len = 0;

		if (reader->lacking)
			return false;
		if (symbol < 16)
			len = (uint8_t)symbol;
		else if (symbol == 16 && i) {
			len = lens[i - 1];
			repeat = 3 + take(reader, 2);
		} else if (symbol == 17)
			repeat = 3 + take(reader, 3);
		else if (symbol == 18)
			repeat = 11 + take(reader, 7);
		else
			return false;
		if (repeat > count - i)
			return false;
		while (repeat--)
			lens[i++] = len;
	}
	return true;
}

static bool build_dynamic(struct reader *reader, struct block_codes *codes)
{
	static const uint8_t order[19] = { 16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2,
		14, 1, 15 };
	uint32_t literal_count = take(reader, 5) + 257, distance_count = take(reader, 5) + 1;
	uint32_t count = take(reader, 4) + 4;
	uint8_t lens[LITERALS + DISTANCES] = { 0 }, own[19] = { 0 };
	struct prefix_code code = { 0 };
	bool good;

	if (literal_count > LITERALS || distance_count > DISTANCES)
		return false;
	for (uint32_t i = 0; i < count; i++)
		own[order[i]] = (uint8_t)take(reader, 3);
	good = !reader->lacking && prefix_code_build(reader->view, &code, own, 19) &&
	       read_lens(reader, &code, lens, literal_count + distance_count) &&
	       build(reader, codes, lens, literal_count, distance_count);
	prefix_code_free(&code);
	return good;
}

/* ---- blocks -------------------------------------------------------------------------------- */

static enum codes_state failed(const struct reader *reader)
{
	return reader->lacking ? CODES_CUT : CODES_BAD;
}

/* Takes a repetition's length and distance. False: the distance is invalid. */
static bool take_repetition(struct reader *reader, const struct block_codes *table,
	struct deflate_past *past, uint32_t symbol)
{
	static const uint8_t extra[29] = { 0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3,
		3, 4, 4, 4, 4, 5, 5, 5, 5, 0 };
	static const uint16_t least[29] = { 3, 4, 5, 6, 7, 8, 9, 10, 11, 13, 15, 17, 19, 23, 27, 31,
		35, 43, 51, 59, 67, 83, 99, 115, 131, 163, 195, 227, 258 };
	uint32_t i = symbol - END_OF_BLOCK - 1, len, code, bits;
	uint64_t distance;

	if (i >= 29 || table->no_distance)
		return false;
	len = least[i] + take(reader, extra[i]);
	if (table->one_distance) {
		code = table->distance;
		if (take(reader, 1))
			return false;
	} else {
		code = take_code(reader, &table->distances);
	}
	if (code >= DISTANCES)
		return false;
	if (code != past->last_distance || symbol == LONGEST)
		past->repeats = 0;
	past->last_distance = (uint16_t)code;
	bits = code < 4 ? 0 : code / 2 - 1;
	distance = (code < 4 ? code : (2u + (code & 1)) << bits) + take(reader, bits) + 1;
	if (reader->lacking)
		return true;
	if (distance > past->output_len)
		return false;
	past->output_len += len;
	return true;
}

/* What came before: the last symbol's class, and roughly that of the one before it. */
static unsigned context_of(const struct deflate_past *past)
{
	return past->context * 4u + past->before;
}

static void remember(struct deflate_past *past, uint8_t class)
{
	uint8_t last = past->context;

	past->before = last >= CLASS_SHORT ? 3 : last <= 3 ? 0 : last == 4 ? 1 : 2;
	past->context = class;
}

_Static_assert(sizeof(struct deflate_codes) <= CARVE_STATE_MAX, "a state");

void codes_save(struct view *view, uint64_t bit, const void *codes, size_t len)
{
	struct carve_state state = { .offset = (bit + 7) / 8, .len = len, .data = codes };

	view_save(view, &state);
}

/* What follows a state is doubted again. */
static void save(struct view *view, const struct deflate_codes *codes)
{
	struct deflate_codes copy;

	if (!codes->is_own) {
		codes_save(view, codes->bit, codes, sizeof(*codes));
		return;
	}
	copy = *codes;
	copy.is_own = false;
	habits_forgive(&copy.habits, copy.bit);
	evenness_forgive(&copy.evenness);
	codes_save(view, copy.bit, &copy, sizeof(copy));
}

bool deflate_codes_load(struct deflate_codes *codes, const struct carve_state *state)
{
	if (state->len != sizeof(*codes))
		return false;
	memcpy(codes, state->data, sizeof(*codes));
	return true;
}

/* The codes of a block. */
static enum codes_state walk_block(
	struct reader *reader, const struct block_codes *table, struct deflate_codes *codes)
{
	struct deflate_past *past = &codes->past;
	uint64_t saved = codes->bit / 8;

	for (;;) {
		struct deflate_past before = *past;
		uint32_t symbol = take_code(reader, &table->literals);

		if (reader->lacking)
			return CODES_CUT;
		habits_add(&codes->habits, context_of(past), table->classes[symbol], &table->shares,
			codes->bit);
		if (habits_are_lost(&codes->habits, codes->bit) && !codes->is_own)
			return CODES_FOREIGN;
		remember(past, table->classes[symbol]);
		past->repeats = symbol == past->last ? past->repeats + 1 : 0;
		past->last = (uint16_t)symbol;
		if (symbol < END_OF_BLOCK)
			past->output_len++;
		else if (symbol > END_OF_BLOCK && !take_repetition(reader, table, past, symbol))
			return failed(reader);
		if (reader->lacking) {
			*past = before;
			return CODES_CUT;
		}
		if (past->repeats >= REPEATS)
			habits_distrust(&codes->habits, REPEAT_BITS);
		codes->bit = position(reader);
		evenness_add(&codes->evenness, reader->ring, codes->bit / 8);
		if (codes->evenness.is_foreign && !codes->is_own)
			return CODES_FOREIGN;
		if (symbol == END_OF_BLOCK)
			return CODES_END;
		if (codes->stop && codes->bit >= codes->stop)
			return CODES_CUT;
		if (codes->bit / 8 - saved < SAVE_EVERY)
			continue;
		if (!view_work(reader->view, (codes->bit / 8 - saved) * CODE_WORK))
			return CODES_CUT;
		saved = codes->bit / 8;
		habits_learn(&codes->habits);
		if (view_wants_states(reader->view))
			save(reader->view, codes);
	}
}

/* Bytes as they are. */
static enum codes_state skip_stored(struct reader *reader, struct deflate_codes *codes)
{
	uint32_t len, inverse;

	take(reader, (uint32_t)(-position(reader) & 7));
	len = take(reader, 16);
	inverse = take(reader, 16);
	if (reader->lacking || len != (inverse ^ 0xffff))
		return failed(reader);
	codes->bit = position(reader) + (uint64_t)len * 8;
	codes->past.output_len += len;
	habits_trust(&codes->habits, BLOCK_TRUST_BITS);
	if (codes->bit / 8 > view_size(reader->view))
		return CODES_CUT;
	seek(reader, codes->bit);
	evenness_skip(&codes->evenness, codes->bit / 8);
	return CODES_END;
}

/* Begins the next block, or goes on in one. */
static bool begin_block(
	struct reader *reader, struct deflate_codes *codes, struct block_codes *table)
{
	bool is_new = !codes->block;
	uint64_t bit = codes->bit;

	if (is_new) {
		codes->is_last = take(reader, 1);
		codes->kind = (uint8_t)take(reader, 2);
		if (codes->kind == 0 || reader->lacking)
			return true;
		codes->block = position(reader);
	} else {
		seek(reader, codes->block);
	}
	if (codes->kind == 3 ||
		!(codes->kind == 1 ? build_fixed(reader, table) : build_dynamic(reader, table)))
		return false;
	if (!is_new)
		seek(reader, bit);
	else if (codes->kind == 2)
		habits_trust(&codes->habits, BLOCK_TRUST_BITS);
	return true;
}

enum codes_state deflate_codes_walk(struct view *view, struct deflate_codes *codes)
{
	struct reader reader = { .view = view, .from = codes->bit / 8, .is_close = codes->is_own };
	enum codes_state state = CODES_END;

	seek(&reader, codes->bit);
	while (!codes->ended && state == CODES_END) {
		struct block_codes table = { 0 };

		if (!begin_block(&reader, codes, &table))
			state = failed(&reader);
		else if (reader.lacking)
			state = CODES_CUT;
		else if (!codes->kind)
			state = skip_stored(&reader, codes);
		else
			state = walk_block(&reader, &table, codes);
		free_codes(&table);
		if (state == CODES_END) {
			codes->block = 0;
			codes->bit = position(&reader);
			codes->ended = codes->is_last;
		}
		if (!view_work(view, SAVE_EVERY / 8))
			return CODES_CUT;
	}
	return state == CODES_END && habits_are_broken(&codes->habits, codes->bit) && !codes->is_own
		       ? CODES_FOREIGN
		       : state;
}

/* Up to where the codes are the file's own as far as was walked since they were restarted. */
static uint64_t valid_now(const struct deflate_codes *codes)
{
	if (codes->evenness.is_foreign)
		return codes->evenness.foreign_from;
	return (habits_are_broken(&codes->habits, codes->bit) ? codes->habits.since : codes->bit) /
	       8;
}

/* Whether the habits since then are those of a file's own content: other data has none, or not for long. */
static bool has_changed(const struct deflate_codes *codes)
{
	return codes->habits.gain >= CHANGED_BITS * HABITS_BIT &&
	       valid_now(codes) >= codes->restarted + CHANGED_LEN;
}

bool deflate_codes_restart(struct deflate_codes *codes)
{
	if (codes->evenness.is_foreign || (codes->restarted && !has_changed(codes)))
		return false;
	codes->valid = valid_now(codes);
	codes->restarted = codes->bit / 8;
	codes->habits = (struct habits){ .since = codes->bit };
	return true;
}

uint64_t deflate_codes_valid(const struct deflate_codes *codes)
{
	return codes->restarted && !has_changed(codes) ? codes->valid : valid_now(codes);
}

bool deflate_codes_are_sure(const struct deflate_codes *codes, uint64_t offset)
{
	uint64_t valid = deflate_codes_valid(codes);

	return valid >= offset && valid - offset < FOLLOWED_LONG;
}

/* ---- where they break off ------------------------------------------------------------------ */

struct deflate_break {
	struct deflate_codes codes;
	struct block_codes table;
	struct code_tail tail;
};

struct deflate_break *deflate_break_new(struct view *view, struct deflate_codes *codes)
{
	struct reader reader = { .view = view };
	struct deflate_break *broken;

	codes->is_own = true;
	codes->stop = 0;
	if (deflate_codes_walk(view, codes) != CODES_CUT || !codes->block ||
		codes->habits.symbols < CODE_TAIL_KNOWN)
		return NULL;
	if (view_size(view) - codes->bit / 8 > CODE_TAIL_MAX)
		return NULL;
	broken = calloc(1, sizeof(*broken));
	if (!broken) {
		view_no_memory(view);
		return NULL;
	}
	broken->codes = *codes;
	if (code_tail_read(&broken->tail, view, codes->bit) &&
		begin_block(&reader, &broken->codes, &broken->table) && !reader.lacking)
		return broken;
	deflate_break_free(broken);
	return NULL;
}

void deflate_break_free(void *broken)
{
	if (broken)
		free_codes(&((struct deflate_break *)broken)->table);
	free(broken);
}

/* Whether a block can begin there whose codes' lengths have a complete code. */
static bool can_begin_block(struct reader *reader)
{
	uint32_t kind, literals, distances, count, room = 0;

	take(reader, 1);
	kind = take(reader, 2);
	if (kind != 2)
		return reader->lacking;
	literals = take(reader, 5) + 257;
	distances = take(reader, 5) + 1;
	count = take(reader, 4) + 4;
	for (uint32_t i = 0; i < count; i++) {
		uint32_t len = take(reader, 3);

		room += len ? 128u >> len : 0;
	}
	return reader->lacking || (literals <= LITERALS && distances <= DISTANCES && room == 128);
}

/* The symbols up to a block's end. False: they are not likely the file's own. */
static bool decode_symbols(const void *context, const uint8_t *bytes, size_t len,
	struct habits_trial *trial, uint32_t *symbols)
{
	const struct deflate_break *broken = context;
	const struct block_codes *table = &broken->table;
	struct deflate_past past = broken->codes.past;
	struct reader reader = { .window = bytes, .window_len = len };

	take(&reader, broken->tail.bit);
	for (;; ++*symbols) {
		uint32_t symbol = take_code(&reader, &table->literals);
		uint8_t class;

		if (reader.lacking)
			break;
		if (symbol == END_OF_BLOCK) {
			if (!broken->codes.is_last && !can_begin_block(&reader))
				return false;
			habits_trial_trust(trial, CODE_TAIL_LIKELY_BITS);
			return true;
		}
		class = table->classes[symbol];
		habits_trial_add(trial, context_of(&past), class, &table->shares);
		remember(&past, class);
		past.repeats = symbol == past.last ? past.repeats + 1 : 0;
		past.last = (uint16_t)symbol;
		if (symbol < END_OF_BLOCK)
			past.output_len++;
		else if (!take_repetition(&reader, table, &past, symbol))
			return false;
		if (past.repeats >= REPEATS)
			trial->gain -= REPEAT_BITS * HABITS_BIT;
		if (!habits_trial_may_be_own(trial, reader.at))
			return false;
	}
	return habits_trial_bits(trial) >= CODE_TAIL_LIKELY_BITS;
}

unsigned deflate_break_ask(const void *context, const uint8_t *bytes, size_t len, uint64_t *work)
{
	const struct deflate_break *broken = context;

	return code_tail_ask(&broken->tail, &broken->codes.evenness, &broken->codes.habits,
		decode_symbols, broken, bytes, len, work);
}
