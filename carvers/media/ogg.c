/*
 * Ogg (RFC 3533): Vorbis, Opus, Speex, FLAC, Theora and others.
 *
 *	page: 'OggS', version 0, flags (1: continues a packet, 2: first of its stream, 4: last),
 *	      position (8 bytes), the stream's serial number, the page's number in it, CRC-32 of the
 *	      page, number of segments and their lengths, data
 *
 * All numbers are little-endian. Parallel streams have their first pages at the file's start, and
 * their last pages anywhere; streams may also follow each other (chained). The file ends where all
 * streams that began have ended, unless a page follows that begins another one with a new serial
 * number: nothing distinguishes a chained file from two that touch, so a note says where. If those further
 * streams are damaged, the file ends before them. The CRC of every page is checked: the valid part
 * ends after the last page whose CRC matched. After a page with a wrong CRC the walk continues if
 * the next page of the same stream follows, as in files that were edited; such a file is not
 * complete. A file whose pages just end, as in recordings that were stopped, is truncated. A page in which
 * bytes can't be read counts if its head leads to the next; otherwise the walk goes on at the next intact
 * page of a stream that began.
 *
 * The codec of the first stream names the file; if there is a picture it is a video. A title and a
 * date come from Vorbis comments at the start of a stream's second packet.
 */
#include <inttypes.h>
#include <stdbool.h>
#include <string.h>

#include "bytes.h"
#include "carver.h"
#include "audio_tags.h"
#include "walk.h"

#define HEAD_LEN 27
#define STREAMS_MAX 64

#define PAGE_MAX (HEAD_LEN + 255 + 255 * 255)
/* Several pages may be lost in bytes that can't be read. */
#define PAGE_FAR ((uint64_t)4 << 20)

enum page_state { PAGE_INTACT, PAGE_CUT, PAGE_NONE, PAGE_BAD_CRC, PAGE_UNREAD };

struct ogg_page {
	uint64_t data, end;
	uint32_t serial, number;
	uint8_t flags;
};

/* What the first byte of each packet of sound has in common; mask 0: that is not known. */
struct ogg_packets {
	uint8_t mask, value;
	bool is_learnt; /* the value */
	unsigned
		bits; /* of evidence for two packets: half of the mask's, as others' bytes are not quite random */
};

struct ogg_stream {
	struct ogg_packets packets;
	uint32_t serial, next; /* its next page's number */
	uint64_t last;         /* after the last page's header */
	bool ended;
};

struct ogg {
	struct view *view;
	struct finding *finding;
	uint64_t at;  /* after the last intact page */
	uint64_t bad; /* the first page with a wrong CRC that others follow; 0: none */
	uint64_t gap; /* the page before which others are missing; 0: none */
	uint64_t page_count;
	uint64_t joint;       /* where the last streams begin that follow others; 0: none */
	struct finding whole; /* what was found when all streams had ended; length 0: never */
	enum verdict whole_verdict;
	struct ogg_stream streams[STREAMS_MAX];
	unsigned stream_count, open_count;
	uint32_t table[256];
};

/* See view_proved. */
enum { CRC_BITS = 32, SERIAL_BITS = 32 };

enum { CONTINUED = 1, FIRST = 2, LAST = 4 };

/* CRC-32 with zlib's polynomial, but the other order of bits, and neither inverted. */
static void make_table(uint32_t *table)
{
	for (uint32_t i = 0; i < 256; i++) {
		uint32_t crc = i << 24;

		for (int bit = 0; bit < 8; bit++)
			crc = crc << 1 ^ (crc & 0x80000000 ? 0x04c11db7 : 0);
		table[i] = crc;
	}
}

static uint32_t page_crc(const uint32_t *table, const uint8_t *p, size_t len)
{
	uint32_t crc = 0;

	for (size_t i = 0; i < len; i++) {
		/* The CRC field itself counts as zeros. */
		uint8_t byte = i >= 22 && i < 26 ? 0 : p[i];

		crc = crc << 8 ^ table[crc >> 24 ^ byte];
	}
	return crc;
}

static enum page_state read_page(const struct ogg *ogg, struct ogg_page *page)
{
	const uint8_t *p = view_peek(ogg->view, ogg->at, HEAD_LEN);
	size_t len = HEAD_LEN, segment_count;
	uint64_t after;

