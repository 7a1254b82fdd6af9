/*
 * A view reads through a buffer that is filled from where the carver looks. Most candidates are
 * false and are rejected after a look at their first bytes, so the first read is small; a carver
 * that reads on forward gets larger and larger reads. What was read stays valid for the next candidate,
 * which often starts in the same few kilobytes. There are two such buffers, since many carvers look at a
 * file's end and then at its beginning again.
 *
 * The budget bounds what all reads of one candidate fetch together to a small multiple of the
 * view's size: a hostile file can't make a carver read back and forth without end. It counts the
 * bytes that would be fetched if the buffer were empty for every candidate: what an earlier
 * candidate of this thread left there must not change a verdict. So the window that a
 * candidate has paid for is apart from those that are in the buffers.
 *
 * A file in pieces is a view over several runs of the image. The buffer then holds bytes of the file,
 * put together when they are read, and offsets in the image become offsets in the file.
 *
 * Fetches are not all that takes time. Work is counted in units, about as many as bytes were looked
 * at or produced (view_work). It may not exceed a multiple of how far the carver has looked. The
 * same bytes always cost the same work, so that bounds on it never make a result depend on chance.
 * The watcher is asked, and limits are tested, each time that some work was done.
 *
 * A view that holds bytes (view_hold) reads nothing: it lends what it holds, and counts fetches as
 * if it made them. So a check that ends within those bytes ends as it would have anyway.
 */
#include "carve/view.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/ranges.h"
#include "carve/ahead.h"
#include "carve/recent.h"
#include "carve/coded_memo.h"
#include "carve/kept_states.h"
#include "carve/lacks.h"
#include "carve/proofs.h"
#include "carve/reserve.h"
#include "carvers/coded.h"
#include "evidence/extent_image.h"

#define FIRST_READ 4096
#define FETCH_MIN 8192
#define NEAR_LEN (64 * 1024) /* bytes after those of a read that are near it... */
#define FETCH_NEAR 32768     /* ... where more is read, as small files often follow each other */
#define READ_MAX (256 * 1024)
#define TRIAL_SHARE 16 /* of what a trial read in a row is what it reads next, as it may soon end */
#define BUDGET_FACTOR 4
#define BUDGET_BASE (16 * 1024 * 1024)
#define WORK_BASE ((uint64_t)512 << 20)
#define WORK_FACTOR 64
#define PEEK_WORK 64 /* units that a peek costs beside its bytes */
/* Bytes of a peek that are a unit where a file is put together: looking at one takes 0.05 to 0.4 ns, and a unit of decoding 0.5
 * to 7. In a scan units limit what a hostile image costs, whatever the carver does with the bytes. */
#define PIECES_PEEK 4
#define FETCH_WORK 256      /* units that a fetch costs beside its bytes */
#define FETCH_WORK_BYTES 16 /* bytes that a fetch reads for one more unit */
#define RESERVE_WORK \
	2048 /* units that asking for memory costs: a message to another process, perhaps */
#define STRETCH_LEN 1024       /* bytes of coded data that is noted, about */
#define WORK_STEP (256 * 1024) /* units after which limits are tested */

/* Offsets from the view's start. */
struct offset_list {
	uint64_t *items;
	size_t count, capacity;
};

/* What was read at once. */
struct window {
	uint8_t *buffer;      /* READ_MAX bytes */
	const uint8_t *bytes; /* the buffer, or where `recent` has them */
	uint64_t at;          /* offset in the image, or in a file in pieces, of bytes[0] */
	size_t held;          /* of these */
	struct ranges bad;    /* those of bytes, or of memory, that can't be read; placed as `at` */
	uint8_t filled;       /* what these look like in the buffer */
};

