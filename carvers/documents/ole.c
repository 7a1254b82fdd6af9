/*
 * Compound files ([MS-CFB]): Word, Excel and PowerPoint up to 2003, Outlook messages, installers,
 * Visio, Publisher, thumbnails, Hangul documents and many more.
 *
 *	header:    512 bytes; sectors of 512 (version 3) or 4096 bytes (version 4) follow
 *	FAT:       for each sector its successor; its own sectors are listed in the header and in a
 *	           chain of sectors for those that do not fit there (DIFAT)
 *	directory: a chain of entries: names, start and size of streams
 *	mini FAT:  the same as the FAT for sectors of 64 bytes in a stream of the root entry
 *
 * No field has the file's length. It ends after the last sector that is not free in the FAT. The
 * checks: the header's fields; each part of the FAT marks itself as used and has possible entries;
 * the directory's entries; every stream's chain has as many sectors as its size needs, and shares
 * none with another. The records of spreadsheets and presentations are walked. The content of other
 * streams is not checked: their sectors, and those that are free, are named as unverified.
 * The last sector is proved by being part of the FAT or directory, by records that were verified in it, or by a stream that
 * ends in it exactly where identical bytes begin that fill it up. Otherwise nothing shows that it is this file's, and a
 * file whose last sectors are lost would look the same: it is unverified, as is one whose last sector is all text or one
 * byte repeated.
 *
 * Damage. Programs mostly write FAT and directory last, so a cut file lacks them: it is valid as
 * far as a confirmed part goes, or the header. A chain that breaks contradicts the rest: unless
 * something is missing, the length is right, but the file is not verified. Overwritten data before
 * the tables go unnoticed, except in records, and in the last sector, which writers fill up with
 * identical bytes. If these look wrong and the file ends in random bytes, it is cut where those
 * begin, unless it is encrypted.
 */
#include "ole.h"

#include <inttypes.h>
#include <string.h>

#include "bytes.h"
#include "foreign.h"
#include "noise.h"
#include "plain_text.h"
#include "walk.h"

#define HEADER_LEN 512
#define NOISE_MIN 1024  /* random bytes that count if something contradicts */
#define NOISE_SURE 3072 /* and that count alone: a short stream may be compressed */

bool ole_wrong(struct ole *ole, const char *problem, uint64_t at)
{
	if (!ole->problem) {
		ole->problem = problem;
		ole->problem_at = at;
		ole->cut = at >= view_size(ole->view);
	}
	return false;
}

bool ole_contradicts(struct ole *ole, const char *problem, uint64_t at)
{
	if (!ole->problem)
		ole->contradiction = true;
	/* What is asked for then is where bytes may be another file's, which is before the first problem. */
	if (ole->contradiction && view_thorough(ole->view) && at < ole->problem_at)
		ole->problem = NULL;
	return ole_wrong(ole, problem, at);
}

bool ole_confirm(struct ole *ole, uint64_t end)
{
	uint64_t size = view_size(ole->view);

	if (end > size)
		end = size;
	if (end > ole->valid_end)
		ole->valid_end = end;
	return true;
}

/* What is wrong with the header, or NULL. */
static const char *read_header(struct ole *ole)
{
	const uint8_t *p = view_peek(ole->view, 0, HEADER_LEN);
	unsigned version;

	if (!p)
		return "the view ends";
	if (memcmp(p, "\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", 8) != 0)
		return "no signature";
	version = le16(p + 26);
	ole->shift = le16(p + 30);
	if (!(version == 3 && ole->shift == 9) && !(version == 4 && ole->shift == 12))
		return "an unknown version or sector size";
	if (le16(p + 28) != 0xfffe || le16(p + 32) != OLE_MINI_SHIFT)
		return "an unknown byte order or mini sector size";
	ole->table_count = le32(p + 44);
	ole->directory_start = le32(p + 48);
	ole->cutoff = le32(p + 56);
	ole->mini_table_start = le32(p + 60);
	ole->first_of_tables = le32(p + 68);
	if (!ole->table_count || ole->cutoff != 4096 || ole->directory_start > OLE_LAST_SECTOR)
		return "impossible fields";
	ole->valid_end = HEADER_LEN;
	return NULL;
}

bool ole_open(struct ole *ole)
{
	struct ole_entry root;

	return !read_header(ole) && ole_read_fat(ole) && ole_read_root(ole, &root) &&
	       ole_read_mini_fat(ole) && ole_check_directory(ole);
}

static bool read_file(struct ole *ole)
{
	struct ole_entry root;

	if (!ole_read_fat(ole)) {
		/* The directory, if it exists, gives the file's minimum length. */
		if (ole_read_entry(ole, 0, &root) && root.type == OLE_ROOT)
			ole_confirm(ole, ole_sector_at(ole, ole->directory_start + 1));
		return false;
	}
	if (!ole_read_root(ole, &root))
		return false;
	ole->finding->extension = ole_kind(ole, &root);
	if (!ole_read_mini_fat(ole) || !ole_check_directory(ole))
		return false;
	ole_check_content(ole, &root);
	if (view_thorough(ole->view) && !(ole->problem && view_is_trial(ole->view))) {
		ole_check_text(ole, &root);
		ole_check_pictures(ole);
	}
	ole_name_embedded(ole);
	return !ole->problem;
}

/* Whether the image ends inside the last sector, which writers may leave short. */
static bool is_only_padding_lost(const struct ole *ole)
{
	uint64_t size = view_size(ole->view);

	return view_ends_with_image(ole->view) && size < ole->end &&
	       size > ole->end - ((uint64_t)1 << ole->shift);
}

