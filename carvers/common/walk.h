/* Steps that the walks of many formats share. */
#ifndef BURIN_CARVERS_COMMON_WALK_H
#define BURIN_CARVERS_COMMON_WALK_H

#include <stdbool.h>

#include "carver.h"

/* Foreign data begins at a multiple of this, */
#define SECTOR 512
/* and usually of what most file systems give files out in. */
#define USUAL_CLUSTER 4096

/* The bytes from offset, as many of [offset, end) as one view_peek can give: *len of them, at
 * least 1. NULL when there are none, or the budget is spent. */
const uint8_t *walk_window(struct view *view, uint64_t offset, uint64_t end, size_t *len);

/* The same for a stream that may end anywhere, `taken` bytes into it: at most as many bytes as it
 * took so far (and 4 KiB at first), since bytes after its end would be charged to the budget for
 * nothing. */
const uint8_t *walk_stream(
	struct view *view, uint64_t offset, uint64_t end, uint64_t taken, size_t *len);

/* Whether [at, end) is all inside the view, and all zeros. */
bool walk_zeros(struct view *view, uint64_t at, uint64_t end);

/* How many zeros a file's writer added after its end at `at`, at most `most`: other bytes follow them, or none. 0: there are
 * none, or more, or they reach a sector, of which they are what was left. */
uint64_t walk_padding(struct view *view, uint64_t at, size_t most);

/* The text at `at` that a zero ends, both in at most `most` bytes (up to VIEW_MAX_PEEK), as view_peek returns it: *len bytes
 * without the zero. NULL: it has no end there. */
const uint8_t *walk_ended_text(struct view *view, uint64_t at, size_t most, size_t *len);

/* Finds the next `byte` in [*offset, end). True: *offset is its place. False: *offset is where the
 * search had to stop. */
bool walk_find(struct view *view, uint64_t *offset, uint64_t end, uint8_t byte);

/* The same for the next four bytes that are one of the words, each of four characters, one after another in
 * `words`; only inside the view. */
bool walk_find_word(struct view *view, uint64_t *offset, uint64_t end, const char *words);

/* Continues a CRC-32 (zlib's; *crc is 0 at first) over len bytes at offset. False when they are not
 * all inside the view. */
bool walk_crc32(struct view *view, uint64_t offset, uint64_t len, uint32_t *crc);

/* Whether a file in pieces is put together: the check is of one of its layouts, or proves one, or saves states to go on from. */
bool walk_assembles(const struct view *view);
/* Whether a check that is at `at`, in order, is to save its state there (view_save): one is kept in each kilobyte. *saved_at: where the last one was, 0 at
 * first. Not after bytes that can't be read. */
bool walk_saves(struct view *view, uint64_t at, uint64_t *saved_at);
/* The most bytes that a reader of all of them in order looks at ahead: few where a file is put together, as how far it looked
 * shows where it noticed something, and what it looks at in vain is work. */
size_t walk_ahead(const struct view *view);

/* The verdict on a file that goes on to its end over something wrong: it may be damaged, but of many layouts of the same
 * file it is a wrong one (view_is_trial). */
enum verdict walk_over_wrong(const struct view *view);

/* So many bytes at a file's end may be unverified wherever they are. */
#define WALK_TAIL_MIN 32
/* The verdict on a file up to `end`, all of which is there, but nothing verifies it from `from` on: CARVE_COMPLETE if these
 * are at most WALK_TAIL_MIN bytes, or a sixteenth of the file in which no cluster begins, since from one on they may be another
 * file's; else CARVE_UNVERIFIED, with the reason. */
enum verdict walk_tail_verdict(struct finding *finding, uint64_t from, uint64_t end);

/* The verdict when bytes up to `wanted` could not be read: CARVE_TRUNCATED with the length
 * valid_end, and the reason: the image ends, or the rule's max_size, or the budget is spent. */
enum verdict walk_cut(
	struct view *view, struct finding *finding, uint64_t wanted, uint64_t valid_end);

/* The same for a file that may be valid past valid_end: if the image ends, the length is up to what fills its end
 * (walk_before_fill), but at least valid_end. */
enum verdict walk_cut_filled(
	struct view *view, struct finding *finding, uint64_t wanted, uint64_t valid_end);

/* The verdict on units ("frame") that were walked up to `at`, whose number is not stored, and that nothing verifies
 * from `from` on (`at`: all is verified, or named as unverified): CARVE_UNVERIFIED, or as walk_cut when another one, of `next` bytes, begins there; 0: none does. */
enum verdict walk_uncounted(struct view *view, struct finding *finding, uint64_t from, uint64_t at,
	uint64_t next, const char *unit);

/* Whether bytes of [at, end) could not be read from the image: *after is where all of those end that follow
 * the first of them without a gap. In a check that met none it costs nothing. */
bool walk_unread(struct view *view, uint64_t at, uint64_t end, uint64_t *after);

/* The verdict on a file that reaches `end` by its own account, and that has this verdict by its content:
 * CARVE_UNVERIFIED with that length, and the same reason, if it is truncated and bytes that could not be
 * read, before the end of what is valid or closely after it, may be why. */
enum verdict walk_past_unread(
	struct view *view, struct finding *finding, enum verdict verdict, uint64_t end);

/* Where the bytes begin that broke a walk at `end`: at the start of the run of equal bytes that
 * ends there (wiped with zeros, erased to FF) if the run is long, else at end. Coded data has no
 * long runs, but a decoder may consume much of one before it fails. Never before start. */
uint64_t walk_before_fill(struct view *view, uint64_t start, uint64_t end);

/* Room for one more after the `count` items, of item_len bytes each, of a list with room for *room of them (0: the list is
 * NULL); the room doubles, up to `most` items. Returns the list, which may have moved. NULL: it has `most` items, or there is
 * no memory (view_no_memory was called); the list and its room are as they were. */
void *walk_list_grow(
	struct view *view, void *list, size_t count, size_t *room, size_t most, size_t item_len);

#endif
