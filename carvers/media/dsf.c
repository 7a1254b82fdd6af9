/*
 * DSF, direct stream digital audio (Sony, DSF File Format Specification 1.01).
 *
 *	'DSD ', 28, size of the file, offset of an ID3v2 tag at its end (0: none)
 *	'fmt ', 52, version, channels, rate, bits, samples of a channel, block size 4,096
 *	'data', length, blocks of the channels in turn; the last ones are filled up with zeros (by most writers)
 *
 * The three lengths have to agree. The end is confirmed by the tag, or by the zeros after the last
 * samples if other bytes precede them; else the file is unverified.
 */
#include "dsd.h"

#include <inttypes.h>
#include <string.h>

#include "bytes.h"
#include "audio_tags.h"
#include "walk.h"

#define BLOCK_LEN 4096
#define CHUNKS_LEN 80 /* before the data's chunk */
#define DATA_AT 92
#define FILL_MIN 16

uint64_t dsd_valid_end(struct view *view, uint64_t start, uint64_t end)
{
	const uint8_t *p = end > start ? view_peek(view, end - 1, 1) : NULL;

	return p && *p == 0x69 ? end : walk_before_fill(view, start, end);
}

bool dsd_tag_is_valid(struct view *view, struct finding *finding, uint64_t at, uint64_t end)
{
	struct id3v2 tag;

	return id3v2_read(view, at, end, &tag, finding) && tag.frame_count && tag.end == end &&
	       walk_zeros(view, tag.valid_end, end);
}

struct dsf {
	struct view *view;
	uint64_t size, tag, data_end, used; /* `used` bytes of each channel's blocks hold samples */
	uint32_t channels;
	bool filled; /* the last blocks, with zeros */
};

/* What is wrong with the headers, or NULL. */
static const char *read_heads(struct dsf *dsf)
{
	const uint8_t *p = view_peek(dsf->view, 0, DATA_AT);
	uint64_t samples;

	if (!p || memcmp(p, "DSD ", 4) != 0 || le64(p + 4) != 28 ||
		memcmp(p + 28, "fmt ", 4) != 0 || le64(p + 32) != 52 ||
		memcmp(p + 80, "data", 4) != 0)
		return "no DSF chunks";
	dsf->size = le64(p + 12);
	dsf->tag = le64(p + 20);
	dsf->channels = le32(p + 52);
	samples = le64(p + 64);
	if (dsf->channels - 1 > 7 || (le32(p + 60) != 1 && le32(p + 60) != 8) ||
		le32(p + 72) != BLOCK_LEN || samples > (uint64_t)1 << 50 ||
		dsf->size > (uint64_t)1 << 50)
		return "impossible fields";
	dsf->used = le32(p + 60) == 1 ? (samples + 7) / 8 : samples;
	dsf->data_end =
		DATA_AT + (dsf->used + BLOCK_LEN - 1) / BLOCK_LEN * BLOCK_LEN * dsf->channels;
	/* Some writers don't fill the last blocks, or count bytes as samples. */
	dsf->filled = le64(p + 84) == dsf->data_end - CHUNKS_LEN;
	if (!dsf->filled &&
		(le64(p + 84) > dsf->size ||
			le64(p + 84) < DATA_AT - CHUNKS_LEN + dsf->used * dsf->channels))
		return "chunk lengths that contradict the number of samples";
	dsf->data_end = CHUNKS_LEN + le64(p + 84);
	if (dsf->tag == dsf->size)
		dsf->tag = 0;
	if (dsf->tag ? dsf->tag != dsf->data_end || dsf->size <= dsf->tag
		     : dsf->size != dsf->data_end)
		return "a file size that contradicts the data length";
	return NULL;
}

/* Whether each channel's last block ends in zeros that begin just after its samples. */
static bool has_filled_blocks(const struct dsf *dsf)
{
	uint64_t fill = (BLOCK_LEN - dsf->used % BLOCK_LEN) % BLOCK_LEN;

	if (!dsf->filled || fill < FILL_MIN)
		return false;
	for (uint32_t i = 0; i < dsf->channels; i++) {
		uint64_t end = dsf->data_end - (uint64_t)BLOCK_LEN * i, start = end - fill;
		uint64_t block = end - BLOCK_LEN;

		if (!walk_zeros(dsf->view, start, end) ||
			dsd_valid_end(dsf->view, block, start) != start)
			return false;
	}
	return true;
}

static enum verdict check(struct view *view, struct finding *finding)
{
	struct dsf dsf = { .view = view };
	const char *problem = read_heads(&dsf);

	if (problem)
		return verdict_because(CARVE_REJECT, finding, "%s at 0", problem);
	if (dsf.size > view_size(view))
		return walk_cut(view, finding, dsf.size, view_size(view));
	finding->length = dsf.size;
	if (dsf.tag ? dsd_tag_is_valid(view, finding, dsf.tag, dsf.size) : has_filled_blocks(&dsf))
		return CARVE_COMPLETE;
	if (dsf.tag) {
		finding->length = dsd_valid_end(view, DATA_AT, dsf.data_end);
		return verdict_because(CARVE_TRUNCATED, finding, "no ID3 tag at %" PRIu64, dsf.tag);
	}
	return verdict_because(CARVE_UNVERIFIED, finding,
		"the samples before %" PRIu64 " cannot be verified", dsf.size);
}

const struct carver dsf_carver = {
	.name = "dsf",
	.summary = "DSF audio, by its lengths, tag and padding",
	.check = check,
};
