/*
 * The streams of live files whose bytes are not in the image as they are, one after the other, through
 * libtsk: compressed by NTFS or HFS+, or with holes, which are zeros. Carving finds what they hold nowhere
 * else. (Deleted ones are left out: their blocks may have been taken over, and nothing shows it.)
 */
#include "confined/served_work.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "filesystems/tsk_image.h"
#include "evidence/backend.h"
#include "evidence/inner_place.h"

struct stream {
	uint64_t offset, size; /* offset: in this image */
	uint64_t inode;
	uint32_t type, id;
};

/* Its host reports to it what is found, and is also libtsk's image. */
struct streams {
	struct walk_host host; /* first */
	struct served *served;
	struct walk_file last; /* the file that was reported last */
	struct stream *items;
	size_t count, capacity;
	unsigned left_out;
	TSK_FS_INFO *fs;
	TSK_FS_FILE *file; /* the one that was read last */
	uint64_t inode;
};

static bool read_outer(struct walk_host *host, uint64_t offset, void *buffer, size_t len)
{
	return !served_outer_read(((struct streams *)host)->served, offset, buffer, len);
}

static bool note_stream(
	struct walk_host *host, enum walk_message what, const void *bytes, size_t len)
{
	struct streams *streams = (struct streams *)host;
	struct walk_run run;

	if (what == WALK_FILE && len >= sizeof(streams->last))
		memcpy(&streams->last, bytes, sizeof(streams->last));
	if (what == WALK_PROBLEM)
		streams->left_out++;
	if (what != WALK_RUNS || len != sizeof(run))
		return true;
	memcpy(&run, bytes, sizeof(run));
	streams->items =
		xgrow(streams->items, &streams->capacity, streams->count, sizeof(*streams->items));
	streams->items[streams->count++] = (struct stream){ run.offset, run.length,
		streams->last.inode, streams->last.type, streams->last.id };
	return true;
}

static struct streams *find_streams(struct served *served, const struct volume *volume)
{
	struct streams *streams = xcalloc(1, sizeof(*streams));

	streams->served = served;
	streams->host = (struct walk_host){ .size = served_outer_size(served),
		.sector_size = 512,
		.read = read_outer,
		.report = note_stream };
	walk_streams(&streams->host, volume);
	return streams;
}

static void streams_list(struct served *served, void *arg)
{
	const struct inner_place *place = arg;

	if (find_streams(served, &place->volume)->count)
		served_name(served, INNER_NO_NAME);
}

static void *streams_open(struct served *served, void *arg)
{
	const struct inner_place *place = arg;
	const struct volume *volume = &place->volume;
	struct streams *streams = find_streams(served, volume);
	TSK_IMG_INFO *image = tsk_image_open(&streams->host);
	const struct stream *last;
	char how[128];

	if (image)
		streams->fs = tsk_fs_open_img(
			image, (TSK_OFF_T)volume->offset, (TSK_FS_TYPE_ENUM)volume->type);
	if (!streams->fs || !streams->count) {
		served_refuse(served, "it has no compressed or sparse files");
		return NULL;
	}
	last = &streams->items[streams->count - 1];
	snprintf(how, sizeof(how), "%zu compressed or sparse streams", streams->count);
	served_set_how(served, how);
	served_set_size(served, last->offset + last->size, 512);
	return streams;
}

/* The last stream that begins at offset or before it. */
static const struct stream *find_stream(const struct streams *streams, uint64_t offset)
{
	size_t low = 0, high = streams->count;

	while (high - low > 1) {
		size_t middle = low + (high - low) / 2;

		if (streams->items[middle].offset <= offset)
			low = middle;
		else
			high = middle;
	}
	return &streams->items[low];
}

static int read_stream(struct streams *streams, const struct stream *stream, uint64_t offset,
	void *buffer, size_t len)
{
	const TSK_FS_ATTR *attribute;

	if (!streams->file || streams->inode != stream->inode) {
		if (streams->file)
			tsk_fs_file_close(streams->file);
		streams->file = tsk_fs_file_open_meta(streams->fs, NULL, stream->inode);
		streams->inode = stream->inode;
	}
	attribute = streams->file
			    ? tsk_fs_file_attr_get_type(streams->file,
				      (TSK_FS_ATTR_TYPE_ENUM)stream->type, (uint16_t)stream->id, 1)
			    : NULL;
	if (!attribute || tsk_fs_attr_read(attribute, (TSK_OFF_T)offset, buffer, len,
				  TSK_FS_FILE_READ_FLAG_NONE) != (ssize_t)len)
		return -EIO;
	return 0;
}

static int read_part(void *state, uint64_t offset, uint8_t *to, size_t *len)
{
	struct streams *streams = state;
	const struct stream *stream = find_stream(streams, offset);
	uint64_t inside = offset - stream->offset;
	bool last = stream + 1 == streams->items + streams->count;
	uint64_t end = last ? UINT64_MAX : stream[1].offset;

	if (inside < stream->size) {
		if (stream->size - inside < *len)
			*len = (size_t)(stream->size - inside);
		return read_stream(streams, stream, inside, to, *len);
	}
	/* The gap before the next one. */
	if (end - offset < *len)
		*len = (size_t)(end - offset);
	memset(to, 0, *len);
	return 0;
}

static int streams_read_at(void *handle, uint64_t offset, void *buffer, size_t len)
{
	return image_read_parts(handle, offset, buffer, len, read_part);
}

const struct served_kind served_streams = {
	.name = "streams",
	.memory = (uint64_t)1 << 30,
	.open = streams_open,
	.list = streams_list,
	.read_at = streams_read_at,
};
