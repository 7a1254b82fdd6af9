/*
 * ZIP (PKWARE, APPNOTE.TXT 6.3.10; ISO/IEC 21320-1), and formats based on it: Office Open XML,
 * OpenDocument, EPUB, JAR, APK, and more.
 *
 *	file:   members, [APK's signatures], central directory, [ZIP64 end record and locator],
 *		end record with comment
 *	member: local header, data, [descriptor]
 *
 * The file ends after the end record's comment. Unzip programs search the end record from the
 * file's end; a carver that knows only the start walks the members to it. burin checks the fields
 * of the first local header, each member's end (by its header, its descriptor or its deflate
 * stream), the directory's count, length and offset against the end record, and offset, name, sizes
 * and CRC of every member against the directory, as two sums that must be equal. Where the members do
 * not follow each other, the directory decides (zip_entries.c). The CRC
 * of stored and deflated contents is checked, of the latter up to a limit of output. Nothing verifies the
 * comment; if it is not even text, its length is probably foreign.
 *
 * The offsets in the directory show whether the archive starts where the walk started. If members
 * precede that start, it is just a later member of a larger archive, and is rejected. If only other
 * bytes precede it (a self-extracting program), the archive is complete.
 *
 * Each member is reported as a part (view_part): a walk from there would end at the same offset,
 * and an archive without a directory would cause as many walks as it has members. A stored member's
 * content is named as embedded, for archives that are not complete.
 */
#include "zip.h"

#include <inttypes.h>
#include <string.h>

#include "bytes.h"
#include "dates.h"
#include "deflate_codes.h"
#include "title.h"
#include "walk.h"

/* 1980-01-01: written by programs that have no date, or want none. */
#define NO_DATE 0x21

/* Flags that have no meaning in any version. */
#define UNUSED_FLAGS 0xd780

/* Unreadable bytes up to so long after a header, or after where data became invalid, may be the cause. */
#define HEADER_NEAR 2048

#define APK_MAGIC "APK Sig Block 42"

#define SHORT_NAME 255 /* bytes: text that is taken for a header has longer ones */

struct zip {
	struct view *view;
	struct finding *finding;
	uint64_t start;           /* of the archive, after another format's header; or 0 */
	struct zip_member member; /* the last one that was read */
	struct zip_sum sum;       /* of all members */
	struct zip_kind kind;
	uint64_t valid_end;    /* after the last member whose end another record confirmed */
	uint32_t newest;       /* DOS date and time */
	uint64_t output_left;  /* see zip_find_end */
	uint64_t wrong_crc_at; /* data with another CRC or length; 0: none */
	bool wrong_deflated;   /* that data */
	uint64_t lost_at;      /* a member whose header can't be read; 0: none */
	uint64_t lost_valid_end, searched; /* valid_end then; up to where records were looked for */
	bool assembled;                    /* of interest is the first data that is wrong */
};

static bool known_method(uint16_t method)
{
	return method <= 20 || (method >= 93 && method <= 99);
}

/* The version needed, at most 6.3 so far, and in some programs' files the system, of which there
 * are 20. */
static bool possible_version(uint16_t version)
{
	return (version & 0xff) <= 63 && version >> 8 <= 20;
}

/* A possible date, or none. */
static bool possible_date(uint32_t date)
{
	uint32_t month = date >> 21 & 15, day = date >> 16 & 31;

	if (date >> 16 == 0)
		return true;
	return month <= 12 && day <= 31 && (date >> 11 & 31) < 24 && (date >> 5 & 63) < 60;
}

/* Names are text in one of many encodings, without control characters; but macOS's "Icon\r" and a few others have line ends. */
static bool possible_name(const uint8_t *name, size_t len)
{
	bool has_line_end = false;

	for (size_t i = 0; i < len; i++) {
		bool ends_line = name[i] == '\r' || name[i] == '\n';

		if (name[i] < ' ' && !ends_line)
			return false;
		has_line_end |= ends_line;
	}
	return len > 0 && (!has_line_end || len <= SHORT_NAME);
}

