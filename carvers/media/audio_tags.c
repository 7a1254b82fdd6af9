/*
 * Tags around audio.
 *
 *	ID3v2 (id3.org, ID3 tag versions 2.2, 2.3, 2.4): 'ID3', version, revision, flags, length
 *	(four bytes of 7 bits), perhaps an extended header, frames, padding of zeros, perhaps a
 *	footer of ten bytes. A frame: id of capitals and digits, length, two bytes of flags, data;
 *	in 2.2 id and length have three bytes and there are no flags. In 2.4 the length has 7 bits a
 *	byte, though some writers did not know. If the tag's length has an eighth bit, readers
 *	ignore it; here the frames have to fill the tag then.
 *
 *	APE tag (hydrogenaudio wiki, APEv2 specification): perhaps a header 'APETAGEX', items
 *	(length of the value, flags, key ended by a zero, value), a footer like the header.
 *
 *	Lyrics3 2.00 (id3.org): 'LYRICSBEGIN', fields, their length in six digits, 'LYRICS200'.
 *	1.00: text of up to 5100 bytes, 'LYRICSEND'.
 *
 *	ID3v1: 'TAG' and 125 bytes of fields padded with zeros or blanks; 'TAG+' and 223 more may
 *	precede it.
 *
 * Tags at the end were designed to be found from a file's end. Here they are read forwards: each is
 * accepted only if it ends as it has to.
 */
#include "audio_tags.h"

#include <string.h>

#include "bytes.h"
#include "dates.h"
#include "embedded.h"
#include "title.h"

#define TEXT_MAX 300
/* Bytes of a value that may hold a picture. */
#define PICTURE_MIN 64

static uint32_t synchsafe(const uint8_t *p)
{
	return (p[0] & 0x7fu) << 21 | (p[1] & 0x7fu) << 14 | (p[2] & 0x7fu) << 7 | (p[3] & 0x7fu);
}

static bool is_synchsafe(const uint8_t *p)
{
	return !((p[0] | p[1] | p[2] | p[3]) & 0x80);
}

static bool is_digits(const uint8_t *p, size_t len)
{
	for (size_t i = 0; i < len; i++)
		if (p[i] < '0' || p[i] > '9')
			return false;
	return true;
}

/* Reads a date as in ISO 8601, with day and perhaps time; others are ignored. */
static void read_date(const uint8_t *p, size_t len, struct finding *finding)
{
	int hour = 0, minute = 0, second = 0;

	if (finding->time || len < 10 || !is_digits(p, 4) || p[4] != '-' || !is_digits(p + 5, 2) ||
		p[7] != '-' || !is_digits(p + 8, 2))
		return;
#define TWO(i) ((p[i] - '0') * 10 + p[(i) + 1] - '0')
	if (len >= 19 && is_digits(p + 11, 2) && is_digits(p + 14, 2) && is_digits(p + 17, 2)) {
		hour = TWO(11);
		minute = TWO(14);
		second = TWO(17);
	}
	finding->time = utc_seconds(TWO(0) * 100 + TWO(2), TWO(5), TWO(8), hour, minute, second);
#undef TWO
}

/* ---- ID3v2 --------------------------------------------------------------------------------- */

struct id3_frame {
	char id[5];
	uint64_t data, end;
};

struct id3_walk {
	struct view *view;
	struct finding *finding;
	unsigned version;
	bool unsynchronised;
	uint64_t end; /* of the frames */
};

static bool is_frame_id(const uint8_t *p, int len)
{
	for (int i = 0; i < len; i++)
		if (!(p[i] >= 'A' && p[i] <= 'Z') && !(i && p[i] >= '0' && p[i] <= '9'))
			return false;
	return true;
}

/* Whether the tag's frames continue, or end, at `at`. */
static bool is_frame_boundary(const struct id3_walk *walk, uint64_t at)
{
	const uint8_t *p;

	if (at == walk->end)
		return true;
	p = at < walk->end && walk->end - at >= 3 ? view_peek(walk->view, at, 3) : NULL;
	return p && (is_frame_id(p, 3) || (!p[0] && !p[1] && !p[2]));
}