/* Whether equal bytes or text reach the end from a cluster on: then that is the length. */
static bool ends_wiped(struct ole *ole)
{
	uint64_t end = ole->finding->length;

	ole->finding->length = foreign_cluster(ole->view, HEADER_LEN, end);
	return ole->finding->length < end;
}

/* The verdict if something looks wrong, but the tables give the end: the file was cut if it ends in
 * at least noise_min random bytes, and should not. */
static enum verdict judge_doubt(
	struct ole *ole, uint64_t noise_min, const char *problem, uint64_t at)
{
	struct finding *finding = ole->finding;
	uint64_t noise = noise_before(ole->view, HEADER_LEN, finding->length);

	if (finding->length - noise >= noise_min && noise > HEADER_LEN && !ole->encrypted) {
		finding->length = noise;
		return verdict_because(CARVE_TRUNCATED, finding,
			"%s at %" PRIu64 ", and the file ends in random bytes", problem, at);
	}
	if (ends_wiped(ole))
		return verdict_because(CARVE_TRUNCATED, finding,
			"%s at %" PRIu64 ", and the file ends in equal bytes or text", problem, at);
	return verdict_because(CARVE_UNVERIFIED, finding, "%s at %" PRIu64, problem, at);
}

/* Whether the last sector is all zeros, or (unless it holds a table) all one byte, or all text. No
 * writer leaves one like that at the end. */
static bool is_end_foreign(struct ole *ole)
{
	size_t len = (size_t)1 << ole->shift, text_len = 0;
	const uint8_t *p = view_peek(ole->view, ole->end - len, len);

	if (!p)
		return true;
	if (memcmp(p, p + 1, len - 1) == 0)
		return !p[0] || !ole->end_confirmed;
	while (text_len < len && plain_text_byte(p[text_len]))
		text_len++;
	return text_len == len && !ole->end_confirmed;
}

/* Whether something shows that the last sector, which is all there, is this file's. */
static bool is_end_proved(struct ole *ole)
{
	return !is_end_foreign(ole) && ole_is_end_proved(ole);
}

static enum verdict judge_end(struct ole *ole, bool whole)
{
	struct finding *finding = ole->finding;
	uint64_t size = view_size(ole->view);

	if (ole->cut || (ole->end > size && !is_only_padding_lost(ole)))
		return walk_cut(ole->view, finding, ole->end > size ? ole->end : size + 1,
			view_ends_with_image(ole->view) ? size : ole->valid_end);
	finding->length = ole->end < size ? ole->end : size;
	if (whole && ole->foreign) {
		/* Some writers leave the last sector short. */
		if (ole->short_end)
			finding->length = ole->foreign;
		return judge_doubt(ole, NOISE_SURE, "the last sector ends in foreign-looking bytes",
			ole->foreign);
	}
	if (whole && ole->end <= size && is_end_foreign(ole) && ends_wiped(ole))
		return verdict_because(CARVE_TRUNCATED, finding,
			"equal bytes or text instead of the last sectors, from %" PRIu64 " on",
			finding->length);
	if (whole && ole->end <= size && !is_end_proved(ole)) {
		view_agrees(ole->view);
		return verdict_because(CARVE_UNVERIFIED, finding,
			"the last sector, up to %" PRIu64 ", cannot be verified", ole->end);
	}
	if (whole && ole->end <= size) {
		ole_name_unverified(ole, ole->end);
		return CARVE_COMPLETE;
	}
	if (whole)
		return verdict_because(CARVE_UNVERIFIED, finding,
			"the image ends at %" PRIu64 ", within the last sector", size);
	if (ole->contradiction && view_thorough(ole->view)) {
		finding->length = ole->problem_at < HEADER_LEN ? HEADER_LEN : ole->problem_at;
		return verdict_because(
			CARVE_TRUNCATED, finding, "%s at %" PRIu64, ole->problem, ole->problem_at);
	}
	if (ole->contradiction)
		return judge_doubt(ole, NOISE_MIN, ole->problem, ole->problem_at);
	finding->length = ole->valid_end;
	return verdict_because(
		CARVE_TRUNCATED, finding, "%s at %" PRIu64, ole->problem, ole->problem_at);
}

static enum verdict check(struct view *view, struct finding *finding)
{
	struct ole ole = { .view = view, .finding = finding };
	const char *problem = read_header(&ole);
	enum verdict verdict;
	uint64_t wrong;

	if (problem)
		return verdict_because(CARVE_REJECT, finding, "%s in the header", problem);
	if (view_thorough(view) && (problem = ole_first_wrong(&ole, &wrong))) {
		finding->length = wrong < HEADER_LEN ? HEADER_LEN : wrong;
		return verdict_because(CARVE_TRUNCATED, finding, "%s at %" PRIu64, problem, wrong);
	}
	verdict = judge_end(&ole, read_file(&ole));
	verdict = walk_past_unread(view, finding, verdict, ole.end);
	if (!finding->extension)
		finding->extension = ole_guess_kind(&ole);
	ole_free(&ole);
	return verdict;
}

const struct carver ole_carver = {
	.name = "ole",
	.summary = "Compound files (doc, xls, ppt, msg, msi, vsd, ...), by their sectors and "
		   "directory",
	.check = check,
	.map = &ole_map,
	.places = &ole_places,
	.pages = &ole_pages,
};
