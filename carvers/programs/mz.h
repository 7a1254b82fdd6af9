/* Programs behind a DOS header: what mz.c (DOS and verdict), mz_dos.c (what stands behind an
 * image), mz_ne.c and mz_le.c share. */
#ifndef BURIN_CARVERS_PROGRAMS_MZ_H
#define BURIN_CARVERS_PROGRAMS_MZ_H

#include <stdbool.h>

#include "carver.h"

/* What a program reaches to, all from the candidate's start. */
struct mz_extent {
	uint64_t code;   /* behind its headers */
	uint64_t end;    /* behind what reaches farthest */
	uint64_t proof;  /* behind the structure that chance does not make and that reaches farthest
			  */
	uint64_t broken; /* where such a structure is none; 0: none is broken */
};

/* The extent reaches to `end`, at least. */
void mz_reach(struct mz_extent *extent, uint64_t end);

/* A structure that ends at `end` bears itself out; or is broken at `at`. */
void mz_prove(struct mz_extent *extent, uint64_t end);
void mz_break(struct mz_extent *extent, uint64_t at);

/* Names, each with its length in front and a number of two bytes behind, up to an empty one, in
 * [at, end): true with *past behind it. */
bool mz_names(struct view *view, uint64_t at, uint64_t end, uint64_t *past);

/* The first of such names becomes the title, if there is none. */
void mz_title(struct view *view, struct finding *finding, uint64_t at);

/* The version resource of 16-bit Windows, of at most len bytes at `at`. */
void mz_version(struct view *view, uint64_t at, uint64_t len, struct mz_extent *extent);

/* A program of 16 bits for Windows or OS/2, whose DOS header is at `base` and whose own at `head`:
 * what is wrong with the header, or NULL. */
const char *mz_ne(struct view *view, struct finding *finding, uint64_t base, uint64_t head,
	struct mz_extent *extent);

/* The same for a linear executable. */
const char *mz_le(struct view *view, struct finding *finding, uint64_t base, uint64_t head,
	struct mz_extent *extent);

/* Overlays and tables for debuggers directly behind the extent: they belong to it. */
void mz_behind(struct view *view, struct mz_extent *extent);

#endif
