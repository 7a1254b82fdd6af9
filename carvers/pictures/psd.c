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
 * merged picture, which has to decompress to the picture's width (psd_rows.c). Where a file is put together the same
 * holds for the rows of layers, and for the blocks after them.
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
#include "image_resources.h"
#include "inflated.h"
#include "jpeg/jpeg.h"
#include "metadata.h"
#include "noise.h"
#include "overwrite.h"
#include "predictor.h"
#include "walk.h"

#define HEAD_LEN 26
#define SECTIONS 3    /* before the picture */
#define ADLER_BITS 32 /* see view_proved */
#define TEXT_LOOK 64  /* bytes of a resource in which XML may start */
#define SIZE_MAX_PSD 30000
#define SIZE_MAX_PSB 300000
#define CHANNELS_MAX 56
#define XMP_SLACK 80 /* bytes before a cut in which XMP breaks off */
#define RESOURCE_EXIF 1058
#define RESOURCE_XMP 1060
#define RESOURCE_ICC 1039
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

uint64_t psd_row_len(const struct psd *psd, uint64_t width)
{
	return (width * psd->depth + 7) / 8;
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

/* Whether XMP can be that, up to where the view ends. Some has unusual XML, which shows nothing but that it is text. */
static bool is_xmp(struct psd *psd, uint64_t at, uint64_t end, uint64_t *valid)
{
	uint64_t size = view_size(psd->view);

	return metadata_is_xmp(psd->view, at, end < size ? end : size, valid) || *valid == at ||
	       (end > size && *valid + XMP_SLACK >= size);
}

/* What is wrong in a resource, or NULL: in a file of pieces another file's cluster may be in it. *valid: up to where it is
 * right. */
static const char *problem_in(
	struct psd *psd, uint16_t id, uint64_t at, uint64_t len, uint64_t *valid)
{
	struct image_resource resource = { id, at, len };
	struct metadata_exif exif;
	uint64_t thumbnail;

	*valid = at;
	if (id == RESOURCE_XMP && len >= SECTOR && !is_xmp(psd, at, at + len, valid))
		return "XMP that is not XML";
	if (len > view_size(psd->view) - at)
		return NULL;
	if (id == RESOURCE_ICC && len >= SECTOR && !metadata_is_icc(psd->view, at, at + len))
		return "an invalid ICC profile";
	if (id == RESOURCE_EXIF && len >= SECTOR &&
		(!metadata_is_exif(psd->view, at, at + len, &exif) ||
			(exif.len &&
				!jpeg_is_thumbnail(psd->view, exif.thumbnail, exif.len, valid))))
		return "invalid EXIF data";
	if (image_resources_thumbnail(&resource, &thumbnail, &len) &&
		!jpeg_is_thumbnail(psd->view, thumbnail, len, valid))
		return "an invalid thumbnail";
	return NULL;
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
	if (psd->in_pieces && psd->at < view_size(psd->view)) {
		const char *problem = problem_in(psd, id, psd->at, len, &psd->valid_end);

		if (problem)
			return psd_broken(psd, psd->valid_end, problem);
	}
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
	psd->place.info = psd->at;
	step = read_section(psd, psd->large ? 8 : 4, &end);
	psd->place.section_end = end;
	return step == PSD_ON && psd->at < end ? psd_skip_layers(psd) : step;
}

static void end_layers(struct psd *psd)
{
	uint64_t end = psd->place.section_end;

	view_unverified(psd->view, psd->at, end);
	if (psd->at < end || psd->place.checked < psd->place.info)
		psd->place.checked = end;
	/* Smart objects are files of their own. */
	embedded_find_all(psd->view, psd->at, end);
	psd->at = end;
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

enum psd_step psd_check_deflated(struct psd *psd, uint64_t end)
{
	struct inflated inflated = { 0 };
	enum inflated_state state = INFLATED_MORE;
	uint64_t size = view_size(psd->view), start = psd->at;

	if (end < size)
		size = end;
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
		return size < end
			       ? PSD_CUT
			       : psd_broken(psd, psd->valid_end, "a deflate stream without an end");
	view_proved(psd->view, start, psd->at, ADLER_BITS);
	psd->valid_end = psd->at;
	return PSD_ON;
}

static enum psd_step check_picture(struct psd *psd)
{
	uint64_t rows = (uint64_t)psd->height * psd->channels, compression;
	uint64_t row_len = psd_row_len(psd, psd->width);

	if (!psd_read(psd, 2, &compression))
		return PSD_CUT;
	switch (compression) {
	case 0:
		return check_plain(psd, rows * row_len, row_len);
	case 1:
		psd->place.stage = PSD_PICTURE;
		psd->place.rows = (struct psd_rows){
			.known = psd->place.checked, .table = psd->at, .count = rows, .len = row_len
		};
		psd->at += rows * psd_count_len(psd);
		return psd_check_rows(psd);
	case 2:
	case 3:
		return psd_check_deflated(psd, UINT64_MAX);
	}
	return psd_broken(psd, psd->at - 2, "a picture with an unknown compression");
}

/* From the picture's compression on, or from where the layers ended otherwise. */
static enum psd_step finish_walk(struct psd *psd, enum psd_step step)
{
	if (step != PSD_ON)
		return step;
	end_layers(psd);
	return check_picture(psd);
}

/* The verdict once the walk has ended so. */
static enum verdict judge(struct psd *walked, enum psd_step step)
{
	struct psd psd = *walked;
	struct view *view = psd.view;
	struct finding *finding = psd.finding;

	finding->extension = psd.large ? "psb" : "psd";
	if (psd.odd && (step != PSD_ON || (psd.stored && overwrite_boundary_between(
								 psd.odd_valid_end, psd.at - 1)))) {
		step = psd_broken(&psd, psd.odd_at, psd.odd);
		psd.valid_end = psd.odd_valid_end;
	}
	finding->length = psd.valid_end;
	if (step == PSD_CUT && psd.in_pieces)
		finding->length = view_size(view);
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

static enum verdict check(struct view *view, struct finding *finding)
{
	struct psd psd = { .view = view, .finding = finding, .in_pieces = walk_assembles(view) };
	const char *problem = read_head(&psd);

	if (problem)
		return verdict_because(CARVE_REJECT, finding, "%s at 0", problem);
	return judge(&psd, finish_walk(&psd, read_sections(&psd)));
}

static enum verdict resume(
	struct view *view, const struct carve_state *state, struct finding *finding)
{
	struct psd psd = { .view = view, .finding = finding, .in_pieces = true };
	enum psd_step step;

	if (read_head(&psd)) {
		view_start_over(view);
		return CARVE_REJECT;
	}
	psd_load(&psd, state);
	if (psd.place.stage == PSD_PICTURE)
		step = psd_check_rows(&psd);
	else
		step = finish_walk(&psd, psd_go_on(&psd));
	return judge(&psd, step);
}

/* A picture that is stored as it is, plane by plane, after sections that nothing needs to be known of but their lengths. */
static bool describe(struct view *view, struct carve_stored *stored)
{
	struct finding ignored = { 0 };
	struct psd psd = { .view = view, .finding = &ignored };
	uint64_t end = 0, compression, row_len;

	if (read_head(&psd) || psd.depth < 8)
		return false;
	for (int i = 0; i < SECTIONS; i++) {
		if (read_section(&psd, psd.large && i + 1 == SECTIONS ? 8 : 4, &end) != PSD_ON)
			return false;
		psd.at = end;
	}
	row_len = psd_row_len(&psd, psd.width);
	if (!psd_read(&psd, 2, &compression) || compression || row_len > UINT32_MAX)
		return false;
	end = psd.at + row_len * psd.height * psd.channels;
	*stored = (struct carve_stored){ .from = psd.at,
		.to = end,
		.length = end,
		.row_len = (uint32_t)row_len,
		.sample_len = 1,
		.channels = (uint8_t)(psd.depth / 8) };
	return true;
}

const struct carver psd_carver = {
	.name = "psd",
	.summary = "Photoshop files (PSD, PSB), by their sections and compressed rows",
	.check = check,
	.resume = resume,
	.stored = describe,
};