enum zip_found zip_read_header(struct view *view, struct zip_member *member, const char **problem)
{
	const uint8_t *p = view_peek(view, member->at, ZIP_LOCAL_LEN);
	uint64_t name_at = member->at + ZIP_LOCAL_LEN;
	uint16_t extra_len, version;

	if (!p)
		return ZIP_CUT;
	version = le16(p + 4);
	member->flags = le16(p + 6);
	member->method = le16(p + 8);
	member->date = (uint32_t)le16(p + 12) << 16 | le16(p + 10);
	member->crc = le32(p + 14);
	member->data_len = le32(p + 18);
	member->content_len = le32(p + 22);
	member->name_len = le16(p + 26);
	extra_len = le16(p + 28);
	member->data = name_at + member->name_len + extra_len;
	*problem = "an impossible version, flag, method or date";
	if (!possible_version(version) || member->flags & UNUSED_FLAGS ||
		!known_method(member->method) || !possible_date(member->date))
		return ZIP_BROKEN;
	*problem = "an impossible name";
	p = view_peek(view, name_at, member->name_len);
	if (!p || member->data > view_size(view))
		return ZIP_CUT;
	if (!possible_name(p, member->name_len) && (member->name_len || !member->date))
		return ZIP_BROKEN;
	/* Reading it later, after the data, would make the view read everything again. */
	if (!walk_crc32(view, name_at, member->name_len, &member->name_crc))
		return ZIP_CUT;
	zip_read_extra(view, name_at + member->name_len, extra_len, member, NULL);
	p = view_peek(view, name_at, member->name_len);
	if (!p)
		return ZIP_CUT;
	member->folder = member->name_len && p[member->name_len - 1] == '/';
	return ZIP_FOUND;
}

void zip_add_kind(struct view *view, struct zip_kind *kind, const struct zip_member *member)
{
	const uint8_t *p = view_peek(view, member->at + ZIP_LOCAL_LEN, member->name_len);

	if (p)
		zip_kind_add(kind, view, member, p);
}

/* Where a record begins, with a byte of the proved data before it, so that the place between is proved, too. */
static uint64_t proved_from(const struct zip *zip, uint64_t at)
{
	return zip->member.proved && zip->member.end == at ? at - 1 : at;
}

/* A field's number, its length, and a little more. */
#define PADDING_HEAD 8

/* Whether a header's lengths and CRC were those of some data. */
static bool has_proved_data(const struct zip_member *member)
{
	return member->data_len && !(member->flags & ZIP_ENCRYPTED) &&
	       (member->method == ZIP_STORED || member->method == ZIP_DEFLATED);
}

/* Declares a header that the directory agrees with as proved, from its name on if its data proves what is before.
 * Nothing verifies its extra fields, unless they are but padding. */
static void prove_header(struct view *view, const struct zip_member *member, bool has_data)
{
	uint64_t end = member->at + ZIP_LOCAL_LEN + member->name_len;
	uint64_t from = member->at ? member->at - 1 : 0;

	if (end + PADDING_HEAD >= member->data ||
		walk_zeros(view, end + PADDING_HEAD, member->data))
		end = member->data + 1;
	view_proved(view, has_data ? member->at + ZIP_LOCAL_LEN - 1 : from, end, ZIP_CRC_BITS);
}

static void prove_headers(struct zip *zip, const struct zip_directory *directory)
{
	uint64_t at = directory->at;
	struct zip_member entry;
	const char *problem;

	for (uint64_t i = 0; i < directory->sum.count; i++) {
		struct zip_member member = { 0 };

		if (!zip_read_entry(zip->view, at, &entry, &at))
			return;
		member.at = entry.at;
		if (zip_read_header(zip->view, &member, &problem) == ZIP_FOUND)
			prove_header(zip->view, &member, has_proved_data(&entry));
	}
}