	if (!p)
		return ogg->at < view_size(ogg->view) ? PAGE_CUT : PAGE_NONE;
	if (memcmp(p, "OggS", 5) != 0 || p[5] > 7)
		return PAGE_NONE;
	page->flags = p[5];
	page->serial = le32(p + 14);
	page->number = le32(p + 18);
	segment_count = p[26];
	page->data = ogg->at + HEAD_LEN + segment_count;
	p = view_peek(ogg->view, ogg->at, HEAD_LEN + segment_count);
	if (!p)
		return PAGE_CUT;
	for (size_t i = 0; i < segment_count; i++)
		len += p[HEAD_LEN + i];
	len += segment_count;
	page->end = ogg->at + len;
	p = view_peek(ogg->view, ogg->at, len);
	if (!p)
		return PAGE_CUT;
	if (page_crc(ogg->table, p, len) == le32(p + 22))
		return PAGE_INTACT;
	if (!walk_unread(ogg->view, ogg->at, page->end, &after))
		return PAGE_BAD_CRC;
	return walk_unread(ogg->view, ogg->at, page->data, &after) ? PAGE_NONE : PAGE_UNREAD;
}

static bool has_magic(const uint8_t *p, size_t len, const char *magic, size_t magic_len)
{
	return len >= magic_len && memcmp(p, magic, magic_len) == 0;
}

/* Sets the extension from the codec in a stream's first page. */
static void read_codec(struct ogg *ogg, const struct ogg_page *page)
{
	static const struct {
		const char *magic;
		size_t len;
		const char *extension;
		bool video;
	} codecs[] = {
		{ "\x01vorbis", 7, "ogg", false },
		{ "OpusHead", 8, "opus", false },
		{ "Speex   ", 8, "spx", false },
		{ "\x7f"
		  "FLAC",
			5, "oga", false },
		{ "fLaC", 4, "oga", false },
		{ "PCM     ", 8, "oga", false },
		{ "\x80theora", 7, "ogv", true },
		{ "\x80kate", 5, "ogx", false },
		{ "BBCD", 4, "ogv", true },
		{ "OVP80", 5, "ogv", true },
		{ "\x01video", 6, "ogm", true },
		{ "\x01"
		  "Direct Show",
			12, "ogm", true },
	};
	size_t len = page->end - page->data < 16 ? (size_t)(page->end - page->data) : 16;
	const uint8_t *p = view_peek(ogg->view, page->data, len);

	for (size_t i = 0; p && i < sizeof(codecs) / sizeof(*codecs); i++)
		if (has_magic(p, len, codecs[i].magic, codecs[i].len) &&
			(!ogg->finding->extension || codecs[i].video))
			ogg->finding->extension = codecs[i].extension;
}

/* Vorbis I, 4.3.1: a bit that is zero. RFC 6716, 3.1: the mode and the number of channels, which few streams change. */
static void begin_packets(
	const struct ogg *ogg, const struct ogg_page *page, struct ogg_packets *packets)
{
	const uint8_t *p = page->end - page->data >= 8 ? view_peek(ogg->view, page->data, 8) : NULL;

	if (p && memcmp(p, "\x01vorbis", 7) == 0)
		*packets = (struct ogg_packets){ .mask = 1, .is_learnt = true, .bits = 1 };
	else if (p && memcmp(p, "OpusHead", 8) == 0)
		*packets = (struct ogg_packets){ .mask = 0xfc, .bits = 6 };
}

/* Declares what the packets of a page show, where a joint is before them, of its stream: the page's CRC alone, over few
 * bytes after it, is hardly proof after many trials. Zeros show nothing. */
static void prove_packets(
	const struct ogg *ogg, const struct ogg_page *page, struct ogg_packets *packets)
{
	const uint8_t *p = view_peek(ogg->view, ogg->at, (size_t)(page->end - ogg->at));
	size_t count = (size_t)(page->data - ogg->at) - HEAD_LEN, at = HEAD_LEN + count;
	bool begins = !(page->flags & CONTINUED), is_second = false;

	for (size_t i = 0; p && i < count; i++) {
		uint8_t len = p[HEAD_LEN + i];

		if (begins && len && p[at]) {
			if (!packets->is_learnt)
				packets->value = p[at] & packets->mask;
			packets->is_learnt = true;
			if ((p[at] & packets->mask) != packets->value)
				return;
			if (is_second)
				view_proved(ogg->view, ogg->at, ogg->at + at + 1, packets->bits);
			is_second = !is_second;
		}
		at += len;
		begins = len < 255;
	}
}

