/*
 * Multi-Picture Format (CIPA DC-007): a segment of the first picture lists further pictures that
 * stand behind it in the file, such as a larger preview, the other eye's view, or a gain map. Their
 * offsets count from MPF's own TIFF head. Only what is really there lengthens the file: a picture
 * is walked like the first before it counts. Programs that edit the first picture's metadata leave
 * wrong offsets behind, so a picture is also looked for right behind the one before it, where only
 * zeros may come between.
 */
#include "jpeg.h"

#include "tiff_ifd.h"
#include "walk.h"

enum {
	TAG_ENTRIES = 0xb002,
	ENTRY_LEN = 16,
	ENTRIES_MAX = 64,
	PADDING_LEN = 4096,
	GAP_LEN = 65536, /* a listed picture further away is another file's, found by a stale offset
			  */
};

/* Behind the zeros that may fill the space between two pictures. */
static uint64_t skip_padding(struct view *view, uint64_t at)
{
	const uint8_t *window;
	size_t len, zeros = 0;

	window = walk_window(view, at, at + PADDING_LEN, &len);
	while (window && zeros < len && window[zeros] == 0)
		zeros++;
	return at + zeros;
}

uint64_t jpeg_mpf_end(const struct jpeg *jpeg, uint64_t end)
{
	struct tiff tiff;
	struct tiff_entry list;

	if (!jpeg->mpf || !tiff_open(&tiff, jpeg->view, jpeg->mpf, jpeg->mpf_len) ||
		!tiff_find(&tiff, tiff.first_ifd, TAG_ENTRIES, &list))
		return end;
	for (uint32_t i = 1; i < list.len / ENTRY_LEN && i < ENTRIES_MAX; i++) {
		const uint8_t *p = tiff_peek(&tiff, (uint64_t)list.data + i * ENTRY_LEN, ENTRY_LEN);
		uint64_t start, behind, picture_end;

		if (!p)
			break;
		start = jpeg->mpf + tiff_u32(&tiff, p + 8);
		behind = skip_padding(jpeg->view, end);
		/* In order, and ending with the first that is missing: no byte is walked often. */
		if (start >= end && start - end <= GAP_LEN &&
			jpeg_walk_other(jpeg->view, start, &picture_end))
			end = picture_end;
		else if (jpeg_walk_other(jpeg->view, behind, &picture_end))
			end = picture_end;
		else
			break;
	}
	return end;
}
