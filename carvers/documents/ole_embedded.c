/*
 * Files inside a compound file: attachments and bodies of messages, thumbnails, links of jump
 * lists, pictures and themes of documents. They are named (view_embedded) only where the compound
 * file itself shows that they belong to it; a foreign file that overwrote some of its sectors is not
 * hidden. That is where
 *
 *	a stream starts with the file, or with a short header before it, and ends as the file ends;
 *	a record of a drawing ([MS-ODRAW] 2.2.23) describes a picture, just before it, or has a shape as a
 *	package (2.3.2.2); previews inside a picture are named with it;
 *	a record of a presentation ([MS-PPT] 2.3.1, round trip) has a package or XML;
 *	Word's first bytes ([MS-DOC] 2.5.10) have the offset and length of a theme or a mapping of
 *	colours;
 *	the property set `SummaryInformation` has a thumbnail ([MS-OLEPS] 2.11).
 *
 * Elsewhere in streams what does not start at a sector of the image is hidden (view_holds).
 */
#include "ole.h"

#include <string.h>

#include "bytes.h"
#include "plain_text.h"

#define HEAD_LEN 512 /* of a stream: how far the file's start is searched */
#define TAIL_LEN 64

#define FIB_MAGIC 0xa5ec
#define FIB_FLAGS_AT 10
#define FIB_TABLE_1 0x200
#define FIB_PAIRS_AT 154 /* offsets and lengths in the table stream; their number is before */
#define FIB_THEME 181    /* the first pair of two */
#define FIB_PAIRS 183

#define BLIP_HEADER_LEN 8
#define BLIP_ID_LEN 16
#define BLIP_METAFILE_LEN 34
#define RECORD_ROUND_TRIP 4 /* the high byte of the types */
#define PROPERTY_PACKAGE 0x3a9
#define PROPERTY_LEN 6
#define BLIP_MAX OLE_BLIP_MAX

/* How a stream's last bytes show that the file, which starts with `start`, ends there. */
enum end_shown {
	END_BYTES,   /* `end` is among them */
	END_LENGTH,  /* the file has its length, at `length_at`, plus length_less */
	END_TEXT,    /* they are text, ended by `end` */
	END_MESSAGE, /* they are text, in a stream of a message */
};

static const struct embedded_kind {
	const char *start;
	const char *end;
	uint8_t start_len, end_len;
	enum end_shown shown;
	uint8_t length_at, length_less;
} kinds[] = {
	{ "\xff\xd8\xff", "\xff\xd9", 3, 2, END_BYTES, 0, 0 },
	{ "\x89PNG\r\n", "IEND", 6, 4, END_BYTES, 0, 0 },
	{ "GIF8", "\0;", 4, 2, END_BYTES, 0, 0 },
	{ "%PDF", "%%EOF", 4, 5, END_BYTES, 0, 0 },
	{ "PK\3\4", "PK\5\6", 4, 4, END_BYTES, 0, 0 },
	{ "MSCF\0\0\0\0", NULL, 8, 0, END_LENGTH, 8, 0 },
	{ "L\0\0\0\1\x14\2\0", "\0\0\0\0", 8, 4, END_BYTES, 0, 0 },
	{ "RIFF", NULL, 4, 0, END_LENGTH, 4, 8 },
	{ "BM", NULL, 2, 0, END_LENGTH, 2, 0 },
	{ "\xd7\xcd\xc6\x9a", "\3\0\0\0\0\0", 4, 6, END_BYTES, 0, 0 },
	{ "\1\0\0\0", NULL, 4, 0, END_LENGTH, 48, 0 },
	{ "{\\rtf", "}", 5, 1, END_TEXT, 0, 0 },
	{ "<?xml", ">", 5, 1, END_TEXT, 0, 0 },
	{ "<!DOCTYPE", ">", 9, 1, END_TEXT, 0, 0 },
	{ "<html", ">", 5, 1, END_TEXT, 0, 0 },
	{ "<HTML", ">", 5, 1, END_TEXT, 0, 0 },
	{ "MIME-Version:", NULL, 13, 0, END_MESSAGE, 0, 0 },
	{ "Received:", NULL, 9, 0, END_MESSAGE, 0, 0 },
	{ "Return-Path:", NULL, 12, 0, END_MESSAGE, 0, 0 },
	{ "From:", NULL, 5, 0, END_MESSAGE, 0, 0 },
	{ "BEGIN:V", NULL, 7, 0, END_MESSAGE, 0, 0 },
};

#define COUNT(array) (sizeof(array) / sizeof(*(array)))

