/*
 * The streams' content. Spreadsheets ([MS-XLS] 2.1.4: a type and a length of two bytes each, then
 * the data) and presentations ([MS-PPT] 2.3.1: version and instance, type, length of four bytes)
 * are chains of records, which have to lead from a stream's start to its end; a sector counts as
 * verified if a record starts there, or only zeros fill it. What is encrypted is random, or XML. The stream
 * `SummaryInformation` ([MS-OLEPS] 2.21) holds title and dates.
 */
#include "ole.h"

#include <string.h>

#include "bytes.h"
#include "dates.h"
#include "evenness.h"
#include "plain_text.h"
#include "title.h"
#include "walk.h"

#define SUMMARY_LEN 4096
#define LONGEST_RECORD 8228 /* of Excel */
#define EXCEL_PASSWORD 0x002f
#define DEPTH_MAX 32 /* of records in others that are looked at */
#define FILE_MAX ((uint64_t)1 << 30)
#define SHORT_RECORD 128
#define PART 512       /* bytes of encrypted streams that are looked at together */
#define BLOCK 16       /* of AES */
#define RECORD_WORK 16 /* units for a record at hand: a presentation's takes 15 ns */

/* Types of records: of Excel up to 2003, those that were added later, and those of charts; of PowerPoint, and of drawings. */
enum {
	EXCEL_END = 0x000a,
	EXCEL_PART = 0x0085,
	EXCEL_STRINGS = 0x00fc,
	EXCEL_TYPES_END = 0x0500,
	EXCEL_LATER = 0x0800,
	EXCEL_LATER_END = 0x0900,
	EXCEL_CHARTS = 0x1000,
	EXCEL_CHARTS_END = 0x1100,
	POWERPOINT_TYPES_END = 0x3000,
	DRAWING_TYPES = 0xf000,
};

enum powerpoint_record_type {
	USER_EDIT = 0x0ff5,
	CURRENT_USER = 0x0ff6,
};

enum ole_property {
	CODE_PAGE = 1,
	TITLE = 2,
	CREATED = 12,
	SAVED = 13,
	THUMBNAIL = 17,
};

enum ole_property_type {
	TYPE_I2 = 2,
	TYPE_STRING = 30,
	TYPE_WIDE_STRING = 31,
	TYPE_FILETIME = 64,
	TYPE_CLIPBOARD = 71,
};

/* The length of the record at p with its header; 0: not a record. */
static uint64_t excel_record_len(const uint8_t *p)
{
	uint16_t len = le16(p + 2);

	return len <= LONGEST_RECORD ? 4 + (uint64_t)len : 0;
}

static uint64_t powerpoint_record_len(const uint8_t *p)
{
	uint16_t type = le16(p + 2);

	return type >= 1000 && type < 0xf200 ? 8 + (uint64_t)le32(p + 4) : 0;
}

static const struct ole_record_kind {
	const char *name;
	size_t header_len;
	uint64_t (*len)(const uint8_t *p);
	size_t type_at; /* of the type in the header */
	uint16_t first;
	bool is_nested; /* records hold others */
	bool is_readable; /* the first record, also of what is encrypted; else there are no records to walk then */
} kinds[] = {
	{ "Workbook", 4, excel_record_len, 0, 0x0809, false, true },
	{ "Book", 4, excel_record_len, 0, 0x0809, false, true },
	{ "PowerPoint Document", 8, powerpoint_record_len, 2, 1000, true, false },
};

/* Reads what is then verified, and notes the sector that holds it. Sectors of the mini stream are
 * larger than what is read of them. */
static bool read_checked(
	struct ole *ole, struct ole_position *position, uint64_t offset, uint8_t *bytes, size_t len)
{
	if (!ole_read(ole, position, offset, bytes, len))
		return false;
	if (position->entry->len >= ole->cutoff)
		ole_note_checked(ole, position->sector);
	return true;
}

/* Where the sector is in the file that holds the stream's byte at offset, which is in the sector read last before or after it; 0:
 * not in the file. */
static uint64_t place_of(struct ole *ole, struct ole_position before, uint64_t offset)
{
	return ole_file_offset(ole, &before, offset) >> ole->shift << ole->shift;
}