/* Reads a member from its header to its end. */
static enum zip_found read_member(struct zip *zip, uint64_t at, const char **problem)
{
	struct zip_member member = { .at = at, .assembled = zip->assembled };
	enum zip_found found = zip_read_header(zip->view, &member, problem);
	uint64_t from;

	if (found != ZIP_FOUND)
		return found;
	zip_add_kind(zip->view, &zip->kind, &member);
	zip->valid_end = member.data;
	from = proved_from(zip, at);
	zip->member = member;
	if (member.method == ZIP_STORED && !(member.flags & ZIP_ENCRYPTED))
		view_embedded(zip->view, member.data);
	if (member.date > zip->newest)
		zip->newest = member.date;
	*problem = "damaged data";
	found = zip_find_end(zip->view, &zip->member, &zip->output_left);
	if (found == ZIP_FOUND && zip->member.proved && has_proved_data(&zip->member))
		view_proved(zip->view, from, at + ZIP_LOCAL_LEN, ZIP_CRC_BITS);
	if (found == ZIP_FOUND)
		zip_sum_add(&zip->sum, &zip->member);
	if (found == ZIP_FOUND && zip->member.wrong_crc && !zip->wrong_crc_at) {
		zip->wrong_crc_at = zip->member.data;
		zip->wrong_deflated = zip->member.method == ZIP_DEFLATED;
	}
	if (zip->wrong_crc_at && zip->assembled)
		return ZIP_BROKEN;
	return found;
}

/* The length of Android's block of signatures at `at`, 0 when there is none. */
static uint64_t signatures_len(struct view *view, uint64_t at)
{
	const uint8_t *p = view_peek(view, at, 8);
	uint64_t len = p ? le64(p) : 0;

	if (len < 24 || len > view_size(view) - at - 8)
		return 0;
	p = view_peek(view, at + 8 + len - 16, 16);
	return p && memcmp(p, APK_MAGIC, 16) == 0 ? 8 + len : 0;
}

/* The verdict by the directory alone, when the members do not lead to it: CARVE_COMPLETE, or
 * CARVE_REJECT when it does not prove that. */
static enum verdict judge_entries(struct zip *zip, const struct zip_directory *directory)
{
	struct zip_kind kind = { 0 };
	uint64_t outside;

	if (!zip_check_entries(zip->view, directory, &kind, &zip->newest, &outside))
		return CARVE_REJECT;
	zip->kind = kind;
	zip->finding->length = directory->end;
	view_unverified(zip->view, directory->comment, directory->end);
	return verdict_because(CARVE_COMPLETE, zip->finding,
		"%" PRIu64 " bytes belong to no member in the directory at %" PRIu64, outside,
		directory->at);
}

/* The verdict when the walk stops at or inside a member. */
static enum verdict judge_members(
	struct zip *zip, enum zip_found found, uint64_t at, const char *problem)
{
	uint64_t size = view_size(zip->view), valid_end = zip->valid_end;
	struct zip_directory directory;

	if (zip->valid_end <= zip->start) {
		return verdict_because(CARVE_REJECT, zip->finding,
			"%s in the first local header at %" PRIu64,
			found == ZIP_CUT ? "cut off" : problem, at);
	}
	if (!(zip->wrong_crc_at && zip->assembled) && !zip->member.bad_at &&
		zip_find_directory(zip->view, zip->valid_end, &directory) &&
		judge_entries(zip, &directory) == CARVE_COMPLETE)
		return CARVE_COMPLETE;
	/* No record confirms the last member's end; only its data can be checked. */
	if (zip->member.data == zip->valid_end)
		valid_end = zip_valid_end(zip->view, &zip->member, at >= valid_end ? at : size);
	else if (found == ZIP_CUT && view_ends_with_image(zip->view))
		valid_end = size;
	if (found == ZIP_CUT)
		return walk_cut(zip->view, zip->finding, size + 1, valid_end);
	zip->finding->length = valid_end;
	return verdict_because(CARVE_TRUNCATED, zip->finding, "%s at %" PRIu64, problem, at);
}

