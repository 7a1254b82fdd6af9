/*
 * WavPack 4 and 5 (wavpack.com, File Format).
 *
 *	block:     'wvpk', length of the rest (without these 8 bytes), version 0x402 to 0x410, high
 *	           bytes of the next two, number of all samples, the first sample's index, samples
 *	           in this block, flags, CRC of the samples; then sub-blocks
 *	sub-block: id, length in words (1 byte, or 3 if the id has a flag for it), data
 *
 * The sub-blocks have to fill their block, and in version 5 the last of them is a checksum of the
 * block. Blocks of several channels share their samples: the first and the last of them have flags.
 * The file ends after the last sample's last block and any blocks without samples after it (the WAV
 * file's tail, an MD5). If the number of all samples is not known the end is a guess, unless tags
 * follow (audio_tags.h). The last block's data are confirmed by its checksum, or by what follows;
 * without either the verdict is unverified. Data of blocks without a checksum are not verified
 * (view_unverified): their CRC and the file's MD5 are of the decoded samples.
 */
#include <inttypes.h>
#include <stdbool.h>
#include <string.h>

#include "bytes.h"
#include "carver.h"
#include "noise.h"
#include "audio_tags.h"
#include "walk.h"

#define HEADER_LEN 32
#define BLOCK_MAX (1u << 24)
/* Sub-blocks needed to accept a corrupt first block. */
#define SUB_BLOCKS_MIN 3

enum { FINAL_BLOCK = 0x1000 };
enum { ID_LARGE = 0x80, ID_ODD = 0x40, ID_CHECKSUM = 0x2f, ID_KIND = 0x3f, ID_HEAD = 0x21 };

enum block_state { BLOCK_INTACT, BLOCK_CUT, BLOCK_NONE, BLOCK_BROKEN };

struct wavpack_block {
	uint64_t end, all_samples, index;
	uint64_t valid_end; /* after its last valid sub-block */
	unsigned sub_count; /* of those */
	bool has_checksum;  /* it has a checksum */
	uint32_t samples, flags;
	uint16_t version;
};

struct wavpack {
	struct view *view;
	struct finding *finding;
	uint64_t at, all_samples, sample_count;
	uint64_t plain; /* where the last block's data turn plain, i.e. foreign; 0: nowhere */
	uint32_t block_count;
	bool known, done;
	bool bare;         /* nothing confirms the last block's data */
	bool has_checksum; /* the first block has a checksum, so all must have one */
};

/* Whether the sum of the 16-bit words before the checksum's own sub-block, of 2 or 4 bytes, matches
 * it. */
static bool checksum_matches(struct view *view, uint64_t at, uint64_t end, uint32_t len)
{
	uint32_t sum = UINT32_MAX;
	const uint8_t *p;
	size_t got;

	for (uint64_t left = at; left < end; left += got) {
		p = walk_window(view, left, end, &got);
		if (!p)
			return false;
		got &= ~(size_t)1;
		for (size_t i = 0; i < got; i += 2)
			sum = sum * 3 + le16(p + i);
		if (!got)
			return false;
	}
	p = view_peek(view, end + 2, len);
	if (!p)
		return false;
	if (len == 4)
		return le32(p) == sum;
	return le16(p) == (uint16_t)(sum ^ sum >> 16);
}

/* Whether the sub-blocks fill the block. */
static bool walk_sub_blocks(const struct wavpack *wavpack, struct wavpack_block *block)
{
	uint64_t at = wavpack->at + HEADER_LEN;

	for (; at < block->end; block->sub_count++) {
		block->valid_end = at;
		size_t head = block->end - at < 4 ? (size_t)(block->end - at) : 4;
		const uint8_t *p = view_peek(wavpack->view, at, head);
		uint64_t len;

		if (!p || head < 2 || (p[0] & ID_LARGE && head < 4))
			return false;
		len = p[1] * 2u;
		head = 2;
		if (p[0] & ID_LARGE) {
			len |= (uint64_t)(p[2] | p[3] << 8) << 9;
			head = 4;
		}
		if (len > block->end - at - head || at + head + len > view_size(wavpack->view) ||
			(p[0] & ID_ODD && !len))
			return false;
		/* The head of the file that was compressed begins like that file. */
		if ((p[0] & ID_KIND) == ID_HEAD)
			view_embedded(wavpack->view, at + head);
		if (p[0] == ID_CHECKSUM && (len == 2 || len == 4)) {
			if (!checksum_matches(wavpack->view, wavpack->at, at, (uint32_t)len)) {
				/* Any of the block's bytes may be wrong. */
				block->valid_end =
					wavpack->at + (wavpack->block_count ? 0 : HEADER_LEN);
				return false;
			}
			block->has_checksum = true;
		}
		at += head + len;
	}
	return block->has_checksum || !wavpack->has_checksum;
}

static enum block_state read_block(const struct wavpack *wavpack, struct wavpack_block *block)
{
	uint64_t size = view_size(wavpack->view);
	const uint8_t *p = view_peek(wavpack->view, wavpack->at, HEADER_LEN);
	uint32_t len;

