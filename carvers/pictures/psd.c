/*
 * PSD and PSB (Adobe Photoshop File Formats Specification, 2019).
 *
 *	head:      '8BPS', version 1 (PSB: 2), 6 zeros, channels (2 bytes, big-endian), height,
 *	           width (4 each), depth (2), colour mode (2)
 *	colours:   length (4), data
 *	resources: length (4); each '8BIM', id (2), name (a length byte, text, even), length
 *	           (4), data, even
 *	layers:    length (4, PSB: 8), see psd_layers.c
 *	picture:   compression (2): 0 none, 1 PackBits: the length of each row of each channel
 *	           (2, PSB: 4), then the rows; 2, 3 deflate
 *
 * The merged picture ends the file, where its size, its rows' lengths or the deflate stream end.
 * Checked are the head, each resource, each layer and channel, and each compressed row of the
 * merged picture, which has to decompress to the picture's width.
 *
 * Damage ends the valid part where it shows, except for a channel whose rows contradict its length,
 * if the rest is valid up to a compressed merged picture, or ends before another sector starts:
 * then the file is whole, and unverified. Title and date come from EXIF data among the resources.
 */
#include "psd.h"

#include <inttypes.h>
#include <string.h>

#include "bytes.h"
#include "embedded.h"
#include "exif.h"
#include "inflated.h"
#include "noise.h"
#include "overwrite.h"
#include "predictor.h"
#include "walk.h"

#define HEAD_LEN 26
#define ADLER_BITS 32 /* see view_proved */
#define TEXT_LOOK 64  /* bytes of a resource in which XML may start */
#define SIZE_MAX_PSD 30000
#define SIZE_MAX_PSB 300000
#define CHANNELS_MAX 56
#define RESOURCE_EXIF 1058
#define RESOURCE_THUMBNAIL 1036
#define RESOURCE_OLD_THUMBNAIL 1033

enum psd_step psd_broken(struct psd *psd, uint64_t at, const char *problem)
{
	psd->at = at;
	psd->problem = problem;
	return PSD_BROKEN;
}

bool psd_read(struct psd *psd, int len, uint64_t *value)
{
	const uint8_t *p = view_peek(psd->view, psd->at, (size_t)len);

	if (!p)
		return false;
	*value = len == 2 ? be16(p) : len == 4 ? be32(p) : be64(p);
	psd->at += (uint64_t)len;
	return true;
}

/* Bytes of a row of one channel. */
static uint64_t row_bytes(const struct psd *psd, uint32_t width)
{
	return ((uint64_t)width * psd->depth + 7) / 8;
}

/* Reads the head. Returns what is wrong with it, or NULL. */
static const char *read_head(struct psd *psd)
{
	const uint8_t *p = view_peek(psd->view, 0, HEAD_LEN);
	uint32_t side_max;

	if (!p || memcmp(p, "8BPS\0", 5) != 0 || (p[5] != 1 && p[5] != 2))
		return "no PSD signature";
	psd->large = p[5] == 2;
	psd->channels = be16(p + 12);
	psd->height = be32(p + 14);
	psd->width = be32(p + 18);
	psd->depth = be16(p + 22);
	psd->mode = be16(p + 24);
	side_max = psd->large ? SIZE_MAX_PSB : SIZE_MAX_PSD;
	if (!psd->channels || psd->channels > CHANNELS_MAX)
		return "an impossible number of channels";
	if (!psd->height || psd->height > side_max || !psd->width || psd->width > side_max)
		return "an impossible size";
	if (psd->depth != 1 && psd->depth != 8 && psd->depth != 16 && psd->depth != 32)
		return "an impossible depth";
	if (psd->mode > 9 || psd->mode == 5 || psd->mode == 6)
		return "an unknown colour mode";
	psd->at = psd->valid_end = HEAD_LEN;
	return NULL;
}

static bool resource_mark(const uint8_t *p)
{
	return memcmp(p, "8BIM", 4) == 0 || memcmp(p, "MeSa", 4) == 0 ||
	       memcmp(p, "AgHg", 4) == 0 || memcmp(p, "PHUT", 4) == 0 || memcmp(p, "DCSR", 4) == 0;
}

static enum psd_step read_resource(struct psd *psd, uint64_t end)
{
	const uint8_t *p = view_peek(psd->view, psd->at, 7);
	uint64_t start = psd->at, len;
	uint16_t id;

