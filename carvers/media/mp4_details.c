/*
 * Titles and dates. The date is that of 'mvhd', in seconds since 1904 (ISO/IEC 14496-12, 8.2.2);
 * dates before 1970 are ignored. The title is in 'udta': in iTunes' form (meta, ilst, ©nam, data),
 * in QuickTime's (©nam: length, language, text), or in that of 3GPP TS 26.244 (titl: version,
 * language, text). Covers are named as embedded.
 */
#include "mp4.h"

#include "bytes.h"
#include "dates.h"
#include "title.h"

#define NAME BMFF(0xa9, 'n', 'a', 'm')

static void read_time(struct view *view, const struct bmff_box *moov, struct finding *finding)
{
	struct bmff_box mvhd;
	const uint8_t *p;

	if (!bmff_find(view, moov->data, moov->end, BMFF('m', 'v', 'h', 'd'), &mvhd) ||
		mvhd.end - mvhd.data < 12)
		return;
	p = view_peek(view, mvhd.data, 12);
	if (!p)
		return;
	finding->time = mac_seconds(p[0] == 1 ? be64(p + 4) : be32(p + 4));
}

/* The text in [at, end): UTF-16 if it has a byte order mark. */
static void read_text(struct view *view, uint64_t at, uint64_t end, struct finding *finding)
{
	size_t len = end - at < 256 ? (size_t)(end - at) : 256;
	const uint8_t *p = end > at ? view_peek(view, at, len) : NULL;

	if (!p)
		return;
	if (len >= 2 && (be16(p) == 0xfeff || be16(p) == 0xfffe))
		finding_set_title_utf16(finding, p + 2, len - 2, be16(p) == 0xfeff);
	else
		finding_set_title_latin1(finding, p, len);
}

static void read_title(struct view *view, const struct bmff_box *moov, struct finding *finding)
{
	static const uint32_t to_itunes[] = { BMFF('u', 'd', 't', 'a'), BMFF('m', 'e', 't', 'a'),
		BMFF('i', 'l', 's', 't'), NAME, BMFF('d', 'a', 't', 'a'), 0 };
	static const uint32_t to_quicktime[] = { BMFF('u', 'd', 't', 'a'), NAME, 0 };
	static const uint32_t to_3gpp[] = { BMFF('u', 'd', 't', 'a'), BMFF('t', 'i', 't', 'l'), 0 };
	struct bmff_box box;
	const uint8_t *p;

	if (bmff_find_path(view, moov, to_itunes, &box) && box.end - box.data > 8) {
		read_text(view, box.data + 8, box.end, finding);
	} else if (bmff_find_path(view, moov, to_quicktime, &box) && box.end - box.data > 4) {
		p = view_peek(view, box.data, 2);
		if (p && be16(p) <= box.end - box.data - 4)
			read_text(view, box.data + 4, box.data + 4 + be16(p), finding);
	} else if (bmff_find_path(view, moov, to_3gpp, &box) && box.end - box.data > 6) {
		read_text(view, box.data + 6, box.end, finding);
	}
}

/* Covers: boxes 'data' of a kind and a language, in 'covr' of iTunes' list. */
static void name_covers(struct view *view, const struct bmff_box *moov)
{
	static const uint32_t to_list[] = { BMFF('u', 'd', 't', 'a'), BMFF('m', 'e', 't', 'a'),
		BMFF('i', 'l', 's', 't'), 0 };
	struct bmff_box list, cover, data;

	if (!bmff_find_path(view, moov, to_list, &list))
		return;
	for (uint64_t at = list.data;
		bmff_find(view, at, list.end, BMFF('c', 'o', 'v', 'r'), &cover); at = cover.end)
		for (uint64_t inner = cover.data;
			bmff_find(view, inner, cover.end, BMFF('d', 'a', 't', 'a'), &data);
			inner = data.end)
			view_embedded(view, data.data + 8);
}

void mp4_read_details(struct view *view, const struct bmff_box *moov, struct finding *finding)
{
	name_covers(view, moov);
	read_time(view, moov, finding);
	read_title(view, moov, finding);
}

const char *mp4_extension(uint32_t brand, bool pictures, bool audio)
{
	switch (brand) {
	case 0:
	case BMFF('q', 't', ' ', ' '):
	case BMFF('L', 'C', 'A', 'G'):
		return "mov";
	case BMFF('M', '4', 'A', ' '):
		return "m4a";
	case BMFF('M', '4', 'B', ' '):
		return "m4b";
	case BMFF('M', '4', 'P', ' '):
		return "m4p";
	case BMFF('M', '4', 'V', ' '):
	case BMFF('M', '4', 'V', 'H'):
	case BMFF('M', '4', 'V', 'P'):
		return "m4v";
	case BMFF('f', '4', 'v', ' '):
	case BMFF('F', '4', 'V', ' '):
		return "f4v";
	case BMFF('f', '4', 'a', ' '):
	case BMFF('F', '4', 'A', ' '):
		return "f4a";
	case BMFF('a', 'a', 'x', ' '):
		return "aax";
	}
	if (brand >> 8 == BMFF(0, '3', 'g', '2') || brand == BMFF('K', 'D', 'D', 'I'))
		return "3g2";
	if (brand >> 16 == BMFF(0, 0, '3', 'g'))
		return "3gp";
	return audio && !pictures ? "m4a" : "mp4";
}