static bool local_header_at(struct view *view, uint64_t at)
{
	const uint8_t *p = view_peek(view, at, 4);

	return p && le32(p) == ZIP_LOCAL;
}

/* The verdict on an archive whose directory, at `at`, was found with its end. */
static enum verdict judge_archive(struct zip *zip, const struct zip_directory *directory)
{
	struct finding *finding = zip->finding;
	int64_t shift = directory->shift;
	uint64_t at = directory->at, other = (uint64_t)-shift;

	if (directory->earlier) {
		finding->length = 0;
		return verdict_because(CARVE_REJECT, finding,
			"part of an archive that starts %" PRId64 " bytes earlier", shift);
	}
	if (shift < 0 && other != zip->start && other < at && local_header_at(zip->view, other)) {
		finding->length =
			zip->lost_at && zip->lost_at < other ? zip->lost_valid_end : other;
		return verdict_because(
			CARVE_TRUNCATED, finding, "another archive starts at %" PRIu64, other);
	}
	finding->length = directory->end;
	if (directory->problem)
		return verdict_because(CARVE_UNVERIFIED, finding,
			"%s, after the directory at %" PRIu64, directory->problem, at);
	if (zip->lost_at || directory->lost)
		return verdict_because(CARVE_UNVERIFIED, finding,
			"not all members, or their entries at %" PRIu64 ", can be read", at);
	if (!zip_sum_equal(&zip->sum, &directory->sum) && !shift &&
		judge_entries(zip, directory) == CARVE_COMPLETE)
		return CARVE_COMPLETE;
	if (!zip_sum_equal(&zip->sum, &directory->sum))
		return verdict_because(CARVE_UNVERIFIED, finding,
			"the directory at %" PRIu64 " does not match the members before it", at);
	if (zip->wrong_crc_at)
		return verdict_because(CARVE_UNVERIFIED, finding,
			"the CRC of the %s data at %" PRIu64 " is wrong",
			zip->wrong_deflated ? "deflated" : "stored", zip->wrong_crc_at);
	view_unverified(zip->view, directory->comment, directory->end);
	/* Its entries are the members; blocks of other kinds may precede it. */
	view_proved(zip->view, proved_from(zip, at), directory->comment, ZIP_CRC_BITS);
	if (view_thorough(zip->view) && !shift)
		prove_headers(zip, directory);
	if (shift > 0)
		return verdict_because(CARVE_COMPLETE, finding,
			"%" PRId64 " other bytes precede the archive", shift);
	return CARVE_COMPLETE;
}

/* The verdict once the walk over all members reaches the directory at `at`. */
static enum verdict judge_directory(struct zip *zip, uint64_t at)
{
	struct zip_directory directory = { .at = at, .members = zip->sum };
	enum zip_found found = zip_read_directory(zip->view, &directory);

	if (found == ZIP_CUT)
		return walk_cut(zip->view, zip->finding, view_size(zip->view) + 1,
			view_ends_with_image(zip->view) ? view_size(zip->view) : directory.end);
	if (found == ZIP_FOUND)
		return judge_archive(zip, &directory);
	zip->finding->length = directory.end;
	return verdict_because(
		CARVE_TRUNCATED, zip->finding, "%s at %" PRIu64, directory.problem, directory.end);
}

/* An archive without members: the end record alone. */
static enum verdict judge_empty(struct zip *zip)
{
	static const uint8_t zeros[16];
	const uint8_t *p = view_peek(zip->view, 0, ZIP_END_LEN);

