/* Pieces of files of codes: what the strategies try before they go step by step. */
#ifndef BURIN_ASSEMBLE_BY_CODES_H
#define BURIN_ASSEMBLE_BY_CODES_H

#include "assemble/workbench.h"

/* As find of struct strategy; false for files of other kinds. is_near: only what is nearby is tried. */
bool by_codes_find(struct workbench *bench, const struct broken *broken, bool is_near,
	struct extents *extents, struct outcome *outcome, struct assembly *assembly);

#endif
