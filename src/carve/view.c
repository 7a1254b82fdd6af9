/*
 * Reading is through one buffer that is filled from where the carver looks. Most candidates are false and are refused after
 * a look at their first bytes, so the first read is small; a carver that goes on forward gets larger and larger reads.
 *
 * The budget bounds what all reads of one candidate fetch together to a small multiple of what the view spans: a hostile file can't make
 * a carver run back and forth without end. It counts bytes fetched, not bytes looked at, since only those cost time.
 */
#include "carve/view.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

#define FIRST_READ 4096
#define LARGEST_READ (256 * 1024)
#define BUDGET_FACTOR 4
#define BUDGET_BASE (16 * 1024 * 1024)

struct view {
	struct image *image;   /* NULL: memory */
	const uint8_t *memory;
	uint64_t start, size;  /* the span in the image */
	bool image_ends;
	uint64_t budget;       /* bytes that may still be fetched */
	uint8_t *buffer;       /* LARGEST_READ bytes */
	uint64_t at;           /* offset in the view of buffer[0] */
	size_t held;           /* bytes in buffer */
	size_t next_read;      /* bytes that the next read fetches */
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

	view->image = image;
	view->start = start;
	view->image_ends = size >= left;
	view->size = size < left ? size : left;
	view->budget = view->size > (UINT64_MAX - BUDGET_BASE) / BUDGET_FACTOR
			       ? UINT64_MAX
			       : view->size * BUDGET_FACTOR + BUDGET_BASE;
	view->at = 0;
	view->held = 0;
	view->next_read = FIRST_READ;
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
	free(view->buffer);
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

/* Fills the buffer from offset on, with at least len bytes. */
static bool fetch(struct view *view, uint64_t offset, size_t len)
{
	bool forward = offset >= view->at && offset <= view->at + view->held;
	size_t want = view->next_read;

	if (!forward)
		want = FIRST_READ;
	if (want < len)
		want = len;
	if (want > view->size - offset)
		want = (size_t)(view->size - offset);
	if (!spend(view, want))
		return false;
	image_read_around(view->image, view->start + offset, view->buffer, want);
	view->at = offset;
	view->held = want;
	view->next_read = want * 4 < LARGEST_READ ? want * 4 : LARGEST_READ;
	return true;
}

const uint8_t *view_peek(struct view *view, uint64_t offset, size_t len)
{
	if (len > VIEW_MAX_PEEK || offset > view->size || len > view->size - offset)
		return NULL;
	if (view->memory) {
		/* Each look counts here, so that a fuzzer finds a carver that loops. */
		return spend(view, len) ? view->memory + offset : NULL;
	}
	if (offset < view->at || offset + len > view->at + view->held) {
		if (!fetch(view, offset, len))
			return NULL;
	}
	return view->buffer + (offset - view->at);
}

uint64_t view_size(const struct view *view)
{
	return view->size;
}

int view_ends_with_image(const struct view *view)
{
	return view->image_ends;
}