	*block = (struct wavpack_block){ .valid_end = wavpack->at };
	if (!p) {
		p = view_peek(wavpack->view, wavpack->at, 4);
		return p && memcmp(p, "wvpk", 4) == 0 ? BLOCK_CUT : BLOCK_NONE;
	}
	len = le32(p + 4);
	block->version = le16(p + 8);
	if (memcmp(p, "wvpk", 4) != 0 || len < HEADER_LEN - 8 || len > BLOCK_MAX || len & 1 ||
		block->version < 0x402 || block->version > 0x410)
		return BLOCK_NONE;
	block->all_samples = le32(p + 12);
	if (block->all_samples == UINT32_MAX)
		block->all_samples = UINT64_MAX;
	else
		block->all_samples += ((uint64_t)p[11] << 32) - p[11];
	block->index = le32(p + 16) | (uint64_t)p[10] << 32;
	block->samples = le32(p + 20);
	block->flags = le32(p + 24);
	block->end = wavpack->at + 8 + len;
	if (walk_sub_blocks(wavpack, block))
		return BLOCK_INTACT;
	return block->end > size ? BLOCK_CUT : BLOCK_BROKEN;
}

/* Whether a block continues the file. */
static bool belongs(const struct wavpack *wavpack, const struct wavpack_block *block)
{
	if (!wavpack->block_count)
		return true;
	if (!block->samples)
		return true;
	/* The first block of a file has index 0, and so have other channels of its samples. */
	return !wavpack->done && (block->index || wavpack->sample_count == 0);
}

static void add_block(struct wavpack *wavpack, const struct wavpack_block *block)
{
	if (!wavpack->block_count && block->all_samples != UINT64_MAX) {
		wavpack->known = true;
		wavpack->all_samples = block->all_samples;
	}
	if (block->samples && block->flags & FINAL_BLOCK) {
		wavpack->sample_count = block->index + block->samples;
		wavpack->done = wavpack->known && wavpack->sample_count >= wavpack->all_samples;
	}
	/* No other block follows and confirms the last block's data. */
	if (wavpack->done && !block->has_checksum && block->samples)
		wavpack->plain = plain_start(wavpack->view, wavpack->at + HEADER_LEN, block->end);
	if (wavpack->plain == block->end)
		wavpack->plain = 0;
	wavpack->bare = !block->has_checksum && block->samples;
	if (!block->has_checksum)
		view_unverified(wavpack->view, wavpack->at + HEADER_LEN, block->end);
	wavpack->has_checksum |= block->has_checksum && !wavpack->block_count;
	/* A block of other channels begins like the file. */
	if (wavpack->at)
		view_part(wavpack->view, wavpack->at);
	wavpack->at = block->end;
	wavpack->block_count++;
}

static enum verdict judge_end(
	struct wavpack *wavpack, enum block_state state, const struct wavpack_block *block)
{
	struct finding *finding = wavpack->finding;
	struct view *view = wavpack->view;

	/* Silence is plain, too: then a tag shows where it ends. */
	if (wavpack->plain && audio_tags_end(view, wavpack->at, finding) == wavpack->at) {
		finding->length = wavpack->plain;
		return verdict_because(CARVE_TRUNCATED, finding,
			"plain bytes instead of audio at %" PRIu64, wavpack->plain);
	}
	if (wavpack->done || (!wavpack->known && state == BLOCK_NONE)) {
		finding->length = audio_tags_end(view, wavpack->at, finding);
		if (finding->length > wavpack->at || (wavpack->done && !wavpack->bare))
			return CARVE_COMPLETE;
		if (wavpack->done)
			return verdict_because(CARVE_UNVERIFIED, finding,
				"the last block, before %" PRIu64 ", has no checksum", wavpack->at);
		return verdict_because(CARVE_UNVERIFIED, finding,
			"no block at %" PRIu64 ", and the number of samples is not stored",
			wavpack->at);
	}
	if (state == BLOCK_CUT)
		return walk_cut(view, finding, view_size(view) + 1,
			view_ends_with_image(view) ? view_size(view) : block->valid_end);
	/* If blocks have a checksum, any byte of this one may be wrong. */
	finding->length =
		state == BLOCK_BROKEN && !wavpack->has_checksum ? block->valid_end : wavpack->at;
	return verdict_because(CARVE_TRUNCATED, finding,
		state == BLOCK_BROKEN ? "corrupt block at %" PRIu64
				      : "no block of this file at %" PRIu64,
		wavpack->at);
}

static enum verdict check(struct view *view, struct finding *finding)
{
	struct wavpack wavpack = { .view = view, .finding = finding };
	enum block_state state;
	struct wavpack_block block;

	while ((state = read_block(&wavpack, &block)) == BLOCK_INTACT) {
		if (!belongs(&wavpack, &block)) {
			state = BLOCK_NONE;
			break;
		}
		add_block(&wavpack, &block);
	}
	if (!wavpack.block_count && block.sub_count < SUB_BLOCKS_MIN)
		return verdict_because(CARVE_REJECT, finding, "no valid block at 0");
	return judge_end(&wavpack, state, &block);
}

const struct carver wavpack_carver = {
	.name = "wavpack",
	.summary = "WavPack audio, by its blocks",
	.check = check,
};
