/*
 * Where one file's layouts are tried, by one thread: a view, a budget of work, and what is known of
 * the image's clusters. All that a strategy sees of the image goes through here, so that the same
 * file gets the same trials whatever else is under way.
 */
#ifndef BURIN_ASSEMBLE_WORKBENCH_H
#define BURIN_ASSEMBLE_WORKBENCH_H

#include "assemble/assemble.h"
#include "assemble/clusters.h"
#include "assemble/extents.h"
#include "carve/view.h"

/* A file that the scan could not follow to its end. */
struct broken {
	uint64_t start;  /* in the evidence */
	uint64_t length; /* bytes from there that the carver validated */
	uint32_t rule;
	uint32_t verdict;
};

struct workbench {
	struct view *view;
	struct image *evidence;
	const struct volumes *volumes; /* NULL: none are known */
	const struct rule *rule;
	const struct clusters *clusters; /* frozen for the pass */
	uint64_t work_left;              /* units that the file's trials may still take */
	uint64_t tested;                 /* trials made */
	bool (*interrupted)(void);
	bool stopped, no_memory; /* the trials mean nothing */
	bool exhausted;          /* no work was left: some trials were not made */
};

/* Whether trials can go on. */
bool workbench_goes_on(const struct workbench *bench);
/* Checks the extents with the rule's carver. True when it is COMPLETE: then the outcome is the
 * caller's to free, and the extents are cut at its length. */
bool workbench_try(struct workbench *bench, struct extents *extents, struct outcome *outcome);
/* The same for a layout that is known from elsewhere: least may also be CARVE_UNVERIFIED, and the
 * extents may have bytes of complete files, which were found in pieces of this one. */
bool workbench_check(struct workbench *bench, struct extents *extents, enum verdict least,
	struct outcome *outcome);

#endif