/* Sets title and date from a stream's second page, if comments start there. */
static void read_comments(struct ogg *ogg, const struct ogg_page *page)
{
	static const struct {
		const char *magic;
		size_t len, head_len;
	} heads[] = { { "\x03vorbis", 7, 7 }, { "OpusTags", 8, 8 }, { "\x81theora", 7, 7 },
		{ "\x04\0", 2, 4 }, { "\x84\0", 2, 4 }, { "", 0, 0 } };
	size_t len = (size_t)(page->end - page->data);
	const uint8_t *p = view_peek(ogg->view, page->data, len);

	for (size_t i = 0; p && i < sizeof(heads) / sizeof(*heads); i++)
		if (has_magic(p, len, heads[i].magic, heads[i].len) && len >= heads[i].head_len) {
			vorbis_comments_read(
				p + heads[i].head_len, len - heads[i].head_len, ogg->finding);
			return;
		}
}

static struct ogg_stream *find_stream(struct ogg *ogg, uint32_t serial)
{
	for (unsigned i = ogg->stream_count; i--;)
		if (ogg->streams[i].serial == serial)
			return &ogg->streams[i];
	return NULL;
}

/* Sets the verdict on the file up to here, where all streams have ended. */
static enum verdict judge_whole(struct ogg *ogg)
{
	struct finding *finding = ogg->finding;

	finding->length = ogg->at;
	if (ogg->bad)
		return verdict_because(
			CARVE_UNVERIFIED, finding, "wrong CRC of the page at %" PRIu64, ogg->bad);
	if (ogg->gap)
		return verdict_because(CARVE_UNVERIFIED, finding,
			"pages missing before the one at %" PRIu64, ogg->gap);
	if (ogg->joint)
		return verdict_because(CARVE_COMPLETE, finding,
			"streams in a row: those from %" PRIu64 " on may be another file",
			ogg->joint);
	return CARVE_COMPLETE;
}

/* Keeps what was found up to here, in case damaged streams follow; but not if these are damaged and
 * those before were complete. */
static void remember_whole(struct ogg *ogg)
{
	enum verdict verdict = judge_whole(ogg);

	if (ogg->whole.length && ogg->whole_verdict == CARVE_COMPLETE && verdict != CARVE_COMPLETE)
		return;
	ogg->whole_verdict = verdict;
	ogg->whole = *ogg->finding;
}

/* Adds a page whose CRC matched. False: it belongs to another file. */
static bool add_page(struct ogg *ogg, const struct ogg_page *page)
{
	struct ogg_stream *stream = find_stream(ogg, page->serial);

	if (page->flags & FIRST) {
		if (stream || ogg->stream_count == STREAMS_MAX)
			return false;
		if (!ogg->open_count)
			ogg->joint = ogg->at;
		stream = &ogg->streams[ogg->stream_count++];
		*stream = (struct ogg_stream){ .serial = page->serial, .next = page->number };
		ogg->open_count++;
		read_codec(ogg, page);
		begin_packets(ogg, page, &stream->packets);
		if (ogg->at)
			view_part(ogg->view, ogg->at);
	}
	if (!stream || stream->ended)
		return false;
	if (view_thorough(ogg->view) && stream->packets.mask && page->number > 1)
		prove_packets(ogg, page, &stream->packets);
	/* A stream's serial number is random. */
	if (page->number == stream->next && !(page->flags & FIRST) &&
		!view_linked(ogg->view, stream->last - 1, ogg->at + 1, SERIAL_BITS))
		view_proved(ogg->view, ogg->at - 1, ogg->at + 1, SERIAL_BITS);
	stream->last = ogg->at + HEAD_LEN;
	if (page->number != stream->next && !ogg->gap)
		ogg->gap = ogg->at;
	if (page->number == 1 && !(page->flags & FIRST))
		read_comments(ogg, page);
	stream->next = page->number + 1;
	if (page->flags & LAST) {
		stream->ended = true;
		ogg->open_count--;
	}
	ogg->at = page->end;
	ogg->page_count++;
	if (!ogg->open_count)
		remember_whole(ogg);
	return true;
}

