/*
 * Tables of samples (ISO/IEC 14496-12, 8.6 and 8.7) have most of the bytes of a long film's or book's description, and only
 * where samples are looked for does it show that some are another file's: long after they begin. But their numbers are
 * not any:
 *
 *	stts, ctts: how many samples have a duration: at least one, but in the first entry of a file in fragments
 *	stss: samples, rising
 *	stsc: chunks, rising; how many samples each has; the number of their description, which are few
 *	stsz: lengths; hardly ever many of 0 in a row
 *	stco, co64: where chunks are, rising but for a few
 *
 * Of random entries one in 16 or fewer is such a number. Only for files in pieces: a file may be odd.
 */
#include "mp4_tables.h"

#include "bytes.h"

#define COUNT_MAX (UINT64_C(1) << 28) /* samples of a track; a week of sound has 2^25 */
#define LEN_MAX (UINT32_C(1) << 26)   /* bytes of a sample */
#define PLACE_MAX (UINT64_C(1) << 40)
#define DESCRIPTIONS_MAX 255
#define EMPTY_MAX 128         /* samples without a byte in a row */
#define FALLS_NEAR 16         /* entries with two falls, which chunks in order do not have */
#define WINDOW ((size_t)4032) /* bytes looked at at once: whole entries of any table */

/* What is known of a table up to an entry. */
struct entries {
	uint32_t type;
	size_t len;
	uint64_t last;   /* number, which rises */
	uint64_t total;  /* samples */
	uint64_t empty;  /* the last ones that are */
	uint64_t number; /* of the entry, from 0 */
	uint64_t fall;   /* the last one that is below the one before; */
	bool has_fallen; /* if there is one */
};

/* Returns how many entries are valid: n + 1, or fewer. */
static uint64_t add_count(struct entries *entries, uint32_t count)
{
	entries->total += count;
	return entries->number + ((count || !entries->number) && entries->total <= COUNT_MAX);
}

static uint64_t add_rising(struct entries *entries, uint32_t number)
{
	bool rises = number > entries->last;

	entries->last = number;
	return entries->number + rises;
}

static uint64_t add_chunks(struct entries *entries, const uint8_t *p)
{
	uint32_t count = be32(p + 4), description = be32(p + 8);

	return count && count < COUNT_MAX && description && description <= DESCRIPTIONS_MAX
		       ? add_rising(entries, be32(p))
		       : entries->number;
}

static uint64_t add_length(struct entries *entries, uint32_t len)
{
	entries->empty = len ? 0 : entries->empty + 1;
	if (entries->empty == EMPTY_MAX)
		return entries->number + 1 - EMPTY_MAX;
	return entries->number + (len <= LEN_MAX);
}

static uint64_t add_place(struct entries *entries, uint64_t place)
{
	bool falls = place < entries->last;

	entries->last = place;
	if (place >= PLACE_MAX)
		return entries->number;
	if (!falls)
		return entries->number + 1;
	if (entries->has_fallen && entries->number - entries->fall < FALLS_NEAR)
		return entries->fall;
	entries->has_fallen = true;
	entries->fall = entries->number;
	return entries->number + 1;
}

static uint64_t add(struct entries *entries, const uint8_t *p)
{
	switch (entries->type) {
	case BMFF('s', 't', 't', 's'):
	case BMFF('c', 't', 't', 's'):
		return add_count(entries, be32(p));
	case BMFF('s', 't', 's', 's'):
		return add_rising(entries, be32(p));
	case BMFF('s', 't', 's', 'c'):
		return add_chunks(entries, p);
	case BMFF('s', 't', 's', 'z'):
		return add_length(entries, be32(p));
	case BMFF('s', 't', 'c', 'o'):
		return add_place(entries, be32(p));
	default:
		return add_place(entries, be64(p));
	}
}

/* Bytes of an entry; 0: it is no such table. */
static size_t entry_len(uint32_t type)
{
	switch (type) {
	case BMFF('s', 't', 's', 's'):
	case BMFF('s', 't', 's', 'z'):
	case BMFF('s', 't', 'c', 'o'):
		return 4;
	case BMFF('s', 't', 't', 's'):
	case BMFF('c', 't', 't', 's'):
	case BMFF('c', 'o', '6', '4'):
		return 8;
	case BMFF('s', 't', 's', 'c'):
		return 12;
	}
	return 0;
}

/* Up to the view's end, or the table's. */
static bool check_table(void *context, const struct bmff_box *box, uint64_t *broken)
{
	struct view *view = context;
	struct entries entries = { .type = box->type, .len = entry_len(box->type) };
	bool has_lengths = box->type == BMFF('s', 't', 's', 'z');
	size_t head_len = has_lengths ? 12 : 8, len;
	const uint8_t *p = entries.len && box->end - box->data >= head_len
				   ? view_peek(view, box->data, head_len)
				   : NULL;
	uint64_t start = box->data + head_len, end, valid;

	if (!p || (has_lengths && be32(p + 4)))
		return true;
	end = start + (uint64_t)be32(p + head_len - 4) * entries.len;
	if (end > box->end)
		end = box->end;
	if (end > view_size(view))
		end = view_size(view);
	for (uint64_t at = start; at < end && end - at >= entries.len; at += len) {
		len = end - at < WINDOW ? (size_t)(end - at) / entries.len * entries.len : WINDOW;
		p = view_peek(view, at, len);
		if (!p)
			return true;
		for (size_t i = 0; i < len; i += entries.len, entries.number++) {
			valid = add(&entries, p + i);
			if (valid > entries.number)
				continue;
			*broken = start + valid * entries.len;
			return false;
		}
	}
	return true;
}

bool mp4_tables_check(struct view *view, const struct bmff_box *moov, uint64_t *broken)
{
	enum { BOX_LEN = 16 };

	return bmff_walk(view, moov, check_table, view, broken) ||
	       (moov->end > view_size(view) && *broken + BOX_LEN > view_size(view));
}
