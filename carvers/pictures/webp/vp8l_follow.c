/*
 * Follows the symbols of a lossless image, and notices where they are no longer its own.
 *
 * Any bits are some symbols, which come as often as their codes say. But an image's own symbols depend on those before: where
 * the pixels beside one are unlike what predicts them, it is, too; red and blue follow green, and copies copies. That
 * is learnt in classes of symbols, one decision after another (odds.h). No pixel is needed for that, so it goes on from any symbol
 * with a few kilobytes of state.
 */
#include "vp8l_follow.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "evenness.h"
#include "odds.h"
#include "vp8l_image.h"
#include "vp8l_seam.h"

#define SIZES 8             /* classes of a literal */
#define SYMBOLS (2 + SIZES) /* of green: a copy, one from the cache, literals */
#define LENGTHS 6           /* classes of lengths */
#define DISTANCES 8         /* and of distances */
#define KINDS 27            /* contexts by what is beside: copies, the cache or literals */
#define BESIDE 9            /* classes of what is on one side: unknown, or a literal's */
#define LEVELS 4            /* of red and blue beside */
#define FOLLOWED_MAX 7168   /* pixels in a row */
#define STATE_LEN 1024      /* bytes between states */
#define BEFORE_MAX 32       /* bytes of a symbol that the view ends in */
#define FOLLOW_WORK 16      /* units (view_work) for a symbol */
#define COPIED_STEP 65536   /* pixels after which they are counted as work, a unit each */
#define WHOLE_BITS 15       /* of a code's shares */
#define VISITS (48u << 20)  /* symbols at most: a hostile image has symbols without bits */
#define MARKS 8192
#define MARK_LEN 64  /* bytes between marks, at first */
#define HEAD_MAX 40  /* bits that are declared for the codes' description */
#define END_BITS 2   /* other orders of an image's own clusters end so once in six times at most */
#define GAP_LEN 2048 /* bytes */
#define GAP_SHARE 8  /* of what as many bytes usually gain */
#define TELLING_BITS 12  /* in 1,024 bytes */
#define LIKELY_BITS 4    /* that speak for a cluster that goes on, at least, */
#define LIKELY_SHARE 4   /* or that part of what as many bytes usually gain */
#define UNLIKELY_BITS 10 /* that speak against it */
#define SURE_LIKELY 64   /* as many as suffice */

/* What is kept of a pixel. */
enum {
	PIXEL_CLASS = 15, /* 0: unknown; else 1 + that of green, or of the cache: */
	PIXEL_CACHE = SIZES + 1,
	PIXEL_COPIED = 16,
	PIXEL_LEVEL = 32, /* times that of red and blue */
};

/* How much of a group's codes each class is. */
struct shares {
	uint16_t green[SYMBOLS], red[SIZES], blue[SIZES], lengths[LENGTHS], distances[DISTANCES];
};

struct contexts {
	struct odds kinds[2 * KINDS];
	struct odds green[SIZES * BESIDE * BESIDE];
	struct odds red[SIZES * SIZES * LEVELS], blue[SIZES * SIZES * LEVELS];
	struct odds lengths[LENGTHS * LENGTHS], distances[DISTANCES * DISTANCES];
};

/* What is known before a symbol: plain data, a state's. */
struct past {
	uint64_t frame; /* where the image begins */
	uint64_t bit;   /* of the next symbol, from the view's start */
	uint64_t pixel; /* the next one's number */
	struct odds_sum sum;
	struct evenness evenness;
	uint8_t length, distance; /* classes of the last copy's */
	struct contexts contexts;
	uint8_t row[FOLLOWED_MAX]; /* the pixel of each column that came last */
};

_Static_assert(sizeof(struct past) <= CARVE_STATE_MAX, "a state has it");

/* What was known before a symbol. */
struct mark {
	uint64_t at; /* the byte in which it begins */
	int64_t gain;
};