struct view {
	struct image *image;  /* NULL: memory */
	struct recent recent; /* of what files in pieces are read from */
	const uint8_t *memory;
	uint8_t *lent;             /* of a view of memory: the copy that the last peek returned */
	const uint8_t *held_bytes; /* of view_hold: the image's [hold_at, hold_end); NULL: none */
	uint64_t hold_at, hold_end;
	bool trusts;               /* they count as readable */
	const struct ahead *ahead; /* NULL: nothing is known ahead */
	struct {
		uint64_t picture, data, end; /* of view_know_end; end 0: nothing */
	} known;
	uint64_t start, size;     /* the span in the image; start is 0 in a file in pieces */
	uint64_t left;            /* bytes of the image from start on */
	const struct range *runs; /* of a file in pieces; NULL: it is one piece */
	size_t run_count;
	size_t run;      /* the run that was read last... */
	uint64_t run_at; /* ... which starts there in the file */
	bool image_ends;
	struct coded_memo *memo; /* NULL: none are shared */
	uint64_t budget;         /* bytes that may still be fetched */
	struct window now;       /* what was looked at last */
	struct window before; /* empty for a file in pieces, as `recent` keeps what is read there */
	uint8_t fill;         /* what bytes that can't be read look like to this candidate */
	uint64_t paid_at;     /* the window that this candidate has paid for, in the image; inside
			     `now`, unless it was not loaded yet */
	size_t paid;
	bool unloaded;
	uint64_t passed_end; /* of what view_pass was called for last */
	size_t next_read;    /* bytes that the next read pays for */
	uint64_t row_at;     /* where the windows began that have no gap between them */
	bool (*go_on)(void *context, uint64_t reached); /* the watcher; NULL: none */
	bool (*reserve)(void *context, uint64_t bytes); /* view_reserve_by; NULL: none */
	void *context;
	bool stopped;
	uint64_t work, work_max; /* units done; with more than work_max the check is over budget */
	uint64_t work_mark;      /* where limits are tested next */
	uint64_t reach;          /* the furthest offset that was looked at */
	struct {
		uint64_t at, from, to;
	} gap; /* of view_watch_gap */
	struct {
		uint64_t at, reach;
	} tail; /* of view_watch_tail */
	bool exhausted, over_budget, no_memory, met_bad, agrees, starts_over;
	uint64_t reserved; /* of the process's memory for checks, or of what `reserve` counts */
	struct offset_list parts, embedded;
	struct ranges unverified, holdings;
	bool thorough, is_trial;
	struct proofs proofs; /* of a file in pieces */
	struct kept_states states;
	struct lacks lacks; /* of the image, whatever candidate found them */
};

struct view *view_new(void)
{
	struct view *view = xcalloc(1, sizeof(*view));

	view->now.bytes = view->now.buffer = xmalloc(READ_MAX);
	view->before.bytes = view->before.buffer = xmalloc(READ_MAX);
	return view;
}

/* What is in the buffer stays valid only for spans of the same image. */
static void point(struct view *view, struct image *image, uint64_t start, uint64_t size,
	uint64_t left, const struct range *runs)
{
	if (view->image != image || view->runs || runs)
		view->now.held = view->before.held = 0;
	if (view->image != image)
		lacks_free(&view->lacks);
	view_release(view);
	view->image = image;
	view->runs = runs;
	view->start = start;
	view->left = left;
	view->image_ends = size >= left;
	view->size = size < left ? size : left;
	view->budget = view->size > (UINT64_MAX - BUDGET_BASE) / BUDGET_FACTOR
			       ? UINT64_MAX
			       : view->size * BUDGET_FACTOR + BUDGET_BASE;
	view->paid_at = start;
	view->paid = 0;
	view->unloaded = false;
	view->passed_end = 0;
	view->next_read = FIRST_READ;
	view->row_at = start;
	view->fill = 0;
	view->met_bad = view->agrees = false;
	view->stopped = false;
	view->work = view->reach = 0;
	view->gap.from = 0;
	view->gap.to = UINT64_MAX;
	view->tail.at = view->tail.reach = 0;
	view->work_max = UINT64_MAX;
	view->work_mark = WORK_STEP;
	view->exhausted = view->over_budget = view->no_memory = view->starts_over = false;
	kept_states_want(&view->states, 0);
	view->parts.count = 0;
	view->embedded.count = 0;
	view->unverified.count = 0;
	view->holdings.count = 0;
	view->thorough = view->is_trial = false;
	proofs_start(&view->proofs, NULL, 0);
}

