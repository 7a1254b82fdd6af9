/*
 * GIF (CompuServe, Graphics Interchange Format, versions 87a and 89a).
 *
 *	file:       'GIF87a' or 'GIF89a', screen (width, height, flags, 2 bytes), colours,
 *	            blocks, 3B
 *	extension:  21, label, sub-blocks: F9 graphic control, FE comment, 01 plain text, FF
 *	            application
 *	picture:    2C, position and size, flags, colours, code size, sub-blocks of LZW data
 *	sub-blocks: each a length byte and that many bytes; length 0 ends them
 *
 * The length is not stored: the blocks lead to the trailer, 3B. Checked are the labels, the fixed
 * lengths of extensions, each picture's size and code size, and the LZW data (lzw.c).
 *
 * Damage. Where LZW data is invalid the walk continues by the sub-blocks: if it still reaches the
 * trailer, the file is unverified, otherwise it is truncated where the data became invalid. Less
 * data than the picture needs is common, and viewers show what they have: the verdict stays
 * complete, with a remark. Some programs leave a few zeros between blocks. A file without a picture
 * is not a GIF. Where the length of a sub-block can't be read the walk goes on at a byte from which
 * sub-blocks lead to their end and another block. Where pieces of a file meet its rows of pixels have to go on (row_seam.c); there too
 * little data is in doubt, and a long extension other than XMP.
 */
#include <inttypes.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "bytes.h"
#include "carver.h"
#include "lzw.h"
#include "metadata.h"
#include "row_seam.h"
#include "title.h"
#include "walk.h"

#define HEAD_LEN 13 /* before the colours */
#define PADDING_MIN 4
#define PADDING_MAX 16

#define STRAY_ZEROS 16
#define SEAM_PIXELS_MAX (16u << 20)   /* that a picture has in which a joint is looked at */
#define SEAM_WORK 2                   /* units (view_work) for each, */
#define ROWS_WORK (400u << 10)        /* and for their rows */
#define BLOCK_HEAD_MAX (10 + 768 + 1) /* of a picture with its colours */
/* See view_proved: of a joint in so many bytes after a picture's beginning or before its end. */
#define EDGE_BEFORE (10 + 768 + 256)
#define EDGE_AFTER (8 + 1)
#define EDGE_BITS 5
#define XMP_TRAILER 258
#define STATE_SPACING 1024 /* bytes from one saved state to the next, or a few more */

enum gif_step { GIF_ON, GIF_CUT, GIF_BROKEN, GIF_END };

struct gif {
	struct view *view;
	struct finding *finding;
	uint64_t at;        /* where the walk is */
	uint64_t valid_end; /* end of what was recognised */
	uint64_t damaged;   /* where the first LZW data is invalid, or 0 */
	uint64_t short_at;  /* a picture with too little data, or 0 */
	uint64_t doubt;     /* an extension that nothing verifies, or 0 */
	uint32_t width, height;
	int pictures, extensions; /* complete ones */
	bool begun;               /* some of a picture's data was valid */
	bool in_data;             /* the walk goes on in a picture's data */
	uint64_t start, pixels;   /* of this picture: its offset and their number */
	bool lost;                /* sub-blocks of this picture */
	size_t block_len;         /* of the longest sub-block */
	const char *problem;
	struct gif_seam *seam; /* or NULL */
	uint64_t saved_at;     /* the last state */
	struct lzw lzw;
};

/* Where a walk goes on: before a sub-block of a picture's data, all of which was valid so far. */
struct gif_saved {
	uint64_t at, start, pixels, left, short_at;
	int32_t pictures, extensions;
	int32_t code_size, first_size;
	uint32_t next, bits, bit_count, last_len, block_len;
	bool begun, cleared, ended;
	char title[sizeof(((struct finding *)0)->title)];
	uint16_t lens[LZW_CODES]; /* up to next */
};

/* What is looked at where pieces meet. */
struct gif_seam {
	uint64_t at, end;      /* the joint's offset, and that of the next one, or UINT64_MAX */
	uint64_t colours;      /* where the picture's colours are, */
	uint32_t colour_count; /* if it has any */
	uint32_t width;
	bool is_done;         /* the picture whose data has the joint was decoded */
	uint64_t joint, next; /* pixels, as struct row_seam has them */
	struct lzw_values values;
};

