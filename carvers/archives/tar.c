/*
 * tar: UNIX's seventh edition, POSIX's ustar and pax (POSIX.1-2017, pax), GNU's (tar manual, "Basic
 * Tar Format").
 *
 *	file:   members, two blocks of zeros; many programs pad to a multiple of 20 blocks (so zeros up to
 *		there belong to it; where more zeros follow that is a guess, and the reason says so), GNU's
 *		always
 *	member: header (one block of 512 bytes, with a checksum), data in whole blocks
 *
 * Headers give the length of the data, in octal or, with the highest bit set, in binary; a pax
 * header before a member may give it instead. Old GNU sparse files have further blocks after their
 * header. Nothing verifies data: it is named as unverified, and its start, where the member is, as that
 * of an embedded file. Links, devices and folders have no data, whatever their size; as old programs stored a
 * size for hard links, the block after the header decides there.
 *
 * Any member looks like the start of an archive, so each is reported as a part. When an archive
 * lost its start, the rest is found from its first intact member, and is an archive.
 *
 * Damage. Only headers have checksums. Data is intact if a header or the end follows it. An end of
 * zeros after a block of data that is also zeros may be a wiped area, and proves nothing; nor does
 * it end an archive whose last header describes a member after it, or one of GNU's whose record has other bytes after the zeros; nor
 * do three blocks of zeros or more that end elsewhere than a record or a cluster: zeros of another file may follow a piece of
 * the archive. Where a header can't be read the walk goes
 * on at the next one; what is between belongs to a member whose name is lost. A header within the data of a member,
 * unless these are an archive, may be that of one which took the place of its end.
 */
#include "tar_header.h"

#include <inttypes.h>
#include <string.h>

#include "title.h"
#include "walk.h"

enum {
	NAME_LEN = 100,
	TIME_AT = 136,
	TYPE_AT = 156,
	FORM_AT = 257, /* POSIX's or GNU's */
	FORM_LEN = 8,
	SPARSE_MORE_AT = 482,
	SPARSE_NEXT_MORE_AT = 504,
	PAX_MAX_LEN = 65536,
	WIPED_NEAR = 3, /* zeros before a cluster */
	WIPED_MIN = 16,
};

/* Members whose data are searched for another archive's headers: a longer one that lost its end is noticed, as no header follows it. */
#define SEARCHED_MAX ((uint64_t)65536)

/* How far after a header that can't be read the next one is looked for. */
#define HEADER_FAR ((uint64_t)64 << 20)

struct tar {
	struct view *view;
	struct finding *finding;
	uint64_t at;       /* of the header to read next */
	uint64_t data;     /* the last member's */
	uint64_t data_len; /* ... without padding */
	uint64_t valid_end;
	uint64_t pax_size; /* from a pax header, for the member after it */
	bool has_pax_size;
	bool holds_tar;      /* the last member is an archive itself, by its name */
	bool describes_next; /* the last header describes a member after it */
	unsigned members;
	uint64_t
		foreign; /* a header within a member's data, or of another form than the first one's; or 0 */
	bool foreign_data;      /* it is within data */
	uint8_t form[FORM_LEN]; /* of the first header */
};

enum tar_found { TAR_FOUND, TAR_END, TAR_NOTHING, TAR_CUT };

static bool is_zero(struct view *view, uint64_t at)
{
	return walk_zeros(view, at, at + TAR_BLOCK);
}

static bool is_header(struct view *view, uint64_t at)
{
	const uint8_t *p = view_peek(view, at, TAR_BLOCK);

	return p && tar_header(p);
}

/* The "size" in a pax header's records: "length key=value\n". */
static void read_pax(struct tar *tar, uint64_t at, uint64_t len)
{
	static const char key[] = " size=";
	size_t most = len < PAX_MAX_LEN ? (size_t)len : PAX_MAX_LEN;
	const char *p = (const char *)view_peek(tar->view, at, most), *end = p ? p + most : NULL;

	while (p && p < end) {
		const char *line = memchr(p, '\n', (size_t)(end - p));
		const char *found =
			memmem(p, (size_t)((line ? line : end) - p), key, sizeof(key) - 1);

		if (found && line && found - p <= 4) {
			tar->pax_size = 0;
			tar->has_pax_size = true;
			for (found += sizeof(key) - 1; *found >= '0' && *found <= '9'; found++)
				tar->pax_size =
					tar->pax_size < INT64_MAX / 16
						? tar->pax_size * 10 + (uint64_t)(*found - '0')
						: INT64_MAX;
		}
		p = line ? line + 1 : NULL;
	}
}

