/*
 * A file that was cut goes on with another file's bytes from the start of a cluster. Those may be pixels, too, which
 * cost a predictor as little as the file's own. But they begin in the middle of a row, and do not resemble the row above
 * at the same columns more than at any others. So the difference of a row to the one above it is compared to the
 * differences that arise when that one is turned by parts of its length. Rows of one value show nothing; then the next
 * two that have more are compared, since another picture has rows of another length.
 */
#include "joined.h"

#include <stdlib.h>
#include <string.h>

#include "walk.h"

#define ROW_MAX 6144 /* bytes compared, fewer than VIEW_MAX_PEEK */
#define TURNS 32     /* how often a row is turned */
#define TURNS_MIN 7  /* and at least, in a row of few pixels */
#define LEVEL_PART 2 /* a mean difference of 1 / this is the same level */
#define WORK_PART 2  /* bytes that are compared for a unit (view_work) */

/* How far two rows differ, by their values and by how many there are. */
struct difference {
	uint32_t values, count;
};

static struct difference differ(const uint8_t *a, const uint8_t *b, size_t len)
{
	struct difference sum = { 0 };

	for (size_t i = 0; i < len; i++) {
		sum.values += (uint32_t)abs(a[i] - b[i]);
		sum.count += a[i] != b[i];
	}
	return sum;
}

/* The difference when the row above is turned by `turn` bytes. */
static struct difference differ_turned(
	const uint8_t *above, const uint8_t *row, size_t len, size_t turn)
{
	struct difference first = differ(above + turn, row, len - turn);
	struct difference second = differ(above, row + len - turn, turn);

	return (struct difference){ first.values + second.values, first.count + second.count };
}

static bool is_much_less(uint32_t less, uint32_t than)
{
	return (uint64_t)less * 4 <= (uint64_t)than * 3 && less < than;
}

/* Whether the row resembles the one above as it is, and not turned. */
static bool resembles(const uint8_t *above, const uint8_t *row, size_t len, size_t pixel_len)
{
	size_t pixels = len / pixel_len, turns = pixels - 1 < TURNS ? pixels - 1 : TURNS;
	struct difference straight = differ(above, row, len);
	struct difference least = { UINT32_MAX, UINT32_MAX };

	if (turns < TURNS_MIN)
		return false;
	for (size_t i = 1; i <= turns; i++) {
		size_t turn = i * pixels / (turns + 1) * pixel_len;
		struct difference turned = differ_turned(above, row, pixels * pixel_len, turn);

		if (turned.values < least.values)
			least.values = turned.values;
		if (turned.count < least.count)
			least.count = turned.count;
	}
	return is_much_less(straight.values, least.values) ||
	       is_much_less(straight.count, least.count) ||
	       (uint64_t)straight.values * LEVEL_PART <= len;
}

static bool is_one_value(const uint8_t *p, size_t len, size_t pixel_len)
{
	return len <= pixel_len || memcmp(p, p + pixel_len, len - pixel_len) == 0;
}

static void set_order(uint8_t *bytes, size_t len, const uint8_t *order)
{
	for (size_t i = 0; i < len; i++)
		bytes[i] = order[bytes[i]];
}

enum join { JOIN_NONE, JOIN_PLAIN, JOIN_SEEN };

/* Compares the row at `at` with the one above: JOIN_PLAIN when both are of one value, the same. */
static enum join compare_row(struct view *view, uint64_t start, uint64_t at, uint64_t end,
	uint64_t row_len, uint64_t pixel_len, const uint8_t *order)
{
	size_t len = row_len < ROW_MAX ? (size_t)row_len : ROW_MAX, step = (size_t)pixel_len;
	uint8_t above[ROW_MAX], row[ROW_MAX];
	const uint8_t *p;

	len = end - at < len ? (size_t)(end - at) : len;
	if (pixel_len > row_len || at - start < row_len || row_len > VIEW_MAX_PEEK - ROW_MAX ||
		!view_work(view, len * TURNS / WORK_PART))
		return JOIN_NONE;
	p = view_peek(view, at - row_len, (size_t)row_len + len);
	if (!p)
		return JOIN_NONE;
	if (is_one_value(p, len, step) && is_one_value(p + row_len, len, step) &&
		memcmp(p, p + row_len, len < step ? len : step) == 0)
		return JOIN_PLAIN;
	if (!order)
		return resembles(p, p + row_len, len, step) ? JOIN_SEEN : JOIN_NONE;
	memcpy(above, p, len);
	memcpy(row, p + row_len, len);
	set_order(above, len, order);
	set_order(row, len, order);
	return resembles(above, row, len, step) ? JOIN_SEEN : JOIN_NONE;
}

bool joined_row(struct view *view, uint64_t start, uint64_t at, uint64_t end, uint64_t row_len,
	uint64_t pixel_len, const uint8_t *order)
{
	return compare_row(view, start, at, end, row_len, pixel_len, order) == JOIN_SEEN;
}

/* Whether rows continue over the cluster's start at `at`, as far as the bytes up to `stop` show. */
static bool continue_at(struct view *view, uint64_t start, uint64_t at, uint64_t stop, uint64_t end,
	uint64_t row_len, uint64_t pixel_len, const uint8_t *order)
{
	enum join join = JOIN_PLAIN;

	for (; at < stop && join == JOIN_PLAIN; at += row_len)
		join = compare_row(view, start, at, end, row_len, pixel_len, order);
	return join != JOIN_NONE;
}

bool joined_rows(struct view *view, uint64_t start, uint64_t end, uint64_t row_len,
	uint64_t pixel_len, const uint8_t *order)
{
	uint64_t at = (start / USUAL_CLUSTER + 1) * USUAL_CLUSTER;
	uint64_t last = (end - 1) / USUAL_CLUSTER * USUAL_CLUSTER;

	if (at >= end)
		return true;
	if (walk_zeros(view, last, end) || walk_before_fill(view, last, end) == last)
		return false;
	for (; at < end; at += USUAL_CLUSTER) {
		uint64_t stop = end - at < USUAL_CLUSTER ? end : at + USUAL_CLUSTER;

		if (!continue_at(view, start, at, stop, end, row_len, pixel_len, order))
			return false;
	}
	return true;
}