/* Checks that only zeros fill the stream from `at` on. */
static void check_zeros(struct ole *ole, struct ole_position *position, uint64_t at)
{
	uint64_t first = place_of(ole, *position, at);
	uint8_t bytes[64], any = 0;

	while (at < position->entry->len && !any) {
		uint64_t left = position->entry->len - at;
		size_t len = left < sizeof(bytes) ? (size_t)left : sizeof(bytes);

		if (!read_checked(ole, position, at, bytes, len))
			return;
		for (size_t i = 0; i < len; i++)
			any |= bytes[i];
		at += len;
	}
	if (any)
		ole_contradicts(ole, "neither more of a stream nor zeros in the sector", first);
}

/* Where a walk over records is. */
struct records {
	const struct ole_record_kind *kind;
	struct ole_position position;
	uint64_t at;
	/* Bytes of the stream that are at hand, as a sector is read at once where records are short; and where it was looked for. */
	uint64_t held, held_len;
	uint8_t bytes[SECTOR];
	struct ole_position before_held;
	uint64_t last_len;        /* of the record before */
	uint64_t ends[DEPTH_MAX]; /* of the records that this one is in, and of the stream */
	unsigned depth;
	bool ends_anywhere; /* the stream, whose length is not known: */
	bool may_end;       /* after this record */
	uint32_t parts;     /* of a workbook that are still to come */
};

/* Where proof is asked for: whether a record of this kind may follow. The parts of a workbook begin and end with records of
 * their own, and nothing is between them. */
static bool may_follow(struct records *records, const uint8_t *header)
{
	uint16_t type = le16(header + records->kind->type_at);

	if (records->kind->is_nested) {
		records->may_end = !records->depth && type == USER_EDIT;
		return type < POWERPOINT_TYPES_END || type >= DRAWING_TYPES;
	}
	if (!type || (!records->depth && type != records->kind->first))
		return false;
	if (type == records->kind->first && records->depth < DEPTH_MAX)
		records->depth++;
	if (type == EXCEL_PART && records->depth == 1)
		records->parts++;
	if (type == EXCEL_END && records->depth && !--records->depth) {
		records->may_end = !records->parts;
		records->parts -= !records->may_end;
	}
	return type < EXCEL_TYPES_END || (type >= EXCEL_LATER && type < EXCEL_LATER_END) ||
	       (type >= EXCEL_CHARTS && type < EXCEL_CHARTS_END);
}

/* Whether a record of a presentation holds others. */
static bool holds_records(const uint8_t *header)
{
	static const uint16_t types[] = { 1000, 1006, 1008, 1010, 1016, 1033, 1035, 1036, 2000,
		2005, 4041, 4057, 4080, 5000, 5002, 0xf000, 0xf001, 0xf002, 0xf003, 0xf004,
		0xf005 };

	for (size_t i = 0; i < sizeof(types) / sizeof(*types); i++)
		if (le16(header + 2) == types[i])
			return (header[0] & 15) == 15;
	return false;
}

/* The next record of a presentation, inside this one or after it. False: this one goes on after that which it is in. */
static bool go_on_nested(struct records *records, const uint8_t *header, uint64_t len)
{
	if (len > records->ends[records->depth] - records->at)
		return false;
	if (holds_records(header) && records->depth + 1 < DEPTH_MAX) {
		records->ends[++records->depth] = records->at + len;
		records->at += records->kind->header_len;
	} else {
		records->at += len;
	}
	return true;
}

/* The next record. False: this is not one. */
static bool go_on(struct ole *ole, struct records *records, const uint8_t *header)
{
	uint64_t len = records->kind->len(header);

	if (!len || len > records->position.entry->len - records->at)
		return false;
	if (view_thorough(ole->view)) {
		while (records->kind->is_nested && records->depth &&
			records->at >= records->ends[records->depth])
			records->depth--;
		if (!may_follow(records, header))
			return false;
		if (records->kind->is_nested)
			return go_on_nested(records, header, len);
	}
	records->at += len;
	return true;
}

/* Reads the header of the record. *before: where its first byte is looked for. */
static bool read_header(
	struct ole *ole, struct records *records, struct ole_position *before, uint8_t *header)
{
	size_t len = records->kind->header_len;
	uint64_t at = records->at, from = at / SECTOR * SECTOR, left = records->position.entry->len;