/* Returns the offset after the further blocks of an old GNU sparse file's map. */
static uint64_t skip_sparse(struct view *view, uint64_t at, uint8_t more)
{
	while (more) {
		const uint8_t *p = view_peek(view, at, TAR_BLOCK);

		if (!p)
			break;
		more = p[SPARSE_NEXT_MORE_AT];
		at += TAR_BLOCK;
	}
	return at;
}

static bool ends_with(const uint8_t *name, const char *end)
{
	size_t len = strnlen((const char *)name, NAME_LEN), end_len = strlen(end);

	return len >= end_len && memcmp(name + len - end_len, end, end_len) == 0;
}

/* Title, time and extension come from members, not from the headers that pax and GNU put before
 * them. */
static void describe(struct tar *tar, const uint8_t *header)
{
	uint8_t type = header[TYPE_AT];
	uint64_t time;

	tar->describes_next = type == 'x' || type == 'L' || type == 'K';
	if (tar->describes_next || type == 'g')
		return;
	tar->holds_tar = ends_with(header, ".tar");
	if (tar_number(header + TIME_AT, 12, &time) && (int64_t)time > tar->finding->time &&
		time < (uint64_t)1 << 34)
		tar->finding->time = (int64_t)time;
	if (tar->members++)
		return;
	finding_set_title(tar->finding, header, strnlen((const char *)header, NAME_LEN));
	if (ends_with(header, ".ovf"))
		tar->finding->extension = "ova";
	else if (strcmp((const char *)header, "metadata.gz") == 0)
		tar->finding->extension = "gem";
}

static bool has_data(struct tar *tar, uint8_t type, uint64_t data)
{
	if (type == '1')
		return !is_header(tar->view, data) && !is_zero(tar->view, data);
	return type < '2' || type > '6';
}

/* Searches the member's data, which are not an archive, for the header of a member: one that lost its end has another archive
 * there. */
static void search_header(struct tar *tar)
{
	if (tar->foreign || tar->holds_tar || tar->data_len > SEARCHED_MAX ||
		is_header(tar->view, tar->data))
		return;
	for (uint64_t at = tar->data + TAR_BLOCK; at + TAR_BLOCK <= tar->data + tar->data_len;
		at += TAR_BLOCK)
		if (is_header(tar->view, at)) {
			tar->foreign = at;
			tar->foreign_data = true;
			return;
		}
}

/* Reads the member at tar->at and moves past it. */
static enum tar_found read_member(struct tar *tar)
{
	const uint8_t *p = view_peek(tar->view, tar->at, TAR_BLOCK);
	uint64_t size = view_size(tar->view), len;
	uint8_t type, more;

	if (!p)
		return TAR_CUT;
	if (!p[0])
		return is_zero(tar->view, tar->at) ? TAR_END : TAR_NOTHING;
	if (!tar_header(p) || !tar_data_len(p, &len))
		return TAR_NOTHING;
	if (!tar->at)
		memcpy(tar->form, p + FORM_AT, FORM_LEN);
	else if (!tar->foreign && memcmp(tar->form, p + FORM_AT, FORM_LEN) != 0)
		tar->foreign = tar->at;
	type = p[TYPE_AT];
	more = type == 'S' ? p[SPARSE_MORE_AT] : 0;
	describe(tar, p);
	if (tar->at)
		view_part(tar->view, tar->at);
	tar->data = tar->valid_end = skip_sparse(tar->view, tar->at + TAR_BLOCK, more);
	if (type != 'x' && type != 'g' && tar->has_pax_size) {
		len = tar->pax_size;
		tar->has_pax_size = false;
	}
	tar->data_len = has_data(tar, type, tar->data) ? len : 0;
	if (tar->data_len > size - tar->data)
		return TAR_CUT;
	if (tar->data_len) {
		view_embedded(tar->view, tar->data);
		view_unverified(tar->view, tar->data, tar->data + tar->data_len);
		search_header(tar);
	}
	if (type == 'x')
		read_pax(tar, tar->data, tar->data_len);
	tar->at = tar->data + tar_whole_blocks(tar->data_len);
	return TAR_FOUND;
}

