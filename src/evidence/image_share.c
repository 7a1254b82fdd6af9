#include "evidence/image_share.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/file.h"
#include "base/memory.h"
#include "base/sandbox.h"
#include "evidence/backend.h"
#include "evidence/extent_image.h"
#include "evidence/shared_image.h"

struct image_share {
	struct image *image;
	struct shared_part parts[SHARED_PARTS_MAX]; /* rising */
	size_t part_count;
	int descriptors[SANDBOX_DESCRIPTORS];
	int originals[SANDBOX_DESCRIPTORS]; /* of the image */
	size_t descriptor_count;
};

/* Opened again: flags of a descriptor that was merely copied would be those of the image's own. */
static int open_again(int fd)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	return image_open_file(path, O_RDONLY | O_CLOEXEC);
}

/* False: it can't be shared. */
static bool find_descriptor(struct image_share *share, int fd, uint32_t *descriptor)
{
	size_t i = 0;
	int copy;

	while (i < share->descriptor_count && share->originals[i] != fd)
		i++;
	*descriptor = (uint32_t)i;
	if (i < share->descriptor_count)
		return true;
	/* Who waits for another program that serves a file looks asleep, and not as if it waited for a disk (base/sandbox.h). */
	copy = i < SANDBOX_DESCRIPTORS && !file_is_served(fd) ? open_again(fd) : -1;
	if (copy < 0)
		return false;
	share->originals[i] = fd;
	share->descriptors[i] = copy;
	share->descriptor_count++;
	return true;
}

/* Goes past what was never read (a ddrescue map). Returns where the next part may be. */
static uint64_t add_part(struct image_share *share, struct image *evidence, uint64_t offset)
{
	struct shared_part *part = &share->parts[share->part_count];
	const struct range *unread;
	int fd, status;

	part->offset = offset;
	status = image_extent(evidence, offset, false, &fd, &part->fd_offset, &part->len);
	if (status) {
		unread = status == -EIO ? ranges_after(&evidence->unread, offset) : NULL;
		return unread && unread->offset <= offset ? unread->offset + unread->length
							  : evidence->info.size;
	}
	share->part_count += find_descriptor(share, fd, &part->descriptor);
	return offset + part->len;
}

struct image_share *image_share_new(struct image *image)
{
	struct image_share *share = xcalloc(1, sizeof(*share));
	struct image *evidence = extent_image_evidence(image);

	share->image = image;
	for (uint64_t at = 0; at < evidence->info.size && share->part_count < SHARED_PARTS_MAX;)
		at = add_part(share, evidence, at);
	return share;
}

const int *image_share_descriptors(const struct image_share *share, size_t *count)
{
	*count = share->descriptor_count;
	return share->descriptors;
}

int image_share_ring(const struct image_share *share)
{
	return share->image->shared_ring ? share->image->shared_ring : -1;
}

void image_share_save(const struct image_share *share, struct codec_writer *writer)
{
	const struct image *evidence = extent_image_evidence(share->image);

	codec_put(writer, evidence->info.size);
	codec_put(writer, evidence->info.sector_size);
	codec_put(writer, evidence->read_unit);
	ranges_save(&evidence->unread, UINT64_MAX, writer);
	codec_put(writer, share->part_count);
	for (size_t i = 0; i < share->part_count; i++) {
		codec_put(writer, share->parts[i].offset);
		codec_put(writer, share->parts[i].len);
		codec_put(writer, share->parts[i].fd_offset);
		codec_put(writer, share->parts[i].descriptor);
	}
	extent_image_save(share->image, writer);
}

void image_share_free(struct image_share *share)
{
	if (!share)
		return;
	for (size_t i = 0; i < share->descriptor_count; i++)
		close(share->descriptors[i]);
	free(share);
}
