/* The parts of a run that carves, for run.c and the table of what its checkpoints hold. */
#ifndef BURIN_RUN_RUN_PARTS_H
#define BURIN_RUN_RUN_PARTS_H

#include "assemble/assemble.h"
#include "content_map/content_map.h"
#include "run/candidates.h"
#include "run/checkpoint.h"
#include "run/evidence_hash.h"
#include "run/search.h"
#include "run/session.h"
#include "run/traits.h"

struct run {
	struct session session; /* evidence, output, reports, the carving stage */
	struct sift *sift;      /* NULL, as search */
	struct search *search;  /* NULL: nothing remains to be searched, or the workers do it */
	struct evidence_hash *hash;
	struct evidence_beginning beginning; /* of the evidence: before position, for checkpoints */
	struct content_map *map;
	struct candidates *candidates;
	struct assembler *assembler; /* NULL: files in pieces stay in pieces */
	struct pool *passes_pool;    /* NULL: the session's */
	bool has_ended; /* what a checkpoint holds is no longer as it was: names were given to files in pieces */
	bool reported_again; /* the reports were written a second time */
	struct traits traits;
	struct checkpoint *checkpoint;
	uint64_t position; /* in what is searched: every hit before was paired */
	double flushed;    /* clock_seconds: when the report was flushed last */
	bool cluster_begun;
	double cluster_wait; /* seconds, for results of the workers */
};

/* After the scan: whether there are files to put together. */
bool run_has_passes(const struct run *run);
/* After the scan: puts files in pieces together, and reports them (run/pieces.c). Returns 0 or a
 * negative errno with the session's error set. */
int run_pieces(struct run *run);
/* Before the carving stage gets its first candidate. */
void pieces_begin(struct run *run);

/* What a checkpoint holds of a run, in the file's order: run/checkpoint_parts.c. */
extern const struct checkpoint_part run_checkpoint_parts[];
/* Writes one if it is time for it. Returns 0 or a negative errno with the error set, which may be NULL: what the reports did
 * not take ends the run later. */
int run_checkpoint_if_due(struct run *run, struct error *error);
/* The same, while the carving stage waits, or between passes over files in pieces. */
void run_checkpoint_meanwhile(void *run);

#endif
