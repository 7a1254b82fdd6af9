/* Which container libtsk is given to read, and what it would read wrongly: images that are only the
 * changes to another one. */
#ifndef BURIN_EVIDENCE_DIFFERENCING_H
#define BURIN_EVIDENCE_DIFFERENCING_H

#include "evidence/backend.h"

enum differencing_library { LAYERED_AFF, LAYERED_VMDK, LAYERED_VHD };

struct differencing_kind {
	const char *name; /* "aff", "vmdk", "vhd", "vhdx": the format, for people */
	enum differencing_library library;
};

/* True when the file is one of them. */
bool differencing_find(const struct image_ends *ends, struct differencing_kind *kind);
/* Refuses an image that rests on another one: its libraries would read zeros, or fail, where only
 * that one has the bytes. Fills in info's paths. */
int differencing_check(const char *path, const struct differencing_kind *kind,
	const struct image_ends *ends, struct image_info *info, struct error *error);

#endif