	if (!p || memcmp(p + 4, zeros, 16) != 0)
		return verdict_because(
			CARVE_REJECT, zip->finding, "an end record, not a start, at 0");
	zip->finding->length = ZIP_END_LEN + le16(p + 20);
	if (zip->finding->length > view_size(zip->view))
		return walk_cut(
			zip->view, zip->finding, zip->finding->length, view_size(zip->view));
	if (!zip_comment_valid(zip->view, ZIP_END_LEN, zip->finding->length)) {
		zip->finding->length = ZIP_END_LEN;
		return verdict_because(CARVE_UNVERIFIED, zip->finding,
			"a comment that is not text at %d", ZIP_END_LEN);
	}
	view_unverified(zip->view, ZIP_END_LEN, zip->finding->length);
	return CARVE_COMPLETE;
}

/* Whether the walk can go on after a header that can't be read; *at: from there, then to the next record. */
static bool skip_unreadable(struct zip *zip, uint64_t *at)
{
	const struct zip_member *member = &zip->member;
	uint64_t from = member->at > zip->searched ? member->at : zip->searched;
	uint64_t to = *at + HEADER_NEAR, next;

	if (member->at == *at && member->end + HEADER_NEAR > to)
		to = member->end + HEADER_NEAR;
	if (!zip->member.data || from >= to || !zip_find_record(zip->view, from, to, &next))
		return false;
	if (!zip->lost_at) {
		zip->lost_at = *at;
		zip->lost_valid_end = zip->valid_end;
	}
	view_unverified(zip->view, from, next);
	zip->searched = next + 1;
	*at = next;
	return true;
}

/* A state between two records: the walk up to there, without what only describes the file. */
struct saved {
	struct zip_member member;
	struct zip_sum sum;
	uint64_t valid_end, output_left;
};
_Static_assert(sizeof(struct saved) <= CARVE_STATE_MAX, "a state");

static void save_walk(const struct zip *zip, uint64_t at)
{
	struct saved saved = { .member = zip->member,
		.sum = zip->sum,
		.valid_end = zip->valid_end,
		.output_left = zip->output_left };
	struct carve_state state = { .offset = at, .len = sizeof(saved), .data = &saved };

	if (view_wants_states(zip->view) && !zip->wrong_crc_at && !zip->lost_at)
		view_save(zip->view, &state);
}

static bool load_walk(struct zip *zip, const struct carve_state *state)
{
	struct saved saved;

	if (state->len != sizeof(saved))
		return false;
	memcpy(&saved, state->data, sizeof(saved));
	zip->member = saved.member;
	zip->sum = saved.sum;
	zip->valid_end = saved.valid_end;
	zip->output_left = saved.output_left;
	return true;
}

/* A member is a part of an archive, and a file of another format in what includes the archive. */
static void name_member(const struct zip *zip, uint64_t at)
{
	if (zip->start)
		view_embedded(zip->view, at);
	else
		view_part(zip->view, at);
}

/* From `at` on, where a record begins. */
static enum verdict walk_records(struct zip *zip, uint64_t at)
{
	uint64_t signatures;
	const char *problem = "";

	for (;;) {
		const uint8_t *p = view_peek(zip->view, at, 4);
		uint32_t signature = p ? le32(p) : 0;
		enum zip_found found;

		if (!p)
			return judge_members(zip, ZIP_CUT, at, "");
		if (at == 0 && signature == ZIP_END)
			return judge_empty(zip);
		if (signature == ZIP_CENTRAL && at > zip->start)
			return judge_directory(zip, at);
		if (signature == ZIP_LOCAL) {
			save_walk(zip, at);
			zip->valid_end = at;
			name_member(zip, at);
			found = read_member(zip, at, &problem);
			if (found == ZIP_FOUND)
				at = zip->member.end;
			else if (!skip_unreadable(zip, &at))
				return judge_members(zip, found, at, problem);
			continue;
		}
		signatures = at > zip->start ? signatures_len(zip->view, at) : 0;
		if (!signatures && skip_unreadable(zip, &at))
			continue;
		if (!signatures)
			return judge_members(zip, ZIP_BROKEN, at, "no ZIP record");
		at += signatures;
	}
}

