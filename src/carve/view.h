/*
 * The bounds-checked window through which a carver sees the image. carvers/carver.h has view_peek
 * and the other functions that carvers may call. A view belongs to one thread and is used for one
 * candidate after another.
 */
#ifndef BURIN_CARVE_VIEW_H
#define BURIN_CARVE_VIEW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/ranges.h"
#include "carve/kept_states.h"
#include "carvers/carver.h"
#include "evidence/image.h"

struct ahead;
struct coded_memo;

/* A view that must be pointed at something before it is used. */
struct view *view_new(void);
/* Points it at [start, start + size) of the image; size is cut at the image's end. Resets budget,
 * parts and embedded offsets. */
void view_point(struct view *view, struct image *image, uint64_t start, uint64_t size);
/* Points it at a file in pieces: the first size bytes of the runs, which are inside the image, one
 * run after another in any order. None is empty, and they must stay valid until the view is pointed
 * at something else. What the image has must not change while the view is used. The last run's end
 * counts as the end of the image. Offsets that go_on (view_watch) gets are then in the file. */
void view_point_runs(struct view *view, struct image *image, const struct range *runs,
	size_t run_count, uint64_t size);
/* As image_read_around, for a thread that looks at places of an image between checks of files in pieces: they and
 * these reads share what was read before. Changes nothing that a check sees. */
void view_read_image(
	struct view *view, struct image *image, uint64_t offset, void *buffer, size_t len);
/* What checks of files in pieces of this image share of coded data (carvers/coded.h), for all candidates from now on. It changes
 * nothing but their time. NULL: nothing. */
void view_share(struct view *view, struct coded_memo *memo);
/* From now on the view lends these bytes of the image, len from `offset` in it, and reads no others: a
 * check that asks for others is stopped (view_stopped). All else is as without it, work included.
 * The bytes stay the caller's. NULL: the view reads again. */
void view_hold(struct view *view, const uint8_t *bytes, uint64_t offset, size_t len);
/* What the view holds counts as readable, from now on: for looks that decide nothing. */
void view_trust(struct view *view);
/* What is known of coded data ahead of its checks (carvers/coded.h), for all candidates from now on: it changes
 * nothing but their time. NULL: nothing is. */
void view_know(struct view *view, const struct ahead *ahead);
/* The same of one picture: its data at `data` is valid up to the marker at `end`, all in the image. end 0: nothing is
 * known. */
void view_know_end(struct view *view, uint64_t picture, uint64_t data, uint64_t end);
/* Before each fetch from the image go_on is called with the offset in the image where the fetch
 * ends. If it returns false, nothing more is fetched for this candidate, as if its budget were
 * spent. */
void view_watch(struct view *view, bool (*go_on)(void *context, uint64_t reached), void *context);
/* Whether the watcher stopped the fetching since view_point: then the carver's verdict means
 * nothing. */
bool view_stopped(const struct view *view);
#define VIEW_STATES KEPT_STATES_MAX
/* After view_point: the check saves states (view_save). Of those in each `spacing` bytes of the file the last one is
 * kept, and of these the last VIEW_STATES. */
void view_keep_states(struct view *view, uint64_t spacing);
/* Whether a check that went on from a state has to be made from the beginning: the state has not all that it needs. */
bool view_starts_over(const struct view *view);
/* Takes those that were kept, VIEW_STATES at most, in order of offset. Returns their number. Their data is the
 * caller's to free. */
size_t view_take_states(struct view *view, struct carve_state *states);
/* The last state that was kept at or before offset, or NULL. Valid until the view is pointed at
 * something else or freed. */
const struct carve_state *view_state_before(const struct view *view, uint64_t offset);
/* Parts of one candidate that are kept, of the shortest ones those of an image of tens of megabytes: the candidate at the
 * next part is checked, though most of that has been read, and finds the rest. */
#define VIEW_PARTS_MAX ((size_t)4 << 20)
/* Embedded offsets of one candidate that are kept. */
#define VIEW_EMBEDDED_MAX ((size_t)1 << 20)
/* What view_part was given since view_point: *count rising offsets from the start of the view,
 * valid until the next call. */
const uint64_t *view_parts(const struct view *view, size_t *count);
/* The same for view_embedded, in the order in which they were given. */
const uint64_t *view_embedded_offsets(const struct view *view, size_t *count);
#define VIEW_UNVERIFIED_MAX 4096
/* The same for view_unverified, as ranges from the start of the view. */
const struct ranges *view_unverified_ranges(const struct view *view);
/* The same for view_holds. No more ranges than VIEW_UNVERIFIED_MAX, nor of the other kind. */
const struct ranges *view_held_ranges(const struct view *view);
/* After view_point: what view_thorough returns; false before. */
void view_set_thorough(struct view *view, bool thorough);
/* The same for view_is_trial. */
void view_set_trial(struct view *view, bool is_trial);
/* What view_proved declared since view_point_runs, in bits, for the place where two runs meet: the
 * check covers the byte before it and the one after it. */
unsigned view_proof(const struct view *view, uint64_t joint);
/* After view_point: the check is over budget when it needs more than this many units of work
 * (view_work); it ends soon, and its verdict means nothing. */
void view_limit_work(struct view *view, uint64_t units);
/* The work done since view_point, in units; UINT64_MAX when over budget. */
uint64_t view_work_done(const struct view *view);
/* The furthest offset that was looked at since view_point. */
uint64_t view_reach(const struct view *view);
/* After view_point: the file's end, from `at` on, was found elsewhere, and counts for nothing in view_tail_reach. */
void view_watch_tail(struct view *view, uint64_t at);
/* The furthest offset that was looked at since then, by looks that began before the file's end. */
uint64_t view_tail_reach(const struct view *view);
/* For files in pieces: from now on the view notes where around `at`, an offset in the file, a check looks at nothing. */
void view_watch_gap(struct view *view, uint64_t at);
/* Of the last check, if it began without a state: in [from, to], which has that offset, it fetched nothing. So it would have
 * come to the same with a joint anywhere in there instead. At least that offset. */
void view_gap(const struct view *view, uint64_t *from, uint64_t *to);
/* Whether the carver called view_agrees since view_point. */
bool view_agreed(const struct view *view);
/* Where the byte at offset, inside the view, is in the evidence. */
uint64_t view_evidence_offset(const struct view *view, uint64_t offset);
/* Whether the check was stopped because it took too much work for what it had looked at: a fixed
 * multiple, whatever view_limit_work says. */
bool view_is_exhausted(const struct view *view);
/* Whether the carver called view_no_memory since view_point: its verdict means nothing. */
bool view_lacked_memory(const struct view *view);
/* view_reserve asks this instead of the process's other views: in a process that checks for another one,
 * which counts for all. False: the check is to end. The context is that of view_watch. */
void view_reserve_by(struct view *view, bool (*reserve)(void *context, uint64_t bytes));
/* The most work that any check of a view of that size may take (view_work). */
uint64_t view_work_most(uint64_t size);
/* Gives back what view_reserve reserved: when the check has ended. */
void view_release(struct view *view);
/* A view of bytes in memory, which stay the caller's: for tests and fuzzers. It ends with its
 * image. Each peek returns a copy that the next peek frees, so that the sanitizer catches a carver
 * that keeps a pointer. */
struct view *view_new_memory(const uint8_t *bytes, size_t len);
/* Of a view of memory: [from, to) could not be read, and the memory has zeros there. */
void view_set_unreadable(struct view *view, uint64_t from, uint64_t to);
/* NULL is fine. */
void view_free(struct view *view);

#endif
