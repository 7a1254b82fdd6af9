/*
 * A walk of libtsk in another process (evidence_process.h), which may do several, one after the other: a
 * hostile file system that crashes it, or puts it into an endless loop, costs this walk alone. The child
 * reads what is in plain files by descriptors that it was given (image_share.h), and requests all other bytes
 * from this process, over the same socket on which it reports what it found.
 */
#ifndef BURIN_EVIDENCE_WALK_PROCESS_H
#define BURIN_EVIDENCE_WALK_PROCESS_H

#include "evidence/evidence_job.h"
#include "evidence/image.h"
#include "evidence/walk_messages.h"

struct walk_process {
	struct image *image;
	/* The process of the walk before, which goes on with this one; NULL: there is none. The same
	 * afterwards. */
	struct sandbox_child **child;
	enum evidence_work work;
	const struct volume *volume; /* NULL for EVIDENCE_LIST_VOLUMES */
	/* NULL, or called now and then: true ends the walk. */
	bool (*interrupted)(void);
	/* Called with what the child reports, except WALK_PROBLEM: only its length was checked, at
	 * most 1 MiB, and it is aligned for any type. False: there is no room for it, or it is
	 * invalid; nothing more is read from the child. */
	bool (*on_message)(void *context, enum walk_message what, const void *bytes, size_t len);
	void *context;
};

/* How a walk ended. */
struct walk_end {
	char problem[512]; /* why something is missing, raw bytes; "": nothing is */
	bool died;         /* the child crashed before its work was done */
};

/* Makes the walk, in the process of the one before if there is one, and returns when it has ended. */
void walk_process_run(const struct walk_process *process, struct walk_end *end);
/* Ends the process, if there still is one. */
void walk_process_end(struct sandbox_child *child);

#endif
