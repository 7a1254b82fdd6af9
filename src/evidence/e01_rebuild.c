/*
 * An acquisition or a copy that broke off leaves up to two gigabytes of chunks whose table was
 * still to be written. Chunks are stored one after another and can be separated without a table: a
 * compressed one is a zlib stream, which marks its own end, a stored one has the length of a chunk,
 * and both have checksums. So they are followed until one is not intact. Only the medium's last
 * chunk may be shorter than the rest.
 */
#include "evidence/e01_rebuild.h"

#include <libdeflate.h>
#include <stdbool.h>
#include <stdlib.h>

#include "base/file.h"
#include "base/memory.h"
#include "evidence/e01_sections.h"

#define SUM_LEN 4
#define COMPRESSED_FLAG 0x80000000u

struct rebuilder {
	struct libdeflate_decompressor *inflater;
	uint8_t *bytes, *plain;
	uint32_t chunk_len;
};

/* The stored length of the chunk that len bytes start with, 0 when there is none. *last: it is
 * shorter than the rest. */
static size_t chunk_at(struct rebuilder *rebuilder, size_t len, bool *compressed, bool *last)
{
	size_t used, made, chunk_len = rebuilder->chunk_len;

	*compressed = libdeflate_zlib_decompress_ex(rebuilder->inflater, rebuilder->bytes, len,
			      rebuilder->plain, chunk_len, &used, &made) == LIBDEFLATE_SUCCESS &&
		      made;
	*last = *compressed && made < chunk_len;
	if (*compressed)
		return used;
	if (len >= chunk_len + SUM_LEN && e01_sum_holds(rebuilder->bytes, chunk_len))
		return chunk_len + SUM_LEN;
	*last = true;
	return len > SUM_LEN && len < chunk_len + SUM_LEN &&
			       e01_sum_holds(rebuilder->bytes, len - SUM_LEN)
		       ? len
		       : 0;
}

static uint32_t follow_chunks(struct rebuilder *rebuilder, int fd, uint64_t from, uint64_t end,
	size_t stored_max, uint32_t **entries, uint64_t *reached)
{
	size_t capacity = 0;
	uint32_t count = 0;
	uint64_t at = from;
	bool compressed, last = false;

	while (at < end && at - from <= INT32_MAX && count < E01_REBUILD_MAX && !last) {
		size_t len = end - at < stored_max ? (size_t)(end - at) : stored_max;

		if (file_read_all_at(fd, rebuilder->bytes, len, at))
			break;
		len = chunk_at(rebuilder, len, &compressed, &last);
		if (!len)
			break;
		*entries = xgrow(*entries, &capacity, count, sizeof(**entries));
		(*entries)[count++] = (uint32_t)(at - from) | (compressed ? COMPRESSED_FLAG : 0);
		at += len;
	}
	*reached = at;
	return count;
}

uint32_t e01_rebuild(int fd, uint64_t from, uint64_t end, uint32_t chunk_len, uint32_t **entries,
	uint64_t *reached)
{
	size_t stored_max = (size_t)chunk_len + chunk_len / 64 + 4096;
	struct rebuilder rebuilder = {
		.inflater = libdeflate_alloc_decompressor(),
		.bytes = malloc(stored_max),
		.plain = malloc(chunk_len),
		.chunk_len = chunk_len,
	};
	uint32_t count = 0;

	*entries = NULL;
	*reached = from;
	if (rebuilder.inflater && rebuilder.bytes && rebuilder.plain)
		count = follow_chunks(&rebuilder, fd, from, end, stored_max, entries, reached);
	libdeflate_free_decompressor(rebuilder.inflater);
	free(rebuilder.bytes);
	free(rebuilder.plain);
	return count;
}
