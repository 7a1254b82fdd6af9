/*
 * What is known of a Matroska file in pieces: an element of the segment may begin with a CRC of the rest of
 * it, as FFmpeg writes them, clusters of many frames among them. Where one is wrong a piece ends in it, and
 * after it another cluster follows, the cues, or tags.
 */
#include "mkv.h"

#include <string.h>

#include "ebml.h"

#define PADDING_MAX 16 /* elements between the head and the segment */
#define WORDS 3        /* of the map: the ids of a cluster, of the cues, and of tags */

/* The segment, if the file begins with the head. */
static bool find_segment(struct view *view, struct ebml_element *segment)
{
	uint64_t size = view_size(view);

	if (ebml_read(view, 0, size, segment) != EBML_INTACT || segment->id != ID_EBML ||
		segment->unknown_len)
		return false;
	for (unsigned i = 0; i < PADDING_MAX; i++) {
		if (ebml_read(view, segment->end, size, segment) == EBML_NONE ||
			segment->unknown_len)
			return false;
		if (segment->id != ID_VOID)
			return segment->id == ID_SEGMENT;
	}
	return false;
}

/* What may follow there. */
static void expect_next(struct carve_sum *sum, uint64_t at)
{
	for (uint8_t word = 0; word < WORDS; word++) {
		struct carve_anchor *anchor = &sum->next[sum->next_count++];

		*anchor = (struct carve_anchor){ .offset = at, .len = 4, .word = word };
		memcpy(anchor->bytes, mkv_map.words[word].bytes, 4);
	}
}

static bool find_sum(struct view *view, struct carve_sum *sum)
{
	struct ebml_element segment, element;
	struct ebml_crc crc;

	if (!find_segment(view, &segment))
		return false;
	for (uint64_t at = segment.data; at < segment.end; at = element.end) {
		if (ebml_read(view, at, segment.end, &element) != EBML_INTACT ||
			element.unknown_len)
			return false;
		if (!ebml_check_crc(view, &element, &crc) || crc.right)
			continue;
		*sum = (struct carve_sum){ .from = crc.from,
			.to = element.end,
			.before = UINT32_MAX,
			.after = ~crc.value };
		if (element.end < segment.end)
			expect_next(sum, element.end);
		return true;
	}
	return false;
}

const struct carve_map mkv_map = {
	.words = { { 4, false, "\x1f\x43\xb6\x75" }, { 4, false, "\x1c\x53\xbb\x6b" },
		{ 4, false, "\x12\x54\xc3\x67" } },
	.common = true,
	.sum = find_sum,
};
