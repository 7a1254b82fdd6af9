/*
 * Impulse Tracker's modules (IT; Lim, ITTECH.TXT).
 *
 *	header:     'IMPM', title (26); at 32 the number of orders, instruments, samples and patterns (2 each),
 *	            at 46 flags, at 54 length (2) and place (4) of a message; 192 bytes; little-endian
 *	tables:     orders (1 each), places of instruments, samples and patterns (4 each); by the flags a
 *	            history (a count, 8 bytes each) and 4,896 bytes of MIDI settings
 *	instrument: 'IMPI', 554 bytes in all
 *	sample:     'IMPS'; at 18 flags, at 48 how many values, at 72 their place; 80 bytes
 *	values:     stored; or compressed in blocks: a length (2), data for 32 KiB
 *	pattern:    length (2), rows (2), 0 (4), data
 *
 * The part that ends last ends the file. Nothing verifies values.
 */
#include <string.h>

#include "bytes.h"
#include "title.h"
#include "tracker_parts.h"

#define HEAD_LEN 192
#define INSTRUMENT_LEN 554
#define SAMPLE_LEN 80
#define MIDI_LEN 4896
#define BLOCK_LEN 0x8000
#define COUNT_MAX 4000

enum { EXISTS = 1, WIDE = 2, STEREO = 4, COMPRESSED = 8 };
enum { HISTORY = 2, MIDI = 8 };

/* How many bytes the compressed values at `at` take. */
static uint64_t compressed_len(struct tracker *it, uint64_t at, uint64_t len, unsigned channels)
{
	uint64_t start = at;

	for (unsigned channel = 0; channel < channels; channel++)
		for (uint64_t done = 0; done < len; done += BLOCK_LEN) {
			const uint8_t *p = view_peek(it->view, at, 2);

			if (!p)
				return at - start + 2;
			at += 2 + le16(p);
		}
	return at - start;
}

static void add_sample(struct tracker *it, uint64_t at)
{
	const uint8_t *p = tracker_part(it, "sample", at, SAMPLE_LEN, SAMPLE_LEN);
	unsigned flags, channels;
	uint64_t len, place;

	if (!p)
		return;
	if (memcmp(p, "IMPS", 4) != 0) {
		tracker_wrong(it, "sample", at);
		return;
	}
	flags = p[18];
	place = le32(p + 72);
	channels = flags & STEREO ? 2 : 1;
	len = (uint64_t)le32(p + 48) * (flags & WIDE ? 2 : 1);
	if (!(flags & EXISTS))
		return;
	it->coded |= flags & COMPRESSED;
	if (flags & COMPRESSED)
		tracker_samples(it, place, compressed_len(it, place, len, channels));
	else
		tracker_samples(it, place, len * channels);
}

static void add_pattern(struct tracker *it, uint64_t at)
{
	const uint8_t *p = at ? tracker_part(it, "pattern", at, 8, 8) : NULL;

	if (p)
		tracker_part(it, "pattern", at, 8 + (uint64_t)le16(p), 0);
}

/* Where the tables end that begin with the places, whose end is `at`. */
static uint64_t tables_end(struct view *view, uint64_t at, unsigned flags)
{
	const uint8_t *p = flags & HISTORY ? view_peek(view, at, 2) : NULL;

	if (p)
		at += 2 + 8 * (uint64_t)le16(p);
	return at + (flags & MIDI ? MIDI_LEN : 0);
}

static enum verdict check(struct view *view, struct finding *finding)
{
	const uint8_t *p = view_peek(view, 0, HEAD_LEN);
	struct tracker it = { .view = view, .finding = finding };
	uint32_t orders, counts[3], flags, message, message_len;
	uint64_t at;

	if (!p || memcmp(p, "IMPM", 4) != 0)
		return verdict_because(CARVE_REJECT, finding, "no header at 0");
	orders = le16(p + 32);
	flags = le16(p + 46);
	message_len = flags & 1 ? le16(p + 54) : 0;
	message = le32(p + 56);
	for (int i = 0; i < 3; i++)
		if ((counts[i] = le16(p + 34 + 2 * i)) > COUNT_MAX)
			return verdict_because(CARVE_REJECT, finding, "too many parts at 32");
	finding_set_title(finding, p + 4, 26);
	at = HEAD_LEN + orders;
	/* Writers differ in what is between tables and parts: only the places have to be free. */
	it.head_end = at + 4 * ((uint64_t)counts[0] + counts[1] + counts[2]);
	it.end = tables_end(view, it.head_end, flags);
	if (message_len)
		tracker_part(&it, "message", message, message_len, 0);
	for (int kind = 0; kind < 3; kind++)
		for (uint32_t i = 0; i < counts[kind]; i++, at += 4) {
			uint64_t place;

			p = view_peek(view, at, 4);
			if (!p)
				return verdict_because(CARVE_REJECT, finding, "no places of parts");
			place = le32(p);
			if (kind == 0)
				tracker_part(&it, "instrument", place, INSTRUMENT_LEN, 0);
			else if (kind == 1)
				add_sample(&it, place);
			else
				add_pattern(&it, place);
		}
	return tracker_judge(&it);
}

const struct carver it_carver = {
	.name = "it",
	.summary = "Impulse Tracker's modules, by the places of their parts",
	.check = check,
};