void view_point(struct view *view, struct image *image, uint64_t start, uint64_t size)
{
	uint64_t image_size = image_info(image)->size;

	point(view, image, start, size, start < image_size ? image_size - start : 0, NULL);
}

void view_point_runs(struct view *view, struct image *image, const struct range *runs,
	size_t run_count, uint64_t size)
{
	uint64_t left = 0;

	for (size_t i = 0; i < run_count; i++) {
		assert(runs[i].length && runs[i].length <= UINT64_MAX - left);
		left += runs[i].length;
	}
	point(view, image, 0, size, left, runs);
	proofs_start(&view->proofs, runs, run_count);
	view->run_count = run_count;
	view->run = 0;
	view->run_at = 0;
}

void view_hold(struct view *view, const uint8_t *bytes, uint64_t offset, size_t len)
{
	view->held_bytes = bytes;
	view->hold_at = offset;
	view->hold_end = offset + len;
}

void view_trust(struct view *view)
{
	view->trusts = true;
}

void view_know(struct view *view, const struct ahead *ahead)
{
	view->ahead = ahead;
}

void view_know_end(struct view *view, uint64_t picture, uint64_t data, uint64_t end)
{
	view->known.picture = picture;
	view->known.data = data;
	view->known.end = end;
}

void view_share(struct view *view, struct coded_memo *memo)
{
	view->memo = memo;
}

static uint64_t go_to_run(struct view *view, uint64_t at);

/* Where a byte of a file in pieces is in the image, and how many follow it there, itself included, that are in the view. */
static uint64_t place_of(struct view *view, uint64_t at, uint64_t *left)
{
	const struct range *run;
	uint64_t inside;

	*left = at < view->size ? view->size - at : 0;
	if (!view->runs || !*left)
		return at;
	inside = go_to_run(view, at);
	run = &view->runs[view->run];
	*left = run->length - inside < *left ? run->length - inside : *left;
	return run->offset + inside;
}

uint32_t view_coding(struct view *view, const struct coded_coding *coding, const void **made)
{
	return view->memo && (view->runs || view->memory)
		       ? coded_memo_coding(view->memo, coding, made)
		       : 0;
}

bool view_recall(struct view *view, uint32_t coding, uint64_t at, unsigned bit,
	struct coded_stretch *stretch)
{
	uint64_t left, place = place_of(view, at, &left);

	return coded_memo_find(view->memo, coding, place * 8 + bit, stretch) &&
	       stretch->after <= left;
}

void view_note(struct view *view, uint32_t coding, uint64_t at, unsigned bit,
	const struct coded_stretch *stretch)
{
	uint64_t left, place = place_of(view, at, &left);

	if (stretch->after <= left && !view->met_bad && !view->now.bad.count)
		coded_memo_add(view->memo, coding, place * 8 + bit, stretch);
}

uint64_t view_stretch_end(struct view *view, uint64_t at)
{
	uint64_t left, place = place_of(view, at, &left);
	uint64_t len = STRETCH_LEN - place % STRETCH_LEN;

	return at + (len < left ? len : left);
}

bool view_affords(const struct view *view, uint64_t units)
{
	uint64_t most = view_work_most(view->reach);

	most = view->work_max < most ? view->work_max : most;
	return view->work < most && units < most - view->work && units < view->budget;
}

/* Bytes past the end are looked at, too: two of the marker. */
uint64_t view_known_end(const struct view *view, uint64_t picture, uint64_t data)
{
	uint64_t end = 0;

	if (view->runs || view->thorough)
		return 0;
	picture += view->start;
	data += view->start;
	if (view->ahead)
		end = ahead_end(view->ahead, picture, data);
	else if (view->known.picture == picture && view->known.data == data)
		end = view->known.end;
	return end && end - view->start + 2 <= view->size ? end - view->start : 0;
}

void view_limit_work(struct view *view, uint64_t units)
{
	view->work_max = units;
	if (units < view->work_mark)
		view->work_mark = units;
}