static uint64_t colours_len(uint8_t flags)
{
	return flags & 0x80 ? 3u << ((flags & 7) + 1) : 0;
}

static enum gif_step set_broken(struct gif *gif, const char *problem)
{
	gif->problem = problem;
	return GIF_BROKEN;
}

/* Skips the colours that may follow the header that ends at `at`. */
static enum gif_step skip_colours(struct gif *gif, uint64_t at, uint8_t flags)
{
	gif->at = at + colours_len(flags);
	return gif->at < view_size(gif->view) ? GIF_ON : GIF_CUT;
}

/* Whether sub-blocks lead from `at` to their end, and another block follows. */
static bool leads_on(struct view *view, uint64_t at)
{
	const uint8_t *p;

	while ((p = view_peek(view, at, 2)) && p[0])
		at += p[0] + 1u;
	if (!p)
		return false;
	if (p[1] == 0x2c || p[1] == 0x3b)
		return true;
	p = p[1] == 0x21 ? view_peek(view, at + 2, 1) : NULL;
	return p && (*p == 0xf9 || *p == 0xfe || *p == 0x01 || *p == 0xff);
}

/* Moves to a sub-block after bytes of [from, from + len) that can't be read: most are as long as the one
 * before. They may have held the rest of a picture, and others. */
static bool skip_unread(struct gif *gif, uint64_t from, uint64_t len)
{
	uint64_t stride = gif->block_len + 1, at, after, far;

	if (!walk_unread(gif->view, from, from + len, &after))
		return false;
	at = from + (after - from + stride - 1) / stride * stride;
	far = after + UINT8_MAX + len;
	if (!leads_on(gif->view, at))
		for (at = after; at < far && !leads_on(gif->view, at); at++)
			;
	if (at == far)
		return false;
	view_unverified(gif->view, from, at);
	gif->at = at;
	gif->lost = true;
	gif->pictures++;
	if (!gif->damaged)
		gif->damaged = from;
	return true;
}

/* Reads the sub-block at gif->at and moves past it: its bytes, and *len, which is 0 for the one
 * that ends them. NULL: the view ends. */
static const uint8_t *next_block(struct gif *gif, size_t *len)
{
	const uint8_t *p = view_peek(gif->view, gif->at, 1);

	*len = p ? p[0] : 0;
	if (p && !*len && skip_unread(gif, gif->at, 1)) {
		p = view_peek(gif->view, gif->at, 1);
		*len = p ? p[0] : 0;
	}
	if (!p)
		return NULL;
	if (*len > gif->block_len)
		gif->block_len = *len;
	p = view_peek(gif->view, gif->at, *len + 1);
	if (p)
		gif->at += *len + 1;
	return p ? p + 1 : NULL;
}

/* The required length of the first sub-block of an extension; -1 for any. */
static int fixed_len(uint8_t label)
{
	switch (label) {
	case 0xf9:
		return 4;
	case 0x01:
		return 12;
	case 0xff:
		return 11;
	}
	return -1;
}

/* XMP is stored as it is, and a reader of sub-blocks gets past it by the bytes after it, which count down (ISO 16684-3, 1.1.2). */
static bool is_xmp(struct view *view, uint64_t at, uint64_t end)
{
	const uint8_t *p =
		end > at + XMP_TRAILER ? view_peek(view, end - XMP_TRAILER, XMP_TRAILER) : NULL;

	if (!p || p[0] != 1 || p[XMP_TRAILER - 1])
		return false;
	for (unsigned i = 1; i < XMP_TRAILER - 1; i++)
		if (p[i] != 256 - i)
			return false;
	return metadata_is_xmp(view, at, end - XMP_TRAILER, NULL);
}

/* In a file of pieces: whether a long extension, [at, end), is what nothing else would be: XMP. Of others another file's cluster may be
 * a part. */
