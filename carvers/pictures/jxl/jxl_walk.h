/* A walk through a JPEG XL codestream, by itself or in a box. */
#ifndef BURIN_CARVERS_PICTURES_JXL_JXL_WALK_H
#define BURIN_CARVERS_PICTURES_JXL_JXL_WALK_H

#include "jxl_frame.h"

struct jxl_walk {
	struct jxl_image image;
	uint64_t end;   /* behind what the headers tell of: of the last frame, if there is one */
	uint64_t sound; /* when it broke: behind what makes sense */
	uint64_t broken_at;
	const char *problem;
	bool cut;             /* the bytes end before the codestream does */
	bool begun;           /* the start of a frame's first section was sound */
	unsigned frame_count; /* that are all there */
	unsigned proof;       /* bits that chance would hardly have made as they are */
	uint64_t last_at;     /* where the last section begins */
	uint64_t work;        /* how much may be decoded yet */
	bool borne_out;       /* its bits end with it */
};

/* Walks the codestream at `at`. False: it breaks. */
bool jxl_walk(struct jxl_walk *walk, struct view *view, uint64_t at, uint64_t limit);

#endif