static bool starts_with(const uint8_t *p, size_t left, const char *start, size_t len)
{
	return left >= len && memcmp(p, start, len) == 0;
}

/* Names the byte of the stream, which is at `offset` or after what position has read. */
static void name_at(struct ole *ole, const struct ole_entry *entry, uint64_t offset)
{
	struct ole_position position = { .entry = entry };
	uint64_t at = ole_file_offset(ole, &position, offset);

	if (at)
		view_embedded(ole->view, at);
}

static bool is_text_end(const uint8_t *tail, size_t len, const char *end)
{
	while (len && (!tail[len - 1] || tail[len - 1] == '\r' || tail[len - 1] == '\n'))
		len--;
	for (size_t i = 0; i < len; i++)
		if (!plain_text_byte(tail[i]) && tail[i] < 0x80)
			return false;
	return len && (!end || tail[len - 1] == (uint8_t)*end);
}

/* Whether the stream ends as a file of this kind, that starts at head + at, does. */
static bool ends_as(const struct ole_entry *entry, const struct embedded_kind *kind,
	const uint8_t *head, size_t head_len, size_t at, const uint8_t *tail, size_t tail_len)
{
	if (entry->len - at < tail_len) {
		tail += tail_len - (size_t)(entry->len - at);
		tail_len = (size_t)(entry->len - at);
	}
	switch (kind->shown) {
	case END_BYTES:
		return memmem(tail, tail_len, kind->end, kind->end_len) != NULL;
	case END_LENGTH:
		return head_len - at >= (size_t)kind->length_at + 4 &&
		       at + kind->length_less + (uint64_t)le32(head + at + kind->length_at) ==
			       entry->len;
	case END_TEXT:
		return is_text_end(tail, tail_len, kind->end);
	case END_MESSAGE:
		return ole_starts_with(entry, "__substg1.0_") && is_text_end(tail, tail_len, NULL);
	}
	return false;
}

/* Names the file that fills the stream, if there is one. */
static void name_whole(struct ole *ole, const struct ole_entry *entry)
{
	struct ole_position position = { .entry = entry };
	uint8_t head[HEAD_LEN], tail[TAIL_LEN];
	size_t len = entry->len < HEAD_LEN ? (size_t)entry->len : HEAD_LEN;
	size_t tail_len = entry->len < TAIL_LEN ? (size_t)entry->len : TAIL_LEN;
	bool tail_read = false, starts[UINT8_MAX + 1] = { false }; /* any kind, by its first byte */

	if (!ole_read(ole, &position, 0, head, len))
		return;
	for (size_t i = 0; i < COUNT(kinds); i++)
		starts[(uint8_t)kinds[i].start[0]] = true;
	for (size_t at = 0; at < len; at++) {
		for (size_t i = 0; starts[head[at]] && i < COUNT(kinds); i++) {
			if (!starts_with(head + at, len - at, kinds[i].start, kinds[i].start_len))
				continue;
			if (!tail_read) {
				struct ole_position end = { .entry = entry };

				tail_read =
					ole_read(ole, &end, entry->len - tail_len, tail, tail_len);
				if (!tail_read)
					return;
			}
			if (ends_as(entry, &kinds[i], head, len, at, tail, tail_len))
				name_at(ole, entry, at);
		}
	}
}

size_t ole_picture_data_at(const uint8_t *p, uint64_t left, bool *is_packed)
{
	unsigned type = le16(p + 2), head = le16(p);
	uint64_t len = le32(p + 4);
	size_t at = BLIP_HEADER_LEN + (head & 0x10 ? 2 * BLIP_ID_LEN : BLIP_ID_LEN);

	*is_packed = false;
	if (p[3] != 0xf0 ||
		(type != 0xf029 && type != 0xf02a && (type < 0xf01a || type > 0xf01e)) ||
		head & 15 || len > left - BLIP_HEADER_LEN || len < at)
		return 0;
	if (type <= 0xf01c) { /* metafiles */
		uint8_t packing = p[at + BLIP_METAFILE_LEN - 2];

		*is_packed = packing == 0;
		return packing == 0 || packing == 0xfe ? at + BLIP_METAFILE_LEN : 0;
	}
	at++;
	return starts_with(p + at, 4, "\xff\xd8\xff", 3) || starts_with(p + at, 4, "\x89PNG", 4) ||
			       starts_with(p + at, 4, "II*", 4) ||
			       starts_with(p + at, 4, "MM\0*", 4)
		       ? at
		       : 0;
}

