/*
 * RAR archives of all versions.
 *
 *	file: signature, main block, file and service blocks, end block
 *
 * rar_blocks.h walks the blocks. Each volume of a set is a file of its own. Programs before RAR 2.9
 * wrote no end block: then the file ends after the last valid block and is unverified. Encrypted
 * headers cannot be walked; the guess is that the file continues up to the first run of equal
 * bytes.
 *
 * The CRC of stored data is compared, and that which a file has that goes on in the next volume: it is of the packed data in
 * this one; other data is named as unverified. Where proof is asked for, what RAR 5
 * packed is unpacked, but for solid archives (../common/rar5_unpack.c), and its CRC compared.
 *
 * Damage. Data is intact if another block's header follows it.
 */
#include "rar_blocks.h"

#include <inttypes.h>

#include "walk.h"

#define EQUAL_RUN 32

/* The longest guess for encrypted blocks. */
#define ENCRYPTED_MAX ((uint64_t)256 << 20)

/* The start of the first run of equal bytes in [at, limit): encrypted data has none. */
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

static enum verdict guess_encrypted_end(struct view *view, struct finding *finding, uint64_t at)
{
	finding->length = find_run(view, at, at + ENCRYPTED_MAX);
	return verdict_because(CARVE_UNVERIFIED, finding,
		"all headers after %" PRIu64 " are encrypted: the end is a guess", at);
}

/* The verdict when no block follows `last`, which ends at `at`. */
static enum verdict verdict_without_end(struct view *view, struct finding *finding,
	enum rar_found found, const struct rar_block *last, uint64_t at, bool needs_end)
{
	uint64_t size = view_size(view), valid_end = last->header_end;

	if (last->end == valid_end || !needs_end)
		valid_end = at;
	if (!needs_end && at <= size && last->kind == RAR_FILE) {
		finding->length = at;
		return verdict_because(CARVE_UNVERIFIED, finding,
			"no end block at %" PRIu64 ", but old versions wrote none", at);
	}
	if (found == RAR_CUT || at > size)
		return walk_cut_filled(view, finding, size + 1, valid_end);
	finding->length = valid_end;
	return verdict_because(CARVE_TRUNCATED, finding, "no block with its CRC at %" PRIu64, at);
}

static enum verdict check(struct view *view, struct finding *finding)
{
	struct rar_walk walk = { 0 };
	uint64_t at;
	const char *problem = rar_walk_blocks(view, 0, &walk, &at);
	const struct rar_block *last = &walk.last;

	if (problem)
		return verdict_because(CARVE_REJECT, finding, "%s at %" PRIu64, problem, at);
	finding->time = walk.time;
	if (walk.broken_at) {
		finding->length = walk.broken_at;
		return verdict_because(CARVE_TRUNCATED, finding,
			"data that can't be unpacked at %" PRIu64, walk.broken_at);
	}
	if (walk.wrong_crc_at && view_is_trial(view)) {
		finding->length = walk.wrong_crc_at;
		return verdict_because(CARVE_TRUNCATED, finding,
			"the CRC of the stored data at %" PRIu64 " is wrong", walk.wrong_crc_at);
	}
	if (walk.found != RAR_FOUND)
		return verdict_without_end(
			view, finding, walk.found, last, last->end, walk.needs_end);
	if (last->kind == RAR_ENCRYPTED)
		return guess_encrypted_end(view, finding, last->end);
	finding->length = last->end;
	if (last->end > view_size(view))
		return walk_cut(view, finding, last->end, view_size(view));
	if (walk.wrong_crc_at)
		return verdict_because(CARVE_UNVERIFIED, finding,
			"the CRC of the stored data at %" PRIu64 " is wrong", walk.wrong_crc_at);
	return CARVE_COMPLETE;
}

/* The first stored data with another CRC: where a piece may end. */
static bool find_sum(struct view *view, struct carve_sum *sum)
{
	struct rar_walk walk = { 0 };
	uint64_t at;

	if (rar_walk_blocks(view, 0, &walk, &at) || !walk.wrong_crc_at)
		return false;
	*sum = (struct carve_sum){ .from = walk.wrong_crc_at,
		.to = walk.wrong_crc_end,
		.before = UINT32_MAX,
		.after = ~walk.wrong_crc };
	return true;
}

static const struct carve_map rar_map = { .common = true, .sum = find_sum };

const struct carver rar_carver = {
	.name = "rar",
	.summary = "RAR archives of all versions, by their blocks' CRCs",
	.check = check,
	.map = &rar_map,
};
