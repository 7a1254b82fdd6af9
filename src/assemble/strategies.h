/* The ways to find a file's pieces: each is a row of the table in strategies.c, and a function. */
#ifndef BURIN_ASSEMBLE_STRATEGIES_H
#define BURIN_ASSEMBLE_STRATEGIES_H

#include "assemble/workbench.h"

/* A row is a pass over all files that broke off. */
struct strategy {
	const char *name;          /* NULL ends the table */
	enum assemble_level level; /* the lowest that uses it... */
	enum assemble_level last;  /* ...and the highest */
	enum assembly_by by;
	unsigned share;    /* percent of the usual work of a pass */
	bool uses_volumes; /* which only the first of several processes has: it tries all files */
	bool uses_tables;  /* bench->hits and bench->sums have what the carvers' maps ask for */
	bool uses_heads;   /* bench->searcher has the first bytes of clusters */
	bool repeats;      /* trials that other passes make, too: bench->known has those refused */
	/* Whether the pass is for files of the carver, which share its work; NULL: for any. */
	bool (*concerns)(const struct carver *carver);
	/* Looks for a layout that the carver finds COMPLETE, or at least better than before. True: extents, outcome, and in assembly
	 * the evidence (bits, of the joints, whatever the number of trials) and the doubts are
	 * filled in. Called by several threads for different files. */
	bool (*find)(struct workbench *bench, const struct broken *broken, struct extents *extents,
		struct outcome *outcome, struct assembly *assembly);
};

extern const struct strategy strategies[];

/* Whether the pass of this number, or a later one, repeats trials. */
bool strategies_repeat_from(unsigned pass);
/* Whether it, or a later one, repeats trials that one before it has noted. */
bool strategies_use_known(unsigned pass);

/* Bits that a file system's own record of a file is worth. Such a file may share clusters with others:
 * small ones are in their records. */
#define RECORD_BITS 64

/* What the file system's records say of it (file_system.c). */
bool find_in_file_system(struct workbench *bench, const struct broken *broken,
	struct extents *extents, struct outcome *outcome, struct assembly *assembly);
/* The layout of ext2 and ext3 (pointer_blocks.c). */
bool find_pointer_blocks(struct workbench *bench, const struct broken *broken,
	struct extents *extents, struct outcome *outcome, struct assembly *assembly);
/* Tables inside the file (by_table.c). */
bool find_by_table(struct workbench *bench, const struct broken *broken, struct extents *extents,
	struct outcome *outcome, struct assembly *assembly);
/* The same, but what nothing proves is left to find_stored_chain if that may find it, and then to the last of these. */
bool find_by_sure_table(struct workbench *bench, const struct broken *broken,
	struct extents *extents, struct outcome *outcome, struct assembly *assembly);
bool find_by_unsure_table(struct workbench *bench, const struct broken *broken,
	struct extents *extents, struct outcome *outcome, struct assembly *assembly);
/* Tables that show what kind of bytes is where (by_places.c). */
bool find_by_places(struct workbench *bench, const struct broken *broken, struct extents *extents,
	struct outcome *outcome, struct assembly *assembly);
/* CRCs of bytes as they are in the file (by_sum.c). */
bool find_by_sum(struct workbench *bench, const struct broken *broken, struct extents *extents,
	struct outcome *outcome, struct assembly *assembly);
/* Samples and pixels, cluster by cluster (stored_chain.c). */
bool find_stored_chain(struct workbench *bench, const struct broken *broken,
	struct extents *extents, struct outcome *outcome, struct assembly *assembly);
/* Texts, cluster by cluster (text_chain.c). */
bool find_text_chain(struct workbench *bench, const struct broken *broken, struct extents *extents,
	struct outcome *outcome, struct assembly *assembly);
/* Pieces between the file's start and its end, which its tables show (plans.c). */
bool find_before_tail(struct workbench *bench, const struct broken *broken, struct extents *extents,
	struct outcome *outcome, struct assembly *assembly);
/* Two pieces, the second soon after the first (plans.c). */
bool find_near(struct workbench *bench, const struct broken *broken, struct extents *extents,
	struct outcome *outcome, struct assembly *assembly);
/* Several pieces in any order (plans.c). */
bool find_anywhere(struct workbench *bench, const struct broken *broken, struct extents *extents,
	struct outcome *outcome, struct assembly *assembly);
/* First with the file's end where its tables show it, then anywhere (plans.c). */
bool find_again(struct workbench *bench, const struct broken *broken, struct extents *extents,
	struct outcome *outcome, struct assembly *assembly);

#endif