static bool is_extension_known(struct view *view, uint64_t at, uint64_t end)
{
	static const char head[] = "\x21\xff\x0bXMP DataXMP";
	const uint8_t *p = view_peek(view, at, sizeof(head) - 1);

	return p && memcmp(p, head, sizeof(head) - 1) == 0 &&
	       is_xmp(view, at + sizeof(head) - 1, end);
}

static enum gif_step read_extension(struct gif *gif)
{
	const uint8_t *p = view_peek(gif->view, gif->at, 2);
	uint8_t label = p ? p[1] : 0;
	uint64_t start = gif->at;
	size_t len = 0;

	if (!p)
		return GIF_CUT;
	gif->at += 2;
	for (int i = 0; i == 0 || len; i++) {
		p = next_block(gif, &len);
		if (!p)
			return GIF_CUT;
		if (i == 0 && fixed_len(label) >= 0 && (int)len != fixed_len(label))
			return set_broken(gif, "an extension of the wrong length");
		if (i == 1 && label == 0xf9 && len)
			return set_broken(
				gif, "a graphic control extension with more than one sub-block");
		if (i == 0 && label == 0xfe && !gif->finding->title[0])
			finding_set_title(gif->finding, p, len);
	}
	gif->extensions++;
	if (view_thorough(gif->view) && gif->at >= start + SECTOR && !gif->doubt &&
		!is_extension_known(gif->view, start, gif->at))
		gif->doubt = start;
	return GIF_ON;
}

/* Decodes a sub-block that is at `at`. As lzw_feed. */
static bool decode_block(struct gif *gif, const uint8_t *p, size_t len, uint64_t at, size_t *used)
{
	struct gif_seam *seam = gif->lzw.values ? gif->seam : NULL;
	size_t before;
	bool valid;

	if (!seam)
		return lzw_feed(&gif->lzw, p, len, used);
	before = at >= seam->at ? 0 : seam->at - at < len ? (size_t)(seam->at - at) : len;
	valid = lzw_feed(&gif->lzw, p, before, used);
	if (at + before >= seam->at && seam->joint == UINT64_MAX)
		seam->joint = seam->values.count;
	if (at + len >= seam->end && seam->next == UINT64_MAX)
		seam->next = seam->values.count;
	if (valid && before < len) {
		valid = lzw_feed(&gif->lzw, p + before, len - before, used);
		*used += before;
	}
	return valid;
}

static void save_state(struct gif *gif)
{
	const struct lzw *lzw = &gif->lzw;
	struct gif_saved saved = { .at = gif->at,
		.start = gif->start,
		.pixels = gif->pixels,
		.left = lzw->left,
		.short_at = gif->short_at,
		.pictures = gif->pictures,
		.extensions = gif->extensions,
		.code_size = lzw->code_size,
		.first_size = lzw->first_size,
		.next = lzw->next,
		.bits = lzw->bits,
		.bit_count = lzw->bit_count,
		.last_len = lzw->last_len,
		.block_len = (uint32_t)gif->block_len,
		.begun = gif->begun,
		.cleared = lzw->cleared,
		.ended = lzw->ended };
	struct carve_state state = { .offset = gif->at,
		.len = offsetof(struct gif_saved, lens) + lzw->next * sizeof(*saved.lens),
		.data = &saved };

	memcpy(saved.title, gif->finding->title, sizeof(saved.title));
	for (uint32_t i = 0; i < lzw->next; i++)
		saved.lens[i] = (uint16_t)lzw->lens[i];
	view_save(gif->view, &state);
	gif->saved_at = gif->at;
}

static void load_state(struct gif *gif, const struct carve_state *state)
{
	struct lzw *lzw = &gif->lzw;
	struct gif_saved saved;

	memcpy(&saved, state->data, state->len);
	gif->at = gif->valid_end = saved.at;
	gif->start = saved.start;
	gif->pixels = saved.pixels;
	gif->short_at = saved.short_at;
	gif->pictures = saved.pictures;
	gif->extensions = saved.extensions;
	gif->block_len = saved.block_len;
	gif->begun = saved.begun;
	gif->in_data = true;
	lzw_start(lzw, LZW_GIF, saved.first_size, saved.left);
	lzw->code_size = saved.code_size;
	lzw->next = saved.next;
	lzw->bits = saved.bits;
	lzw->bit_count = saved.bit_count;
	lzw->last_len = saved.last_len;
	lzw->cleared = saved.cleared;
	lzw->ended = saved.ended;
	for (uint32_t i = 0; i < saved.next; i++)
		lzw->lens[i] = saved.lens[i];
	memcpy(gif->finding->title, saved.title, sizeof(saved.title));
}

