#include "walk.h"

#include <inttypes.h>
#include <isa-l/crc.h>
#include <stdlib.h>
#include <string.h>

#define FIND_WINDOW 4096
/* Unreadable bytes this long after the end of what is valid may have ended it. */
#define UNREAD_NEAR 65536
#define LIST_FIRST 64 /* items */
#define TAIL_PART 16  /* of a file, that may be unverified */

const uint8_t *walk_window(struct view *view, uint64_t offset, uint64_t end, size_t *len)
{
	if (end > view_size(view))
		end = view_size(view);
	if (offset >= end)
		return NULL;
	*len = end - offset < VIEW_MAX_PEEK ? (size_t)(end - offset) : VIEW_MAX_PEEK;
	return view_peek(view, offset, *len);
}

#define ASSEMBLED_AHEAD ((size_t)4096)

/* Looks count by their length, and most places that are tested have no zeros. */
#define FIRST_ZEROS 64
#define ZEROS_FACTOR 8

bool walk_zeros(struct view *view, uint64_t at, uint64_t end)
{
	const uint8_t *p;
	size_t len, most = FIRST_ZEROS;

	for (; at < end; at += len) {
		p = walk_window(view, at, end - at < most ? end : at + most, &len);
		if (!p)
			return false;
		for (size_t i = 0; i < len; i++)
			if (p[i])
				return false;
		if (most < VIEW_MAX_PEEK)
			most *= ZEROS_FACTOR;
	}
	return true;
}

uint64_t walk_padding(struct view *view, uint64_t at, size_t most)
{
	uint64_t left = view_size(view) - at;
	size_t seen = left > most ? most + 1 : (size_t)left, len = 0;
	const uint8_t *p = view_peek(view, at, seen);

	while (p && len < seen && !p[len])
		len++;
	return len > most || (at + len) % SECTOR == 0 ? 0 : len;
}

#define FIRST_LEN 4096

const uint8_t *walk_stream(
	struct view *view, uint64_t offset, uint64_t end, uint64_t taken, size_t *len)
{
	uint64_t want = taken < FIRST_LEN ? FIRST_LEN : taken;

	if (offset < end && want < end - offset)
		end = offset + want;
	return walk_window(view, offset, end, len);
}

const uint8_t *walk_ended_text(struct view *view, uint64_t at, size_t most, size_t *len)
{
	uint64_t end = most < UINT64_MAX - at ? at + most : UINT64_MAX;
	size_t window_len;
	const uint8_t *p = walk_window(view, at, end, &window_len);
	const uint8_t *zero = p ? memchr(p, 0, window_len) : NULL;

	if (!zero)
		return NULL;
	*len = (size_t)(zero - p);
	return p;
}

bool walk_find(struct view *view, uint64_t *offset, uint64_t end, uint8_t byte)
{
	const uint8_t *window, *found;
	uint64_t from = *offset;
	size_t len;

	while ((window = walk_stream(view, *offset, end, *offset - from, &len))) {
		found = memchr(window, byte, len);
		if (found) {
			*offset += (uint64_t)(found - window);
			return true;
		}
		*offset += len;
	}
	return false;
}

#define BLOCK 64

/* Lanes of 16 bytes: with them the loop has no result of one byte, which would have to be gathered from a vector each time. */
typedef uint8_t lanes __attribute__((vector_size(16)));

static lanes load_lanes(const uint8_t *p)
{
	lanes bytes;

	memcpy(&bytes, p, sizeof(bytes));
	return bytes;
}

/* Whether a word's first two bytes are among the BLOCK + 1 bytes. */
static bool may_start(const uint8_t *p, const char *word)
{
	lanes first = (uint8_t)word[0] - (lanes){ 0 }, second = (uint8_t)word[1] - (lanes){ 0 };
	lanes found = { 0 };
	uint64_t halves[2];

	for (size_t i = 0; i < BLOCK; i += sizeof(found))
		found |= (lanes)(load_lanes(p + i) == first) &
			 (lanes)(load_lanes(p + i + 1) == second);
	memcpy(halves, &found, sizeof(halves));
	return halves[0] | halves[1];
}

/* The place of the first word that starts before `starts`, or `starts`. */
static size_t first_word(const uint8_t *p, size_t starts, const char *words, size_t word_count)
{
	bool near = true; /* one may start in the block of i */

	for (size_t i = 0; i < starts; i++) {
		if (i % BLOCK == 0) {
			near = starts - i < BLOCK;
			for (size_t w = 0; w < word_count && !near; w++)
				near = may_start(p + i, words + 4 * w);
		}
		if (!near) {
			i += BLOCK - 1;
			continue;
		}
		for (size_t w = 0; w < word_count; w++)
			if (memcmp(p + i, words + 4 * w, 4) == 0)
				return i;
	}
	return starts;
}

bool walk_find_word(struct view *view, uint64_t *offset, uint64_t end, const char *words)
{
	size_t word_count = strlen(words) / 4;

	if (end > view_size(view))
		end = view_size(view);
	for (;;) {
		uint64_t left = end > *offset ? end - *offset : 0;
		size_t len = left < FIND_WINDOW ? (size_t)left : FIND_WINDOW;
		const uint8_t *p;
		size_t at;

		if (len < 4)
			return false;
		if (view_lacks(view, words, *offset, len - 3)) {
			if (!view_pass(view, *offset, len))
				return false;
			*offset += len - 3;
			continue;
		}
		p = view_peek(view, *offset, len);
		if (!p)
			return false;
		at = first_word(p, len - 3, words, word_count);
		*offset += at;
		if (at < len - 3)
			return true;
		view_add_lack(view, words, *offset - at, at);
	}
}

