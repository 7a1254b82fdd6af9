/* AFF, VMDK, VHD and VHDX through libtsk's image layer (evidence/container.c). */
#include <errno.h>
#include <stdlib.h>

#include <tsk/libtsk.h>

#include "confined/served_work.h"
#include "evidence/container_job.h"

/* libafflib would keep 32 pages of 16 MiB. */
#define AFF_PAGES "2"

static void *open_library(struct served *served, void *arg)
{
	static const TSK_IMG_TYPE_ENUM types[] = { [CONTAINER_AFF] = TSK_IMG_TYPE_AFF_ANY,
		[CONTAINER_VMDK] = TSK_IMG_TYPE_VMDK_VMDK,
		[CONTAINER_VHD] = TSK_IMG_TYPE_VHD_VHD };
	const struct container *container = arg;
	TSK_IMG_INFO *info;

	setenv("AFFLIB_CACHE_PAGES", AFF_PAGES, 1);
	info = tsk_img_open_utf8_sing(container->path, types[container->library], 0);
	if (info)
		served_set_size(
			served, info->size > 0 ? (uint64_t)info->size : 0, info->sector_size);
	else
		served_refuse(served, "%s", tsk_error_get_errstr());
	return info;
}

static int read_library(void *handle, uint64_t offset, void *buffer, size_t len)
{
	return tsk_img_read(handle, (TSK_OFF_T)offset, buffer, len) == (ssize_t)len ? 0 : -EIO;
}

const struct served_kind served_container = {
	.name = "container",
	.memory = (uint64_t)1 << 30,
	.folder = served_container_folder,
	.open = open_library,
	.read_at = read_library,
};
