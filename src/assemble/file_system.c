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

bool recorded_find(const struct volumes *volumes, uint64_t start, struct recorded *recorded)
{
	struct fs_file file;

	*recorded = (struct recorded){ 0 };
	if (!volumes || !volumes_find(volumes, start, &file))
		return false;
	recorded->runs = volumes_extents(volumes, &file, &recorded->count);
	recorded->is_known = true;
	recorded->is_guessed = file.flags & FS_GUESSED;
	recorded->is_reallocated = volumes_is_reallocated(volumes, &file);
	return true;
}

/* Lays the file out by its record. */
static bool lay_out(struct workbench *bench, const struct broken *broken, struct extents *extents,
	struct recorded *recorded)
{
	const struct assemble_options *options = bench->options;
	bool known = options->find_record
			     ? options->find_record(broken->start, recorded)
			     : recorded_find(options->volumes, broken->start, recorded);

	if (!known)
		return false;
	extents_set(extents, recorded->runs, recorded->count);
	free(recorded->runs);
	return true;
}

bool find_in_file_system(struct workbench *bench, const struct broken *broken,
	struct extents *extents, struct outcome *outcome, struct assembly *assembly)
{
	enum verdict least = broken->verdict == CARVE_TRUNCATED ? CARVE_UNVERIFIED : CARVE_COMPLETE;
	struct recorded recorded;

	if (!lay_out(bench, broken, extents, &recorded))
		return false;
	if (extents->count < 2 || !workbench_check(bench, extents, least, outcome))
		return false;
	if (extents->count < 2) { /* the scan saw the same bytes */
		outcome_free(outcome);
		return false;
	}
	assembly->evidence = RECORD_BITS;
	if (recorded.is_guessed && !joints_are_verified(extents, outcome))
		assembly->evidence = 0;
	else if (recorded.is_guessed)
		assembly->evidence = GUESS_BITS;
	if (recorded.is_reallocated)
		outcome->verdict = verdict_because(CARVE_UNVERIFIED, &outcome->finding,
			"other files have taken over blocks of this deleted one");
	return true;
}
