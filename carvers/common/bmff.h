/*
 * The ISO base media file format, boxes within boxes, which HEIF, AVIF, CR3, JPEG 2000 and the
 * family of MP4 share.
 */
#ifndef BURIN_CARVERS_COMMON_BMFF_H
#define BURIN_CARVERS_COMMON_BMFF_H

#include <stdbool.h>

#include "carver.h"

/* A type or brand from its four letters. */
#define BMFF(a, b, c, d) \
	((uint32_t)(a) << 24 | (uint32_t)(b) << 16 | (uint32_t)(c) << 8 | (uint32_t)(d))

struct bmff_box {
	uint64_t at, data, end; /* [at, end); size and type come first, then [data, end) */
	uint32_t type;          /* 0: no box */
	bool open;              /* size 0: it reaches the end of its parent */
};

enum bmff_state {
	BMFF_BOX,  /* a box that ends inside the limit */
	BMFF_NONE, /* not a box: not a type, or an impossible size */
	BMFF_CUT,  /* it ends past the limit: box is set, with the end that its size gives */
	BMFF_END,  /* `at` is the limit */
};

/* Reads the box at `at`, whose parent ends at limit. */
enum bmff_state bmff_read(struct view *view, uint64_t at, uint64_t limit, struct bmff_box *box);

/* Finds the first box of this type in [at, end). False when there is none. */
bool bmff_find(struct view *view, uint64_t at, uint64_t end, uint32_t type, struct bmff_box *found);

/* The same along a path of types, each directly in the one before it; 0 ends the path. */
bool bmff_find_path(struct view *view, const struct bmff_box *from, const uint32_t *path,
	struct bmff_box *found);

/* Whether boxes fill the box exactly, and so on in those known to contain boxes. False: *broken is
 * where a box should start. */
bool bmff_nested(struct view *view, const struct bmff_box *box, uint64_t *broken);
/* The same, and calls visit for each box that does not contain boxes, in the order of the file. It returns false if the box is
 * invalid at *broken; then so does this. */
bool bmff_walk(struct view *view, const struct bmff_box *box,
	bool (*visit)(void *context, const struct bmff_box *box, uint64_t *broken), void *context,
	uint64_t *broken);

/* Where the first box inside a box starts: after its version, flags and counters, if any. */
uint64_t bmff_first_child(struct view *view, const struct bmff_box *box);

/* Whether the box is free space filled with one value. */
bool bmff_is_filler(struct view *view, const struct bmff_box *box);

#define BMFF_MDATS 32

/* A file, by its outermost boxes. */
struct bmff {
	struct view *view;
	uint32_t brand; /* the major one */
	struct bmff_box ftyp, moov, meta;
	struct bmff_box mdat[BMFF_MDATS];
	uint64_t mdat_count; /* only BMFF_MDATS of them are kept */
	unsigned box_count;
	bool segment;            /* begins with 'styp' or 'moof' */
	uint64_t end;            /* end of the last box of a known type */
	struct bmff_box last;    /* that box */
	enum bmff_state stopped; /* CUT: the last box ends past the view; END: at its end */
};

/* Walks the file at the view's start and declares its boxes as parts (view_part). False: it does
 * not start with a file type. */
bool bmff_open(struct bmff *bmff, struct view *view);

/* The same for a file without file type, which starts with another box, as QuickTime before version
 * 6 wrote them. */
bool bmff_open_bare(struct bmff *bmff, struct view *view);

/* Whether the brand is the major or a compatible one. */
bool bmff_has_brand(const struct bmff *bmff, uint32_t brand);

/* Whether all the bytes are in one of the file's boxes of media data. */
bool bmff_in_mdat(const struct bmff *bmff, uint64_t offset, uint64_t len);

/* Whether boxes of this type are at the top level of a file. */
bool bmff_is_outermost(uint32_t type);

/* For files in pieces (bmff_map.c). */
extern const struct carve_map bmff_map;

#endif