static void describe(const struct zip *zip)
{
	struct finding *finding = zip->finding;
	uint32_t date = zip->newest;

	finding->extension = zip_kind_extension(&zip->kind);
	finding_set_title(finding, (const uint8_t *)zip->kind.title, zip->kind.title_len);
	finding->time = zip->kind.time;
	if (finding->time || date >> 16 <= NO_DATE)
		return;
	/* Local time without a zone; taken as UTC. */
	finding->time = dos_seconds(date);
}

enum verdict zip_check_from(struct view *view, uint64_t start, struct finding *finding)
{
	struct zip zip = { .view = view,
		.finding = finding,
		.start = start,
		.assembled = view_thorough(view) || view_wants_states(view),
		.output_left = view_thorough(view) ? UINT64_MAX : ZIP_OUTPUT_MAX };
	enum verdict verdict = walk_records(&zip, start);

	if (verdict != CARVE_REJECT)
		describe(&zip);
	return verdict;
}

static enum verdict check(struct view *view, struct finding *finding)
{
	return zip_check_from(view, 0, finding);
}

/* The check goes on at a record; if that is no state, from the start. */
static enum verdict go_on(
	struct view *view, const struct carve_state *state, struct finding *finding)
{
	struct zip zip = {
		.view = view, .finding = finding, .assembled = true, .output_left = ZIP_OUTPUT_MAX
	};

	return walk_records(&zip, load_walk(&zip, state) ? state->offset : 0);
}

/* Whether codes that go on from a state are invalid, or not the file's own: from finding->length on. */
static bool is_damaged(struct view *view, const struct carve_state *state,
	struct zip_member *member, struct deflate_codes *codes, struct finding *finding)
{
	const char *problem;
	uint64_t valid;

	if (!deflate_codes_load(codes, state))
		return false;
	*member = (struct zip_member){ .at = codes->member, .assembled = true };
	if (zip_read_header(view, member, &problem) != ZIP_FOUND ||
		!zip_walk_codes(view, member, zip_data_limit(member), codes, &valid))
		return false;
	finding->length = walk_before_fill(view, member->data, valid);
	return true;
}

static enum verdict resume(
	struct view *view, const struct carve_state *state, struct finding *finding)
{
	struct finding damage = { 0 };
	struct zip_member member;
	struct deflate_codes codes;
	uint64_t limit;
	enum verdict verdict;

	if (!is_damaged(view, state, &member, &codes, &damage))
		return go_on(view, state, finding);
	limit = zip_data_limit(&member);
	if (!deflate_codes_are_sure(&codes, state->offset)) {
		verdict = go_on(view, state, finding);
		if (verdict == CARVE_COMPLETE || finding->length > (limit ? limit : damage.length))
			return verdict;
	}
	*finding = damage;
	if (limit > view_size(view))
		return walk_cut(view, finding, view_size(view) + 1, damage.length);
	return verdict_because(CARVE_TRUNCATED, finding, "damaged data at %" PRIu64, member.at);
}

static void *begin_break(struct view *view, const struct carve_state *state)
{
	struct deflate_codes codes;
	struct zip_member member = { .at = state ? state->offset : 0 };
	const char *problem;

	if (!state || !deflate_codes_load(&codes, state)) {
		if (zip_read_header(view, &member, &problem) != ZIP_FOUND ||
			member.method != ZIP_DEFLATED || member.flags & ZIP_ENCRYPTED)
			return NULL;
		codes = (struct deflate_codes){ .bit = member.data * 8 };
	}
	return deflate_break_new(view, &codes);
}

static const struct carve_codes break_codes = {
	.begin = begin_break, .ask = deflate_break_ask, .end = deflate_break_free
};

const struct carver zip_carver = {
	.name = "zip",
	.summary =
		"ZIP archives and the many formats based on them, by their members and directory",
	.check = check,
	.resume = resume,
	.map = &zip_map,
	.codes = &break_codes,
};