/* Whether the page, whose CRC is wrong, is followed by the next one of its stream. */
static bool is_followed(struct ogg *ogg, const struct ogg_page *page)
{
	uint64_t at = ogg->at;
	struct ogg_page next;
	bool found;

	ogg->at = page->end;
	found = !(page->flags & LAST) && read_page(ogg, &next) == PAGE_INTACT &&
		next.serial == page->serial && next.number == page->number + 1;
	ogg->at = at;
	return found;
}

/* Moves from a page whose head can't be read to the next intact one of an open stream. False: none is near. */
static bool find_page(struct ogg *ogg, struct ogg_page *page)
{
	uint64_t lost = ogg->at, at, end;

	if (!ogg->open_count || !walk_unread(ogg->view, lost, lost + PAGE_MAX, &at))
		return false;
	end = at + PAGE_FAR;
	for (; walk_find_word(ogg->view, &at, end, "OggS"); at++) {
		const struct ogg_stream *stream;

		ogg->at = at;
		if (read_page(ogg, page) != PAGE_INTACT)
			continue;
		stream = find_stream(ogg, page->serial);
		if (stream && !stream->ended && page->number >= stream->next) {
			view_unverified(ogg->view, lost, at);
			return true;
		}
	}
	ogg->at = lost;
	return false;
}

static enum verdict judge_end(struct ogg *ogg, enum page_state state)
{
	struct finding *finding = ogg->finding;

	if (ogg->whole.length) {
		*finding = ogg->whole;
		if (finding->length < ogg->at && ogg->whole_verdict == CARVE_COMPLETE)
			return verdict_because(CARVE_COMPLETE, finding,
				"without the streams from %" PRIu64 " on, which are damaged",
				finding->length);
		return ogg->whole_verdict;
	}
	finding->length = ogg->at;
	if (state == PAGE_CUT)
		return walk_cut(ogg->view, finding, view_size(ogg->view) + 1,
			view_ends_with_image(ogg->view) ? view_size(ogg->view) : ogg->at);
	if (state == PAGE_BAD_CRC)
		return verdict_because(
			CARVE_TRUNCATED, finding, "wrong CRC of the page at %" PRIu64, ogg->at);
	if (state == PAGE_INTACT)
		return verdict_because(CARVE_TRUNCATED, finding,
			"another file's page at %" PRIu64 ", and the last page is missing",
			ogg->at);
	return verdict_because(CARVE_TRUNCATED, finding,
		"no page at %" PRIu64 ", and the last page is missing", ogg->at);
}

static enum verdict check(struct view *view, struct finding *finding)
{
	struct ogg ogg = { .view = view, .finding = finding };
	enum page_state state;
	struct ogg_page page;

	make_table(ogg.table);
	for (;;) {
		state = read_page(&ogg, &page);
		if (state != PAGE_INTACT && state != PAGE_UNREAD && ogg.page_count &&
			find_page(&ogg, &page))
			state = PAGE_INTACT;
		if (state == PAGE_UNREAD && ogg.page_count) {
			view_unverified(view, ogg.at, page.end);
		} else if (state == PAGE_BAD_CRC && ogg.page_count && !view_is_trial(view) &&
			   is_followed(&ogg, &page)) {
			if (!ogg.bad)
				ogg.bad = ogg.at;
		} else if (state != PAGE_INTACT) {
			break;
		} else {
			view_proved(view, ogg.at, page.end, CRC_BITS);
		}
		if (!ogg.open_count && !(page.flags & FIRST))
			break;
		if (!add_page(&ogg, &page))
			break;
	}
	if (!ogg.page_count)
		return verdict_because(
			CARVE_REJECT, finding, "no first page with a matching CRC at 0");
	return judge_end(&ogg, state);
}

/* ---- files in pieces ------------------------------------------------------------------------ */

/* What a page with this number must begin with. */
static struct carve_anchor page_anchor(
	uint64_t at, const struct ogg_stream *stream, uint32_t number)
{
	struct carve_anchor anchor = { .offset = at, .len = 22, .bytes = "OggS" };

	anchor.any = (uint64_t)0x1ff << 5; /* flags and position */
	put_le(anchor.bytes + 14, stream->serial, 4);
	put_le(anchor.bytes + 18, number, 4);
	return anchor;
}

