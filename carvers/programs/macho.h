/* Mach-O files: what macho.c (headers, verdict) and macho_places.c share. */
#ifndef BURIN_CARVERS_PROGRAMS_MACHO_H
#define BURIN_CARVERS_PROGRAMS_MACHO_H

#include <stdbool.h>

#include "carver.h"

#define MACHO_SLICES_MAX 32

/* One entry of a universal file's list. */
struct macho_slice {
	uint64_t at, len;
	uint32_t align;
};

/* Of a program, from its beginning. */
struct macho_layout {
	uint64_t end, signature, signature_end; /* 0: it has no signature */
};

/* wide: the list has offsets of 8 bytes. False: the entry is invalid. */
bool macho_read_slice(struct view *view, uint32_t index, bool wide, struct macho_slice *slice);
/* By the commands of the program at `base`. False: they are invalid. */
bool macho_read_layout(struct view *view, uint64_t base, struct macho_layout *layout);

/* What is where in a file that may be laid out wrongly. */
extern const struct carve_places macho_places;

#endif
