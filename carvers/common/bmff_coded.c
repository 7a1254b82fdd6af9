/*
 * Coded pictures look like noise unless they are decoded. What can be checked is their framing:
 * H.264 and H.265 (ISO/IEC 14496-15) come as NAL units, each preceded by its length; AV1 as OBUs
 * with a length after their first byte. Both have to fill the data exactly. So each unit confirms
 * what comes before it, and only what follows the last head is not confirmed at all. None of them
 * contains a long run of zeros or FF: where there is one, the data was wiped.
 */
#include "bmff_media.h"

#include "bytes.h"
#include "obu.h"
#include "walk.h"

#define LONG_RUN 64

unsigned bmff_nal_len(struct view *view, const struct bmff_box *configuration)
{
	uint64_t at =
		configuration->data + (configuration->type == BMFF('a', 'v', 'c', 'C') ? 4 : 21);
	const uint8_t *p = at < configuration->end ? view_peek(view, at, 1) : NULL;

	return p ? (*p & 3) + 1u : 4;
}

/* Where a long run of zeros or FF starts in [at, end); end when there is none. */
static uint64_t wiped_from(struct view *view, uint64_t at, uint64_t end)
{
	const uint8_t *window;
	uint64_t run = 0;
	uint8_t last = 1;
	size_t len;

	while ((window = walk_window(view, at, end, &len))) {
		for (size_t i = 0; i < len; i++) {
			run = window[i] == last ? run + 1 : 1;
			last = window[i];
			if (run >= LONG_RUN && (last == 0 || last == 0xff))
				return at + i + 1 - run;
		}
		at += len;
	}
	return end;
}

/* Units of Dolby Vision among those of H.265: metadata, and an enhancement layer. Of the types that H.265 leaves to others only
 * these are common. */
#define DOLBY_METADATA 62
#define DOLBY_LAYER 63

/* Whether these can be the first bytes of a NAL unit. */
static bool nal_head(uint32_t coding, const uint8_t *p)
{
	unsigned type;

	if (p[0] & 0x80)
		return false;
	if ((coding >> 16 & 0xff) == 'v' && (coding >> 24 == 'a' || (coding >> 8 & 0xff) == 'a'))
		return (p[0] & 31) != 0; /* H.264: avc1, avc3, dva1, dvav */
	type = p[0] >> 1 & 63;
	return (p[1] & 7) != 0 && (type < 48 || type == DOLBY_METADATA || type == DOLBY_LAYER);
}

static bool check_nals(struct view *view, const struct bmff_coding *coding, uint64_t at,
	uint64_t end, uint64_t *confirmed, uint64_t *broken)
{
	while (at < end) {
		const uint8_t *p = end - at >= coding->nal_len + 2
					   ? view_peek(view, at, coding->nal_len + 2)
					   : NULL;
		uint64_t len = 0, wiped;

		*broken = at;
		for (unsigned i = 0; p && i < coding->nal_len; i++)
			len = len << 8 | p[i];
		if (!p || len < 2 || len > end - at - coding->nal_len ||
			!nal_head(coding->type, p + coding->nal_len))
			return false;
		*confirmed = at + coding->nal_len + 2;
		at += coding->nal_len + len;
		wiped = wiped_from(view, *confirmed, at);
		*broken = wiped;
		if (wiped < at)
			return false;
	}
	return true;
}

static bool check_obus(
	struct view *view, uint64_t at, uint64_t end, uint64_t *confirmed, uint64_t *broken)
{
	while (at < end) {
		size_t len = end - at < 16 ? (size_t)(end - at) : 16;
		const uint8_t *p = view_peek(view, at, len);
		uint64_t size = 0, wiped;
		size_t head = p ? obu_head(p, len, &size) : 0;

		*broken = at;
		if (!head)
			return false;
		if (!(p[0] & 2))
			size = end - at - head;
		if (size > end - at - head)
			return false;
		/* Without a size of its own, the head is its only evidence. */
		if (p[0] & 2)
			*confirmed = at + head;
		at += head + size;
		wiped = wiped_from(view, at - size, at);
		*broken = wiped;
		if (wiped < at)
			return false;
	}
	return true;
}

static bool jpeg_begins(struct view *view, uint64_t at, uint64_t end)
{
	const uint8_t *p = end - at >= 4 ? view_peek(view, at, 4) : NULL;

	return p && p[0] == 0xff && p[1] == 0xd8 && p[2] == 0xff;
}

static bool jpeg_ends(struct view *view, uint64_t end)
{
	const uint8_t *p = view_peek(view, end - 2, 2);

	return p && p[0] == 0xff && p[1] == 0xd9;
}

bool bmff_has_jpeg_ends(struct view *view, uint64_t at, uint64_t end)
{
	return jpeg_begins(view, at, end) && jpeg_ends(view, end);
}

static bool check_jpeg(
	struct view *view, uint64_t at, uint64_t end, uint64_t *confirmed, uint64_t *broken)
{
	uint64_t wiped = wiped_from(view, at, end);

	*broken = at;
	if (!jpeg_begins(view, at, end))
		return false;
	*confirmed = at + 3;
	*broken = wiped;
	if (wiped < end)
		return false;
	if (jpeg_ends(view, end))
		*confirmed = end;
	return true;
}

enum structure { NONE, NALS, OBUS, JPEG };

static enum structure structure_of(uint32_t type)
{
	switch (type) {
	case BMFF('h', 'v', 'c', '1'):
	case BMFF('h', 'e', 'v', '1'):
	case BMFF('d', 'v', 'h', '1'):
	case BMFF('d', 'v', 'h', 'e'):
	case BMFF('a', 'v', 'c', '1'):
	case BMFF('a', 'v', 'c', '3'):
	case BMFF('d', 'v', 'a', '1'):
	case BMFF('d', 'v', 'a', 'v'):
		return NALS;
	case BMFF('a', 'v', '0', '1'):
		return OBUS;
	case BMFF('j', 'p', 'e', 'g'):
	case BMFF('m', 'j', 'p', 'a'):
		return JPEG;
	}
	return NONE;
}

bool bmff_is_coded(uint32_t type)
{
	return structure_of(type) != NONE;
}

bool bmff_is_jpeg(uint32_t type)
{
	return structure_of(type) == JPEG;
}

bool bmff_coded(struct view *view, const struct bmff_coding *coding, uint64_t offset, uint64_t len,
	uint64_t *confirmed, uint64_t *broken)
{
	uint64_t end = offset + len;

	*confirmed = offset;
	if (!len)
		return true;
	switch (structure_of(coding->type)) {
	case NALS:
		return check_nals(view, coding, offset, end, confirmed, broken);
	case OBUS:
		return check_obus(view, offset, end, confirmed, broken);
	case JPEG:
		return check_jpeg(view, offset, end, confirmed, broken);
	case NONE:
		break;
	}
	return true;
}