/* Skips the picture's data: sub-blocks, decoded until they are invalid. */
static enum gif_step skip_data(struct gif *gif)
{
	bool saves = view_wants_states(gif->view), whole = true;
	size_t len = 1;

	gif->lost = false;
	while (len) {
		uint64_t at = gif->at + 1;
		const uint8_t *p;
		size_t used;

		if (saves && whole && !gif->damaged && gif->at >= gif->saved_at + STATE_SPACING)
			save_state(gif);
		p = next_block(gif, &len);

		if (!p) {
			/* The readable part of the last one. */
			p = walk_window(gif->view, at, at + len, &len);
			if (p && whole && lzw_feed(&gif->lzw, p, len, &used))
				gif->valid_end = at + len;
			return GIF_CUT;
		}
		whole = whole && !gif->lost;
		if (!whole)
			continue;
		whole = decode_block(gif, p, len, at, &used);
		/* What comes in one piece with the end code is skipped. */
		gif->valid_end = at + (whole ? len : used);
		if (!whole && !gif->damaged)
			gif->damaged = at + used;
		gif->begun = gif->begun || (whole && gif->lzw.cleared && len > 1);
	}
	return GIF_ON;
}

static unsigned bits_of(uint64_t number)
{
	unsigned bits = 0;

	for (; number > 1; number /= 2)
		bits++;
	return bits;
}

static void free_values(struct gif_seam *seam)
{
	free(seam->values.bytes);
	free(seam->values.codes);
	seam->values = (struct lzw_values){ 0 };
}

/* The picture that begins at `start` may have the joint in its data. */
static void start_seam(struct gif *gif, uint64_t start, uint64_t pixels)
{
	struct gif_seam *seam = gif->seam;
	const uint8_t *p = view_peek(gif->view, start, 10);
	uint8_t flags = p ? p[9] : 0;

	if (seam->is_done || gif->at > seam->at || pixels > SEAM_PIXELS_MAX || !p)
		return;
	seam->width = le16(p + 5);
	seam->colours = start + 10;
	if (!(flags & 0x80)) {
		p = view_peek(gif->view, 0, HEAD_LEN);
		flags = p ? p[10] : 0;
		seam->colours = HEAD_LEN;
	}
	seam->colour_count = (uint32_t)colours_len(flags) / 3;
	seam->joint = seam->next = UINT64_MAX;
	seam->values = (struct lzw_values){ .bytes = malloc(pixels),
		.codes = malloc(pixels * sizeof(uint16_t)) };
	if (!seam->values.bytes || !seam->values.codes)
		view_no_memory(gif->view);
	else
		gif->lzw.values = &seam->values;
}

/* Its data ends, or the view. */
static void end_seam(struct gif *gif)
{
	struct gif_seam *seam = gif->seam;

	gif->lzw.values = NULL;
	if (seam->joint != UINT64_MAX) {
		seam->is_done = true;
		return;
	}
	free_values(seam);
}

/* Declares what all pixels, then the end code, then no more data show of a joint: of another picture of the same size by the
 * same program, at the same place in it, that it has as many pixels so far. Soon after the data's beginning that is likely,
 * and soon before its end others' data may do. */
static void prove_data(const struct gif *gif)
{
	uint64_t data = gif->start + EDGE_BEFORE, end = gif->at - EDGE_AFTER;
	unsigned bits = bits_of(gif->pixels);

	view_proved(gif->view, gif->start, gif->at, bits < EDGE_BITS ? bits : EDGE_BITS);
	if (data < end && bits > EDGE_BITS)
		view_proved(gif->view, data, end, bits - EDGE_BITS);
}

/* The data of the picture that began, or the rest of it. */
static enum gif_step read_data(struct gif *gif)
{
	enum gif_step step = skip_data(gif);