struct follower {
	struct vp8l_bits bits;
	struct vp8l_image image;
	struct shares *shares; /* of each group */
	uint8_t classes[VP8L_LITERALS];
	uint64_t data;             /* the byte in which the symbols begin */
	uint64_t commands, copied; /* symbols, and pixels that they copied */
	struct mark *marks;        /* for a thorough check; else NULL */
	size_t mark_count;
	uint64_t mark_len;
	struct past past;
};

/* ---- classes ------------------------------------------------------------------------------- */

static uint8_t size_class(uint32_t value)
{
	static const uint8_t firsts[SIZES] = { 0, 1, 2, 3, 5, 9, 17, 33 };
	uint32_t size = value < 128 ? value : 256 - value;
	uint8_t class = 0;

	while (class + 1 < SIZES && size >= firsts[class + 1])
		class ++;
	return class;
}

static uint8_t length_class(uint32_t prefix)
{
	return (uint8_t)(prefix / 4 < LENGTHS ? prefix / 4 : LENGTHS - 1);
}

static uint8_t distance_class(uint32_t prefix)
{
	uint32_t class = prefix < 2 ? prefix : prefix < 4 ? 2 : prefix / 4 + 2;

	return (uint8_t)(class < DISTANCES ? class : DISTANCES - 1);
}

static uint8_t symbol_class(const struct follower *f, uint32_t symbol)
{
	if (symbol >= VP8L_LITERALS + VP8L_LENGTHS)
		return 1;
	return symbol >= VP8L_LITERALS ? 0 : (uint8_t)(2 + f->classes[symbol]);
}

/* Calls add for each symbol of a code, with the share of it. */
static void add_shares(const struct follower *f, const struct prefix_code *code,
	uint8_t (*class_of)(const struct follower *f, uint32_t symbol), uint16_t *shares)
{
	uint32_t number = 0;

	if (code->single) {
		uint8_t class = class_of(f, code->only);

		if (class != UINT8_MAX)
			shares[class] = 1u << WHOLE_BITS;
		return;
	}
	for (uint32_t len = 1; len <= WHOLE_BITS; len++)
		for (uint32_t i = 0; i < code->counts[len]; i++) {
			uint8_t class = class_of(f, code->symbols[number++]);

			if (class != UINT8_MAX)
				shares[class] =
					(uint16_t)(shares[class] + (1u << (WHOLE_BITS - len)));
		}
}

static uint8_t colour_class(const struct follower *f, uint32_t symbol)
{
	(void)f;
	return size_class(symbol);
}

static uint8_t copy_class(const struct follower *f, uint32_t symbol)
{
	(void)f;
	return symbol < VP8L_LITERALS || symbol >= VP8L_LITERALS + VP8L_LENGTHS
		       ? UINT8_MAX
		       : length_class(symbol - VP8L_LITERALS);
}

static uint8_t far_class(const struct follower *f, uint32_t symbol)
{
	(void)f;
	return distance_class(symbol);
}

/* Numbers of colours have no size: the commonest ones have classes of their own. */
static void find_classes(struct follower *f)
{
	const struct prefix_code *code = &f->image.codes[0];
	uint32_t number = 0, next = 0;

	for (uint32_t i = 0; i < VP8L_LITERALS; i++)
		f->classes[i] = f->image.is_indexed ? SIZES - 1 : size_class(i);
	if (!f->image.is_indexed || code->single)
		return;
	for (uint32_t len = 1; len <= WHOLE_BITS; len++)
		for (uint32_t i = 0; i < code->counts[len]; i++) {
			uint16_t symbol = code->symbols[number++];

			if (symbol < VP8L_LITERALS && next + 1 < SIZES)
				f->classes[symbol] = (uint8_t)next++;
		}
}

