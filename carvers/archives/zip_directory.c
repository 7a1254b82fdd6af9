/* What follows the members of a ZIP archive: the central directory, ZIP64's records, and the end
 * record with its comment. */
#include "zip.h"

#include "bytes.h"
#include "plain_text.h"
#include "walk.h"

enum {
	EXTRA_ZIP64 = 1,
};

static uint64_t mix(uint64_t hash, uint64_t value)
{
	hash = (hash ^ value) * 0x9e3779b97f4a7c15u;
	return hash ^ hash >> 29;
}

void zip_sum_add(struct zip_sum *sum, const struct zip_member *member)
{
	uint64_t hash = mix(mix(1, member->at), member->data_len);

	sum->digest +=
		mix(mix(hash, member->crc), (uint64_t)member->name_crc << 16 | member->name_len);
	sum->count++;
}

bool zip_sum_equal(const struct zip_sum *a, const struct zip_sum *b)
{
	return a->count == b->count && a->digest == b->digest;
}

void zip_read_extra(
	struct view *view, uint64_t at, size_t len, struct zip_member *member, uint64_t *offset)
{
	const uint8_t *p = view_peek(view, at, len), *end;
	uint64_t *fields[] = { &member->content_len, &member->data_len, offset };

	if (!p)
		return;
	/* Other fields precede it, each with its length. */
	end = p + len;
	while (end - p >= 4 && le16(p) != EXTRA_ZIP64) {
		if (le16(p + 2) > end - p - 4)
			return;
		p += 4 + le16(p + 2);
	}
	if (end - p < 4 || le16(p + 2) > end - p - 4)
		return;
	end = p + 4 + le16(p + 2);
	p += 4;
	for (size_t i = 0; i < sizeof(fields) / sizeof(*fields); i++) {
		if (!fields[i] || *fields[i] != UINT32_MAX || end - p < 8)
			continue;
		*fields[i] = le64(p);
		member->wide = true;
		p += 8;
	}
}

static enum zip_found directory_broken(
	struct zip_directory *directory, uint64_t at, const char *problem)
{
	directory->end = at;
	directory->problem = problem;
	return ZIP_BROKEN;
}

bool zip_read_entry(struct view *view, uint64_t at, struct zip_member *member, uint64_t *next)
{
	const uint8_t *p = view_peek(view, at, ZIP_CENTRAL_LEN);
	uint16_t extra_len;

	*member = (struct zip_member){ 0 };
	if (!p)
		return false;
	member->flags = le16(p + 8);
	member->method = le16(p + 10);
	member->crc = le32(p + 16);
	member->data_len = le32(p + 20);
	member->content_len = le32(p + 24);
	member->name_len = le16(p + 28);
	extra_len = le16(p + 30);
	member->at = le32(p + 42);
	*next = at + ZIP_CENTRAL_LEN + member->name_len + extra_len + le16(p + 32);
	zip_read_extra(
		view, at + ZIP_CENTRAL_LEN + member->name_len, extra_len, member, &member->at);
	return walk_crc32(view, at + ZIP_CENTRAL_LEN, member->name_len, &member->name_crc);
}

/* Adds the entry at `at`, which must be one, to the sum; *next is after it. */
static bool add_entry(
	struct view *view, struct zip_directory *directory, uint64_t at, uint64_t *next)
{
	struct zip_member member;

	if (!zip_read_entry(view, at, &member, next))
		return false;
	if (directory->shift > 0 && member.at < (uint64_t)directory->shift)
		directory->earlier++;
	member.at -= (uint64_t)directory->shift;
	zip_sum_add(&directory->sum, &member);
	return true;
}

static bool follows_entries(uint32_t signature)
{
	return signature == ZIP_SIGNATURE || signature == ZIP_END64 || signature == ZIP_END;
}

/* Sums up all entries; directory->end is after the last one, *last at it. */
static enum zip_found read_entries(
	struct view *view, struct zip_directory *directory, uint64_t *last)
{
	uint64_t at = directory->at, next, searched = 0;

	directory->sum = (struct zip_sum){ 0 };
	directory->earlier = 0;
	*last = at;
	for (;; at = next) {
		const uint8_t *p = view_peek(view, at, 4);
		uint32_t signature = p ? le32(p) : 0;

		directory->end = *last;
		if (!p)
			return ZIP_CUT;
		directory->end = at;
		if (signature != ZIP_CENTRAL && !follows_entries(signature) && at > searched &&
			zip_find_record(view, *last, at + ZIP_CENTRAL_LEN, &next)) {
			directory->lost = true;
			searched = next;
			continue;
		}
		if (signature != ZIP_CENTRAL)
			return ZIP_FOUND;
		*last = at;
		if (!add_entry(view, directory, at, &next))
			return ZIP_CUT;
	}
}

struct zip_end_record {
	uint64_t count, len, offset; /* of the directory */
	bool split;                  /* over several disks */
	uint64_t bare_end;           /* where the end record ends without its comment */
};

/* Reads ZIP64's two records at directory->end, if they are there, and moves directory->end past
 * them. */
static enum zip_found read_end64(struct view *view, struct zip_directory *directory,
	struct zip_end_record *wide, bool *found)
{
	uint64_t at = directory->end, size;
	const uint8_t *p = view_peek(view, at, 4);