	if (!p)
		return PSD_CUT;
	if (!resource_mark(p))
		return psd_broken(psd, start, "no resource");
	id = be16(p + 4);
	psd->at += 6 + (p[6] + 2u) / 2 * 2;
	if (!psd_read(psd, 4, &len))
		return PSD_CUT;
	if (psd->at > end || len > end - psd->at)
		return psd_broken(psd, start, "a resource longer than its section");
	if (id == RESOURCE_EXIF)
		exif_read(psd->view, psd->at, len, psd->finding);
	else if (id != RESOURCE_THUMBNAIL && id != RESOURCE_OLD_THUMBNAIL)
		view_unverified(psd->view, psd->at, psd->at + len);
	embedded_find(psd->view, psd->at, psd->at + len, TEXT_LOOK);
	psd->valid_end = start;
	psd->at += len + (len & 1);
	return PSD_ON;
}

/* Reads the end of the section whose length is at psd->at. */
static enum psd_step read_section(struct psd *psd, int len_len, uint64_t *end)
{
	uint64_t len;

	if (!psd_read(psd, len_len, &len))
		return PSD_CUT;
	if (len > INT64_MAX)
		return psd_broken(psd, psd->at, "an impossible length");
	*end = psd->at + len;
	return PSD_ON;
}

static enum psd_step read_sections(struct psd *psd)
{
	uint64_t end = 0;
	enum psd_step step = read_section(psd, 4, &end);

	if (step != PSD_ON)
		return step;
	view_unverified(psd->view, psd->at, end);
	psd->at = end;
	step = read_section(psd, 4, &end);
	while (step == PSD_ON && psd->at < end)
		step = read_resource(psd, end);
	if (step != PSD_ON)
		return step;
	/* The end of the previous section is valid only once the next section is. */
	psd->at = end;
	psd->valid_end = end < view_size(psd->view) ? end : view_size(psd->view);
	step = read_section(psd, psd->large ? 8 : 4, &end);
	if (step == PSD_ON && psd->at < end)
		step = psd_skip_layers(psd, end);
	if (step == PSD_ON) {
		view_unverified(psd->view, psd->at, end);
		/* Smart objects are files of their own. */
		embedded_find_all(psd->view, psd->at, end);
		psd->at = end;
	}
	return step;
}

/* How many bytes the compressed row [at, at + len) decompresses to; UINT64_MAX when it does not end
 * there. */
static uint64_t uncompressed_len(struct psd *psd, uint64_t at, uint64_t len)
{
	uint64_t end = at + len, out = 0;

	while (at < end) {
		const uint8_t *p = view_peek(psd->view, at, 1);

		if (!p)
			return UINT64_MAX;
		if (p[0] < 128) {
			out += p[0] + 1u;
			at += p[0] + 2u;
		} else {
			out += p[0] > 128 ? 257u - p[0] : 0;
			at += p[0] > 128 ? 2 : 1;
		}
	}
	return at == end ? out : UINT64_MAX;
}

/* Skips `rows` compressed rows, whose lengths are in a table at `table` and whose bytes start at
 * psd->at; want: what each decompresses to. */
static enum psd_step skip_rows(struct psd *psd, uint64_t table, uint64_t rows, uint64_t want)
{
	uint64_t count_len = psd->large ? 4 : 2;

	for (uint64_t i = 0; i < rows; i++) {
		const uint8_t *p = view_peek(psd->view, table + i * count_len, (size_t)count_len);
		uint64_t len = p ? (psd->large ? be32(p) : be16(p)) : 0;

		if (!p || psd->at + len > view_size(psd->view))
			return PSD_CUT;
		if (uncompressed_len(psd, psd->at, len) != want)
			return psd_broken(
				psd, psd->at, "a row of another length than the picture is wide");
		psd->at += len;
		psd->valid_end = psd->at;
	}
	return PSD_ON;
}

/* Whether the last stored pixels follow from those before. */
static enum psd_step check_last_pixels(
	struct psd *psd, uint64_t start, uint64_t end, uint64_t row_len)
{
	uint64_t at;

	switch (predictor_check(psd->view, start, end, row_len, (psd->depth + 7) / 8, &at)) {
	case PREDICTOR_FOREIGN:
		psd->valid_end = at;
		return psd_broken(psd, at, "bytes unlike the pixels before");
	case PREDICTOR_UNKNOWN:
		psd->unsure = start;
		break;
	case PREDICTOR_CONTINUOUS:
		break;
	}
	return PSD_ON;
}

static enum psd_step check_plain(struct psd *psd, uint64_t len, uint64_t row_len)
{
	uint64_t start = psd->at, size = view_size(psd->view), end = start + len;
	uint64_t noise = noise_start(psd->view, start, end < size ? end : size);
	enum overwrite seam;