	left -= from;
	if (records->last_len < SHORT_RECORD && at - from + len <= SECTOR &&
		at - from + len <= left && (!records->held_len || from != records->held)) {
		records->before_held = records->position;
		records->held_len = left < SECTOR ? left : SECTOR;
		records->held = from;
		if (!read_checked(ole, &records->position, from, records->bytes,
			    (size_t)records->held_len))
			records->held_len = 0;
	}
	if (at >= records->held && at - records->held + len <= records->held_len) {
		*before = records->before_held;
		memcpy(header, records->bytes + (at - records->held), len);
		return view_work(ole->view, RECORD_WORK);
	}
	*before = records->position;
	return read_checked(ole, &records->position, at, header, len);
}

/* Walks the records to the stream's end, or to zeros that fill it up. */
static void walk_records(struct ole *ole, struct records *records)
{
	static const uint8_t zeros[8];
	const struct ole_record_kind *kind = records->kind;
	struct ole_position *position = &records->position;
	uint8_t header[8];

	records->ends[0] = position->entry->len;
	while (records->at + kind->header_len <= position->entry->len) {
		struct ole_position before;
		uint64_t at = records->at;

		if (!read_header(ole, records, &before, header))
			return;
		/* A stream is followed as long as it certainly goes on. */
		if (records->ends_anywhere && records->may_end)
			return;
		if (!records->ends_anywhere && memcmp(header, zeros, kind->header_len) == 0) {
			*position = before;
			check_zeros(ole, position, records->at);
			return;
		}
		if (kind->header_len == 4 && le16(header) == EXCEL_PASSWORD)
			ole->encrypted = true;
		if (!go_on(ole, records, header)) {
			ole_contradicts(ole, "an invalid record of the main stream in the sector",
				place_of(ole, before, at));
			return;
		}
		if (kind->header_len == 4 && le16(header) == EXCEL_STRINGS && !ole->encrypted &&
			view_thorough(ole->view))
			ole_check_strings(ole, &before, at);
		records->last_len = records->at - at;
	}
}

/* The same from the first record on, if that is what it must be. */
static void check_records(
	struct ole *ole, const struct ole_entry *entry, const struct ole_record_kind *kind)
{
	struct records records = { .kind = kind, .position = { .entry = entry } };
	uint8_t header[8];

	if (!read_checked(ole, &records.position, 0, header, kind->header_len))
		return;
	if (le16(header + kind->type_at) == kind->first) {
		walk_records(ole, &records);
		return;
	}
	if (kind->is_readable)
		ole_contradicts(ole, "no first record of the main stream in the sector",
			place_of(ole, records.position, 0));
	ole->encrypted = true;
}

struct summary {
	struct finding *finding;
	const uint8_t *section;
	size_t len;
	unsigned code_page;
	int64_t created, saved;
};

static void read_property(struct summary *summary, uint32_t id, uint32_t at)
{
	const uint8_t *p = summary->section + at;
	size_t left = summary->len - at - 8, text_len;
	uint32_t type = le32(p);

	if (id == CODE_PAGE && type == TYPE_I2)
		summary->code_page = le16(p + 4);
	if (type == TYPE_FILETIME && left >= 4 && id == CREATED)
		summary->created = filetime_seconds(le64(p + 4));
	if (type == TYPE_FILETIME && left >= 4 && id == SAVED)
		summary->saved = filetime_seconds(le64(p + 4));
	if (id != TITLE || (type != TYPE_STRING && type != TYPE_WIDE_STRING))
		return;
	text_len = le32(p + 4);
	if (type == TYPE_WIDE_STRING && text_len <= left / 2)
		text_len *= 2;
	if (text_len > left)
		text_len = left;
	if (type == TYPE_WIDE_STRING || summary->code_page == 1200)
		finding_set_title_utf16(summary->finding, p + 8, text_len, false);
	else
		finding_set_title_latin1(summary->finding, p + 8, text_len);
}

