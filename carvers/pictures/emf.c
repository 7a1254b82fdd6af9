/*
 * Enhanced metafiles ([MS-EMF]); EMF+ is in the comment records of such a file.
 *
 *	record: type (4 bytes, little-endian), size (4 bytes, itself included, a multiple of 4),
 *	        data
 *
 * The first record is the header: type 1, ' EMF' at 40, the size of the file at 48 and the number
 * of records at 52. The sizes lead from record to record; type 14 ends the file. Some programs
 * leave that one out; then the header's size and number have to agree with the walk. A record is
 * valid once another record follows it. The title is in the header's description.
 *
 * Where pieces are put together records of most types have to be as long as they are, objects have to be created before they are selected, with
 * numbers that are free, and the header's size and number have to be the file's.
 */
#include "carver.h"

#include <inttypes.h>
#include <stdbool.h>
#include <string.h>

#include "bytes.h"
#include "title.h"
#include "walk.h"

#define HEADER_MIN 88
#define TYPE_END 14
#define TYPE_LAST 122
#define POINTS_SLACK 64 /* bytes that some programs leave after points */
#define HANDLES_MAX 8192
#define STOCK 0x80000000 /* objects that need not be created */
/* Records that make certain that a file which is cut later is an EMF. */
#define SURE 4

struct emf {
	struct view *view;
	struct finding *finding;
	uint64_t size;                 /* from the header */
	uint32_t records;              /* from the header */
	uint32_t count;                /* walked so far */
	uint64_t last, at;             /* the last record, and the offset of the next */
	bool is_strict;                /* pieces are put together: */
	uint32_t handles;              /* numbers of objects are less than this; 0: not known */
	uint8_t used[HANDLES_MAX / 8]; /* by objects */
};

/* Reads the title from the description: the program's name, a zero, the title, two zeros. */
static void read_title(struct emf *emf, uint32_t units, uint32_t offset)
{
	const uint8_t *p = units && units <= 1024 ? view_peek(emf->view, offset, units * 2u) : NULL;
	uint32_t skip = 0;

	while (p && skip < units && le16(p + 2 * skip) != 0)
		skip++;
	if (p && skip + 1 < units)
		finding_set_title_utf16(
			emf->finding, p + 2 * (skip + 1), 2 * (size_t)(units - skip - 1), false);
}

/* Reads the header. Returns what is wrong with it, or NULL. */
static const char *read_header(struct emf *emf)
{
	const uint8_t *p = view_peek(emf->view, 0, HEADER_MIN);
	uint32_t len = p ? le32(p + 4) : 0;

	if (!p || le32(p) != 1 || memcmp(p + 40, " EMF", 4) != 0)
		return "no header record";
	if (len < HEADER_MIN || len % 4 || len > 65536)
		return "the header has an impossible size";
	emf->size = le32(p + 48);
	emf->records = le32(p + 52);
	if (emf->size < len || emf->records < 2)
		return "the header has an impossible file size";
	emf->at = len;
	emf->count = 1;
	emf->handles = le16(p + 56) <= HANDLES_MAX ? le16(p + 56) : 0;
	read_title(emf, le32(p + 60), le32(p + 64));
	return NULL;
}

/* ---- what pieces have to agree with --------------------------------------------------------- */

enum {
	SELECT = 37,
	CREATE_PEN = 38,
	CREATE_BRUSH = 39,
	DELETE = 40,
	CREATE_PALETTE = 49,
	CREATE_FONT = 82,
	CREATE_MONO_BRUSH = 93,
	CREATE_PATTERN_BRUSH = 94,
	CREATE_EXT_PEN = 95,
};

/* Whether a record agrees with the objects that there are ([MS-EMF] 3.1.1.1). */
static bool has_object(struct emf *emf, uint32_t type, uint32_t number)
{
	bool is_used = number < emf->handles && emf->used[number / 8] >> number % 8 & 1;

	if (!emf->handles)
		return true;
	switch (type) {
	case SELECT:
		return is_used || number >= STOCK;
	case DELETE:
		if (is_used)
			emf->used[number / 8] &= (uint8_t) ~(1 << number % 8);
		return true;
	case CREATE_PEN:
	case CREATE_BRUSH:
	case CREATE_PALETTE:
	case CREATE_FONT:
	case CREATE_MONO_BRUSH:
	case CREATE_PATTERN_BRUSH:
	case CREATE_EXT_PEN:
		if (is_used || !number || number >= emf->handles)
			return false;
		emf->used[number / 8] |= (uint8_t)(1 << number % 8);
		return true;
	default:
		return true;
	}
}