static bool find_shares(struct follower *f)
{
	f->shares = calloc(f->image.group_count, sizeof(*f->shares));
	if (!f->shares) {
		view_no_memory(f->bits.view);
		return false;
	}
	find_classes(f);
	for (uint32_t i = 0; i < f->image.group_count; i++) {
		const struct prefix_code *codes = &f->image.codes[(size_t)i * VP8L_CODES];

		add_shares(f, &codes[0], symbol_class, f->shares[i].green);
		add_shares(f, &codes[0], copy_class, f->shares[i].lengths);
		add_shares(f, &codes[1], colour_class, f->shares[i].red);
		add_shares(f, &codes[2], colour_class, f->shares[i].blue);
		add_shares(f, &codes[4], far_class, f->shares[i].distances);
	}
	return true;
}

/* ---- one symbol ---------------------------------------------------------------------------- */

/* A table of contexts for each decision. */
struct table {
	struct odds *items;
	uint32_t width, context;
};

/* Learns which of `count` classes came, from the decision `first` on. */
static void follow_class(struct follower *f, const struct table *table, const uint16_t *shares,
	uint32_t first, uint32_t count, uint32_t class)
{
	uint32_t rest = 0, n = 0;
	int32_t gain;

	for (uint32_t i = first; i < count; i++)
		rest += shares[i];
	for (uint32_t i = first; i < count; i++, n++) {
		if (!shares[i])
			continue;
		if (rest <= shares[i])
			return;
		gain = odds_learn(&table->items[n * table->width + table->context], shares[i], rest,
			class != i);
		odds_sum_add(&f->past.sum, gain, f->past.bit / 8);
		if (class == i)
			return;
		rest -= shares[i];
	}
}

static uint32_t kind_of(uint8_t pixel)
{
	return pixel & PIXEL_COPIED ? 0 : (pixel & PIXEL_CLASS) == PIXEL_CACHE ? 1 : 2;
}

/* 0: it has none. */
static uint32_t class_beside(uint8_t pixel)
{
	uint32_t class = pixel & PIXEL_CLASS;

	return class < PIXEL_CACHE ? class : 0;
}

/* What is beside the next pixel. */
struct beside {
	uint8_t left, above, right;
};

static void follow_green(struct follower *f, const struct shares *shares,
	const struct beside *beside, uint32_t class)
{
	uint32_t left = class_beside(beside->left), above = class_beside(beside->above),
		 right = class_beside(beside->right);
	uint32_t kinds =
		(kind_of(beside->left) * 3 + kind_of(beside->above)) * 3 + kind_of(beside->right);
	struct table table = { f->past.contexts.kinds, KINDS, kinds };
	uint16_t all[3] = { shares->green[0], shares->green[1], 0 };

	for (uint32_t i = 2; i < SYMBOLS; i++)
		all[2] = (uint16_t)(all[2] + shares->green[i]);
	follow_class(f, &table, all, 0, 3, class < 2 ? class : 2);
	if (class < 2)
		return;
	if (above && right)
		above = (above + right + 1) / 2;
	else
		above += right;
	table = (struct table){ f->past.contexts.green, BESIDE * BESIDE, left * BESIDE + above };
	follow_class(f, &table, shares->green, 2, SYMBOLS, class);
}

static uint32_t level_of(uint8_t pixel)
{
	return pixel / PIXEL_LEVEL;
}

/* Red and blue; returns their level. */
static uint32_t follow_colours(struct follower *f, const struct shares *shares,
	const struct beside *beside, uint32_t green, const uint32_t colours[2])
{
	uint32_t red = size_class(colours[0]), blue = size_class(colours[1]);
	uint32_t level = (level_of(beside->left) + level_of(beside->above) + 1) / 2;
	uint32_t most = red > blue ? red : blue;
	struct table table = { f->past.contexts.red, SIZES * LEVELS, green * LEVELS + level };

	follow_class(f, &table, shares->red, 0, SIZES, red);
	table = (struct table){ f->past.contexts.blue, SIZES * LEVELS, red * LEVELS + level };
	follow_class(f, &table, shares->blue, 0, SIZES, blue);
	return most / 2;
}

static void add_pixel(struct follower *f, uint8_t pixel)
{
	f->past.row[f->past.pixel++ % f->image.width] = pixel;
}

