/*
 * The streams' content. Spreadsheets ([MS-XLS] 2.1.4: a type and a length of two bytes each, then
 * the data) and presentations ([MS-PPT] 2.3.1: version and instance, type, length of four bytes)
 * are chains of records, which have to lead from a stream's start to its end; a sector counts as
 * verified if a record starts there, or only zeros fill it. The stream
 * `SummaryInformation` ([MS-OLEPS] 2.21) holds title and dates.
 */
#include "ole.h"

#include <string.h>

#include "bytes.h"
#include "dates.h"
#include "title.h"

#define SUMMARY_LEN 4096
#define LONGEST_RECORD 8228 /* of Excel */
#define EXCEL_PASSWORD 0x002f

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
	size_t first_at;
	uint16_t first;
	bool is_readable; /* the first record, also of what is encrypted; else there are no records to walk then */
} kinds[] = {
	{ "Workbook", 4, excel_record_len, 0, 0x0809, true },
	{ "Book", 4, excel_record_len, 0, 0x0809, true },
	{ "PowerPoint Document", 8, powerpoint_record_len, 2, 1000, false },
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

/* Checks that only zeros fill the stream from `at` on. */
static void check_zeros(struct ole *ole, struct ole_position *position, uint64_t at)
{
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
		ole_contradicts(ole, "neither a record nor zeros in the main stream", at);
}

static uint32_t sector_of(const struct ole *ole, const struct ole_position *position)
{
	return position->sector < ole->fat.count ? position->sector : 0;
}

/* Walks the records to the stream's end, or to zeros that fill it up. */
static void walk_records(
	struct ole *ole, const struct ole_entry *entry, const struct ole_record_kind *kind)
{
	static const uint8_t zeros[8];
	struct ole_position position = { .entry = entry };
	uint8_t header[8];
	uint64_t at = 0, len;

	if (!read_checked(ole, &position, 0, header, kind->header_len))
		return;
	if (le16(header + kind->first_at) != kind->first) {
		if (kind->is_readable)
			ole_contradicts(ole, "no first record of the main stream in the sector",
				ole_sector_at(ole, sector_of(ole, &position)));
		ole->encrypted = true;
		return;
	}
	while (at + kind->header_len <= entry->len &&
		read_checked(ole, &position, at, header, kind->header_len)) {
		if (memcmp(header, zeros, kind->header_len) == 0) {
			check_zeros(ole, &position, at);
			return;
		}
		len = kind->len(header);
		if (kind->header_len == 4 && le16(header) == EXCEL_PASSWORD)
			ole->encrypted = true;
		if (!len || len > entry->len - at) {
			ole_contradicts(ole, "an invalid record of the main stream in the sector",
				ole_sector_at(ole, sector_of(ole, &position)));
			return;
		}
		at += len;
	}
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
			ole_sector_at(ole, entry->start));
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
		if (id == THUMBNAIL && summary.len >= 16 && property_at <= summary.len - 16 &&
			le32(summary.section + property_at) == TYPE_CLIPBOARD)
			ole_name_thumbnail(ole, entry, at + property_at + 16,
				le32(summary.section + property_at + 8),
				le32(summary.section + property_at + 12));
	}
	ole->finding->time = summary.saved ? summary.saved : summary.created;
}

/* The streams of an encrypted presentation, checked once all entries were visited. */
struct ole_content {
	struct ole *ole;
	struct ole_entry presentation, user;
};

/* `Current User` has the offset of the last edit in the presentation, which stays readable
 * ([MS-PPT] 2.3.2 and 2.3.3). */
static void check_edit(struct ole_content *content)
{
	struct ole_position position = { .entry = &content->user },
			    edit = { .entry = &content->presentation };
	uint8_t bytes[20], record[8];

	if (!content->user.type || !content->presentation.type ||
		!ole_read(content->ole, &position, 0, bytes, sizeof(bytes)) ||
		le16(bytes + 2) != CURRENT_USER)
		return;
	if (!ole_read(content->ole, &edit, le32(bytes + 16), record, sizeof(record)) ||
		le16(record + 2) != USER_EDIT)
		ole_contradicts(content->ole,
			"no last edit at the offset in `Current User`:", le32(bytes + 16));
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
			ole_sector_at(ole, sector_of(ole, &position)));
}

static bool visit_entry(void *context, const struct ole_entry *entry)
{
	struct ole_content *content = context;
	struct ole *ole = content->ole;

	if (ole_named(entry, "\5SummaryInformation") ||
		ole_named(entry, "\5DocumentSummaryInformation"))
		read_summary(ole, entry);
	if (entry->type != OLE_STREAM)
		return true;
	if (ole_named(entry, "WordDocument"))
		check_document(ole, entry);
	if (is_encrypted(ole, entry))
		ole->encrypted = true;
	for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++)
		if (ole_named(entry, kinds[i].name))
			walk_records(ole, entry, &kinds[i]);
	if (ole_named(entry, "VisioDocument"))
		ole_check_visio(ole, entry);
	if (ole_named(entry, "PowerPoint Document"))
		content->presentation = *entry;
	if (ole_named(entry, "Current User"))
		content->user = *entry;
	return true;
}

void ole_check_content(struct ole *ole, const struct ole_entry *root)
{
	struct ole_content content = { .ole = ole };

	ole_each_in_root(ole, root, visit_entry, &content);
	check_edit(&content);
	if (!ole->finding->time)
		ole->finding->time = root->modified;
}