	gif->in_data = false;
	if (gif->lzw.values)
		end_seam(gif);
	if (step == GIF_ON && gif->lzw.ended && !gif->lzw.left && !gif->damaged)
		prove_data(gif);
	if (step == GIF_ON && gif->lzw.left && !gif->short_at)
		gif->short_at = gif->start;
	gif->pictures += step == GIF_ON;
	return step;
}

static enum gif_step read_picture(struct gif *gif)
{
	const uint8_t *p = view_peek(gif->view, gif->at, 10);
	enum gif_step step;
	uint8_t code_size;

	if (!p)
		return GIF_CUT;
	gif->start = gif->at;
	gif->pixels = (uint64_t)le16(p + 5) * le16(p + 7);
	if (!gif->pixels || p[9] & 0x18)
		return set_broken(gif, "an impossible picture");
	step = skip_colours(gif, gif->at + 10, p[9]);
	p = step == GIF_ON ? view_peek(gif->view, gif->at, 1) : NULL;
	if (!p)
		return GIF_CUT;
	code_size = p[0];
	if (code_size < 1 || code_size > 11)
		return set_broken(gif, "an impossible LZW code size");
	gif->at++;
	if (!gif->damaged)
		gif->valid_end = gif->at;
	lzw_start(&gif->lzw, LZW_GIF, code_size, gif->pixels);
	if (gif->seam && code_size <= 8)
		start_seam(gif, gif->start, gif->pixels);
	return read_data(gif);
}

static enum gif_step read_block(struct gif *gif)
{
	const uint8_t *p = gif->in_data ? NULL : view_peek(gif->view, gif->at, 1);

	if (gif->in_data)
		return read_data(gif);
	for (int zeros = 0; p && p[0] == 0 && zeros < STRAY_ZEROS; zeros++)
		p = view_peek(gif->view, ++gif->at, 1);
	if (!p)
		return GIF_CUT;
	switch (p[0]) {
	case 0x21:
		return read_extension(gif);
	case 0x2c:
		return read_picture(gif);
	case 0x3b:
		gif->at++;
		if (gif->pictures)
			return GIF_END;
		gif->extensions = 0;
		return set_broken(gif, "no picture before the trailer");
	}
	return set_broken(gif, "no block");
}

static enum gif_step read_start(struct gif *gif)
{
	const uint8_t *p = view_peek(gif->view, 0, HEAD_LEN);

	if (!p || (memcmp(p, "GIF87a", 6) != 0 && memcmp(p, "GIF89a", 6) != 0))
		return set_broken(gif, "no GIF signature");
	return skip_colours(gif, HEAD_LEN, p[10]);
}

/* Some writers add a few zeros. */
static void add_padding(struct gif *gif)
{
	uint64_t len = walk_padding(gif->view, gif->at, PADDING_MAX);

	if (len < PADDING_MIN)
		return;
	view_unverified(gif->view, gif->at, gif->at + len);
	gif->finding->length += len;
}

static enum verdict file_verdict(struct gif *gif, enum gif_step step)
{
	struct finding *finding = gif->finding;

	if (step == GIF_END && !(gif->damaged && view_is_trial(gif->view))) {
		finding->length = gif->at;
		if (gif->damaged)
			return verdict_because(CARVE_UNVERIFIED, finding,
				"the picture's LZW data is invalid at %" PRIu64, gif->damaged);
		add_padding(gif);
		if (gif->short_at && (view_thorough(gif->view) || view_is_trial(gif->view)))
			return verdict_because(CARVE_UNVERIFIED, finding,
				"too little data in the picture at %" PRIu64, gif->short_at);
		if (gif->doubt) {
			view_agrees(gif->view);
			return verdict_because(CARVE_UNVERIFIED, finding,
				"nothing verifies the extension at %" PRIu64, gif->doubt);
		}
		if (gif->short_at)
			return verdict_because(CARVE_COMPLETE, finding,
				"too little data in the picture at %" PRIu64, gif->short_at);
		return CARVE_COMPLETE;
	}
	if (!gif->begun && !(gif->extensions && gif->valid_end)) {
		*finding = (struct finding){ 0 };
		return verdict_because(CARVE_REJECT, finding, "%s at %" PRIu64,
			step == GIF_CUT ? "cut before any picture data" : gif->problem, gif->at);
	}
	finding->length = walk_before_fill(gif->view, 13, gif->valid_end);
	if (gif->damaged)
		return verdict_because(CARVE_TRUNCATED, finding,
			"the picture's LZW data is invalid at %" PRIu64, gif->damaged);
	if (step == GIF_CUT)
		return walk_cut(gif->view, finding, view_size(gif->view) + 1, gif->valid_end);
	return verdict_because(CARVE_TRUNCATED, finding, "%s at %" PRIu64, gif->problem, gif->at);
}

