/*
 * Where a file system still has the record of a file, live or deleted, it says where its pieces are:
 * the surest layout there is, and the cheapest to try. The record of a deleted file may be out of
 * date, though. Where other files have taken over blocks of it, what is found there is at most
 * unverified, whatever the carver says; and where only the start of it is recorded (FAT), the carver
 * alone proves the joints.
 *
 * For a file that the scan found truncated, a layout that is plausible to its end is better, too.
 */
#include "assemble/strategies.h"

/* What it is worth that a carver, which verifies all bytes around the joints, accepts a guess: as
 * for any other layout that is unique. */
#define GUESS_BITS 40

/* Whether the carver verified both sides of all joints. */
static bool joints_are_verified(const struct extents *extents, const struct outcome *outcome)
{
	uint64_t at = 0;

	for (size_t i = 0; i + 1 < extents->count; i++) {
		at += extents->runs[i].length;
		if (ranges_overlap(&outcome->unverified, at - 1, 2))
			return false;
	}
	return true;
}

static void lay_out(
	const struct workbench *bench, const struct fs_file *file, struct extents *extents)
{
	size_t count;
	struct range *runs = volumes_extents(bench->volumes, file, &count);

	extents_set(extents, runs, count);
	free(runs);
}

bool find_in_file_system(struct workbench *bench, const struct broken *broken,
	struct extents *extents, struct outcome *outcome, struct assembly *assembly)
{
	enum verdict least = broken->verdict == CARVE_TRUNCATED ? CARVE_UNVERIFIED : CARVE_COMPLETE;
	struct fs_file file;

	if (!bench->volumes || !volumes_find(bench->volumes, broken->start, &file))
		return false;
	lay_out(bench, &file, extents);
	if (extents->count < 2 || !workbench_check(bench, extents, least, outcome))
		return false;
	if (extents->count < 2) { /* the scan saw the same bytes */
		outcome_free(outcome);
		return false;
	}
	assembly->evidence = RECORD_BITS;
	if (file.flags & FS_GUESSED && !joints_are_verified(extents, outcome))
		assembly->evidence = 0;
	else if (file.flags & FS_GUESSED)
		assembly->evidence = GUESS_BITS;
	if (volumes_is_reallocated(bench->volumes, &file))
		outcome->verdict = verdict_because(CARVE_UNVERIFIED, &outcome->finding,
			"other files have taken over blocks of this deleted one");
	return true;
}