/* A copy of earlier pixels: prefixes of how many, and from how far. */
struct copy {
	uint32_t length_prefix, len, distance_prefix;
	uint64_t distance;
};

/* False: there are not that many. */
static bool follow_copy(struct follower *f, const struct shares *shares, const struct copy *copy)
{
	uint64_t left = (uint64_t)f->image.width * f->image.height - f->past.pixel;
	uint32_t width = f->image.width;
	struct table table;

	if (copy->distance > f->past.pixel || copy->len > left)
		return false;
	table = (struct table){ f->past.contexts.lengths, LENGTHS, f->past.length };
	f->past.length = length_class(copy->length_prefix);
	follow_class(f, &table, shares->lengths, 0, LENGTHS, f->past.length);
	table = (struct table){ f->past.contexts.distances, DISTANCES, f->past.distance };
	f->past.distance = distance_class(copy->distance_prefix);
	follow_class(f, &table, shares->distances, 0, DISTANCES, f->past.distance);
	f->copied += copy->len;
	/* Of pixels of rows before nothing is kept. */
	for (uint32_t i = 0; i < copy->len; i++) {
		uint64_t from = f->past.pixel - copy->distance;

		add_pixel(
			f, PIXEL_COPIED | (copy->distance > width ? 0 : f->past.row[from % width]));
	}
	return true;
}

static uint64_t bit_of(const struct vp8l_bits *bits)
{
	return bits->at * 8 - bits->buffer.count;
}

/* Follows a symbol, and what belongs to it. False: it is invalid. Where the bits end, all is as before. */
static bool follow_symbol(struct follower *f)
{
	const uint32_t group = vp8l_group_at(&f->image, f->past.pixel);
	const struct prefix_code *codes = &f->image.codes[(size_t)group * VP8L_CODES];
	const struct shares *shares = &f->shares[group];
	uint32_t x = (uint32_t)(f->past.pixel % f->image.width), width = f->image.width;
	struct beside beside = { f->past.row[x ? x - 1 : width - 1], f->past.row[x],
		f->past.row[x + 1 < width ? x + 1 : 0] };
	uint32_t symbol = vp8l_decode(&f->bits, &codes[0]), colours[2], level, class;
	bool valid = true;

	f->commands++;
	if (f->bits.ended)
		return true;
	class = symbol_class(f, symbol);
	if (class == 0) {
		struct copy copy = { .length_prefix = symbol - VP8L_LITERALS };

		copy.len = vp8l_read_length(&f->bits, copy.length_prefix);
		copy.distance_prefix = vp8l_decode(&f->bits, &codes[4]);
		copy.distance = vp8l_read_distance(&f->bits, &f->image, copy.distance_prefix);
		if (f->bits.ended)
			return true;
		follow_green(f, shares, &beside, 0);
		valid = follow_copy(f, shares, &copy);
	} else if (class == 1) {
		follow_green(f, shares, &beside, 1);
		add_pixel(f, PIXEL_CACHE);
	} else {
		colours[0] = vp8l_decode(&f->bits, &codes[1]);
		colours[1] = vp8l_decode(&f->bits, &codes[2]);
		vp8l_decode(&f->bits, &codes[3]);
		if (f->bits.ended)
			return true;
		follow_green(f, shares, &beside, class);
		level = follow_colours(f, shares, &beside, class - 2, colours);
		add_pixel(f, (uint8_t)(class - 1 + level * PIXEL_LEVEL));
	}
	f->past.bit = bit_of(&f->bits);
	return valid;
}

/* ---- where it goes on ---------------------------------------------------------------------- */

static size_t past_len(const struct vp8l_image *image)
{
	return offsetof(struct past, row) + image->width;
}

/* Goes on with a bit. */
static void seek(struct follower *f, uint64_t bit)
{
	f->bits.at = bit / 8;
	f->bits.ended = false;
	f->bits.window_len = 0;
	f->bits.buffer = (struct lsb_bits){ 0 };
	vp8l_read(&f->bits, bit % 8);
}