/* Goes on after a block whose beginning can't be read; it is taken for a picture. */
static enum gif_step skip_block(struct gif *gif, uint64_t start)
{
	size_t len = 1;

	if (!skip_unread(gif, start, BLOCK_HEAD_MAX))
		return GIF_BROKEN;
	while (len)
		if (!next_block(gif, &len))
			return GIF_CUT;
	return GIF_ON;
}

static enum verdict walk(struct gif *gif, enum gif_step step)
{
	while (step == GIF_ON && !(gif->damaged && view_is_trial(gif->view))) {
		uint64_t start = gif->at;

		step = read_block(gif);
		if (step == GIF_BROKEN)
			step = skip_block(gif, start);
		/* A block counts once another follows it. */
		if (step == GIF_ON && !gif->damaged && gif->at > start)
			gif->valid_end = gif->at;
	}
	if (step == GIF_ON)
		step = set_broken(gif, "invalid LZW data");
	return file_verdict(gif, step);
}

static enum verdict check(struct view *view, struct finding *finding)
{
	struct gif gif = { .view = view, .finding = finding };

	return walk(&gif, read_start(&gif));
}

static enum verdict resume(
	struct view *view, const struct carve_state *state, struct finding *finding)
{
	struct gif gif = { .view = view, .finding = finding };

	load_state(&gif, state);
	return walk(&gif, GIF_ON);
}

/* The colours of the picture with the joint; grey where it has none. */
static uint8_t *find_colours(struct view *view, const struct gif_seam *seam)
{
	uint32_t count = seam->values.count;
	uint8_t *colours = malloc((size_t)count * ROW_SEAM_COLOURS + 1);
	uint8_t table[256][ROW_SEAM_COLOURS];
	const uint8_t *p =
		view_peek(view, seam->colours, (size_t)seam->colour_count * ROW_SEAM_COLOURS);

	if (!colours) {
		view_no_memory(view);
		return NULL;
	}
	for (uint32_t i = 0; i < 256; i++)
		for (int k = 0; k < ROW_SEAM_COLOURS; k++)
			table[i][k] = p && i < seam->colour_count ? p[3 * i + k] : (uint8_t)i;
	for (uint32_t i = 0; i < count; i++)
		memcpy(colours + (size_t)i * ROW_SEAM_COLOURS, table[seam->values.bytes[i]],
			ROW_SEAM_COLOURS);
	return colours;
}

static unsigned joint(struct view *view, uint64_t at, uint64_t end)
{
	struct finding ignored = { 0 };
	struct gif_seam seam = { .at = at, .end = end };
	struct gif gif = { .view = view, .finding = &ignored, .seam = &seam };
	enum gif_step step = read_start(&gif);
	uint8_t *colours = NULL;
	unsigned bits = 0;

	while (step == GIF_ON && !seam.is_done && gif.at < at)
		step = read_block(&gif);
	if (seam.is_done && view_work(view, (uint64_t)seam.values.count * SEAM_WORK + ROWS_WORK))
		colours = find_colours(view, &seam);
	if (colours) {
		const struct row_seam rows = { colours, seam.values.codes, seam.values.count,
			seam.width, seam.joint, seam.next };

		bits = row_seam_bits(&rows);
	}
	free(colours);
	free_values(&seam);
	return bits;
}

const struct carver gif_carver = {
	.name = "gif",
	.summary = "GIF pictures, by their blocks and by decoding their data",
	.check = check,
	.resume = resume,
	.joint = joint,
};