uint64_t view_work_done(const struct view *view)
{
	return view->over_budget ? UINT64_MAX : view->work;
}

uint64_t view_reach(const struct view *view)
{
	return view->reach;
}

void view_watch_tail(struct view *view, uint64_t at)
{
	view->tail.at = at;
}

uint64_t view_tail_reach(const struct view *view)
{
	return view->tail.reach;
}

void view_watch_gap(struct view *view, uint64_t at)
{
	view->gap.at = at;
}

void view_gap(const struct view *view, uint64_t *from, uint64_t *to)
{
	*from = view->gap.from;
	*to = view->gap.to;
}

/* [from, to) is fetched. */
static void narrow_gap(struct view *view, uint64_t from, uint64_t to)
{
	uint64_t at = view->gap.at;

	if (from < at)
		view->gap.from = to < at ? (to > view->gap.from ? to : view->gap.from) : at;
	if (to > at)
		view->gap.to = from > at ? (from < view->gap.to ? from : view->gap.to) : at;
}

uint64_t view_evidence_offset(const struct view *view, uint64_t offset)
{
	uint64_t at = 0;

	if (!view->runs)
		return extent_image_to_evidence(view->image, view->start + offset);
	for (size_t i = 0; i < view->run_count; i++) {
		if (offset - at < view->runs[i].length)
			return extent_image_to_evidence(
				view->image, view->runs[i].offset + (offset - at));
		at += view->runs[i].length;
	}
	return UINT64_MAX;
}

bool view_is_exhausted(const struct view *view)
{
	return view->exhausted;
}

bool view_lacked_memory(const struct view *view)
{
	return view->no_memory;
}

void view_watch(struct view *view, bool (*go_on)(void *context, uint64_t reached), void *context)
{
	view->go_on = go_on;
	view->context = context;
}

bool view_stopped(const struct view *view)
{
	return view->stopped;
}

struct view *view_new_memory(const uint8_t *bytes, size_t len)
{
	struct view *view = xcalloc(1, sizeof(*view));

	view->memory = bytes;
	view->size = len;
	view->image_ends = true;
	view->budget = (uint64_t)len * BUDGET_FACTOR + BUDGET_BASE;
	view->work_max = UINT64_MAX;
	view->work_mark = WORK_STEP;
	return view;
}

void view_set_unreadable(struct view *view, uint64_t from, uint64_t to)
{
	assert(view->memory && from <= to);
	ranges_add(&view->now.bad, from, to - from);
}

void view_free(struct view *view)
{
	if (!view)
		return;
	view_release(view);
	lacks_free(&view->lacks);
	free(view->parts.items);
	free(view->embedded.items);
	proofs_free(&view->proofs);
	ranges_free(&view->unverified);
	ranges_free(&view->holdings);
	ranges_free(&view->now.bad);
	ranges_free(&view->before.bad);
	kept_states_free(&view->states);
	recent_free(&view->recent);
	free(view->now.buffer);
	free(view->before.buffer);
	free(view->lent);
	free(view);
}

void view_read_image(
	struct view *view, struct image *image, uint64_t offset, void *buffer, size_t len)
{
	/* What was lent may not be there any more. */
	if (view->now.bytes != view->now.buffer) {
		view->now.bytes = view->now.buffer;
		view->now.held = 0;
		view->unloaded = true;
	}
	recent_read(&view->recent, image, offset, buffer, len, NULL);
}

/* Takes len bytes from the budget. */
static bool spend(struct view *view, size_t len)
{
	if (len > view->budget) {
		view->budget = 0;
		return false;
	}
	view->budget -= len;
	return true;
}

/* Reads len bytes at offset in the image, which are at `at` in the file. */
static void read_run(struct view *view, uint64_t offset, uint8_t *to, size_t len, uint64_t at)
{
	struct ranges bad = { 0 };

	recent_read(&view->recent, view->image, offset, to, len, &bad);
	for (size_t i = 0; i < bad.count; i++)
		ranges_add(&view->now.bad, bad.items[i].offset - offset + at, bad.items[i].length);
	ranges_free(&bad);
}

