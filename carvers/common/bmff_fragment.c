/*
 * Fragments (ISO/IEC 14496-12, 8.8): a box 'moof' describes the samples of the media data after it,
 * track by track ('traf') and run by run ('trun'). What all samples of a track have in common is in
 * 'tfhd', or in 'trex' of the file's 'moov'.
 */
#include "bmff_media.h"

#include "bytes.h"

struct fragment {
	struct view *view;
	const struct bmff_box *moof, *moov;
	void (*visit)(void *context, uint32_t track, uint64_t offset, uint64_t len);
	void *context;
	uint32_t track, sample_len; /* of the track: the default length */
	uint64_t base;              /* what the offsets of its runs count from */
	uint64_t end;               /* end of the last sample */
};

static const uint8_t *head_of(struct view *view, const struct bmff_box *box, size_t len)
{
	return box->end - box->data >= len ? view_peek(view, box->data, len) : NULL;
}

/* From 'trex'. */
static uint32_t usual_len(const struct fragment *fragment, uint32_t track)
{
	const struct bmff_box *moov = fragment->moov;
	struct bmff_box mvex, trex;

	if (!moov->type ||
		!bmff_find(fragment->view, moov->data, moov->end, BMFF('m', 'v', 'e', 'x'), &mvex))
		return 0;
	for (uint64_t at = mvex.data;
		bmff_find(fragment->view, at, mvex.end, BMFF('t', 'r', 'e', 'x'), &trex);
		at = trex.end) {
		const uint8_t *p = head_of(fragment->view, &trex, 24);

		if (p && be32(p + 4) == track)
			return be32(p + 16);
	}
	return 0;
}

/* 'tfhd': its flags determine which fields it has. */
static bool read_head(struct fragment *fragment, const struct bmff_box *traf)
{
	struct view *view = fragment->view;
	struct bmff_box tfhd;
	const uint8_t *p;
	uint32_t flags;
	size_t len = 8;

	if (!bmff_find(view, traf->data, traf->end, BMFF('t', 'f', 'h', 'd'), &tfhd))
		return false;
	p = head_of(view, &tfhd, len);
	if (!p)
		return false;
	flags = be32(p);
	fragment->track = be32(p + 4);
	fragment->base = flags & 0x20000 || !fragment->end ? fragment->moof->at : fragment->end;
	if (flags & 1) {
		p = head_of(view, &tfhd, len + 8);
		if (!p)
			return false;
		fragment->base = be64(p + len);
		len += 8;
	}
	len += (flags & 2 ? 4u : 0u) + (flags & 8 ? 4u : 0u);
	if (!(flags & 0x10)) {
		fragment->sample_len = usual_len(fragment, fragment->track);
		return true;
	}
	p = head_of(view, &tfhd, len + 4);
	fragment->sample_len = p ? be32(p + len) : 0;
	return p != NULL;
}

/* Visits samples that have a length each, at offset `place` of their entry. */
static bool visit_each(struct fragment *fragment, const struct bmff_box *trun, uint64_t at,
	uint32_t count, size_t entry_len, size_t place)
{
	while (count) {
		size_t entries = count < 128 ? count : 128;
		const uint8_t *p = trun->end - at >= entries * entry_len
					   ? view_peek(fragment->view, at, entries * entry_len)
					   : NULL;
		uint32_t lens[128];

		if (!p)
			return false;
		for (size_t i = 0; i < entries; i++)
			lens[i] = be32(p + i * entry_len + place);
		for (size_t i = 0; i < entries; i++) {
			fragment->visit(fragment->context, fragment->track, fragment->end, lens[i]);
			fragment->end += lens[i];
		}
		at += entries * entry_len;
		count -= (uint32_t)entries;
	}
	return true;
}

static bool visit_row(struct fragment *fragment, const struct bmff_box *trun, bool first)
{
	const uint8_t *p = head_of(fragment->view, trun, 8);
	uint32_t flags = p ? be32(p) : 0, count = p ? be32(p + 4) : 0;
	size_t len = 8, entry_len = 0, place = flags & 0x100 ? 4 : 0;

	if (!p)
		return false;
	if (first)
		fragment->end = fragment->base;
	if (flags & 1) {
		p = head_of(fragment->view, trun, 12);
		if (!p)
			return false;
		fragment->end = fragment->base + (uint64_t)(int64_t)(int32_t)be32(p + 8);
		len += 4;
	}
	len += flags & 4 ? 4 : 0;
	for (uint32_t flag = 0x100; flag <= 0x800; flag <<= 1)
		entry_len += flags & flag ? 4 : 0;
	if (fragment->end > INT64_MAX || trun->end - trun->data < len ||
		(trun->end - trun->data - len) < (uint64_t)count * entry_len)
		return false;
	if (flags & 0x200)
		return visit_each(fragment, trun, trun->data + len, count, entry_len, place);
	if (count)
		fragment->visit(fragment->context, fragment->track, fragment->end,
			(uint64_t)count * fragment->sample_len);
	fragment->end += (uint64_t)count * fragment->sample_len;
	return true;
}

bool bmff_fragment(struct view *view, const struct bmff_box *moof, const struct bmff_box *moov,
	void (*visit)(void *context, uint32_t track, uint64_t offset, uint64_t len), void *context)
{
	struct fragment fragment = {
		.view = view, .moof = moof, .moov = moov, .visit = visit, .context = context
	};
	struct bmff_box traf = { .end = moof->data }, trun;

	while (bmff_find(view, traf.end, moof->end, BMFF('t', 'r', 'a', 'f'), &traf)) {
		bool first = true;

		if (!read_head(&fragment, &traf))
			return false;
		for (uint64_t at = traf.data;
			bmff_find(view, at, traf.end, BMFF('t', 'r', 'u', 'n'), &trun);
			at = trun.end) {
			if (!visit_row(&fragment, &trun, first))
				return false;
			first = false;
		}
	}
	return true;
}