static bool read_frame(const struct id3_walk *walk, uint64_t at, struct id3_frame *frame)
{
	unsigned head = walk->version == 2 ? 6 : 10;
	const uint8_t *p =
		walk->end - at > head && at < walk->end ? view_peek(walk->view, at, head) : NULL;
	uint64_t len;

	if (!p || !is_frame_id(p, walk->version == 2 ? 3 : 4))
		return false;
	memset(frame->id, 0, sizeof(frame->id));
	memcpy(frame->id, p, walk->version == 2 ? 3 : 4);
	len = walk->version == 2 ? be32(p + 2) & 0xffffff : be32(p + 4);
	frame->data = at + head;
	if (walk->version == 4 && is_synchsafe(p + 4)) {
		uint64_t safe = synchsafe(p + 4);

		/* Some writers of 2.4 count as in 2.3. */
		if (safe == len || is_frame_boundary(walk, frame->data + safe) ||
			!is_frame_boundary(walk, frame->data + len))
			len = safe;
	}
	frame->end = frame->data + len;
	return frame->end <= walk->end;
}

/* Removes the zeros that unsynchronisation inserted after each FF. */
static size_t resynchronise(uint8_t *text, size_t len)
{
	size_t out = 0;

	for (size_t i = 0; i < len; i++) {
		text[out++] = text[i];
		if (text[i] == 0xff && i + 1 < len && text[i + 1] == 0)
			i++;
	}
	return out;
}

static void read_text(const struct id3_walk *walk, const struct id3_frame *frame)
{
	struct finding *finding = walk->finding;
	size_t len =
		frame->end - frame->data < TEXT_MAX ? (size_t)(frame->end - frame->data) : TEXT_MAX;
	uint8_t text[TEXT_MAX];
	const uint8_t *p = len ? view_peek(walk->view, frame->data, len) : NULL;
	bool title = strcmp(frame->id, "TIT2") == 0 || strcmp(frame->id, "TT2") == 0;

	if (!p)
		return;
	memcpy(text, p, len);
	if (walk->unsynchronised)
		len = resynchronise(text, len);
	if (strcmp(frame->id, "TDRC") == 0)
		read_date(text + 1, len - 1, finding);
	if (!title || finding->title[0])
		return;
	if (text[0] == 1 && len >= 3)
		finding_set_title_utf16(finding, text + 3, len - 3, text[1] == 0xfe);
	else if (text[0] == 2)
		finding_set_title_utf16(finding, text + 1, len - 1, true);
	else if (text[0] == 0)
		finding_set_title_latin1(finding, text + 1, len - 1);
	else if (text[0] == 3)
		finding_set_title(finding, text + 1, strnlen((char *)text + 1, len - 1));
}

/* Where the frames begin, after an extended header if there is one. */
static uint64_t frames_start(struct view *view, uint64_t at, unsigned version, uint8_t flags)
{
	const uint8_t *p = version > 2 && flags & 0x40 ? view_peek(view, at, 4) : NULL;

	if (!p)
		return at;
	return at + (version == 4 ? synchsafe(p) : (uint64_t)be32(p) + 4);
}

bool id3v2_read(
	struct view *view, uint64_t at, uint64_t limit, struct id3v2 *tag, struct finding *finding)
{
	const uint8_t *p = view_peek(view, at, 10);
	struct id3_walk walk = { .view = view, .finding = finding };
	struct id3_frame frame;
	bool malformed;
	uint8_t flags;