/* The bytes of a record of this type, if all have as many; 0: they differ ([MS-EMF] 2.3). */
static uint32_t fixed_len(uint32_t type)
{
	static const uint8_t lens[] = { [9] = 16,
		[10] = 16,
		[11] = 16,
		[12] = 16,
		[13] = 16,
		[15] = 20,
		[16] = 12,
		[17] = 12,
		[18] = 12,
		[19] = 12,
		[20] = 12,
		[21] = 12,
		[22] = 12,
		[24] = 12,
		[25] = 12,
		[26] = 16,
		[27] = 16,
		[28] = 8,
		[30] = 24,
		[31] = 24,
		[32] = 24,
		[33] = 8,
		[34] = 12,
		[35] = 32,
		[36] = 36,
		[37] = 12,
		[38] = 28,
		[39] = 24,
		[40] = 12,
		[42] = 24,
		[43] = 24,
		[44] = 32,
		[45] = 40,
		[46] = 40,
		[47] = 40,
		[48] = 12,
		[52] = 8,
		[54] = 16,
		[55] = 40,
		[57] = 12,
		[58] = 12,
		[59] = 8,
		[60] = 8,
		[61] = 8,
		[62] = 24,
		[63] = 24,
		[64] = 24,
		[65] = 8,
		[66] = 8,
		[67] = 12,
		[68] = 8 };

	return type < sizeof(lens) ? lens[type] : 0;
}

/* How long a record is that begins at p, of 32 bytes, by the number of points, and of polygons, in it; 0: it has none. */
static uint64_t points_len(const uint8_t *p, uint32_t type)
{
	uint64_t count = le32(p + 24), points = le32(p + 28);

	if (type >= 2 && type <= 6)
		return 28 + 8 * count;
	if (type == 7 || type == 8)
		return 32 + 4 * count + 8 * points;
	if (type >= 85 && type <= 89)
		return 28 + 4 * count;
	if (type == 90 || type == 91)
		return 32 + 4 * count + 4 * points;
	return 0;
}

/* Whether the record at emf->at can be the next one. */
static bool may_follow(struct emf *emf, uint32_t type, uint32_t len)
{
	const uint8_t *p = len >= 12 ? view_peek(emf->view, emf->at, 12) : NULL;
	uint64_t points;

	if ((fixed_len(type) && len != fixed_len(type)) || emf->at + len > emf->size ||
		(p && !has_object(emf, type, le32(p + 8))))
		return false;
	p = len >= 32 ? view_peek(emf->view, emf->at, 32) : NULL;
	points = p ? points_len(p, type) : 0;
	return !points || (len >= points && len - points <= POINTS_SLACK);
}

/* ---- the file ------------------------------------------------------------------------------- */

/* The verdict when there is no record at emf->at. */
static enum verdict finish_verdict(struct emf *emf)
{
	struct finding *finding = emf->finding;

	finding->length = emf->at;
	if (emf->at == emf->size && emf->count == emf->records)
		return CARVE_COMPLETE;
	if (emf->count < SURE) {
		finding->length = 0;
		return verdict_because(
			CARVE_REJECT, finding, "no known record at %" PRIu64, emf->at);
	}
	if (view_size(emf->view) - emf->at < 8)
		return walk_cut(emf->view, finding, emf->at + 8, view_size(emf->view));
	finding->length = emf->last;
	return verdict_because(CARVE_TRUNCATED, finding, "no known record at %" PRIu64, emf->at);
}

static enum verdict check(struct view *view, struct finding *finding)
{
	struct emf emf = { .view = view, .finding = finding };
	const char *problem = read_header(&emf);

	emf.is_strict = view_thorough(view) || view_is_trial(view);
	if (problem)
		return verdict_because(CARVE_REJECT, finding, "%s at 0", problem);
	for (;; emf.count++) {
		const uint8_t *p = view_peek(view, emf.at, 8);
		uint32_t type = p ? le32(p) : 0, len = p ? le32(p + 4) : 0;

		if (emf.at == emf.size && emf.count == emf.records)
			return finish_verdict(&emf);
		if (type < 2 || type > TYPE_LAST || len < 8 || len % 4)
			return finish_verdict(&emf);
		if (len > view_size(view) - emf.at) {
			if (emf.count < SURE)
				return finish_verdict(&emf);
			return walk_cut(view, finding, emf.at + len, view_size(view));
		}
		if (emf.is_strict && !may_follow(&emf, type, len)) {
			emf.last = emf.at;
			return finish_verdict(&emf);
		}
		emf.last = emf.at;
		emf.at += len;
		if (type == TYPE_END)
			break;
	}
	finding->length = emf.at;
	if (emf.is_strict ? emf.at != emf.size || emf.count + 1 != emf.records
			  : emf.at != emf.size && emf.count + 1 != emf.records)
		return verdict_because(CARVE_UNVERIFIED, finding,
			"the header has another size than %" PRIu64, emf.at);
	return CARVE_COMPLETE;
}

const struct carver emf_carver = {
	.name = "emf",
	.summary = "enhanced metafiles, by their records",
	.check = check,
};