/* Goes to the run that has the byte of the file at an offset. Returns the byte's place in the run. */
static uint64_t go_to_run(struct view *view, uint64_t at)
{
	if (at < view->run_at) {
		view->run = 0;
		view->run_at = 0;
	}
	while (at - view->run_at >= view->runs[view->run].length) {
		view->run_at += view->runs[view->run].length;
		view->run++;
		assert(view->run < view->run_count);
	}
	return at - view->run_at;
}

/* Reads [at, at + len) of a file in pieces into the buffer. The whole is in it side by side, so that
 * no peek knows of a seam. */
static void read_runs(struct view *view, uint64_t at, size_t len)
{
	uint8_t *to = view->now.buffer;

	while (len) {
		uint64_t inside = go_to_run(view, at);
		const struct range *run = &view->runs[view->run];
		size_t part_len;

		part_len = run->length - inside < len ? (size_t)(run->length - inside) : len;
		read_run(view, run->offset + inside, to, part_len, at);
		to += part_len;
		at += part_len;
		len -= part_len;
	}
}

/* Where [at, at + len) of a file in pieces is kept already, or NULL. */
static const uint8_t *lend_run(struct view *view, uint64_t at, size_t len)
{
	uint64_t inside = go_to_run(view, at);
	const struct range *run = &view->runs[view->run];

	return run->length - inside < len
		       ? NULL
		       : recent_lend(&view->recent, view->image, run->offset + inside, len);
}

static bool window_has(const struct window *window, uint64_t at, size_t len)
{
	return at >= window->at && at + len <= window->at + window->held;
}

static bool is_near(const struct window *window, uint64_t at)
{
	return at >= window->at && at - window->at < window->held + NEAR_LEN;
}

/* Makes the window that has [at, at + len) `now`, or the older one, if none has it. */
static bool find_window(struct view *view, uint64_t at, size_t len)
{
	struct window before = view->before;

	if (window_has(&view->now, at, len))
		return true;
	if (view->runs)
		return false;
	view->before = view->now;
	view->now = before;
	return window_has(&view->now, at, len);
}

/* How many bytes are read for the first len. */
static size_t read_len(const struct view *view, uint64_t at, size_t len)
{
	size_t least =
		is_near(&view->before, at) || is_near(&view->now, at) ? FETCH_NEAR : FETCH_MIN;

	return view->runs || len > least ? len : least;
}

/* Reads [at, at + len) of the image, if it is in no window. left: bytes of the image from at on. */
static void fill_window(struct view *view, uint64_t at, size_t len, uint64_t left)
{
	size_t want;

	if (find_window(view, at, len))
		return;
	want = read_len(view, at, len);
	if (want > left)
		want = (size_t)left;
	view->now.bad.count = 0;
	view->now.bytes = view->runs ? lend_run(view, at, want) : NULL;
	if (view->now.bytes) {
		view->now.at = at;
		view->now.held = want;
		view->now.filled = view->fill;
		return;
	}
	view->now.bytes = view->now.buffer;
	if (view->runs)
		read_runs(view, at, want);
	else
		image_read_noting(view->image, at, view->now.buffer, want, &view->now.bad);
	view->now.at = at;
	view->now.held = want;
	view->now.filled = 0;
}

/* Makes the bytes of the buffer that can't be read look as the candidate wants them. */
static void refill(struct view *view)
{
	for (size_t i = 0; i < view->now.bad.count; i++)
		memset(view->now.buffer + (view->now.bad.items[i].offset - view->now.at),
			view->fill, view->now.bad.items[i].length);
	view->now.filled = view->fill;
}

/* Reads the window that was paid for, if it is not there. False: the image has less. */
static bool load(struct view *view)
{
	const struct range *bad;

	if (!view->unloaded)
		return true;
	view->unloaded = false;
	fill_window(view, view->paid_at, view->paid, view->left - (view->paid_at - view->start));
	if (image_was_cut(view->image)) {
		view->now.held = view->before.held = view->paid = 0;
		view->stopped = true;
		return false;
	}
	bad = ranges_after(&view->now.bad, view->paid_at);
	view->met_bad |= bad && bad->offset < view->paid_at + view->paid;
	return true;
}

