/*
 * Samples (ISO/IEC 14496-12, 8.5 to 8.7): a track's 'stco' or 'co64' lists where its chunks start,
 * 'stsc' how many samples each has, 'stsz' or 'stz2' how long each sample is. The three are read
 * side by side, each through a small buffer, so that the view is not read back and forth.
 *
 * Compressed sound of QuickTime (QuickTime File Format, sound sample descriptions, version 1) has samples of one byte by
 * 'stsz', but the description says how many of them make a packet, and how long that is.
 */
#include "bmff_media.h"

#include <string.h>

#include "bytes.h"

/* A table of numbers of equal width. */
struct table {
	struct view *view;
	uint64_t at, end;
	unsigned bits; /* 4, 8, 16, 32 or 64 */
	uint8_t copy[1536];
	size_t held, used; /* bytes in the buffer */
	bool low;          /* 4 bits wide: the second half of a byte is next */
};

static bool refill(struct table *table)
{
	uint64_t left = table->end - table->at;
	size_t len = left < sizeof(table->copy) ? (size_t)left : sizeof(table->copy);
	const uint8_t *p = len ? view_peek(table->view, table->at, len) : NULL;

	if (!p)
		return false;
	memcpy(table->copy, p, len);
	table->at += len;
	table->held = len;
	table->used = 0;
	return true;
}

static bool next(struct table *table, uint64_t *value)
{
	unsigned len = (table->bits + 7) / 8;
	const uint8_t *p;

	if (table->used == table->held && !refill(table))
		return false;
	if (table->held - table->used < len)
		return false;
	p = table->copy + table->used;
	if (table->bits == 4) {
		*value = table->low ? p[0] & 15 : p[0] >> 4;
		table->used += table->low;
		table->low = !table->low;
		return true;
	}
	table->used += len;
	*value = len == 8 ? be64(p) : len == 4 ? be32(p) : len == 2 ? be16(p) : p[0];
	return true;
}

/* Opens the table in a box, after head_len bytes, the last 4 of which are the number of entries.
 * False when it is too short for them. */
static bool open_table(struct view *view, const struct bmff_box *box, size_t head_len,
	unsigned entry_bits, unsigned bits, struct table *table, uint64_t *count)
{
	const uint8_t *p =
		box->end - box->data >= head_len ? view_peek(view, box->data, head_len) : NULL;

	*table = (struct table){ .view = view, .at = box->data + head_len, .bits = bits };
	if (!p)
		return false;
	*count = be32(p + head_len - 4);
	table->end = table->at + (*count * entry_bits + 7) / 8;
	return table->end <= box->end;
}

bool bmff_track_open(struct view *view, const struct bmff_box *trak, struct bmff_track *track)
{
	static const uint32_t to_stbl[] = { BMFF('m', 'd', 'i', 'a'), BMFF('m', 'i', 'n', 'f'),
		BMFF('s', 't', 'b', 'l'), 0 };
	static const uint32_t to_hdlr[] = { BMFF('m', 'd', 'i', 'a'), BMFF('h', 'd', 'l', 'r'), 0 };
	struct bmff_box stbl, box;
	const uint8_t *p;

	*track = (struct bmff_track){ 0 };
	if (bmff_find_path(view, trak, to_hdlr, &box) && box.end - box.data >= 12) {
		p = view_peek(view, box.data, 12);
		track->handler = p ? be32(p + 8) : 0;
	}
	if (!bmff_find_path(view, trak, to_stbl, &stbl))
		return false;
	if (bmff_find(view, stbl.data, stbl.end, BMFF('s', 't', 's', 'd'), &box) &&
		bmff_read(view, box.data + 8, box.end, &track->entry) == BMFF_BOX)
		track->coding = track->entry.type;
	if (!bmff_find(view, stbl.data, stbl.end, BMFF('s', 't', 'c', 'o'), &track->chunks) &&
		!bmff_find(view, stbl.data, stbl.end, BMFF('c', 'o', '6', '4'), &track->chunks))
		return false;
	if (!bmff_find(view, stbl.data, stbl.end, BMFF('s', 't', 's', 'z'), &track->sizes) &&
		!bmff_find(view, stbl.data, stbl.end, BMFF('s', 't', 'z', '2'), &track->sizes))
		return false;
	return bmff_find(view, stbl.data, stbl.end, BMFF('s', 't', 's', 'c'), &track->runs);
}

bool bmff_tracks(struct view *view, const struct bmff_box *moov,
	bool (*visit)(void *context, const struct bmff_box *trak), void *context, uint64_t *broken)
{
	struct bmff_box trak = { .end = moov->data };

	while (bmff_find(view, trak.end, moov->end, BMFF('t', 'r', 'a', 'k'), &trak)) {
		*broken = trak.at;
		if (!visit(context, &trak))
			return false;
	}
	return true;
}