/* The end of the zeros that fill the last record, if they are all there. */
static uint64_t skip_record(struct view *view, uint64_t at)
{
	uint64_t end = (at + TAR_RECORD - 1) / TAR_RECORD * TAR_RECORD, block;

	for (block = at; block < end; block += TAR_BLOCK)
		if (!is_zero(view, block))
			return at;
	return end;
}

/* Whether two blocks of zeros are at `at`, and zeros fill their record. */
static bool ends_record(struct view *view, uint64_t at)
{
	return is_zero(view, at) && is_zero(view, at + TAR_BLOCK) &&
	       skip_record(view, at + 2 * TAR_BLOCK) % TAR_RECORD == 0;
}

/* Moves from a header that can't be read to the next one, or to the end; right before zeros it was the end. */
static bool skip_unread(struct tar *tar)
{
	uint64_t at, end, size = view_size(tar->view);

	if (!tar->valid_end || !walk_unread(tar->view, tar->at, tar->at + TAR_BLOCK, &at))
		return false;
	at = tar->at + tar_whole_blocks(at - tar->at);
	if (is_zero(tar->view, at))
		return false;
	end = size - tar->at < HEADER_FAR ? size : tar->at + HEADER_FAR;
	while (at < end && !is_header(tar->view, at) && !ends_record(tar->view, at))
		at += TAR_BLOCK;
	if (at >= end)
		return false;
	view_unverified(tar->view, tar->at, at);
	tar->at = at;
	tar->members++;
	tar->describes_next = tar->has_pax_size = false;
	return true;
}

/* Whether the last member's data ends in zeros that look like what follows the archive: all of its last block, and more
 * than a few, or those from a cluster on. */
static bool data_ends_in_zeros(const struct tar *tar)
{
	uint64_t end = tar->data + tar->data_len, cluster;
	uint64_t len = tar->data_len ? (tar->data_len - 1) % TAR_BLOCK + 1 : 0;

	if (!len || tar->holds_tar)
		return false;
	cluster = (end - 1) / USUAL_CLUSTER * USUAL_CLUSTER;
	if (cluster > tar->data && walk_zeros(tar->view, cluster, end))
		return true;
	return (len >= WIPED_MIN || len == tar->data_len) && walk_zeros(tar->view, end - len, end);
}

/* Whether the members end with a cluster, and zeros follow that are more than the archive's own: other members may have
 * been there. */
static bool ends_with_cluster(const struct tar *tar)
{
	uint64_t end = skip_record(tar->view, tar->at + 2 * TAR_BLOCK);
	uint64_t cluster = (end + USUAL_CLUSTER - 1) / USUAL_CLUSTER * USUAL_CLUSTER;

	return tar->at % USUAL_CLUSTER == 0 && walk_zeros(tar->view, end, cluster + USUAL_CLUSTER);
}

/* Whether the zeros after the members may be another file's: they end in the middle of a record. An archive may end with two blocks of
 * them, or the file system may have filled its last cluster, but GNU's programs fill the record. */
static bool ends_within_record(const struct tar *tar)
{
	uint64_t at = tar->at + 2 * TAR_BLOCK, size = view_size(tar->view);

	if (skip_record(tar->view, at) % TAR_RECORD == 0)
		return false;
	while (at < size && size - at >= TAR_BLOCK && is_zero(tar->view, at))
		at += TAR_BLOCK;
	if (at >= size || size - at < TAR_BLOCK)
		return false;
	return memcmp(tar->form, "ustar  ", FORM_LEN) == 0 ||
	       (at > tar->at + 2 * TAR_BLOCK && at % USUAL_CLUSTER != 0);
}

/* The cluster with which the zeros begin that fill the rest of the last member's data, after other bytes of them; 0 when it
 * is not so. Files end in a block of zeros now and then, but hardly ever where a cluster of the archive begins. */
static uint64_t wiped_from(const struct tar *tar)
{
	uint64_t end = tar->data + tar->data_len, run = walk_before_fill(tar->view, tar->data, end);
	uint64_t cluster = (run + USUAL_CLUSTER - 1) / USUAL_CLUSTER * USUAL_CLUSTER;

	return run > tar->data && cluster - run <= WIPED_NEAR && cluster + TAR_BLOCK <= end &&
			       walk_zeros(tar->view, cluster, end)
		       ? cluster
		       : 0;
}

/* The verdict when a block of zeros is at tar->at. */
static enum verdict judge_end(struct tar *tar)
{
	bool two = is_zero(tar->view, tar->at + TAR_BLOCK);
	uint64_t end = tar->at + TAR_BLOCK, wiped;

