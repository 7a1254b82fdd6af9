#include "filesystems/tsk_image.h"

#include <stdlib.h>

#include "evidence/evidence_job.h"

struct walk_image {
	TSK_IMG_INFO info; /* first: libtsk's pointer is ours */
	struct walk_host *host;
};

/* libtsk reads any number of bytes at once. */
static ssize_t read_image(TSK_IMG_INFO *info, TSK_OFF_T offset, char *buffer, size_t len)
{
	struct walk_host *host = ((struct walk_image *)info)->host;
	uint64_t at = (uint64_t)offset, left = offset < 0 || at >= host->size ? 0 : host->size - at;

	if (len > left)
		len = (size_t)left;
	for (size_t done = 0; done < len;) {
		size_t part_len = len - done < WALK_READ_MAX ? len - done : WALK_READ_MAX;

		if (!host->read(host, at + done, buffer + done, part_len))
			return -1;
		done += part_len;
	}
	return (ssize_t)len;
}

static void close_image(TSK_IMG_INFO *info)
{
	free(info);
}

static void describe_image(TSK_IMG_INFO *info, FILE *stream)
{
	(void)info;
	(void)stream;
}

TSK_IMG_INFO *tsk_image_open(struct walk_host *host)
{
	struct walk_image *image = calloc(1, sizeof(*image));

	if (!image)
		return NULL;
	image->host = host;
	if (tsk_img_open_external(&image->info, (TSK_OFF_T)host->size, host->sector_size,
		    read_image, close_image, describe_image))
		return &image->info;
	free(image);
	return NULL;
}
