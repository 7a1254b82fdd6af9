/* Which container formats libtsk reads, and which of their images it would read wrongly:
 * differencing images, which hold only the changes to another image. */
#ifndef BURIN_EVIDENCE_CONTAINER_FORMAT_H
#define BURIN_EVIDENCE_CONTAINER_FORMAT_H

#include "evidence/backend.h"

enum container_library { CONTAINER_AFF, CONTAINER_VMDK, CONTAINER_VHD, CONTAINER_AFF4 };

struct container_format {
	const char *name; /* "aff", "vmdk", "vhd", "vhdx": the format, for people */
	enum container_library library;
};

/* True when the file has one of these formats. */
bool container_format_find(const struct image_ends *ends, struct container_format *format);
/* Refuses an image that needs another one: its library would read zeros, or fail, where only that
 * one has the bytes. Fills in info's paths. Returns 0 or a negative errno with error set. */
int container_format_check(const char *path, const struct container_format *format,
	const struct image_ends *ends, struct image_info *info, struct error *error);

#endif
