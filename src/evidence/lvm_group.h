/* Which logical volumes a physical volume of LVM says that there are, and where their bytes are. */
#ifndef BURIN_EVIDENCE_LVM_GROUP_H
#define BURIN_EVIDENCE_LVM_GROUP_H

#include <stddef.h>
#include <stdint.h>

#define LVM_STRIPES_MAX 128
#define LVM_SEGMENTS_MAX 65536

/* The physical volume. */
struct lvm_source {
	uint64_t length;
	/* Inside it. 0 or a negative errno. */
	int (*read)(void *context, uint64_t offset, void *buffer, size_t len);
	void *context;
};

/* A part of a logical volume: its bytes are in the stripes in turns, stripe_len at a time. */
struct lvm_segment {
	uint64_t offset, length; /* in the logical volume */
	uint64_t stripe_len, stripe_count;
	uint64_t stripes
		[LVM_STRIPES_MAX]; /* where each begins in the physical volume; LVM_ELSEWHERE */
};

#define LVM_ELSEWHERE UINT64_MAX

/* The names of those that users see, lines, which the caller frees. NULL: there are none. */
char *lvm_group_names(const struct lvm_source *source);
/* Those of the one with the name by their offsets, *count of them, which the caller frees. NULL: there are none,
 * and *why says why. */
struct lvm_segment *lvm_group_segments(
	const struct lvm_source *source, const char *wanted, size_t *count, const char **why);

#endif