/* How much is read next, after `row` bytes without a gap: what is wanted, or less. */
static size_t next_read(const struct view *view, uint64_t row, size_t wanted)
{
	uint64_t most = READ_MAX;

	if (view->is_trial && row / TRIAL_SHARE < READ_MAX)
		most = row / TRIAL_SHARE / FIRST_READ * FIRST_READ;
	if (most < FIRST_READ)
		most = FIRST_READ;
	return wanted < most ? wanted : (size_t)most;
}

/* Pays for a window of at least len bytes from offset (in the view). One that was passed (view_pass) is not read
 * where the next continues it: it has no bytes that can't be read. */
static bool pay(struct view *view, uint64_t offset, size_t len)
{
	uint64_t at = view->start + offset, left = view->left - offset;
	bool forward = at >= view->paid_at && at <= view->paid_at + view->paid;
	size_t want = forward ? view->next_read : FIRST_READ;

	if (want < len)
		want = len;
	if (want > left)
		want = (size_t)left;
	if ((!forward || at > view->passed_end) && !load(view))
		return false;
	if (view->runs)
		narrow_gap(view, offset, offset + want);
	if (!spend(view, want) || !view_work(view, FETCH_WORK + want / FETCH_WORK_BYTES))
		return false;
	if (view->stopped || (view->go_on && !view->go_on(view->context, at + want))) {
		view->stopped = true;
		return false;
	}
	view->paid_at = at;
	view->paid = want;
	view->unloaded = !view->held_bytes;
	if (!forward)
		view->row_at = at;
	view->next_read = next_read(view, at + want - view->row_at, want * 4);
	return true;
}

/* A copy that the next look frees: the sanitizer catches a carver that keeps a pointer. */
static const uint8_t *lend(struct view *view, uint64_t offset, size_t len)
{
	/* Each look counts here, so that a fuzzer finds a carver that loops. */
	if (!spend(view, len))
		return NULL;
	free(view->lent);
	view->lent = xmalloc(len ? len : 1);
	memcpy(view->lent, view->memory + offset, len);
	for (size_t i = 0; i < view->now.bad.count && view->fill; i++) {
		struct range bad = view->now.bad.items[i];

		for (uint64_t at = bad.offset; at < bad.offset + bad.length; at++)
			if (at >= offset && at < offset + len)
				view->lent[at - offset] = view->fill;
	}
	return view->lent;
}

uint64_t view_work_most(uint64_t size)
{
	return size > (UINT64_MAX - WORK_BASE) / WORK_FACTOR ? UINT64_MAX
							     : WORK_BASE + WORK_FACTOR * size;
}

/* Tests all limits. False, now and from now on: the check must end. */
static bool test_limits(struct view *view)
{
	if (view->stopped || view->exhausted || view->over_budget || view->no_memory)
		return false;
	if (view->work > view->work_max)
		view->over_budget = true;
	else if (view->work > view_work_most(view->reach))
		view->exhausted = true;
	else if (view->go_on && !view->go_on(view->context, view->paid_at + view->paid))
		view->stopped = true;
	else
		view->work_mark = view->work_max - view->work < WORK_STEP ? view->work_max
									  : view->work + WORK_STEP;
	return view->work <= view->work_mark;
}

bool view_work(struct view *view, uint64_t units)
{
	view->work = units > UINT64_MAX - view->work ? UINT64_MAX : view->work + units;
	return view->work <= view->work_mark || test_limits(view);
}

/* Counts a look at [offset, offset + len). False: it is not to be. */
static bool count_peek(struct view *view, uint64_t offset, size_t len)
{
	if (len > VIEW_MAX_PEEK || offset > view->size || len > view->size - offset)
		return false;
	if (offset + len > view->reach)
		view->reach = offset + len;
	if (offset < view->tail.at && offset + len > view->tail.reach)
		view->tail.reach = offset + len;
	return view_work(view, (view->runs ? len / PIECES_PEEK : len) + PEEK_WORK);
}

