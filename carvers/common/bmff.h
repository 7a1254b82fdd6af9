/*
 * The ISO base media file format: boxes within boxes. What HEIF, AVIF, CR3, JPEG 2000 and the
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
	uint64_t at, data, end; /* [at, end), of which [data, end) is behind size and type */
	uint32_t type;          /* 0: no box */
	bool open;              /* size 0: it goes to the end of what holds it */
};

enum bmff_state {
	BMFF_SOUND,
	BMFF_NONE, /* no box stands here: no type, or a size that can't be */
	BMFF_CUT,  /* it ends behind the limit: box is set, its end is as it says */
	BMFF_END,  /* at is the limit */
};

/* Reads the box at `at` in something that ends at limit. */
enum bmff_state bmff_read(struct view *view, uint64_t at, uint64_t limit, struct bmff_box *box);

/* The first box of this type in [at, end), or false. */
bool bmff_find(struct view *view, uint64_t at, uint64_t end, uint32_t type, struct bmff_box *found);

/* The same along a path of types that ends with 0, each directly in the one before it. */
bool bmff_find_path(struct view *view, const struct bmff_box *from, const uint32_t *path,
	struct bmff_box *found);

/* Whether boxes fill the box, and those of them that are known to hold boxes, too. False: *broken
 * is where no box stands. */
bool bmff_nested(struct view *view, const struct bmff_box *box, uint64_t *broken);

/* Where the first box in a box starts: behind its version, flags and counters, if it has them. */
uint64_t bmff_first_child(struct view *view, const struct bmff_box *box);

/* Whether it is free space of one value all over. */
bool bmff_is_filler(struct view *view, const struct bmff_box *box);

#define BMFF_MDATS 32

/* A file by its outermost boxes. */
struct bmff {
	struct view *view;
	uint32_t brand; /* the major one */
	struct bmff_box ftyp, moov, meta;
	struct bmff_box mdat[BMFF_MDATS];
	uint64_t mdat_count; /* those beyond BMFF_MDATS are only counted */
	unsigned box_count;
	bool segment;            /* begins with 'styp' or 'moof' */
	uint64_t end;            /* behind the last box of a known type */
	struct bmff_box last;    /* which is this one */
	enum bmff_state stopped; /* CUT: the last box ends behind the view; END: at its end */
};

/* Walks the file at the view's start, and names its boxes as parts of it. False: it does not begin
 * with a file type. */
bool bmff_open(struct bmff *bmff, struct view *view);

/* The same for one without, as QuickTime before version 6 wrote them: it begins with another
 * box. */
bool bmff_open_bare(struct bmff *bmff, struct view *view);

/* Whether the brand is the major or a compatible one. */
bool bmff_has_brand(const struct bmff *bmff, uint32_t brand);

/* Whether the bytes are all in one of the file's boxes of media data. */
bool bmff_in_mdat(const struct bmff *bmff, uint64_t offset, uint64_t len);

#endif