/* The sizes of samples: a table, or one size for all. */
struct sizes {
	struct table table;
	uint64_t fixed, left;                /* fixed 0: one each */
	uint32_t packet_samples, packet_len; /* 0: no packets */
};

/* The packets of QuickTime's sound. */
static void read_packets(struct view *view, const struct bmff_track *track, struct sizes *sizes)
{
	enum { VERSION_AT = 8, SAMPLES_AT = 28, LEN_AT = 36, HEAD_LEN = 44 };
	const struct bmff_box *entry = &track->entry;
	const uint8_t *p = sizes->fixed == 1 && track->handler == BMFF('s', 'o', 'u', 'n') &&
					   entry->type && entry->end - entry->data >= HEAD_LEN
				   ? view_peek(view, entry->data, HEAD_LEN)
				   : NULL;

	if (!p || be16(p + VERSION_AT) != 1 || be32(p + SAMPLES_AT) < 2)
		return;
	sizes->packet_samples = be32(p + SAMPLES_AT);
	sizes->packet_len = be32(p + LEN_AT);
}

static bool open_sizes(struct view *view, const struct bmff_box *box, struct sizes *sizes)
{
	const uint8_t *p = box->end - box->data >= 12 ? view_peek(view, box->data, 12) : NULL;
	unsigned bits = 32;

	if (!p)
		return false;
	if (box->type == BMFF('s', 't', 'z', '2')) {
		sizes->fixed = 0;
		bits = p[7];
		if (bits != 4 && bits != 8 && bits != 16)
			return false;
	} else {
		sizes->fixed = be32(p + 4);
	}
	return open_table(
		view, box, 12, sizes->fixed ? 0 : bits, bits, &sizes->table, &sizes->left);
}

/* Visits the samples of one chunk. */
static bool visit_chunk(struct sizes *sizes, uint64_t offset, uint64_t count,
	void (*visit)(void *context, uint64_t offset, uint64_t len), void *context)
{
	uint64_t len;

	if (count > sizes->left)
		return false;
	sizes->left -= count;
	if (sizes->packet_len)
		visit(context, offset, count / sizes->packet_samples * sizes->packet_len);
	else if (sizes->fixed)
		visit(context, offset, count * sizes->fixed);
	if (sizes->fixed)
		return true;
	while (count--) {
		if (!next(&sizes->table, &len))
			return false;
		visit(context, offset, len);
		offset += len;
	}
	return true;
}

/* How many samples the chunks have, from 'stsc': runs of chunks with the same number. */
struct runs {
	struct table table;
	uint64_t left;            /* entries not read yet */
	uint64_t count, upcoming; /* samples in a chunk of this run; the next run's first chunk */
	uint64_t upcoming_count;
};

static bool next_run(struct runs *runs)
{
	uint64_t entry;

	runs->count = runs->upcoming_count;
	if (!runs->left) {
		runs->upcoming = UINT64_MAX;
		return true;
	}
	runs->left--;
	return next(&runs->table, &runs->upcoming) && next(&runs->table, &runs->upcoming_count) &&
	       next(&runs->table, &entry);
}

bool bmff_samples(struct view *view, const struct bmff_track *track,
	void (*visit)(void *context, uint64_t offset, uint64_t len), void *context)
{
	struct table chunks;
	struct sizes sizes = { 0 };
	struct runs runs = { 0 };
	unsigned bits = track->chunks.type == BMFF('c', 'o', '6', '4') ? 64 : 32;
	uint64_t chunk_count, offset;

	if (!open_table(view, &track->chunks, 8, bits, bits, &chunks, &chunk_count) ||
		!open_table(view, &track->runs, 8, 96, 32, &runs.table, &runs.left) ||
		!open_sizes(view, &track->sizes, &sizes) || !next_run(&runs))
		return false;
	read_packets(view, track, &sizes);
	for (uint64_t chunk = 1; chunk <= chunk_count; chunk++) {
		while (chunk >= runs.upcoming)
			if (!next_run(&runs))
				return false;
		if (!next(&chunks, &offset) ||
			!visit_chunk(&sizes, offset, runs.count, visit, context))
			return false;
	}
	return true;
}

struct bmff_coding bmff_sample_coding(struct view *view, const struct bmff_track *track)
{
	struct bmff_coding coding = { .type = track->coding, .nal_len = 4 };
	uint64_t at = track->entry.data + BMFF_VISUAL_LEN;
	struct bmff_box box;

	if (bmff_find(view, at, track->entry.end, BMFF('h', 'v', 'c', 'C'), &box) ||
		bmff_find(view, at, track->entry.end, BMFF('a', 'v', 'c', 'C'), &box))
		coding.nal_len = bmff_nal_len(view, &box);
	return coding;
}