/* Goes on from a state, or begins. */
static void start(struct follower *f, uint64_t frame, const struct carve_state *from)
{
	size_t len = past_len(&f->image);

	f->past.frame = frame;
	f->past.bit = bit_of(&f->bits);
	f->data = f->past.sum.since = f->past.bit / 8;
	evenness_skip(&f->past.evenness, f->data);
	if (!from || from->len != len || from->offset < f->data || from->offset > f->bits.end)
		return;
	if (memcmp(from->data, &frame, sizeof(frame)))
		return;
	memcpy(&f->past, from->data, len);
	seek(f, f->past.bit);
}

static void save(struct follower *f)
{
	struct carve_state state = {
		.offset = f->past.bit / 8, .len = past_len(&f->image), .data = &f->past
	};

	view_save(f->bits.view, &state);
}

/* Adds the bytes up to the next symbol to what is even. */
static void feed(struct follower *f)
{
	uint64_t from = f->past.evenness.fed, len = f->past.bit / 8 - from;
	const uint8_t *p = len ? view_peek(f->bits.view, from, (size_t)len) : NULL;

	if (p)
		evenness_feed(&f->past.evenness, p, (size_t)len);
	f->bits.window_len = 0;
}

static void add_mark(struct follower *f)
{
	if (f->mark_count == MARKS) {
		f->mark_count /= 2;
		for (size_t i = 0; i < f->mark_count; i++)
			f->marks[i] = f->marks[2 * i];
		f->mark_len *= 2;
	}
	f->marks[f->mark_count++] = (struct mark){ f->past.bit / 8, f->past.sum.gain };
}

/* Whether somewhere in it hardly anything speaks for the image, where usually much does: a cluster may be another's, though
 * it ends as it has to. */
static bool has_gap(const struct follower *f)
{
	const struct mark *first = f->marks, *end = first + f->mark_count;
	int64_t len = (int64_t)(f->past.bit / 8 - f->data) + 1;

	for (const struct mark *last = first; last < end; last++) {
		if (last->at < first->at + GAP_LEN)
			continue;
		if ((last->gain - first->gain) * GAP_SHARE <
			f->past.sum.gain / len * (int64_t)(last->at - first->at))
			return true;
		first++;
	}
	return false;
}

/* Declares what a whole image proves of its joints. False: *at has pixels that are another's. */
static bool prove(struct follower *f, const struct vp8l_place *place, uint64_t *at)
{
	struct view *view = f->bits.view;
	int64_t bits = f->past.sum.gain / ODDS_BIT;
	bool proves;

	add_mark(f);
	proves = !has_gap(f);
	if (proves)
		view_proved(view, f->past.frame, f->bits.end, END_BITS);
	if (proves && bits > 0)
		view_proved(view, f->past.frame, f->data + 1,
			(unsigned)(bits < HEAD_MAX ? bits : HEAD_MAX));
	return vp8l_pixels_agree(view, place, proves, at);
}

/* Whether it gains enough that others' data shows: an image of noise does not. */
static bool is_telling(const struct follower *f)
{
	uint64_t len = f->past.sum.since - f->data + 1;

	return (f->past.sum.gain + f->past.sum.doubt) / ODDS_BIT * 1024 >=
	       (int64_t)(len * TELLING_BITS);
}

static bool is_foreign_now(const struct follower *f)
{
	return f->past.evenness.is_foreign ||
	       (odds_sum_is_foreign(&f->past.sum, f->data) && is_telling(f));
}

/* Counts the work of the symbols since the last time, now and then. */
static bool count_work(struct follower *f)
{
	uint64_t copied = f->copied;

	if (f->commands % VP8L_COMMANDS_STEP && copied < COPIED_STEP)
		return true;
	f->copied = 0;
	return view_work(f->bits.view,
		copied + (f->commands % VP8L_COMMANDS_STEP ? 0 : VP8L_COMMANDS_STEP * FOLLOW_WORK));
}