/* One that is there as a file. */
static size_t picture_at(const uint8_t *p, uint64_t left)
{
	bool is_packed;
	size_t at = ole_picture_data_at(p, left, &is_packed);

	return is_packed ? 0 : at;
}

static bool is_package(const uint8_t *p)
{
	return memcmp(p, "PK\3\4", 4) == 0 || memcmp(p, "<?xm", 4) == 0;
}

/* Where the package or XML of a shape or presentation starts, from the record at p; 0: it has none. */
static size_t package_at(const uint8_t *p, uint64_t left)
{
	uint64_t len = le32(p + 4);

	if (len > left - BLIP_HEADER_LEN)
		return 0;
	if (p[3] == RECORD_ROUND_TRIP && !(p[0] & 15) && is_package(p + BLIP_HEADER_LEN))
		return BLIP_HEADER_LEN;
	if (p[3] == 0xf1 && p[2] == 0x22 && (le16(p + 8) & 0x3fff) == PROPERTY_PACKAGE &&
		len >= PROPERTY_LEN && le32(p + 10) <= len - PROPERTY_LEN &&
		is_package(p + BLIP_HEADER_LEN + PROPERTY_LEN))
		return BLIP_HEADER_LEN + PROPERTY_LEN;
	return 0;
}

/* Where a file starts that the record at p describes; 0: it describes none, or is not a record. */
static size_t described_at(const uint8_t *p, uint64_t left)
{
	if (left < BLIP_HEADER_LEN)
		return 0;
	return p[3] == 0xf0 ? picture_at(p, left) : package_at(p, left);
}

/* Whether a record can be at p, or a preview: few places are left, as the high byte of a record's type is one of three. */
static inline bool may_begin(const uint8_t *p)
{
	return p[3] == 0xf0 || p[3] == 0xf1 || p[3] == RECORD_ROUND_TRIP || p[0] == 0xff;
}

/* Looks at a record of a drawing that p may be, at `at` in the stream, of which `left` bytes follow; up to BLIP_MAX can be
 * read. Returns where the next one may begin. */
typedef uint64_t visit_record(void *context, uint64_t at, const uint8_t *p, uint64_t left);

/* A record may begin at any byte. */
static void each_record(
	struct ole *ole, const struct ole_entry *entry, visit_record *visit, void *context)
{
	struct ole_position position = { .entry = entry };
	uint8_t window[2 * BLIP_MAX + HEAD_LEN];
	uint64_t start = 0, next = 0; /* of the window, and after what it holds */
	uint64_t from = 0;            /* where the next record may begin */

	while (next < entry->len) {
		size_t held = (size_t)(next - start), i = 0;
		size_t more = entry->len - next < HEAD_LEN ? (size_t)(entry->len - next) : HEAD_LEN;

		if (!ole_read(ole, &position, next, window + held, more))
			return;
		next += more;
		held += more;
		if (next == entry->len) { /* the last record may be shorter */
			memset(window + held, 0, BLIP_MAX);
			held += BLIP_MAX;
		}
		for (; i + BLIP_MAX <= held; i++)
			if (may_begin(window + i) && start + i >= from && start + i < entry->len)
				from = visit(
					context, start + i, window + i, entry->len - start - i);
		memmove(window, window + i, held - i);
		start += i;
	}
}

struct naming {
	struct ole *ole;
	const struct ole_entry *entry;
	uint64_t picture_end; /* of the last one: previews in it start like pictures */
};

static uint64_t name_record(void *context, uint64_t at, const uint8_t *p, uint64_t left)
{
	struct naming *naming = context;
	size_t file = described_at(p, left);

	if (file && file < left) {
		name_at(naming->ole, naming->entry, at + file);
		naming->picture_end = at + BLIP_HEADER_LEN + le32(p + 4);
	} else if (at < naming->picture_end && memcmp(p, "\xff\xd8\xff", 3) == 0) {
		name_at(naming->ole, naming->entry, at);
	}
	return at + 1;
}

/* Names all pictures of drawings in a stream, and packages. */
static void name_pictures(struct ole *ole, const struct ole_entry *entry)
{
	struct naming naming = { .ole = ole, .entry = entry };

	each_record(ole, entry, name_record, &naming);
}

static bool has_drawings(const struct ole_entry *entry)
{
	static const char *const names[] = { "Pictures", "Data", "WordDocument", "Workbook", "Book",
		"EscherDelayStm", "PowerPoint Document" };

	for (size_t i = 0; i < COUNT(names); i++)
		if (ole_named(entry, names[i]))
			return true;
	return false;
}

