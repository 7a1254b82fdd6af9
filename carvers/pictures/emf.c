/*
 * Enhanced metafiles ([MS-EMF]); EMF+ lies in the comment records of such a file.
 *
 *	record: type (4 bytes, little-endian), size (4 bytes, itself included, a multiple of 4),
 *	        data
 *
 * The first record is the header: type 1, ' EMF' at 40, the size of the file at 48 and the number
 * of records at 52. The sizes lead from record to record; type 14 ends the file. Some programs
 * leave that one out; then size and number of the header have to agree with the walk. A record
 * counts as sound once another one stands behind it. The title stands in the header's description.
 */
#include "carver.h"

#include <inttypes.h>
#include <stdbool.h>
#include <string.h>

#include "bytes.h"
#include "title.h"
#include "walk.h"

#define HEADER_LEAST 88
#define TYPE_END 14
#define TYPE_LAST 122
/* Records that make sure of a file that is cut later. */
#define SURE 4

struct emf {
	struct view *view;
	struct finding *finding;
	uint64_t size;     /* from the header */
	uint32_t records;  /* from the header */
	uint32_t count;    /* that were walked */
	uint64_t last, at; /* the last record, and where the next one stands */
};

/* The description: the program's name, a zero, the title, two zeros. */
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

/* What is wrong with the header, or NULL. */
static const char *read_header(struct emf *emf)
{
	const uint8_t *p = view_peek(emf->view, 0, HEADER_LEAST);
	uint32_t len = p ? le32(p + 4) : 0;

	if (!p || le32(p) != 1 || memcmp(p + 40, " EMF", 4) != 0)
		return "no header record";
	if (len < HEADER_LEAST || len % 4 || len > 65536)
		return "the header has an impossible size";
	emf->size = le32(p + 48);
	emf->records = le32(p + 52);
	if (emf->size < len || emf->records < 2)
		return "the header tells an impossible size";
	emf->at = len;
	emf->count = 1;
	read_title(emf, le32(p + 60), le32(p + 64));
	return NULL;
}

/* No record stands at emf->at. */
static enum verdict judge(struct emf *emf)
{
	struct finding *finding = emf->finding;

	finding->length = emf->at;
	if (emf->at == emf->size && emf->count == emf->records)
		return CARVE_COMPLETE;
	if (emf->count < SURE) {
		finding->length = 0;
		return verdict_because(
			CARVE_REJECT, finding, "no record that exists at %" PRIu64, emf->at);
	}
	if (view_size(emf->view) - emf->at < 8)
		return walk_cut(emf->view, finding, emf->at + 8, view_size(emf->view));
	finding->length = emf->last;
	return verdict_because(
		CARVE_TRUNCATED, finding, "no record that exists at %" PRIu64, emf->at);
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
			return judge(&emf);
		if (type < 2 || type > TYPE_LAST || len < 8 || len % 4)
			return judge(&emf);
		if (len > view_size(view) - emf.at) {
			if (emf.count < SURE)
				return judge(&emf);
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
			"the header tells of another size than %" PRIu64, emf.at);
	return CARVE_COMPLETE;
}

const struct carver emf_carver = {
	.name = "emf",
	.summary = "enhanced metafiles, by their records",
	.check = check,
};