/* Follows the image to its end, or its view's. is_cut: that comes first. */
static enum vp8l_state follow(struct follower *f, bool is_cut)
{
	uint64_t count = (uint64_t)f->image.width * f->image.height;
	struct view *view = f->bits.view;
	bool saves = view_wants_states(view), is_foreign = false, valid = true;

	while (f->past.pixel < count && valid) {
		uint64_t at = f->past.bit / 8;

		if (at >= f->past.evenness.fed + STATE_LEN) {
			feed(f);
			if (saves && !is_foreign)
				save(f);
		}
		if (f->marks &&
			(!f->mark_count || at >= f->marks[f->mark_count - 1].at + f->mark_len))
			add_mark(f);
		valid = follow_symbol(f);
		if (!count_work(f))
			return VP8L_CUT;
		if (f->bits.ended)
			break;
		if (f->commands > VISITS)
			return VP8L_UNKNOWN;
		if (!is_foreign && is_foreign_now(f)) {
			is_foreign = true;
			if (view_is_trial(view) || saves || is_cut)
				break;
		}
	}
	if (is_foreign && (f->past.pixel < count || is_cut))
		return VP8L_FOREIGN;
	if (!valid)
		return VP8L_BROKEN;
	if (f->bits.ended || is_cut)
		return VP8L_CUT;
	return vp8l_end(&f->bits);
}

/* How far the image is its own. */
static uint64_t valid_end(const struct follower *f, enum vp8l_state state)
{
	if (state == VP8L_FOREIGN && f->past.evenness.is_foreign)
		return f->past.evenness.foreign_from;
	if (state == VP8L_FOREIGN || (state == VP8L_BROKEN && f->past.sum.doubt))
		return f->past.sum.since;
	return f->past.bit / 8;
}

static void free_follower(struct follower *f)
{
	vp8l_image_free(&f->image);
	free(f->shares);
	free(f->marks);
	free(f);
}

/* Begins an image in the view, whose bytes end at `until`. NULL: *state is what is wrong with it; or it is not followed, as it is too wide
 * (VP8L_UNKNOWN), or out of memory (view_no_memory). *at is how far it came. */
static struct follower *new_follower(struct view *view, const struct vp8l_place *place,
	uint64_t until, const struct carve_state *from, enum vp8l_state *state, uint64_t *at)
{
	struct follower *f = calloc(1, sizeof(*f));

	*state = VP8L_CUT;
	if (!f) {
		view_no_memory(view);
		return NULL;
	}
	f->bits = (struct vp8l_bits){
		.view = view, .at = place->at, .end = until, .window_most = 2 * STATE_LEN
	};
	f->mark_len = MARK_LEN;
	if (!vp8l_read_head(&f->bits, &f->image, place->width, place->height))
		*state = f->bits.exhausted ? VP8L_UNKNOWN : f->bits.ended ? VP8L_CUT : VP8L_BROKEN;
	else if (f->image.width > FOLLOWED_MAX)
		*state = VP8L_UNKNOWN;
	else if (find_shares(f)) {
		start(f, place->at, from);
		return f;
	}
	*at = bit_of(&f->bits) / 8;
	free_follower(f);
	return NULL;
}

enum vp8l_state vp8l_follow(struct view *view, const struct vp8l_place *place,
	const struct carve_state *from, uint64_t *valid)
{
	uint64_t size = view_size(view), until = place->end < size ? place->end : size;
	enum vp8l_state state;
	struct follower *f;

	*valid = until;
	f = new_follower(view, place, until, from, &state, valid);

	if (!f)
		return state;
	if (view_thorough(view) && !from) {
		f->marks = calloc(MARKS, sizeof(*f->marks));
		if (!f->marks)
			view_no_memory(view);
	}
	state = follow(f, place->end > size);
	*valid = valid_end(f, state);
	if (state == VP8L_COMPLETE && f->marks && !prove(f, place, valid))
		state = VP8L_FOREIGN;
	free_follower(f);
	return state;
}

/* ---- what may follow ----------------------------------------------------------------------- */