bool walk_crc32(struct view *view, uint64_t offset, uint64_t len, uint32_t *crc)
{
	const uint8_t *window;
	size_t got;

	if (offset > view_size(view) || len > view_size(view) - offset)
		return false;
	for (uint64_t end = offset + len; offset < end; offset += got) {
		window = walk_window(view, offset, end, &got);
		if (!window)
			return false;
		*crc = crc32_gzip_refl(*crc, window, got);
	}
	return true;
}

bool walk_unread(struct view *view, uint64_t at, uint64_t end, uint64_t *after)
{
	uint64_t from, to;

	if (!view_met_unreadable(view) || at >= end ||
		!view_unreadable(view, at, end - at, &from, after))
		return false;
	while (*after >= end && view_unreadable(view, *after, 1, &from, &to))
		view_unreadable(view, *after, VIEW_MAX_PEEK, &from, after);
	return true;
}

#define LONG_RUN 32

enum verdict walk_past_unread(
	struct view *view, struct finding *finding, enum verdict verdict, uint64_t end)
{
	uint64_t from, to;

	if (verdict != CARVE_TRUNCATED || finding->length >= end || end > view_size(view) ||
		!view_met_unreadable(view) ||
		!view_unreadable(view, 0, finding->length + UNREAD_NEAR, &from, &to))
		return verdict;
	finding->length = end;
	return CARVE_UNVERIFIED;
}

uint64_t walk_before_fill(struct view *view, uint64_t start, uint64_t end)
{
	uint64_t at = end;
	const uint8_t *p = end > start ? view_peek(view, end - 1, 1) : NULL;
	uint8_t fill = p ? *p : 0;

	while (at > start) {
		size_t len = at - start < 4096 ? (size_t)(at - start) : 4096, run = 0;

		p = view_peek(view, at - len, len);
		while (p && run < len && p[len - run - 1] == fill)
			run++;
		at -= run;
		if (run < len)
			break;
	}
	return end - at >= LONG_RUN ? at : end;
}

bool walk_assembles(const struct view *view)
{
	return view_is_trial(view) || view_thorough(view) || view_wants_states(view);
}

#define STATE_EVERY 1024 /* bytes */

bool walk_saves(struct view *view, uint64_t at, uint64_t *saved_at)
{
	if (!view_wants_states(view) || at < *saved_at + STATE_EVERY || view_met_unreadable(view))
		return false;
	*saved_at = at;
	return true;
}

size_t walk_ahead(const struct view *view)
{
	return walk_assembles(view) ? ASSEMBLED_AHEAD : VIEW_MAX_PEEK;
}

enum verdict walk_over_wrong(const struct view *view)
{
	return view_is_trial(view) ? CARVE_TRUNCATED : CARVE_UNVERIFIED;
}

enum verdict walk_tail_verdict(struct finding *finding, uint64_t from, uint64_t end)
{
	uint64_t tail = end - from;
	bool meets_cluster = (from + USUAL_CLUSTER - 1) / USUAL_CLUSTER * USUAL_CLUSTER < end;

	if (tail <= WALK_TAIL_MIN || (tail <= end / TAIL_PART && !meets_cluster))
		return CARVE_COMPLETE;
	return verdict_because(
		CARVE_UNVERIFIED, finding, "the last %" PRIu64 " bytes cannot be verified", tail);
}

enum verdict walk_cut(
	struct view *view, struct finding *finding, uint64_t wanted, uint64_t valid_end)
{
	uint64_t size = view_size(view);

	finding->length = valid_end;
	if (wanted <= size)
		return verdict_because(CARVE_TRUNCATED, finding,
			"the check's budget was spent before %" PRIu64, wanted);
	if (view_ends_with_image(view))
		return verdict_because(CARVE_TRUNCATED, finding,
			"the image ends at %" PRIu64 ", before the file does", size);
	return verdict_because(CARVE_TRUNCATED, finding,
		"continues past the rule's max_size of %" PRIu64 " bytes", size);
}

enum verdict walk_cut_filled(
	struct view *view, struct finding *finding, uint64_t wanted, uint64_t valid_end)
{
	if (view_ends_with_image(view))
		valid_end = walk_before_fill(view, valid_end, view_size(view));
	return walk_cut(view, finding, wanted, valid_end);
}

enum verdict walk_uncounted(struct view *view, struct finding *finding, uint64_t from, uint64_t at,
	uint64_t next, const char *unit)
{
	view_unverified(view, from, at);
	if (next)
		return walk_cut(view, finding, at + next,
			view_ends_with_image(view) ? view_size(view) : at);
	finding->length = at;
	return verdict_because(CARVE_UNVERIFIED, finding,
		"no %s at %" PRIu64 ", and the number of %ss is not stored", unit, at, unit);
}

void *walk_list_grow(
	struct view *view, void *list, size_t count, size_t *room, size_t most, size_t item_len)
{
	size_t more = *room ? 2 * *room : LIST_FIRST;

	if (count < *room)
		return list;
	if (count >= most)
		return NULL;
	if (more > most || more < *room)
		more = most;
	list = more <= SIZE_MAX / item_len ? realloc(list, more * item_len) : NULL;
	if (list)
		*room = more;
	else
		view_no_memory(view);
	return list;
}
