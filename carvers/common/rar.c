/*
 * RAR (RARLAB's technical notes: "RAR archive format" in TechNote.txt for versions 1.5 to 4, "RAR
 * 5.0 archive format" for later ones).
 *
 *	file: signature, main block, file and service blocks, end block
 *
 * Each block has a header with a CRC, and says how much data follows; so they lead to the end
 * block, which ends the file (rar4.c and rar5.c read them). Parts of a volume set are files like
 * others. Programs before RAR 2.9 wrote no end block: then the file ends behind the last block
 * that makes sense, and stays unverified. Where the headers are encrypted nothing can be walked;
 * the guess is that the file goes on up to the first run of equal bytes.
 *
 * Damage. Data is sound once another block's header stands behind it.
 */
#include "rar.h"

#include <inttypes.h>
#include <string.h>

#include "walk.h"

enum {
	SIGNATURE4_LEN = 7,
	SIGNATURE5_LEN = 8,
	EQUAL_RUN = 32,
};

/* How much of encrypted blocks is guessed at most. */
#define ENCRYPTED_MAX ((uint64_t)256 << 20)

/* Where the first run of equal bytes starts in [at, limit): encrypted bytes have none. */
static uint64_t find_run(struct view *view, uint64_t at, uint64_t limit)
{
	uint64_t start = at;
	const uint8_t *window;
	size_t len;
	int last = -1;

	while ((window = walk_window(view, at, limit, &len))) {
		for (size_t i = 0; i < len; i++) {
			if (window[i] != last) {
				last = window[i];
				start = at + i;
			} else if (at + i - start + 1 >= EQUAL_RUN) {
				return start;
			}
		}
		at += len;
	}
	return at;
}

static enum verdict judge_encrypted(struct view *view, struct finding *finding, uint64_t at)
{
	finding->length = find_run(view, at, at + ENCRYPTED_MAX);
	return verdict_because(CARVE_UNVERIFIED, finding,
		"all headers behind %" PRIu64 " are encrypted: the end is a guess", at);
}

/* The verdict when no block follows `last`, which ends at `at`. */
static enum verdict judge_stop(struct view *view, struct finding *finding, enum rar_found found,
	const struct rar_block *last, uint64_t at, bool needs_end)
{
	uint64_t size = view_size(view), sound = last->header_end;

	if (last->end == sound || !needs_end)
		sound = at;
	if (!needs_end && at <= size && last->kind == RAR_FILE) {
		finding->length = at;
		return verdict_because(CARVE_UNVERIFIED, finding,
			"no end block at %" PRIu64 ", but old versions wrote none", at);
	}
	if (found == RAR_CUT || at > size)
		return walk_cut(view, finding, size + 1,
			view_ends_with_image(view) ? walk_before_fill(view, sound, size) : sound);
	finding->length = sound;
	return verdict_because(CARVE_TRUNCATED, finding, "no block with its CRC at %" PRIu64, at);
}

struct walk {
	enum rar_found found; /* of the block behind the last */
	struct rar_block last;
	bool needs_end;
	int64_t time;
};

/* Walks the blocks of the archive at `start` up to its end block, or to where they stop. NULL, or
 * what it lacks to be one, at *at. */
static const char *walk_blocks(struct view *view, uint64_t start, struct walk *walk, uint64_t *at)
{
	enum rar_found (*read)(struct view *, uint64_t, struct rar_block *) = rar4_read;
	const uint8_t *p = view_peek(view, start, SIGNATURE5_LEN);
	struct rar_block *last = &walk->last, block;

	*at = start;
	if (!p || memcmp(p, "Rar!\x1a\x07", 6) != 0 || p[6] > 1)
		return "no signature";
	if (p[6] == 1)
		read = rar5_read;
	*at += p[6] == 1 ? SIGNATURE5_LEN : SIGNATURE4_LEN;
	walk->found = read(view, *at, last);
	if (walk->found != RAR_FOUND || (last->kind != RAR_MAIN && last->kind != RAR_ENCRYPTED))
		return "no main block with its CRC";
	while (last->kind != RAR_END && last->kind != RAR_ENCRYPTED) {
		walk->needs_end |= last->needs_end;
		walk->found = last->end > view_size(view) ? RAR_CUT : read(view, last->end, &block);
		if (walk->found != RAR_FOUND)
			break;
		*last = block;
		if (last->time > walk->time)
			walk->time = last->time;
	}
	return NULL;
}

uint64_t rar_end(struct view *view, uint64_t start)
{
	struct walk walk = { 0 };
	uint64_t at;

	if (walk_blocks(view, start, &walk, &at) || walk.last.kind != RAR_END ||
		walk.last.end > view_size(view))
		return 0;
	return walk.last.end;
}

static enum verdict check(struct view *view, struct finding *finding)
{
	struct walk walk = { 0 };
	uint64_t at;
	const char *problem = walk_blocks(view, 0, &walk, &at);
	const struct rar_block *last = &walk.last;

	if (problem)
		return verdict_because(CARVE_REJECT, finding, "%s at %" PRIu64, problem, at);
	finding->time = walk.time;
	if (walk.found != RAR_FOUND)
		return judge_stop(view, finding, walk.found, last, last->end, walk.needs_end);
	if (last->kind == RAR_ENCRYPTED)
		return judge_encrypted(view, finding, last->end);
	finding->length = last->end;
	if (last->end > view_size(view))
		return walk_cut(view, finding, last->end, view_size(view));
	return CARVE_COMPLETE;
}

const struct carver rar_carver = {
	.name = "rar",
	.summary = "RAR archives of all versions, by their blocks' CRCs",
	.check = check,
};