struct vp8l_break {
	struct follower f; /* before the symbol in which the view ends */
	uint64_t left;     /* bytes of the image after the view */
	size_t before_len; /* bytes of it */
	uint8_t before[BEFORE_MAX];
};

void *vp8l_break_new(
	struct view *view, const struct vp8l_place *place, const struct carve_state *from)
{
	struct vp8l_break *b = calloc(1, sizeof(*b));
	uint64_t size = view_size(view), begin;
	enum vp8l_state state;
	struct follower *f = b ? new_follower(view, place, size, from, &state, &begin) : NULL;
	const uint8_t *p = NULL;

	if (!b)
		view_no_memory(view);
	if (f) {
		uint64_t count = (uint64_t)f->image.width * f->image.height;

		while (f->past.pixel < count && !f->bits.ended && follow_symbol(f)) {
			if (f->past.bit / 8 >= f->past.evenness.fed + STATE_LEN)
				feed(f);
			if (!count_work(f))
				break;
		}
		begin = f->past.bit / 8;
		b->before_len = (size_t)(size - begin);
		if (f->bits.ended && f->past.sum.learnt == ODDS_LEARNT && is_telling(f) &&
			size - begin <= BEFORE_MAX) {
			feed(f);
			p = view_peek(view, begin, b->before_len);
		}
	}
	if (p) {
		memcpy(b->before, p, b->before_len);
		b->f = *f;
		b->left = place->end - size;
		free(f);
		return b;
	}
	if (f)
		free_follower(f);
	free(b);
	return NULL;
}

unsigned vp8l_break_ask(const void *broken, const uint8_t *bytes, size_t len, uint64_t *work)
{
	const struct vp8l_break *b = broken;
	uint8_t window[BEFORE_MAX + CARVE_CODES_LEN];
	struct follower f;
	uint64_t count = (uint64_t)b->f.image.width * b->f.image.height, own;
	int64_t bits = 0, least;
	bool valid = true, ends;

	if (len > CARVE_CODES_LEN)
		len = CARVE_CODES_LEN;
	ends = b->left <= len;
	if (ends)
		len = (size_t)b->left;
	*work = len / 4;
	if (evenness_refuses(&b->f.past.evenness, bytes, len))
		return 0;
	f = b->f;
	memcpy(window, b->before, b->before_len);
	memcpy(window + b->before_len, bytes, len);
	f.commands = f.copied = 0;
	f.bits.at = f.bits.window_at = 0;
	f.bits.end = f.bits.window_len = b->before_len + len;
	f.bits.window = window;
	f.bits.buffer = (struct lsb_bits){ 0 };
	f.bits.ended = false;
	vp8l_read(&f.bits, f.past.bit % 8);
	while (f.past.pixel < count && valid && (bits < SURE_LIKELY || ends) &&
		bits > -UNLIKELY_BITS) {
		valid = follow_symbol(&f);
		if (f.bits.ended || f.commands > 8 * CARVE_CODES_LEN || f.copied > COPIED_STEP)
			break;
		bits = (f.past.sum.gain - b->f.past.sum.gain) / ODDS_BIT;
	}
	*work += f.commands * FOLLOW_WORK + f.copied;
	if (f.past.pixel == count) {
		bits = (bits < SURE_LIKELY ? bits : SURE_LIKELY) + UNLIKELY_BITS + LIKELY_BITS;
		return ends && bits > 0 && vp8l_end(&f.bits) == VP8L_COMPLETE ? (unsigned)bits : 0;
	}
	own = b->f.past.bit / 8 - b->f.data + 1;
	least = b->f.past.sum.gain / ODDS_BIT * (int64_t)(f.past.bit / 8) / (int64_t)own /
		LIKELY_SHARE;
	least = least > LIKELY_BITS ? least : LIKELY_BITS;
	return valid && !ends && bits >= least ? (unsigned)bits : 0;
}

void vp8l_break_free(void *broken)
{
	struct vp8l_break *b = broken;

	if (!b)
		return;
	vp8l_image_free(&b->f.image);
	free(b->f.shares);
	free(b);
}
