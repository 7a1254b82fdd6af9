/*
 * A walk of libtsk (tsk_walk.h) in a process of its own (base/sandbox.h): a hostile file system that
 * crashes it, or sends it round for ever, costs this walk alone. The child has no way to the
 * evidence but by asking this process for bytes, over the same socket on which it tells what it
 * found.
 */
#ifndef BURIN_EVIDENCE_WALK_PROCESS_H
#define BURIN_EVIDENCE_WALK_PROCESS_H

#include "evidence/tsk_walk.h"

struct walk_process {
	struct image *image;
	/* What the child does. volume: passed on to it. */
	void (*walk)(struct walk_host *host, const struct volume *volume);
	const struct volume *volume;
	/* NULL, or asked now and then: true ends the walk. */
	bool (*interrupted)(void);
	/* Takes what the child tells, but for TOLD_PROBLEM: checked for nothing but its length, 1
	 * MiB at most, and aligned for any type. False: there is no room for that, or it makes no
	 * sense; the child is heard no longer. */
	bool (*take)(void *context, enum told what, const void *bytes, size_t len);
	void *context;
};

/* How a walk ended. */
struct walk_end {
	char problem[512]; /* why it is not all, raw bytes; "": it is */
	bool died;         /* the child, before its work was done and while it was heard */
};

void walk_process_run(const struct walk_process *process, struct walk_end *end);

#endif