	if (!p || memcmp(p, "ID3", 3) != 0 || p[3] < 2 || p[3] > 4 || p[4] == 0xff)
		return false;
	if (limit > view_size(view))
		limit = view_size(view);
	malformed = !is_synchsafe(p + 6);
	flags = p[5];
	walk.version = p[3];
	walk.unsynchronised = flags & 0x80;
	walk.end = at + 10 + synchsafe(p + 6);
	*tag = (struct id3v2){ .end = walk.end + (walk.version == 4 && flags & 0x10 ? 10 : 0),
		.padding_end = walk.end };
	tag->valid_end = frames_start(view, at + 10, walk.version, flags);
	if (tag->valid_end > walk.end)
		tag->valid_end = at + 10;
	while (read_frame(&walk, tag->valid_end, &frame) && frame.end <= limit) {
		if (frame.id[0] == 'T')
			read_text(&walk, &frame);
		else if (frame.end - frame.data >= PICTURE_MIN)
			embedded_find(view, frame.data, frame.end, EMBEDDED_SEARCH_LEN);
		tag->valid_end = frame.end;
		tag->frame_count++;
	}
	return !malformed || (tag->frame_count && tag->valid_end == walk.end);
}

/* ---- after the audio ----------------------------------------------------------------------- */

static bool is_ape_frame(const uint8_t *p)
{
	return memcmp(p, "APETAGEX", 8) == 0 && (le32(p + 8) == 1000 || le32(p + 8) == 2000);
}

#define APE_ITEMS_MAX 512
#define APE_KEY_MAX 256

/* The end of the item at `at`, or 0 if there is none. */
static uint64_t ape_item_end(struct view *view, uint64_t at, struct finding *finding)
{
	uint64_t size = view_size(view), left = at < size ? size - at : 0;
	size_t look = left < APE_KEY_MAX + 8 ? (size_t)left : APE_KEY_MAX + 8, key = 0;
	const uint8_t *p = look > 10 ? view_peek(view, at, look) : NULL;
	uint32_t len;

	if (!p || le32(p + 4) > 7)
		return 0;
	len = le32(p);
	while (8 + key < look && p[8 + key] >= 0x20 && p[8 + key] < 0x7f)
		key++;
	if (8 + key == look || p[8 + key] != 0 || key < 2 || len > left - 9 - key)
		return 0;
	if (!finding->title[0] && key == 5 && strncasecmp((const char *)p + 8, "title", 5) == 0) {
		size_t text = len < TEXT_MAX ? len : TEXT_MAX;

		p = view_peek(view, at + 9 + key, text);
		if (p)
			finding_set_title(finding, p, strnlen((const char *)p, text));
	}
	if (len >= PICTURE_MIN)
		embedded_find(view, at + 9 + key, at + 9 + key + len, EMBEDDED_SEARCH_LEN);
	return at + 9 + key + len;
}

/* The end of the APE tag at `at`, with or without a header; 0: none. */
static uint64_t ape_tag_end(struct view *view, uint64_t at, struct finding *finding)
{
	const uint8_t *p = view_peek(view, at, 32);
	uint64_t start = at;

	if (!p)
		return 0;
	if (is_ape_frame(p)) {
		uint64_t end = at + 32 + le32(p + 12);

		/* Bit 29: this is the header. */
		if (!(p[23] & 0x20))
			return 0;
		p = view_peek(view, end - 32, 32);
		if (!p || end < at + 64 || !is_ape_frame(p))
			return 0;
		start = at + 32;
	}
	for (int items = 0; items < APE_ITEMS_MAX; items++) {
		p = view_peek(view, start, 32);
		if (p && is_ape_frame(p)) {
			if (le32(p + 12) != start + 32 - at - (p[23] & 0x80 ? 32 : 0))
				return 0;
			return start + 32;
		}
		start = ape_item_end(view, start, finding);
		if (!start)
			return 0;
	}
	return 0;
}

#define LYRICS_MAX 5200

