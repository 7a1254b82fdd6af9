/* Programs after a DOS header: what mz.c (DOS and verdict), mz_dos.c (what follows an image),
 * mz_ne.c and mz_le.c share. */
#ifndef BURIN_CARVERS_PROGRAMS_MZ_H
#define BURIN_CARVERS_PROGRAMS_MZ_H

#include <stdbool.h>

#include "carver.h"

/* How far a program extends; all offsets are from the candidate's start. */
struct mz_extent {
	uint64_t code;      /* after its headers */
	uint64_t end;       /* after its last part */
	uint64_t proof;     /* after the last structure that proves its bytes */
	uint64_t broken_at; /* where such a structure is invalid; 0: none is */
};

/* Extends the extent to `end`, at least. */
void mz_extend(struct mz_extent *extent, uint64_t end);

/* Notes that a structure that ends at `end` is valid; that one is invalid at `at`. */
void mz_prove(struct mz_extent *extent, uint64_t end);
void mz_mark_broken(struct mz_extent *extent, uint64_t at);

/* Walks names in [at, end), each preceded by its length and followed by a number of two bytes, up
 * to an empty one: true, with *past after it. */
bool mz_names(struct view *view, uint64_t at, uint64_t end, uint64_t *past);

/* Makes the first of such names the title, if there is none yet. */
void mz_title(struct view *view, struct finding *finding, uint64_t at);

/* Checks the version resource of 16-bit Windows, of at most len bytes at `at`. */
void mz_version(struct view *view, uint64_t at, uint64_t len, struct mz_extent *extent);

/* Measures a 16-bit program for Windows or OS/2, whose DOS header is at `base` and whose own header
 * at `head`: what is wrong with the header, or NULL. */
const char *mz_ne(struct view *view, struct finding *finding, uint64_t base, uint64_t head,
	struct mz_extent *extent);

/* The same for a linear executable. */
const char *mz_le(struct view *view, struct finding *finding, uint64_t base, uint64_t head,
	struct mz_extent *extent);

/* Adds overlays and tables for debuggers directly after the extent to it. */
void mz_skip_overlays(struct view *view, struct mz_extent *extent);

#endif
