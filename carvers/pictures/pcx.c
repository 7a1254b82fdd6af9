/*
 * PCX (ZSoft, PCX Technical Reference Manual).
 *
 *	header of 128 bytes: 0A, version, 1, bits, window, ..., planes at 65, bytes of a line at 66
 *	lines: each has its planes in sequence, run-length coded: C1 to FF is a run of 1 to
 *	       63 of the next byte, any other byte is itself
 *	with 8 bits in one plane: 0C and a palette of 768 bytes
 *	a 0 instead of the 1 at 2: lines as they are
 *
 * The lines are decoded, and the last of them ends the picture. The manual forbids runs across the
 * end of a line: if the first lines obey that, the first run that does not shows where foreign
 * bytes start. Files of encoders that disobey it are unverified, unless a palette follows; and so are
 * those whose last line or sector has no run: text and zeros look like such lines. Nothing verifies lines as they are.
 */
#include "carver.h"

#include <inttypes.h>
#include <stdbool.h>

#include "bytes.h"
#include "cursor.h"
#include "foreign.h"
#include "stored.h"
#include "walk.h"

#define HEADER_LEN 128
#define PALETTE_LEN 769
#define SPARE_COLOURS_LEN 48
/* Lines whose runs end where the lines do, or first bytes of a palette, that make certain of a
 * PCX. */
#define SURE 4
/* The part of a complete file's length that a palette may be, at most. It has to be in the cluster of the lines' end, too, for
 * nothing verifies it. */
#define TAIL_PART 16

struct pcx {
	struct view *view;
	uint32_t line_len, lines;
	bool palette; /* may follow */
	bool coded;
	uint32_t good;      /* lines before the first that a run crosses */
	uint32_t crossed;   /* lines whose end a run crosses */
	uint64_t run_at;    /* the last run that does not cross the end of its line */
	uint64_t line_at;   /* the last line */
	uint64_t valid_end; /* end of the last line that ended as it should */
	uint64_t broken_at; /* 0: nowhere */
};

/* Reads the header. Returns what is wrong with it, or NULL. */
static const char *read_header(struct pcx *pcx)
{
	const uint8_t *p = view_peek(pcx->view, 0, HEADER_LEN);
	uint32_t width, height, planes, len_min, len;

	if (!p || p[0] != 0x0a || p[1] > 5 || p[1] == 1 || p[2] > 1)
		return "no PCX header";
	if (p[3] != 1 && p[3] != 2 && p[3] != 4 && p[3] != 8)
		return "an impossible number of bits";
	if (le16(p + 8) < le16(p + 4) || le16(p + 10) < le16(p + 6))
		return "an impossible window";
	width = le16(p + 8) - le16(p + 4) + 1u;
	height = le16(p + 10) - le16(p + 6) + 1u;
	planes = p[65];
	len_min = (width * p[3] + 7) / 8;
	len = le16(p + 66);
	if (planes < 1 || planes > 4 || len < len_min || len > len_min + 16)
		return "an impossible length of lines";
	pcx->line_len = planes * len;
	pcx->lines = height;
	pcx->palette = p[3] == 8 && planes == 1;
	pcx->coded = p[2] == 1;
	return NULL;
}

/* Decodes the lines. True: all of them; the cursor is after the last. */
static bool decode(struct pcx *pcx, struct cursor *cursor)
{
	uint64_t total = (uint64_t)pcx->line_len * pcx->lines;
	uint32_t left = pcx->line_len; /* in this line */

	while (total) {
		uint64_t at = cursor->at;
		int byte = cursor_next(cursor);
		uint32_t count = byte >= 0xc0 ? (uint32_t)byte & 63 : 1;

		if (byte >= 0xc0 && cursor_next(cursor) < 0)
			byte = -1;
		if (byte < 0)
			return false;
		if (!count || count > total ||
			(count > left && !pcx->crossed && pcx->good >= SURE)) {
			pcx->broken_at = at;
			return false;
		}
		total -= count;
		if (left == pcx->line_len)
			pcx->line_at = at;
		if (byte >= 0xc0 && count <= left)
			pcx->run_at = at;
		if (count < left) {
			left -= count;
			continue;
		}
		pcx->crossed += count > left;
		pcx->good += !pcx->crossed;
		if (count == left)
			pcx->valid_end = cursor->at;
		for (count -= left, left = pcx->line_len; count >= left && count; count -= left)
			;
		left -= count;
	}
	return true;
}

/* The verdict on a picture whose end, at `end`, is doubtful: an encoder would have made runs of equal bytes. */
static enum verdict doubt(
	struct pcx *pcx, struct finding *finding, uint64_t end, const char *problem)
{
	uint64_t cluster = foreign_cluster(pcx->view, HEADER_LEN, end);

