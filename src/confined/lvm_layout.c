/* Logical volumes of LVM (evidence/lvm_group.h): their names, and where their bytes are, as an image of struct
 * lvm_segments. */
#include <stdlib.h>
#include <string.h>

#include "confined/served_work.h"
#include "evidence/inner_place.h"
#include "evidence/lvm_group.h"

static int read_outer(void *context, uint64_t offset, void *buffer, size_t len)
{
	return served_outer_read(context, offset, buffer, len);
}

static struct lvm_source source_of(struct served *served)
{
	return (struct lvm_source){ served_outer_size(served), read_outer, served };
}

static void list_volumes(struct served *served, void *arg)
{
	const struct lvm_source source = source_of(served);
	char *names = lvm_group_names(&source), *rest;

	(void)arg;
	for (char *name = names ? strtok_r(names, "\n", &rest) : NULL; name;
		name = strtok_r(NULL, "\n", &rest))
		served_name(served, name);
	free(names);
}

static void *open_layout(struct served *served, void *arg)
{
	const struct inner_place *place = arg;
	const struct lvm_source source = source_of(served);
	struct lvm_segment *segments;
	const char *why;
	size_t count;

	segments = lvm_group_segments(&source, place->name, &count, &why);
	if (segments)
		served_set_size(served, count * sizeof(*segments), 512);
	else
		served_refuse(served, "%s", why);
	return segments;
}

const struct served_kind served_lvm = {
	.name = "lvm",
	.memory = (uint64_t)1 << 30,
	.open = open_layout,
	.list = list_volumes,
	.read_at = served_read_memory,
};