/* Pays for the window that the bytes are in, if they are not in the one that was paid for. */
static bool pay_for(struct view *view, uint64_t offset, size_t len)
{
	uint64_t at = view->start + offset;

	if (view->held_bytes && (at < view->hold_at || at + len > view->hold_end)) {
		view->stopped = true;
		return false;
	}
	return (at >= view->paid_at && at + len <= view->paid_at + view->paid) ||
	       pay(view, offset, len);
}

const uint8_t *view_peek(struct view *view, uint64_t offset, size_t len)
{
	uint64_t at = view->start + offset;

	if (!count_peek(view, offset, len))
		return NULL;
	if (view->memory)
		return lend(view, offset, len);
	if (!len) /* the buffer may be anywhere yet */
		return view->now.buffer;
	if (!pay_for(view, offset, len))
		return NULL;
	if (view->held_bytes)
		return view->held_bytes + (at - view->hold_at);
	if (!load(view))
		return NULL;
	assert(at >= view->now.at && at + len <= view->now.at + view->now.held);
	if (view->now.filled != view->fill)
		refill(view);
	return view->now.bytes + (at - view->now.at);
}

static bool keeps_lacks(const struct view *view)
{
	return view->image && !view->runs && !view->held_bytes;
}

bool view_lacks(struct view *view, const char *words, uint64_t offset, size_t len)
{
	return keeps_lacks(view) && lacks_cover(&view->lacks, words, view->start + offset, len);
}

bool view_pass(struct view *view, uint64_t offset, size_t len)
{
	if (!count_peek(view, offset, len))
		return false;
	if (view->memory)
		return spend(view, len);
	if (!pay_for(view, offset, len))
		return false;
	view->passed_end = view->start + offset + len;
	return true;
}

void view_add_lack(struct view *view, const char *words, uint64_t offset, size_t len)
{
	if (keeps_lacks(view) && !view->now.bad.count)
		lacks_add(&view->lacks, words, view->start + offset, len);
}

bool view_unreadable(struct view *view, uint64_t offset, uint64_t len, uint64_t *from, uint64_t *to)
{
	uint64_t end = len < UINT64_MAX - offset ? offset + len : UINT64_MAX;
	uint64_t found = UINT64_MAX, until = 0;

	if (view->held_bytes) {
		view->stopped = true;
		return false;
	}
	if (end > view->size)
		end = view->size;
	for (uint64_t at = offset; at < end && (found == UINT64_MAX || until == at);) {
		size_t step = end - at < VIEW_MAX_PEEK ? (size_t)(end - at) : VIEW_MAX_PEEK;
		const struct range *bad;

		if (!view_peek(view, at, step))
			break;
		bad = ranges_after(&view->now.bad, view->start + at);
		if (bad && bad->offset < view->start + at + step &&
			(found == UINT64_MAX || bad->offset <= view->start + at)) {
			if (found == UINT64_MAX)
				found = bad->offset > view->start + at ? bad->offset - view->start
								       : at;
			until = bad->offset + bad->length - view->start;
		}
		at += step;
		if (until > at)
			until = at;
	}
	if (found == UINT64_MAX)
		return false;
	*from = found;
	*to = until < end ? until : end;
	return true;
}

bool view_met_unreadable(struct view *view)
{
	view->stopped |= view->held_bytes && !view->trusts;
	load(view);
	return view->memory ? view->now.bad.count > 0 : view->met_bad;
}

void view_fill_unreadable(struct view *view, uint8_t byte)
{
	view->stopped |= view->held_bytes != NULL;
	view->fill = byte;
}

static void add_offset(struct offset_list *list, size_t most, uint64_t offset)
{
	if (!offset || list->count == most)
		return;
	list->items = xgrow(list->items, &list->capacity, list->count, sizeof(*list->items));
	list->items[list->count++] = offset;
}

