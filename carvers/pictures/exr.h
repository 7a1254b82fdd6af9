/* What the two parts of the OpenEXR carver share: exr_header.c reads the headers, exr.c walks the
 * chunks. */
#ifndef BURIN_CARVERS_PICTURES_EXR_H
#define BURIN_CARVERS_PICTURES_EXR_H

#include <stdbool.h>

#include "carver.h"

#define EXR_PARTS 256

struct exr_part {
	bool tiled, deep;
	bool channels, compressed, window; /* has these attributes */
	uint8_t compression;
	uint8_t levels; /* of tiles: 0 one, 1 mipmaps, 2 ripmaps; 16 more: up */
	int32_t left, top, right, bottom;
	uint32_t tile_width, tile_height;
	uint32_t lines; /* of a chunk of scan lines */
	uint64_t chunks;
};

struct exr {
	struct view *view;
	struct finding *finding;
	uint32_t flags;
	bool several; /* several parts */
	unsigned part_count;
	uint64_t end; /* end of the headers */
	struct exr_part parts[EXR_PARTS];
};

enum exr_flag { EXR_TILED = 0x200, EXR_LONG_NAMES = 0x400, EXR_DEEP = 0x800, EXR_PARTED = 0x1000 };

/* Reads all headers. Returns what is wrong with them, or NULL; exr->end is where. */
const char *exr_read_headers(struct exr *exr);

#endif
