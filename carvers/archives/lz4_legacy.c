/*
 * LZ4's legacy format, as `lz4 -l` writes it for Linux kernels: the magic, then blocks, each a
 * length (4 bytes, little-endian) and what packs 8 MiB, the last one less. Nothing marks the end:
 * it is behind the first block that unpacks to less, or where no block follows a full one.
 */
#include <inttypes.h>
#include <lz4.h>
#include <stdlib.h>
#include <string.h>

#include "bytes.h"
#include "lz4_legacy.h"
#include "tar_header.h"
#include "walk.h"

#define BLOCK_LEN (8 << 20)
#define MAGIC_LEN 4
/* Less than this could come out of random bytes. */
#define SURE_LEN 32

struct legacy {
	struct view *view;
	uint8_t *packed, *unpacked;
};

/* How many bytes the block at `at` unpacks to, 0 when it is none; *end: behind it. */
static int unpack(struct legacy *legacy, uint64_t at, uint64_t *end)
{
	const uint8_t *p = view_peek(legacy->view, at, 4);
	uint32_t len = p ? le32(p) : 0;
	int result;

	*end = at + 4 + len;
	if (!len || len > LZ4_COMPRESSBOUND(BLOCK_LEN) || *end > view_size(legacy->view))
		return 0;
	for (uint32_t done = 0; done < len;) {
		uint32_t piece = len - done < VIEW_MAX_PEEK ? len - done : VIEW_MAX_PEEK;

		p = view_peek(legacy->view, at + 4 + done, piece);
		if (!p)
			return 0;
		memcpy(legacy->packed + done, p, piece);
		done += piece;
	}
	result = LZ4_decompress_safe(
		(const char *)legacy->packed, (char *)legacy->unpacked, (int)len, BLOCK_LEN);
	return result < 0 ? 0 : result;
}

/* Walks the blocks of a file: how long the last one was, unpacked; 0 when there is none where one
 * had to be. *sound is behind the last good one. */
static int walk(struct legacy *legacy, uint64_t *sound, struct finding *finding)
{
	uint64_t end;
	int len;

	*sound = MAGIC_LEN;
	do {
		len = unpack(legacy, *sound, &end);
		if (!len || (*sound == MAGIC_LEN && len < SURE_LEN))
			return 0;
		if (*sound == MAGIC_LEN)
			finding->extension = len >= (int)TAR_BLOCK && tar_header(legacy->unpacked)
						     ? "tar.lz4"
						     : "lz4";
		*sound = end;
	} while (len == BLOCK_LEN);
	return len;
}

/* The verdict when there is no first block. */
static enum verdict judge_start(struct view *view, struct finding *finding)
{
	const uint8_t *p = view_peek(view, MAGIC_LEN, 4);
	uint32_t len = p ? le32(p) : 0;

	if (len > LZ4_COMPRESSBOUND(BLOCK_LEN) || len <= view_size(view) - 2 * MAGIC_LEN || !p)
		return verdict_because(CARVE_REJECT, finding, "no LZ4 block at %d", MAGIC_LEN);
	return walk_cut(view, finding, view_size(view) + 1,
		view_ends_with_image(view) ? view_size(view) : 2 * MAGIC_LEN);
}

enum verdict lz4_legacy_check(struct view *view, struct finding *finding)
{
	struct legacy legacy = { view, malloc(LZ4_COMPRESSBOUND(BLOCK_LEN)), malloc(BLOCK_LEN) };
	uint64_t sound = 0;
	bool whole = legacy.packed && legacy.unpacked && walk(&legacy, &sound, finding);

	free(legacy.packed);
	free(legacy.unpacked);
	if (sound <= MAGIC_LEN)
		return judge_start(view, finding);
	finding->length = sound;
	if (whole)
		return CARVE_COMPLETE;
	/* Of eight million files one ends with a full block. */
	return verdict_because(
		CARVE_TRUNCATED, finding, "no LZ4 block at %" PRIu64 ", behind a full one", sound);
}