	if (!tar->members)
		return verdict_because(CARVE_REJECT, tar->finding, "no member before the end");
	if (!two && view_size(tar->view) > end && view_size(tar->view) - end < TAR_BLOCK)
		return walk_cut(tar->view, tar->finding, end + TAR_BLOCK, end);
	if (tar->describes_next) {
		tar->finding->length = tar->at;
		return verdict_because(CARVE_TRUNCATED, tar->finding,
			"no member after the header at %" PRIu64 " that describes one",
			tar->data - TAR_BLOCK);
	}
	tar->finding->length = two ? skip_record(tar->view, end + TAR_BLOCK) : end;
	wiped = tar->holds_tar ? 0 : wiped_from(tar);
	if (wiped) {
		tar->finding->length = wiped;
		return verdict_because(CARVE_TRUNCATED, tar->finding,
			"the last member is wiped from %" PRIu64 " on", wiped);
	}
	if (data_ends_in_zeros(tar))
		return verdict_because(CARVE_UNVERIFIED, tar->finding,
			"the last member at %" PRIu64 " ends in zeros, as if wiped",
			tar->data - TAR_BLOCK);
	if (tar->foreign)
		return verdict_because(CARVE_UNVERIFIED, tar->finding,
			"the header at %" PRIu64 " may be another archive's", tar->foreign);
	if (!two)
		return verdict_because(
			CARVE_UNVERIFIED, tar->finding, "ends with one block of zeros, not two");
	if (ends_with_cluster(tar))
		return verdict_because(CARVE_UNVERIFIED, tar->finding,
			"the zeros from the cluster at %" PRIu64
			" on may be a wiped area: more follow than its last record needs",
			tar->at);
	if (ends_within_record(tar))
		return verdict_because(CARVE_UNVERIFIED, tar->finding,
			"the zeros from %" PRIu64
			" on may be another file's: they end within a record",
			tar->at);
	end += TAR_BLOCK;
	if (tar->finding->length > end && is_zero(tar->view, tar->finding->length))
		return verdict_because(CARVE_COMPLETE, tar->finding,
			"the zeros from %" PRIu64
			" on may not belong to it: more zeros follow its last record",
			end);
	return CARVE_COMPLETE;
}

/* A state before a header: what all before it came to, but for what only describes the file. */
static void save(const struct tar *tar)
{
	struct carve_state state = { .offset = tar->at, .len = sizeof(*tar), .data = tar };

	if (view_wants_states(tar->view))
		view_save(tar->view, &state);
}

/* From the header at tar->at on. */
static enum verdict walk(struct tar *tar)
{
	struct view *view = tar->view;
	struct finding *finding = tar->finding;
	enum tar_found found;

	finding->extension = "tar";
	do {
		save(tar);
		found = read_member(tar);
	} while ((found == TAR_FOUND ||
			 ((found == TAR_END || found == TAR_NOTHING) && skip_unread(tar))) &&
		 !(tar->foreign_data && view_is_trial(view)));
	if (!tar->valid_end)
		return verdict_because(CARVE_REJECT, finding, "no header with its checksum at 0");
	if (tar->foreign_data && view_is_trial(view)) {
		finding->length = tar->valid_end;
		return verdict_because(CARVE_TRUNCATED, finding,
			"another archive's header at %" PRIu64, tar->foreign);
	}
	if (found == TAR_END)
		return judge_end(tar);
	if (found == TAR_CUT)
		return walk_cut_filled(view, finding, view_size(view) + 1, tar->valid_end);
	finding->length = tar->valid_end;
	return verdict_because(CARVE_TRUNCATED, finding,
		"neither a header nor the end at %" PRIu64 ", after the member at %" PRIu64,
		tar->at, tar->data - TAR_BLOCK);
}

static enum verdict check(struct view *view, struct finding *finding)
{
	struct tar tar = { .view = view, .finding = finding };

	return walk(&tar);
}

static enum verdict resume(
	struct view *view, const struct carve_state *state, struct finding *finding)
{
	struct tar tar;

	if (state->len != sizeof(tar))
		return check(view, finding);
	memcpy(&tar, state->data, sizeof(tar));
	tar.view = view;
	tar.finding = finding;
	return walk(&tar);
}

const struct carver tar_carver = {
	.name = "tar",
	.summary = "tar archives of all variants, by their headers' checksums",
	.check = check,
	.resume = resume,
};
