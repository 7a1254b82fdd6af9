/*
 * The passes of an assembler in another process, burin-carver, which the files may crash or take over. If they do, the
 * passes are made again, each file by one thread, which shows the file that is to blame; it is left out then. Of several
 * it is the one that a single thread would have tried first, so the result is the same for all numbers of threads. What
 * ends the process in another way, or goes on for ever, is found by a single thread.
 */
#ifndef BURIN_ASSEMBLE_CONFINED_H
#define BURIN_ASSEMBLE_CONFINED_H

#include "assemble/assemble.h"

/* Files that were left out, and the first of them. */
#define LEFT_OUT_MAX 8
struct confined_passes {
	size_t left_out;
	struct {
		uint64_t start; /* in the evidence */
		uint32_t rule;
	} files[LEFT_OUT_MAX];
	char how[96]; /* more files crashed it, or something else did, and how it ended: there are no results; "" */
};

/* Makes all passes. Returns 0, also where *passes says that some or all files were
 * left out; -EINTR (interrupted); or another negative errno with error set. */
int confined_passes_make(
	struct assembler *assembler, struct confined_passes *passes, struct error *error);

#endif