static void read_summary(struct ole *ole, const struct ole_entry *entry)
{
	struct summary summary = { .finding = ole->finding };
	struct ole_position position = { .entry = entry };
	uint8_t bytes[SUMMARY_LEN];
	size_t len = entry->len < SUMMARY_LEN ? (size_t)entry->len : SUMMARY_LEN;
	uint32_t at, count;

	if (len < 64 || !ole_read(ole, &position, 0, bytes, len))
		return;
	if (le16(bytes) != 0xfffe) {
		ole_contradicts(ole, "no property set in the sector of its stream",
			place_of(ole, (struct ole_position){ .entry = entry }, 0));
		return;
	}
	if (!ole_named(entry, "\5SummaryInformation"))
		return;
	at = le32(bytes + 44);
	if (at > len - 8)
		return;
	summary.section = bytes + at;
	summary.len = len - at;
	count = le32(summary.section + 4);
	for (uint32_t i = 0; i < count && 16 + 8 * (size_t)i <= summary.len; i++) {
		uint32_t property_at = le32(summary.section + 8 + 8 * i + 4);

		uint32_t id = le32(summary.section + 8 + 8 * i);

		if (property_at <= summary.len - 8)
			read_property(&summary, id, property_at);
		if (id == THUMBNAIL && !ole->only_looks && summary.len >= 16 &&
			property_at <= summary.len - 16 &&
			le32(summary.section + property_at) == TYPE_CLIPBOARD)
			ole_name_thumbnail(ole, entry, at + property_at + 16,
				le32(summary.section + property_at + 8),
				le32(summary.section + property_at + 12));
	}
	ole->finding->time = summary.saved ? summary.saved : summary.created;
}

/* The streams that say where a presentation's last edit is, and have it. */
struct edit {
	struct ole_entry presentation, user;
};

static bool visit_for_edit(void *context, const struct ole_entry *entry)
{
	struct edit *edit = context;

	if (entry->type == OLE_STREAM && ole_named(entry, "PowerPoint Document"))
		edit->presentation = *entry;
	if (entry->type == OLE_STREAM && ole_named(entry, "Current User"))
		edit->user = *entry;
	return true;
}

/* `Current User` has the offset of the last edit in the presentation, which stays readable where it is encrypted
 * ([MS-PPT] 2.3.2 and 2.3.3). */
void ole_check_edit(struct ole *ole, const struct ole_entry *root)
{
	struct edit edit = { 0 };
	struct ole_position position = { .entry = &edit.user };
	struct ole_position last = { .entry = &edit.presentation }, first = last;
	uint8_t bytes[20], record[8];
	uint64_t at;

	ole_each_in_root(ole, root, visit_for_edit, &edit);
	if (!edit.user.type || !edit.presentation.type ||
		!ole_read(ole, &position, 0, bytes, sizeof(bytes)) ||
		le16(bytes + 2) != CURRENT_USER)
		return;
	at = le32(bytes + 16);
	if (at + sizeof(record) > edit.presentation.len)
		ole_contradicts(ole, "no place of the last edit in the sector",
			place_of(ole, (struct ole_position){ .entry = &edit.user }, 0));
	else if (ole_read(ole, &last, at, record, sizeof(record)) && le16(record + 2) != USER_EDIT)
		ole_contradicts(ole, "no last edit of a presentation in the sector",
			place_of(ole, first, at));
}

/* [MS-OFFCRYPTO] 2.3: an additional stream, or a bit in Word's first bytes ([MS-DOC] 2.5.2). Excel
 * has a record for it. */
static bool is_encrypted(struct ole *ole, const struct ole_entry *entry)
{
	struct ole_position position = { .entry = entry };
	uint8_t start[12];

	return ole_named(entry, "EncryptedPackage") || ole_named(entry, "EncryptedSummary") ||
	       (ole_named(entry, "WordDocument") &&
		       ole_read(ole, &position, 0, start, sizeof(start)) && start[11] & 1);
}

/* [MS-DOC] 2.5.1: the stream begins with a number, which is readable also of what is encrypted. Word 6 and 95 have
 * others, which differ by language. */
static void check_document(struct ole *ole, const struct ole_entry *entry)
{
	struct ole_position position = { .entry = entry };
	uint8_t start[2];

	if (ole_read(ole, &position, 0, start, sizeof(start)) && start[1] != 0xa5 &&
		start[1] != 0xa6)
		ole_contradicts(ole, "no first bytes of a document in the sector",
			place_of(ole, position, 0));
}

