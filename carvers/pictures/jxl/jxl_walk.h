/* A walk through a JPEG XL codestream, bare or in a box. */
#ifndef BURIN_CARVERS_PICTURES_JXL_JXL_WALK_H
#define BURIN_CARVERS_PICTURES_JXL_JXL_WALK_H

#include "jxl_frame.h"

struct jxl_walk {
	struct jxl_image image;
	uint64_t end; /* end of what the headers describe: of the last frame, if there is one */
	uint64_t valid_end; /* when it is broken: how far it is valid */
	uint64_t broken_at;
	const char *problem;
	bool cut;              /* the bytes end before the codestream does */
	bool begun;            /* the start of a frame's first section was valid */
	unsigned frame_count;  /* complete ones */
	unsigned proof;        /* bits whose values are unlikely to be chance */
	uint64_t last_at;      /* where the last section starts */
	uint64_t work;         /* how much may still be decoded */
	bool confirmed_to_end; /* the decoded bits end with it */
};

/* Walks the codestream at `at`. False: it is broken. */
bool jxl_walk(struct jxl_walk *walk, struct view *view, uint64_t at, uint64_t limit);

#endif
