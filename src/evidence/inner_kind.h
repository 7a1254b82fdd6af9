/* A kind of volume that is opened out of an image; for inner.c, and the files that implement one. */
#ifndef BURIN_EVIDENCE_INNER_KIND_H
#define BURIN_EVIDENCE_INNER_KIND_H

#include "evidence/backend.h"
#include "evidence/inner.h"
#include "evidence/inner_place.h"

#define INNER_HOW_LEN 256

struct inner_kind {
	const char *name; /* in paths and reports: "luks" */
	/* What volumes_list calls volumes in which there may be one; ended by NULL. */
	const char *const *file_systems;
	const char *library; /* what opens it, for people; NULL: burin itself */
	bool needs_secret;
	bool whole;           /* it is given the whole image around it, not only the volume */
	bool only_on_request; /* not opened with all others, for there may be many */
	const char *served;   /* what burin-evidence calls it */
	bool served_lists;    /* burin-evidence also lists names */
	unsigned
		open_cpu_seconds; /* that burin-evidence may take to open it; 0: as for reading from it */
	/* Of one that is a former state of the volume around it: an image of struct ranges, the first with
	 * their number as its offset: rising, what differs between the two. */
	const char *changed; /* what burin-evidence calls that */
	/* Where what it serves says where the volume's bytes are in the image around it: makes the image of that.
	 * NULL: it is not valid. The rest is as for `open`. */
	struct image *(*build)(const void *layout, size_t len, const struct volume *volume);
	/* Where burin reads it itself, of what burin-evidence says of its parts (inner_read_served). NULL: *why says why. The
	 * image's `outer` is set by the caller; its info has the size, and paths besides outer's. how: "", or for people. */
	struct image *(*open)(struct image *outer, const struct inner_place *place,
		const char **why, char how[INNER_HOW_LEN]);
	/* The names in the volume of the image at path, lines, which the caller frees; NULL: none. */
	char *(*list)(struct image *outer, const struct volume *volume, const char *path,
		struct inner_beside *beside);
};

/* Whether the volume's file system is one of the kind's. */
bool inner_is_kind(const struct inner_kind *kind, const struct volume *volume);
/* The volume at the offset in which there may be one. */
bool inner_find_volume(
	struct image *outer, const struct inner_kind *kind, uint64_t offset, struct volume *volume);

/* All bytes that burin-evidence serves of the place, *len of them, which the caller frees and does not trust. NULL: there are none,
 * and the reason, which is "" where they can't be read. */
void *inner_read_served(struct image *outer, const struct inner_kind *kind,
	const struct inner_place *place, size_t *len, char *reason, size_t reason_len);

extern const struct inner_kind inner_bitlocker, inner_luks, inner_filevault, inner_lvm, inner_md,
	inner_shadow, inner_streams;

#endif
