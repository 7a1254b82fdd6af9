/*
 * LZ4's legacy format, as `lz4 -l` writes it for Linux kernels: the magic, then blocks, each a
 * length (4 bytes, little-endian) and 8 MiB compressed; the last one has less. Nothing marks the
 * end: it is after the first block that decompresses to less, or where no block follows a full one.
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
/* Random bytes could decompress to less than this. */
#define SURE_LEN 32

struct lz4_legacy {
	struct view *view;
	uint8_t *input, *output;
};

/* Returns how many bytes the block at `at` decompresses to, 0 when it is invalid; *end is after
 * it. */
static int decompress_block(struct lz4_legacy *legacy, uint64_t at, uint64_t *end)
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
		memcpy(legacy->input + done, p, piece);
		done += piece;
	}
	result = LZ4_decompress_safe(
		(const char *)legacy->input, (char *)legacy->output, (int)len, BLOCK_LEN);
	result = result < 0 ? 0 : result;
	return view_work(legacy->view, len + (uint32_t)result / 8) ? result : 0;
}

/* Walks the blocks of a file. Returns the decompressed length of the last one; 0 when an expected
 * block is missing. *valid_end is after the last valid one. */
static int walk_blocks(struct lz4_legacy *legacy, uint64_t *valid_end, struct finding *finding)
{
	uint64_t end;
	int len;

	*valid_end = MAGIC_LEN;
	do {
		len = decompress_block(legacy, *valid_end, &end);
		if (!len || (*valid_end == MAGIC_LEN && len < SURE_LEN))
			return 0;
		if (*valid_end == MAGIC_LEN)
			finding->extension = len >= (int)TAR_BLOCK && tar_header(legacy->output)
						     ? "tar.lz4"
						     : "lz4";
		*valid_end = end;
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
	struct lz4_legacy legacy = { view, malloc(LZ4_COMPRESSBOUND(BLOCK_LEN)),
		malloc(BLOCK_LEN) };
	uint64_t valid_end = 0;
	bool allocated = legacy.input && legacy.output, whole;

	if (!allocated)
		view_no_memory(view);
	whole = allocated && walk_blocks(&legacy, &valid_end, finding);
	free(legacy.input);
	free(legacy.output);
	if (valid_end <= MAGIC_LEN)
		return judge_start(view, finding);
	finding->length = valid_end;
	if (whole)
		return CARVE_COMPLETE;
	/* Of eight million files one ends with a full block. */
	return verdict_because(CARVE_TRUNCATED, finding,
		"no LZ4 block at %" PRIu64 ", after a full one", valid_end);
}