	finding->length = cluster;
	if (cluster < end)
		return verdict_because(CARVE_TRUNCATED, finding,
			"equal bytes or text instead of lines at %" PRIu64, cluster);
	return verdict_because(CARVE_UNVERIFIED, finding, "%s at %" PRIu64, problem, end);
}

/* Whether a palette follows that the picture does not need, or its first colours alone, as some encoders write it. */
static bool has_spare_palette(struct view *view, uint64_t end)
{
	const uint8_t *p = view_peek(view, end, 1);

	return p && *p == 0x0c && walk_zeros(view, end + 1 + SPARE_COLOURS_LEN, end + PALETTE_LEN);
}

static enum verdict complete_verdict(struct pcx *pcx, struct finding *finding, uint64_t end)
{
	const uint8_t *p = pcx->palette ? view_peek(pcx->view, end, PALETTE_LEN) : NULL;
	bool palette = p && p[0] == 0x0c;

	finding->length = palette ? end + PALETTE_LEN : end;
	if (!pcx->palette && has_spare_palette(pcx->view, end)) {
		view_unverified(pcx->view, end, end + PALETTE_LEN);
		finding->length = end + PALETTE_LEN;
	}
	if (!p)
		p = pcx->palette ? view_peek(pcx->view, end, 1) : NULL;
	if (pcx->palette && !palette && p && p[0] == 0x0c)
		return walk_cut(pcx->view, finding, end + PALETTE_LEN, view_size(pcx->view));
	if (pcx->palette && !palette)
		return doubt(pcx, finding, end, "no palette");
	if (pcx->crossed)
		return verdict_because(CARVE_UNVERIFIED, finding,
			"runs cross lines, so the end cannot be verified, at %" PRIu64, end);
	if (!palette && (pcx->run_at < pcx->line_at || pcx->run_at < (end - 1) / SECTOR * SECTOR))
		return doubt(pcx, finding, end,
			"no run in the last line and sector, so the end cannot be verified,");
	if (palette && (PALETTE_LEN > end / TAIL_PART ||
			       end / USUAL_CLUSTER < (end + PALETTE_LEN - 1) / USUAL_CLUSTER))
		return verdict_because(CARVE_UNVERIFIED, finding,
			"the palette cannot be verified, at %" PRIu64, end);
	if (palette)
		view_unverified(pcx->view, end + 1, end + PALETTE_LEN);
	return CARVE_COMPLETE;
}

/* The verdict on lines as they are. */
static enum verdict check_plain(struct pcx *pcx, struct finding *finding)
{
	uint64_t end = HEADER_LEN + (uint64_t)pcx->line_len * pcx->lines;
	enum verdict verdict =
		stored_check_pixels(pcx->view, finding, HEADER_LEN, end, pcx->line_len, 1);
	const uint8_t *p =
		verdict == CARVE_UNVERIFIED ? view_peek(pcx->view, end, PALETTE_LEN) : NULL;

	if (p && p[0] == 0x0c && (pcx->palette || has_spare_palette(pcx->view, end)))
		finding->length = end + PALETTE_LEN;
	return verdict;
}

static enum verdict check(struct view *view, struct finding *finding)
{
	struct pcx pcx = { .view = view };
	struct cursor cursor = { .view = view, .at = HEADER_LEN };
	const char *problem = read_header(&pcx);

	if (problem)
		return verdict_because(CARVE_REJECT, finding, "%s at 0", problem);
	if (!pcx.coded && view_size(view) <= HEADER_LEN)
		return verdict_because(CARVE_REJECT, finding, "no lines at %d", HEADER_LEN);
	if (!pcx.coded)
		return check_plain(&pcx, finding);
	if (decode(&pcx, &cursor) && (!pcx.palette || view_peek(view, cursor.at, 1)))
		return complete_verdict(&pcx, finding, cursor.at);
	if (pcx.good < SURE)
		return verdict_because(CARVE_REJECT, finding,
			"the first lines are invalid before %" PRIu64, cursor.at);
	if (!pcx.broken_at)
		return walk_cut(view, finding, view_size(view) + 1, view_size(view));
	finding->length = walk_before_fill(view, HEADER_LEN, pcx.valid_end);
	return verdict_because(CARVE_TRUNCATED, finding, "a run past the end of a line at %" PRIu64,
		pcx.broken_at);
}

const struct carver pcx_carver = {
	.name = "pcx",
	.summary = "PCX pictures, by decoding their lines",
	.check = check,
};