static uint64_t lyrics3_end(struct view *view, uint64_t at)
{
	uint64_t size = view_size(view), next = at + 11;
	const uint8_t *p = view_peek(view, at, 11), *found;
	size_t look;

	if (!p || memcmp(p, "LYRICSBEGIN", 11) != 0)
		return 0;
	for (int fields = 0; fields < 64; fields++) {
		p = view_peek(view, next, 15);
		if (!p)
			break;
		if (is_digits(p, 6) && memcmp(p + 6, "LYRICS200", 9) == 0)
			return next + 15;
		if (!is_frame_id(p, 3) || !is_digits(p + 3, 5))
			break;
		next += 8;
		for (int i = 3, len = 0; i < 8; i++) {
			len = len * 10 + p[i] - '0';
			next += i == 7 ? (uint64_t)len : 0;
		}
	}
	look = size - at < LYRICS_MAX ? (size_t)(size - at) : LYRICS_MAX;
	p = view_peek(view, at, look);
	found = p ? memmem(p, look, "LYRICSEND", 9) : NULL;
	return found ? at + (uint64_t)(found - p) + 9 : 0;
}

/* Text in a field of ID3v1: only printable characters. */
static bool is_id3v1_text(const uint8_t *p, size_t len)
{
	for (size_t i = 0; i < len; i++)
		if (p[i] && p[i] < 0x20 && p[i] != '\n' && p[i] != '\r' && p[i] != '\t')
			return false;
	return true;
}

static uint64_t id3v1_end(struct view *view, uint64_t at, struct finding *finding)
{
	const uint8_t *p = view_peek(view, at, 128);

	if (p && memcmp(p, "TAG+", 4) == 0) {
		p = view_peek(view, at + 227, 128);
		at += 227;
	}
	/* Title, artist, album, year and comment, whose last two bytes may be a zero and a
	 * number. */
	if (!p || memcmp(p, "TAG", 3) != 0 || !is_id3v1_text(p + 3, 122))
		return 0;
	if (!finding->title[0])
		finding_set_title_latin1(finding, p + 3, 30);
	return at + 128;
}

/* The end of an ID3v2.4 tag that has a footer, and thus may follow the audio; 0: none. */
static uint64_t id3v2_footer_end(struct view *view, uint64_t at, struct finding *finding)
{
	const uint8_t *p = view_peek(view, at, 10);
	struct id3v2 tag;

	if (!p || memcmp(p, "ID3\x04", 4) != 0 || !(p[5] & 0x10) ||
		!id3v2_read(view, at, view_size(view), &tag, finding))
		return 0;
	p = view_peek(view, tag.end - 10, 10);
	return p && memcmp(p, "3DI", 3) == 0 ? tag.end : 0;
}

uint64_t audio_tags_end(struct view *view, uint64_t at, struct finding *finding)
{
	uint64_t next;

	for (int tags = 0; tags < 8; tags++) {
		next = id3v1_end(view, at, finding);
		/* Nothing follows it. */
		if (next)
			return next;
		next = ape_tag_end(view, at, finding);
		if (!next)
			next = lyrics3_end(view, at);
		if (!next)
			next = id3v2_footer_end(view, at, finding);
		if (!next)
			break;
		at = next;
	}
	return at;
}

/* ---- Vorbis comments ----------------------------------------------------------------------- */

void vorbis_comments_read(const uint8_t *bytes, size_t len, struct finding *finding)
{
	size_t at = 4;
	uint32_t count, comment_len;

	if (len < 8 || le32(bytes) > len - 8)
		return;
	at += le32(bytes);
	count = le32(bytes + at);
	at += 4;
	for (; count && len - at >= 4; count--, at += comment_len) {
		comment_len = le32(bytes + at);
		at += 4;
		if (comment_len > len - at)
			return;
		if (comment_len > 6 && !finding->title[0] &&
			strncasecmp((const char *)bytes + at, "title=", 6) == 0)
			finding_set_title(finding, bytes + at + 6, comment_len - 6);
		if (comment_len > 5 && strncasecmp((const char *)bytes + at, "date=", 5) == 0)
			read_date(bytes + at + 5, comment_len - 5, finding);
	}
}
