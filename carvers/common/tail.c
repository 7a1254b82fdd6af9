/*
 * Pixels that are stored as they are have no checksum and no code that could break; but each is
 * much like those before it, and what stands there instead when a file's end was overwritten is
 * not. So the bytes are foretold as a compressor would: models learn, byte by byte, how often which
 * value comes, which difference to the pixel on the left, and which to the row above; and which
 * difference each byte of a pixel has to the left, since of the bytes of a number only the highest
 * can be foretold. What a model saves against 8 bits a byte vouches for the bytes: chance makes
 * bytes that a model, which saw none of them, takes k bits less for once in 2^k times, whatever the
 * model.
 *
 * The last 8, 16 and 64 bytes have to save some bits each, so that a cut shows that took only a few
 * of them. Logarithms are in sixteenths of a bit, without floating point.
 */
#include "tail.h"

#include "title.h"
#include "walk.h"

#define BIT 16 /* sixteenths */
#define WINDOW 32
#define WINDOW_LEAST (8 * BIT) /* what a window saves that belongs to the rest */
#define FOREIGN_LEAST (2 * WINDOW)
#define LEARNT 1024 /* bytes in which models save little yet */
#define FEW 32
#define MODELS 4
#define PLACES 8 /* in a pixel that are told apart */

#define HANDFUL 12
#define PLAIN_LEN 12
#define ZEROS_MOST 48 /* behind those */

struct model {
	uint32_t counts[256];
	uint32_t seen;
};

struct foretell {
	const uint8_t *bytes;
	size_t len, row_len, pixel_len;
	struct model models[MODELS - 1];
	struct model places[PLACES];
	int32_t saved[VIEW_MAX_PEEK / WINDOW + 1][MODELS]; /* by window, counted from the end */
	int32_t last[3][MODELS];                           /* by the last bytes: see lasts */
};

static const struct {
	size_t len;
	int32_t least;
} lasts[] = { { 8, 12 * BIT }, { 16, 20 * BIT }, { 64, 40 * BIT } };

/* log2 of x, which is not 0, in sixteenths. */
static int32_t log_16(uint32_t x)
{
	static const uint8_t part[16] = { 0, 1, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 15 };
	int top = 31 - __builtin_clz(x);
	uint32_t next = top >= 4 ? x >> (top - 4) & 15 : x << (4 - top) & 15;

	return top * BIT + part[next];
}

/* What the model saves on a byte of this value, which it learns. */
static int32_t learn(struct model *model, uint8_t value)
{
	int32_t saved =
		8 * BIT + log_16(16 * model->counts[value] + 1) - log_16(16 * model->seen + 256);

	model->counts[value]++;
	model->seen++;
	return saved;
}

static void foretell(struct foretell *f)
{
	for (size_t i = 0; i < f->len; i++) {
		size_t behind = f->len - i;
		uint8_t left = i >= f->pixel_len ? f->bytes[i - f->pixel_len] : 0;
		uint8_t above = i >= f->row_len ? f->bytes[i - f->row_len] : 0;
		int32_t saved[MODELS] = {
			learn(&f->models[0], f->bytes[i]),
			learn(&f->models[1], (uint8_t)(f->bytes[i] - left)),
			learn(&f->models[2], (uint8_t)(f->bytes[i] - above)),
			learn(&f->places[i % f->pixel_len % PLACES], (uint8_t)(f->bytes[i] - left)),
		};

		for (int m = 0; m < MODELS; m++) {
			f->saved[(behind - 1) / WINDOW][m] += saved[m];
			for (size_t l = 0; l < sizeof(lasts) / sizeof(*lasts); l++)
				f->last[l][m] += behind <= lasts[l].len ? saved[m] : 0;
		}
	}
}

static int32_t best(const int32_t saved[MODELS])
{
	int32_t most = saved[0];

	for (int m = 1; m < MODELS; m++)
		most = saved[m] > most ? saved[m] : most;
	return most;
}

/* Windows at the end of which no model saves anything, if those before are foretold well; else
 * 0. */
static size_t foreign_windows(const struct foretell *f)
{
	size_t count = f->len / WINDOW, foreign = 0, learnt = LEARNT / WINDOW, good = 0;

	while (foreign < count && best(f->saved[foreign]) < WINDOW_LEAST)
		foreign++;
	if (foreign * WINDOW < FOREIGN_LEAST || count < foreign + 2 * learnt)
		return 0;
	count -= learnt;
	for (size_t i = foreign; i < count; i++)
		good += best(f->saved[i]) >= WINDOW_LEAST;
	return good >= (count - foreign) / 16 * 15 ? foreign : 0;
}

enum tail tail_check(struct view *view, uint64_t start, uint64_t end, uint64_t row_len,
	uint64_t pixel_len, uint64_t *at)
{
	struct foretell f = { .row_len = 1 };
	bool good = true;
	size_t foreign;

	if (end - start < FEW)
		return TAIL_GOES_ON;
	f.len = end - start < VIEW_MAX_PEEK ? (size_t)(end - start) : VIEW_MAX_PEEK;
	f.bytes = view_peek(view, end - f.len, f.len);
	f.row_len = row_len < f.len ? (size_t)row_len : f.len;
	f.pixel_len = pixel_len < f.len ? (size_t)pixel_len : f.len;
	if (!f.bytes)
		return TAIL_UNKNOWN;
	foretell(&f);
	for (size_t l = 0; l < sizeof(lasts) / sizeof(*lasts); l++)
		good = good && (f.len < lasts[l].len || best(f.last[l]) >= lasts[l].least);
	if (good)
		return TAIL_GOES_ON;
	foreign = foreign_windows(&f);
	*at = end - foreign * WINDOW;
	return foreign ? TAIL_FOREIGN : TAIL_UNKNOWN;
}

bool tail_is_plain(struct view *view, uint64_t start, uint64_t end)
{
	size_t most = PLAIN_LEN + ZEROS_MOST, zeros = 0, first = 0, ends = 0;
	size_t len = end - start < most ? (size_t)(end - start) : most;
	const uint8_t *p;

	if (end - start <= HANDFUL)
		return true;
	p = view_peek(view, end - len, len);
	if (!p)
		return false;
	while (ends < len && !p[len - 1 - ends])
		ends++;
	if (ends == len || ends > ZEROS_MOST)
		return false;
	/* Those in front of the last zeros, but for one that may belong to a number. */
	len -= ends > 1 ? ends - 1 : 0;
	if (len > PLAIN_LEN) {
		p += len - PLAIN_LEN;
		len = PLAIN_LEN;
	}
	for (size_t i = 0; i < len; i++)
		zeros += !p[i];
	while (first < 3 && first < len && p[first] >> 6 == 2) /* within a character */
		first++;
	return zeros >= (len + 1) / 2 || utf8_holds(p + first, len - first);
}