	*found = p && le32(p) == ZIP_END64;
	if (!p || !*found)
		return p ? ZIP_FOUND : ZIP_CUT;
	p = view_peek(view, at, ZIP_END64_LEN);
	if (!p)
		return ZIP_CUT;
	size = le64(p + 4);
	if (size < ZIP_END64_LEN - 12 || size > UINT32_MAX)
		return directory_broken(directory, at, "a ZIP64 end record of impossible length");
	wide->split = le32(p + 16) != 0 || le32(p + 20) != 0;
	wide->count = le64(p + 32);
	wide->len = le64(p + 40);
	wide->offset = le64(p + 48);
	p = view_peek(view, at + 12 + size, ZIP_LOCATOR64_LEN);
	if (!p)
		return ZIP_CUT;
	if (le32(p) != ZIP_LOCATOR64)
		return directory_broken(
			directory, at, "no ZIP64 locator after the ZIP64 end record");
	directory->end = at + 12 + size + ZIP_LOCATOR64_LEN;
	return ZIP_FOUND;
}

/* Reads the end record at directory->end; ZIP64's fields replace its own where needed. */
static enum zip_found read_end(struct view *view, struct zip_directory *directory,
	const struct zip_end_record *wide, struct zip_end_record *end)
{
	uint64_t at = directory->end, from, to;
	const uint8_t *p = view_peek(view, at, ZIP_END_LEN);

	if (!p) {
		p = view_peek(view, at, 4);
		if (!p || le32(p) == ZIP_END)
			return ZIP_CUT;
	}
	if (le32(p) != ZIP_END && view_unreadable(view, at, ZIP_END_LEN, &from, &to)) {
		directory->end = at + ZIP_END_LEN;
		if (directory->end > view_size(view))
			directory->end = view_size(view);
		end->bare_end = directory->end;
		directory->problem = "an end record that can't be read";
		return ZIP_FOUND;
	}
	p = view_peek(view, at, ZIP_END_LEN);
	if (!p || le32(p) != ZIP_END)
		return directory_broken(directory, at, "no end record");
	end->split = le16(p + 4) != 0 || le16(p + 6) != 0;
	end->count = le16(p + 10);
	end->len = le32(p + 12);
	end->offset = le32(p + 16);
	directory->end = at + ZIP_END_LEN + le16(p + 20);
	if (wide &&
		(end->count == UINT16_MAX || end->len == UINT32_MAX || end->offset == UINT32_MAX))
		*end = *wide;
	end->bare_end = at + ZIP_END_LEN;
	return directory->end <= view_size(view) ? ZIP_FOUND : ZIP_CUT;
}

/* Whether a comment is text, in UTF-8 or in any encoding that leaves control characters alone;
 * programs written in C may count the NUL after it. */
static bool is_text(const uint8_t *bytes, size_t len)
{
	if (len > 1 && !bytes[len - 1])
		len--;
	for (size_t i = 0; i < len; i++)
		if (bytes[i] == 0x7f || (bytes[i] < ' ' && !plain_text_byte(bytes[i])))
			return false;
	return true;
}

/* Android's updates have a signature in the comment: its place, FF FF, the comment's length. */
static bool is_signature(const uint8_t *bytes, size_t len)
{
	const uint8_t *end = bytes + len;

	return len > 6 && le16(end - 4) == 0xffff && le16(end - 2) == len && le16(end - 6) <= len;
}

bool zip_comment_valid(struct view *view, uint64_t at, uint64_t end)
{
	const uint8_t *p = view_peek(view, at, (size_t)(end - at));

	return p && (is_text(p, (size_t)(end - at)) || is_signature(p, (size_t)(end - at)));
}

/* What does not fit between end record and entries, which end at entries_end, or NULL. */
static const char *compare_end(struct view *view, struct zip_directory *directory,
	const struct zip_end_record *end, uint64_t entries_end)
{
	uint64_t records_end = directory->end, last;

	if (end->split)
		return "the end record of a split archive";
	/* Without ZIP64 some programs let the count wrap. */
	if (!directory->lost && end->count != directory->sum.count &&
		end->count != (directory->sum.count & UINT16_MAX))
		return "an end record with a different number of members";
	if (end->len != entries_end - directory->at)
		return "an end record with a different directory length";
	/* An archive that lost its last two bytes has the next file's bytes for a length. */
	if (!zip_comment_valid(view, end->bare_end, directory->end))
		return "an end record with a comment that is not text";
	if (end->offset == directory->at || directory->lost)
		return NULL;
	/* The archive starts elsewhere, unless all members are where the walk found them. */
	if (zip_sum_equal(&directory->sum, &directory->members))
		return "an end record with a different directory offset";
	directory->shift = (int64_t)(end->offset - directory->at);
	read_entries(view, directory, &last);
	directory->end = records_end;
	return NULL;
}

enum zip_found zip_read_directory(struct view *view, struct zip_directory *directory)
{
	struct zip_end_record end = { 0 }, wide = { 0 };
	uint64_t last, entries_end;
	enum zip_found found = read_entries(view, directory, &last);
	const uint8_t *p;
	bool is_wide;

	if (found != ZIP_FOUND)
		return found;
	entries_end = directory->end;
	p = view_peek(view, entries_end, 6);
	if (p && le32(p) == ZIP_SIGNATURE)
		directory->end += 6 + le16(p + 4);
	found = read_end64(view, directory, &wide, &is_wide);
	if (found == ZIP_FOUND)
		found = read_end(view, directory, is_wide ? &wide : NULL, &end);
	if (found == ZIP_FOUND && !directory->problem)
		directory->problem = compare_end(view, directory, &end, entries_end);
	directory->comment = end.bare_end;
	/* Nothing confirms the last entry's lengths, or the comment's. */
	if (found == ZIP_BROKEN)
		directory->end = last;
	else if (directory->problem)
		directory->end = end.bare_end;
	return found;
}
