/*
 * The passes of an assembler in another process, burin-carver, which the files may crash or take over. If they do, the
 * passes are made again, each file by one thread, which shows the file that is to blame; it is left out then. Of several
 * it is the one that a single thread would have tried first, so the result is the same for all numbers of threads. What
 * ends the process in another way, or goes on for ever, is found by a single thread. Where other processes make a part of
 * each pass, the first of them does all that alone, once any of their processes has failed.
 */
#ifndef BURIN_ASSEMBLE_CONFINED_H
#define BURIN_ASSEMBLE_CONFINED_H

#include "assemble/assemble.h"

#define CONFINED_HOW_LEN 96

/* Makes all passes that are left. Returns 0, also where some files were left out (assembler_crashed), and where how says
 * how the process ended that too many files crashed, or something else: then there are no results; else it is "".
 * -EINTR: interrupted; the passes before were made. -ENOLINK: it was one of several, not the first, and they do not go on.
 * Else a negative errno with error set. */
int confined_passes_make(
	struct assembler *assembler, char how[CONFINED_HOW_LEN], struct error *error);
/* The same in this process, unless confined. */
int passes_make(struct assembler *assembler, bool confined, char how[CONFINED_HOW_LEN],
	struct error *error);

#endif
