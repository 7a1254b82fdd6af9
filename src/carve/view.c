/*
 * Reading is through one buffer that is filled from where the carver looks. Most candidates are
 * false and are refused after a look at their first bytes, so the first read is small; a carver
 * that goes on forward gets larger and larger reads. What the buffer holds stays good for the next
 * candidate, which often starts in the same few kilobytes.
 *
 * The budget bounds what all reads of one candidate fetch together to a small multiple of what the
 * view spans: a hostile file can't make a carver run back and forth without end. It counts the
 * bytes that would be fetched if the buffer were empty for every candidate: what an earlier
 * candidate of this thread left there must not change a verdict. So there are two windows, the one
 * that is accounted for and the one that is really there.
 */
#include "carve/view.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

#define FIRST_READ 4096
#define LEAST_FETCH 16384
#define LARGEST_READ (256 * 1024)
#define BUDGET_FACTOR 4
#define BUDGET_BASE (16 * 1024 * 1024)
#define MOST_PLACES ((size_t)1 << 20) /* of one candidate; the next finds those behind them */

/* Offsets from the view's start. */
struct places {
	uint64_t *offsets;
	size_t count, room;
};

struct view {
	struct image *image; /* NULL: memory */
	const uint8_t *memory;
	uint8_t *lent;        /* of a view of memory: the copy that the last peek gave */
	uint64_t start, size; /* the span in the image */
	uint64_t left;        /* bytes of the image from start on */
	bool image_ends;
	uint64_t budget;  /* bytes that may still be fetched */
	uint8_t *buffer;  /* LARGEST_READ bytes */
	uint64_t at;      /* offset in the image of buffer[0] */
	size_t held;      /* bytes in buffer */
	uint64_t paid_at; /* the window that this candidate has paid for, in the image; inside the
			     buffer */
	size_t paid;
	size_t next_read;                               /* bytes that the next read pays for */
	bool (*go_on)(void *context, uint64_t reached); /* NULL: nobody watches */
	void *context;
	bool gave_up;
	struct places parts, embedded;
};

struct view *view_new(void)
{
	struct view *view = xcalloc(1, sizeof(*view));

	view->buffer = xmalloc(LARGEST_READ);
	return view;
}

void view_point(struct view *view, struct image *image, uint64_t start, uint64_t size)
{
	uint64_t image_size = image_info(image)->size;
	uint64_t left = start < image_size ? image_size - start : 0;

	if (view->image != image)
		view->held = 0;
	view->image = image;
	view->start = start;
	view->left = left;
	view->image_ends = size >= left;
	view->size = size < left ? size : left;
	view->budget = view->size > (UINT64_MAX - BUDGET_BASE) / BUDGET_FACTOR
			       ? UINT64_MAX
			       : view->size * BUDGET_FACTOR + BUDGET_BASE;
	view->paid_at = start;
	view->paid = 0;
	view->next_read = FIRST_READ;
	view->gave_up = false;
	view->parts.count = 0;
	view->embedded.count = 0;
}

void view_watch(struct view *view, bool (*go_on)(void *context, uint64_t reached), void *context)
{
	view->go_on = go_on;
	view->context = context;
}

bool view_stopped(const struct view *view)
{
	return view->gave_up;
}

struct view *view_new_memory(const uint8_t *bytes, size_t len)
{
	struct view *view = xcalloc(1, sizeof(*view));

	view->memory = bytes;
	view->size = len;
	view->image_ends = true;
	view->budget = (uint64_t)len * BUDGET_FACTOR + BUDGET_BASE;
	return view;
}

void view_free(struct view *view)
{
	if (!view)
		return;
	free(view->parts.offsets);
	free(view->embedded.offsets);
	free(view->buffer);
	free(view->lent);
	free(view);
}

/* Takes a fetch from the budget. */
static bool spend(struct view *view, size_t len)
{
	if (len > view->budget) {
		view->budget = 0;
		return false;
	}
	view->budget -= len;
	return true;
}

/* Brings [at, at + len) of the image into the buffer, if it is not there. left: bytes of the image
 * behind at. */
static void hold(struct view *view, uint64_t at, size_t len, uint64_t left)
{
	size_t want = len < LEAST_FETCH ? LEAST_FETCH : len;

	if (at >= view->at && at + len <= view->at + view->held)
		return;
	if (want > left)
		want = (size_t)left;
	image_read_around(view->image, at, view->buffer, want);
	view->at = at;
	view->held = want;
}

/* Pays for a window from offset (in the view) on, with at least len bytes. */
static bool fetch(struct view *view, uint64_t offset, size_t len)
{
	uint64_t at = view->start + offset, left = view->left - offset;
	bool forward = at >= view->paid_at && at <= view->paid_at + view->paid;
	size_t want = forward ? view->next_read : FIRST_READ;

	if (want < len)
		want = len;
	if (want > left)
		want = (size_t)left;
	if (!spend(view, want))
		return false;
	if (view->gave_up || (view->go_on && !view->go_on(view->context, at + want))) {
		view->gave_up = true;
		return false;
	}
	hold(view, at, want, left);
	view->paid_at = at;
	view->paid = want;
	view->next_read = want * 4 < LARGEST_READ ? want * 4 : LARGEST_READ;
	return true;
}

/* A copy that the next look takes away: a carver that keeps a pointer is caught by the sanitizer.
 */
static const uint8_t *lend(struct view *view, uint64_t offset, size_t len)
{
	/* Each look counts here, so that a fuzzer finds a carver that loops. */
	if (!spend(view, len))
		return NULL;
	free(view->lent);
	view->lent = xmalloc(len ? len : 1);
	memcpy(view->lent, view->memory + offset, len);
	return view->lent;
}

const uint8_t *view_peek(struct view *view, uint64_t offset, size_t len)
{
	uint64_t at;

	if (len > VIEW_MAX_PEEK || offset > view->size || len > view->size - offset)
		return NULL;
	if (view->memory)
		return lend(view, offset, len);
	at = view->start + offset;
	if (at < view->paid_at || at + len > view->paid_at + view->paid) {
		if (!fetch(view, offset, len))
			return NULL;
	}
	return view->buffer + (at - view->at);
}

static void add_place(struct places *places, uint64_t offset)
{
	if (!offset || places->count == MOST_PLACES)
		return;
	places->offsets =
		xgrow(places->offsets, &places->room, places->count, sizeof(*places->offsets));
	places->offsets[places->count++] = offset;
}

void view_part(struct view *view, uint64_t offset)
{
	const struct places *parts = &view->parts;

	if (!parts->count || offset > parts->offsets[parts->count - 1])
		add_place(&view->parts, offset);
}

void view_embedded(struct view *view, uint64_t offset)
{
	add_place(&view->embedded, offset);
}

const uint64_t *view_parts(const struct view *view, size_t *count)
{
	*count = view->parts.count;
	return view->parts.offsets;
}

const uint64_t *view_embedded_offsets(const struct view *view, size_t *count)
{
	*count = view->embedded.count;
	return view->embedded.offsets;
}

uint64_t view_size(const struct view *view)
{
	return view->size;
}

int view_ends_with_image(const struct view *view)
{
	return view->image_ends;
}
