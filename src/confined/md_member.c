/* What a member of an array of Linux's md says of itself (evidence/md_superblock.h), as an image of a struct md_superblock. */
#include <stdlib.h>

#include "base/memory.h"
#include "confined/served_work.h"
#include "evidence/md_superblock.h"

static bool read_outer(void *context, uint64_t offset, void *buffer, size_t len)
{
	return !served_outer_read(context, offset, buffer, len);
}

static void *open_member(struct served *served, void *arg)
{
	struct md_superblock *superblock = xcalloc(1, sizeof(*superblock));

	(void)arg;
	if (md_superblock_read(read_outer, served, served_outer_size(served), superblock)) {
		served_set_size(served, sizeof(*superblock), 512);
		return superblock;
	}
	free(superblock);
	served_refuse(served, "its superblock is damaged");
	return NULL;
}

const struct served_kind served_md = {
	.name = "md",
	.memory = (uint64_t)1 << 28,
	.open = open_member,
	.read_at = served_read_memory,
};