struct finding_pictures {
	struct ole *ole;
	struct ole_position before; /* at the last picture */
	void (*found)(void *context, struct ole *ole, const struct ole_position *before,
		const struct ole_picture *picture);
	void *context;
};

static uint64_t find_picture(void *context, uint64_t at, const uint8_t *p, uint64_t left)
{
	struct finding_pictures *finding = context;
	struct ole_picture picture;
	size_t file =
		left >= BLIP_HEADER_LEN ? ole_picture_data_at(p, left, &picture.is_packed) : 0;

	picture.from = at + file;
	picture.to = at + BLIP_HEADER_LEN + le32(p + 4);
	if (!file || picture.from >= picture.to)
		return at + 1;
	memcpy(picture.id, p + BLIP_HEADER_LEN, sizeof(picture.id));
	finding->found(finding->context, finding->ole, &finding->before, &picture);
	ole_file_offset(finding->ole, &finding->before, picture.from);
	return picture.to;
}

void ole_each_picture(struct ole *ole,
	void (*found)(void *context, struct ole *ole, const struct ole_position *before,
		const struct ole_picture *picture),
	void *context)
{
	struct ole_entry entry;

	for (uint32_t i = 0; i < ole_entry_count(ole); i++) {
		struct finding_pictures finding = { .ole = ole,
			.before = { .entry = &entry },
			.found = found,
			.context = context };

		if (ole_read_entry(ole, i, &entry) && entry.type == OLE_STREAM && entry.len &&
			has_drawings(&entry))
			each_record(ole, &entry, find_picture, &finding);
	}
}

/* Finds the table stream that Word's first bytes name, and those bytes' pairs of the theme. */
static bool read_theme(
	struct ole *ole, const struct ole_entry *word, const char **table, uint8_t pairs[16])
{
	struct ole_position position = { .entry = word };
	uint8_t head[FIB_PAIRS_AT + 8 * FIB_PAIRS];

	if (!ole_read(ole, &position, 0, head, sizeof(head)) || le16(head) != FIB_MAGIC ||
		le16(head + FIB_PAIRS_AT - 2) < FIB_PAIRS)
		return false;
	*table = le16(head + FIB_FLAGS_AT) & FIB_TABLE_1 ? "1Table" : "0Table";
	memcpy(pairs, head + FIB_PAIRS_AT + 8 * FIB_THEME, 16);
	return true;
}

static void name_theme(struct ole *ole, const struct ole_entry *entry, const uint8_t pairs[16])
{
	for (int i = 0; i < 2; i++) {
		uint32_t at = le32(pairs + 8 * i), len = le32(pairs + 8 * i + 4);

		if (len && at < entry->len && len <= entry->len - at)
			name_at(ole, entry, at);
	}
}

/* What starts in a stream elsewhere than at a sector is the stream's. */
static void hold_stream(struct ole *ole, const struct ole_entry *entry)
{
	struct ole_position position = { .entry = entry };
	uint64_t len = UINT64_C(1) << (entry->len < ole->cutoff ? OLE_MINI_SHIFT : ole->shift);

	for (uint64_t offset = 0; offset < entry->len; offset += len) {
		uint64_t at = ole_file_offset(ole, &position, offset);

		if (!at || !view_work(ole->view, 1))
			return;
		view_holds(ole->view, at, at + len);
	}
}

void ole_name_embedded(struct ole *ole)
{
	struct ole_entry entry;
	const char *table = NULL;
	uint8_t pairs[16];

	for (uint32_t i = 0; i < ole_entry_count(ole); i++)
		if (ole_read_entry(ole, i, &entry) && entry.type == OLE_STREAM &&
			ole_named(&entry, "WordDocument") && read_theme(ole, &entry, &table, pairs))
			break;
	for (uint32_t i = 0; i < ole_entry_count(ole); i++) {
		if (!ole_read_entry(ole, i, &entry) || entry.type != OLE_STREAM || !entry.len)
			continue;
		if (has_drawings(&entry) || (table && ole_named(&entry, table)))
			name_pictures(ole, &entry);
		else
			name_whole(ole, &entry);
		if (table && ole_named(&entry, table))
			name_theme(ole, &entry, pairs);
		hold_stream(ole, &entry);
	}
}

void ole_name_thumbnail(
	struct ole *ole, const struct ole_entry *entry, uint64_t at, uint32_t tag, uint32_t format)
{
	if (tag != UINT32_MAX)
		return;
	if (format == 14) /* an enhanced metafile */
		name_at(ole, entry, at);
	else if (format == 3) /* a metafile, after its mode and size */
		name_at(ole, entry, at + 8);
}
