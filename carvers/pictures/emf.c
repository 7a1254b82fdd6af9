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
/* Records that make certain that a file which is cut later is an EMF. */
#define SURE 4

struct emf {
	struct view *view;
	struct finding *finding;
	uint64_t size;     /* from the header */
	uint32_t records;  /* from the header */
	uint32_t count;    /* walked so far */
	uint64_t last, at; /* the last record, and the offset of the next */
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
	read_title(emf, le32(p + 60), le32(p + 64));
	return NULL;
}

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
		emf.last = emf.at;
		emf.at += len;
		if (type == TYPE_END)
			break;
	}
	finding->length = emf.at;
	if (emf.at != emf.size && emf.count + 1 != emf.records)
		return verdict_because(CARVE_UNVERIFIED, finding,
			"the header has another size than %" PRIu64, emf.at);
	return CARVE_COMPLETE;
}

const struct carver emf_carver = {
	.name = "emf",
	.summary = "enhanced metafiles, by their records",
	.check = check,
};