/* [MS-OFFCRYPTO] 2.3.4.5 and 2.3.4.10: two versions; if both are 4, XML follows another number. */
static void check_encryption_info(struct ole *ole, const struct ole_entry *entry)
{
	struct ole_position position = { .entry = entry };
	uint8_t bytes[PART];
	size_t len = 8;

	if (!ole_read(ole, &position, 0, bytes, len))
		return;
	if (le16(bytes) < 2 || le16(bytes) > 4 || le16(bytes + 2) < 2 || le16(bytes + 2) > 4) {
		ole_contradicts(ole, "no version of an encryption in the sector",
			place_of(ole, position, 0));
		return;
	}
	if (le16(bytes) != 4 || le16(bytes + 2) != 4)
		return;
	for (uint64_t at = len; at < entry->len; at += len) {
		struct ole_position before = position;

		len = entry->len - at < PART ? (size_t)(entry->len - at) : PART;
		if (!ole_read(ole, &position, at, bytes, len))
			return;
		for (size_t i = 0; i < len; i++)
			if (bytes[i] < 0x80 && !plain_text_byte(bytes[i])) {
				ole_contradicts(ole, "no XML of an encryption in the sector",
					place_of(ole, before, at + i));
				return;
			}
	}
}

/* Whether a part is random, but for blocks that come again, as the same content does with AES in ECB mode (2.3.4.7). The sum of the
 * squares of how often each byte comes in n random ones is n + n * n / 256, with a deviation of n / 11; one in 3 * 10^18 random
 * parts has more than is allowed (chi square above 512, with 255 degrees of freedom). */
static bool is_encrypted_part(const uint8_t bytes[PART])
{
	uint8_t different[PART];
	size_t len = 0, known;

	if (evenness_squares(bytes, PART) <= 2 * PART + PART * PART / 256)
		return true;
	for (size_t at = 0; at < PART; at += BLOCK) {
		for (known = 0; known < len; known += BLOCK)
			if (memcmp(different + known, bytes + at, BLOCK) == 0)
				break;
		if (known < len)
			continue;
		memcpy(different + len, bytes + at, BLOCK);
		len += BLOCK;
	}
	return evenness_squares(different, len) <= 2 * len + len * len / 256;
}

/* [MS-OFFCRYPTO] 2.3.4.4: the content's length, and what was encrypted. */
static void check_encrypted_package(struct ole *ole, const struct ole_entry *entry)
{
	struct ole_position position = { .entry = entry };
	uint8_t bytes[PART];
	uint64_t len;

	if (!ole_read(ole, &position, 0, bytes, 8))
		return;
	len = le64(bytes);
	if (len > entry->len - 8) {
		ole_contradicts(ole, "no length of an encrypted package in the sector",
			place_of(ole, position, 0));
		return;
	}
	for (uint64_t at = 8; at + PART <= 8 + len; at += PART) {
		struct ole_position before = position;

		if (!ole_read(ole, &position, at, bytes, PART))
			return;
		if (!is_encrypted_part(bytes)) {
			ole_contradicts(
				ole, "nothing encrypted in the sector", place_of(ole, before, at));
			return;
		}
	}
}

void ole_check_stream(struct ole *ole, const struct ole_entry *entry)
{
	if (ole_named(entry, "\5SummaryInformation") ||
		ole_named(entry, "\5DocumentSummaryInformation"))
		read_summary(ole, entry);
	if (entry->type != OLE_STREAM)
		return;
	if (ole_named(entry, "WordDocument"))
		check_document(ole, entry);
	if (is_encrypted(ole, entry))
		ole->encrypted = true;
	if (ole_named(entry, "EncryptionInfo"))
		check_encryption_info(ole, entry);
	if (ole_named(entry, "EncryptedPackage"))
		check_encrypted_package(ole, entry);
	for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++)
		if (ole_named(entry, kinds[i].name))
			check_records(ole, entry, &kinds[i]);
	if (ole_named(entry, "VisioDocument"))
		ole_check_visio(ole, entry);
}

static bool visit_entry(void *context, const struct ole_entry *entry)
{
	ole_check_stream(context, entry);
	return true;
}

void ole_check_content(struct ole *ole, const struct ole_entry *root)
{
	ole_each_in_root(ole, root, visit_entry, ole);
	ole_check_edit(ole, root);
	if (!ole->finding->time)
		ole->finding->time = root->modified;
}

void ole_check_first_stream(struct ole *ole)
{
	const struct ole_entry entry = { .type = OLE_STREAM, .len = FILE_MAX };
	uint8_t start[8];

	for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++) {
		struct records records = {
			.kind = &kinds[i], .position = { .entry = &entry }, .ends_anywhere = true
		};
		struct ole_position position = { .entry = &entry };

		if (!ole_read(ole, &position, 0, start, sizeof(start)) ||
			le16(start + kinds[i].type_at) != kinds[i].first)
			continue;
		walk_records(ole, &records);
		return;
	}
}