static bool expect_page(
	struct carve_table *table, uint64_t at, const struct ogg_stream *stream, uint32_t number)
{
	struct carve_anchor anchor = page_anchor(at, stream, number);

	return table->add(table, &anchor);
}

/* Whether an intact page is one of the file. One with an earlier number is another file's, as in copies. */
static bool is_own_page(struct ogg *ogg, const struct ogg_page *page)
{
	const struct ogg_stream *stream = find_stream(ogg, page->serial);

	if (page->flags & FIRST)
		return !stream && ogg->stream_count < STREAMS_MAX;
	return stream && !stream->ended && page->number >= stream->next;
}

/* Notes a page of the file. */
static void follow_page(struct ogg *ogg, const struct ogg_page *page)
{
	struct ogg_stream *stream = find_stream(ogg, page->serial);

	if (!stream) {
		stream = &ogg->streams[ogg->stream_count++];
		stream->serial = page->serial;
	}
	if (stream) {
		stream->next = page->number + 1;
		stream->ended = page->flags & LAST;
	}
	ogg->at = page->end;
}

/* A page's length is in its head: after one that is damaged the next page of one of the streams is to be
 * found, and where there is no head, the page itself. At another file's page the table ends: alike
 * pages by the thousand would each be found at all the places of the others. */
static bool read_pages(struct view *view, struct carve_table *table)
{
	struct ogg ogg = { .view = view };
	struct ogg_page page = { 0 };
	enum page_state state;

	make_table(ogg.table);
	while ((state = read_page(&ogg, &page)) == PAGE_INTACT && is_own_page(&ogg, &page)) {
		const struct ogg_stream *stream = find_stream(&ogg, page.serial);

		if (stream && !expect_page(table, ogg.at, stream, page.number))
			return true;
		follow_page(&ogg, &page);
	}
	if (state == PAGE_BAD_CRC && find_stream(&ogg, page.serial) &&
		find_stream(&ogg, page.serial)->next == page.number)
		follow_page(&ogg, &page);
	for (unsigned i = 0; i < ogg.stream_count; i++)
		if (!ogg.streams[i].ended)
			expect_page(table, ogg.at, &ogg.streams[i], ogg.streams[i].next);
	return true;
}

/* The page whose CRC is wrong, if its head is the next one of a stream. */
static bool sum_of_page(struct ogg *ogg, struct ogg_page *page, struct carve_sum *sum)
{
	const struct ogg_stream *stream = find_stream(ogg, page->serial);
	size_t head_len = (size_t)(page->data - ogg->at);
	const uint8_t *p = view_peek(ogg->view, ogg->at, head_len);

	if (!p || !stream || page->number != stream->next || stream->ended)
		return false;
	sum->from = page->data;
	sum->to = page->end;
	sum->before = page_crc(ogg->table, p, head_len);
	sum->after = le32(p + 22);
	follow_page(ogg, page);
	return true;
}

static bool find_sum(struct view *view, struct carve_sum *sum)
{
	struct ogg ogg = { .view = view };
	struct ogg_page page = { 0 };
	enum page_state state;

	make_table(ogg.table);
	while ((state = read_page(&ogg, &page)) == PAGE_INTACT && is_own_page(&ogg, &page))
		follow_page(&ogg, &page);
	for (unsigned i = 0; i < ogg.stream_count; i++)
		ogg.open_count += !ogg.streams[i].ended;
	if (!ogg.open_count)
		return false;
	if (state != PAGE_BAD_CRC || !sum_of_page(&ogg, &page, sum))
		sum->from = sum->to = ogg.at;
	for (unsigned i = 0; i < ogg.stream_count && sum->next_count < CARVE_NEXT; i++)
		if (!ogg.streams[i].ended)
			sum->next[sum->next_count++] =
				page_anchor(ogg.at, &ogg.streams[i], ogg.streams[i].next);
	return true;
}

static const struct carve_map ogg_map = {
	.words = { { 5, false, "OggS", 14 } }, /* the serial number */
	.head = read_pages,
	.sum = find_sum,
	.highest_first = true,
};

const struct carver ogg_carver = {
	.name = "ogg",
	.summary = "Ogg files of all codecs, by their pages and CRCs",
	.check = check,
	.map = &ogg_map,
};