void view_part(struct view *view, uint64_t offset)
{
	const struct offset_list *parts = &view->parts;

	if (!parts->count || offset > parts->items[parts->count - 1])
		add_offset(&view->parts, VIEW_PARTS_MAX, offset);
}

void view_embedded(struct view *view, uint64_t offset)
{
	add_offset(&view->embedded, VIEW_EMBEDDED_MAX, offset);
}

const uint64_t *view_parts(const struct view *view, size_t *count)
{
	*count = view->parts.count;
	return view->parts.items;
}

const uint64_t *view_embedded_offsets(const struct view *view, size_t *count)
{
	*count = view->embedded.count;
	return view->embedded.items;
}

void view_keep_states(struct view *view, uint64_t spacing)
{
	kept_states_want(&view->states, spacing ? spacing : 1);
}

bool view_wants_states(const struct view *view)
{
	return view->states.spacing != 0;
}

void view_save(struct view *view, const struct carve_state *state)
{
	kept_states_add(&view->states, state);
}

void view_start_over(struct view *view)
{
	view->starts_over = true;
}

bool view_starts_over(const struct view *view)
{
	return view->starts_over;
}

size_t view_take_states(struct view *view, struct carve_state *states)
{
	return kept_states_take(&view->states, states);
}

const struct carve_state *view_state_before(const struct view *view, uint64_t offset)
{
	return kept_states_before(&view->states, offset);
}

uint64_t view_size(const struct view *view)
{
	return view->size;
}

int view_ends_with_image(const struct view *view)
{
	return view->image_ends;
}

void view_unverified(struct view *view, uint64_t from, uint64_t to)
{
	struct ranges *ranges = &view->unverified;
	struct range *last = ranges->count ? &ranges->items[ranges->count - 1] : NULL;

	if (to <= from)
		return;
	if (ranges->count < VIEW_UNVERIFIED_MAX) {
		ranges_add(ranges, from, to - from);
	} else if (to > last->offset + last->length) {
		last->length = to - last->offset;
	}
}

void view_holds(struct view *view, uint64_t from, uint64_t to)
{
	if (to > from && view->holdings.count < VIEW_UNVERIFIED_MAX)
		ranges_add(&view->holdings, from, to - from);
}

void view_set_thorough(struct view *view, bool thorough)
{
	view->thorough = thorough;
}

void view_set_trial(struct view *view, bool is_trial)
{
	view->is_trial = is_trial;
}

bool view_is_trial(const struct view *view)
{
	return view->is_trial;
}

bool view_thorough(const struct view *view)
{
	return view->thorough;
}

void view_proved(struct view *view, uint64_t from, uint64_t to, unsigned bits)
{
	proofs_add(&view->proofs, from, to, bits);
}

void view_agrees(struct view *view)
{
	view->agrees = true;
}

bool view_agreed(const struct view *view)
{
	return view->agrees;
}

bool view_linked(struct view *view, uint64_t from, uint64_t to, unsigned bits)
{
	return proofs_add_one(&view->proofs, from, to, bits);
}

unsigned view_proof(const struct view *view, uint64_t at)
{
	return proofs_bits(&view->proofs, at);
}

const struct ranges *view_unverified_ranges(const struct view *view)
{
	return &view->unverified;
}

const struct ranges *view_held_ranges(const struct view *view)
{
	return &view->holdings;
}

void view_no_memory(struct view *view)
{
	view->no_memory = true;
	view->work_mark = 0;
}

void view_release(struct view *view)
{
	if (view->reserved && !view->reserve)
		reserve_give_back(view->reserved);
	view->reserved = 0;
}

void view_reserve_by(struct view *view, bool (*reserve)(void *context, uint64_t bytes))
{
	view->reserve = reserve;
}

bool view_reserve(struct view *view, uint64_t bytes)
{
	if (bytes <= view->reserved)
		return true;
	if (view->held_bytes) {
		view->stopped = true;
		return false;
	}
	view_release(view);
	view->reserved = bytes;
	if (view->reserve)
		view->stopped |= !view->reserve(view->context, bytes);
	else
		reserve_take(bytes);
	view->work += RESERVE_WORK;
	return test_limits(view);
}