	psd->stored = true;
	psd->valid_end = end < size ? end : size;
	if (noise < psd->valid_end) {
		psd->valid_end = noise;
		return psd_broken(psd, noise, "random bytes instead of pixels");
	}
	psd->at = end;
	view_unverified(psd->view, start, end);
	seam = end <= size
		       ? overwrite_find(psd->view, start, end, row_len, &psd->doubtful, &psd->what)
		       : OVERWRITE_NONE;
	if (seam == OVERWRITE_CERTAIN) {
		psd->valid_end = psd->doubtful;
		return psd_broken(psd, psd->valid_end, "other bytes than pixels");
	}
	if (seam == OVERWRITE_NONE)
		psd->doubtful = 0;
	if (end <= size && !psd->doubtful)
		return check_last_pixels(psd, start, end, row_len);
	return end <= size ? PSD_ON : PSD_CUT;
}

static enum psd_step check_deflated(struct psd *psd)
{
	struct inflated inflated = { 0 };
	enum inflated_state state = INFLATED_MORE;
	uint64_t size = view_size(psd->view), start = psd->at;

	if (!inflated_open(&inflated, psd->view, INFLATED_ZLIB))
		return PSD_CUT;
	while (state == INFLATED_MORE) {
		size_t len, used = 0;
		const uint8_t *p = walk_window(psd->view, psd->at, size, &len);

		psd->valid_end = psd->at;
		if (!p)
			break;
		state = inflated_feed(&inflated, p, len < 512 ? len : 512, &used);
		psd->at += used;
	}
	inflated_close(&inflated);
	if (state == INFLATED_BAD)
		return psd_broken(psd, psd->valid_end, "an invalid deflate stream");
	if (state == INFLATED_MORE)
		return PSD_CUT;
	view_proved(psd->view, start, psd->at, ADLER_BITS);
	psd->valid_end = psd->at;
	return PSD_ON;
}

static enum psd_step check_picture(struct psd *psd)
{
	uint64_t rows = (uint64_t)psd->height * psd->channels, table, compression;
	uint64_t row_len = row_bytes(psd, psd->width);

	if (!psd_read(psd, 2, &compression))
		return PSD_CUT;
	switch (compression) {
	case 0:
		return check_plain(psd, rows * row_len, row_len);
	case 1:
		table = psd->at;
		psd->at += rows * (psd->large ? 4 : 2);
		return skip_rows(psd, table, rows, row_len);
	case 2:
	case 3:
		return check_deflated(psd);
	}
	return psd_broken(psd, psd->at - 2, "a picture with an unknown compression");
}

static enum verdict check(struct view *view, struct finding *finding)
{
	struct psd psd = { .view = view, .finding = finding };
	const char *problem = read_head(&psd);
	enum psd_step step;

	if (problem)
		return verdict_because(CARVE_REJECT, finding, "%s at 0", problem);
	step = read_sections(&psd);
	if (step == PSD_ON)
		step = check_picture(&psd);
	finding->extension = psd.large ? "psb" : "psd";
	if (psd.odd && (step != PSD_ON || (psd.stored && overwrite_boundary_between(
								 psd.odd_valid_end, psd.at - 1)))) {
		step = psd_broken(&psd, psd.odd_at, psd.odd);
		psd.valid_end = psd.odd_valid_end;
	}
	finding->length = psd.valid_end;
	if (step == PSD_CUT)
		return walk_cut(view, finding, view_size(view) + 1, view_size(view));
	if (step == PSD_BROKEN && psd.valid_end == HEAD_LEN) {
		*finding = (struct finding){ 0 };
		return verdict_because(
			CARVE_REJECT, finding, "%s at %" PRIu64, psd.problem, psd.at);
	}
	if (step == PSD_BROKEN)
		return verdict_because(
			CARVE_TRUNCATED, finding, "%s at %" PRIu64, psd.problem, psd.at);
	if (psd.odd)
		return verdict_because(
			CARVE_UNVERIFIED, finding, "%s at %" PRIu64, psd.odd, psd.odd_at);
	if (psd.doubtful)
		return verdict_because(CARVE_UNVERIFIED, finding,
			"%s from %" PRIu64 " on: the picture's own, or its end was wiped", psd.what,
			psd.doubtful);
	if (psd.unsure)
		return verdict_because(CARVE_UNVERIFIED, finding,
			"the pixels from %" PRIu64 " on look like noise", psd.unsure);
	return CARVE_COMPLETE;
}

const struct carver psd_carver = {
	.name = "psd",
	.summary = "Photoshop files (PSD, PSB), by their sections and compressed rows",
	.check = check,
};
