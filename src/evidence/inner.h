/*
 * Volumes that are opened out of an image and are images of their own: encrypted ones, logical volumes,
 * shadow copies. Their path says how: that of the image around them, "::", the kind, "@", the offset in
 * it and, where there are several, "/" and a name. They may be inside each other:
 *
 *     disk.E01::luks@1048576::lvm@0/vg-root
 */
#ifndef BURIN_EVIDENCE_INNER_H
#define BURIN_EVIDENCE_INNER_H

#include "evidence/image.h"
#include "evidence/volumes.h"

/* Whether the path has the form of an inner image's. A file of that name comes before. */
bool inner_is_path(const char *path);
/* A name for a folder of its files: "disk.E01-luks@1048576-lvm@0-vg-root"; the caller frees it. */
char *inner_folder_name(const char *path);
/* Opens it, and the images around it, which it owns. As image_open. */
int inner_open(struct image **image, const char *path, struct error *error);

/* While it is on, the image around one that is closed stays open until another takes its place, so that for
 * the next volume in it no password is tried again. To be called while no inner image is open. */
void inner_keep(bool on);
/* For image_close: takes over outer, the image around one that is closed. */
void inner_close_outer(struct image *outer, char *path);

/* The volume, in the image around this one, of whose compressed and sparse streams it is the row
 * (walk_messages.h); NULL: it is another image. */
const struct volume *inner_streams_of(const struct image *image);

/* Of a shadow copy: what differs between it and the volume as it is now, which is all that is worth
 * searching in it. False: another image, or it can't be found out. */
bool inner_changed(struct image *image, struct ranges *changed);

/* A member of an array, which has an identifier. */
struct inner_member {
	size_t image; /* the number of its image */
	uint64_t offset;
	uint8_t array[16];
};

/* Images that may hold members of the same array. Zero-initialise the rest; the caller frees members. */
struct inner_beside {
	char *const *paths;
	size_t count;
	bool searched;                /* for members, when the first array is found */
	struct inner_member *members; /* in the images' order */
	size_t member_count;
};

/* Which are looked for. */
struct inner_wanted {
	bool volumes;        /* all but shadow copies; encrypted ones only if there is a secret */
	const char *shadows; /* NULL: none; "all", or the number of one */
	struct inner_beside *beside;
};

/* Calls found with the path of each inner image that the image at path has, and of those in them, in
 * order. What can't be listed is reported by the run that opens it, so it is found, too. */
void inner_find(const char *path, const struct inner_wanted *wanted,
	void (*found)(void *context, char *path), void *context);

#endif
