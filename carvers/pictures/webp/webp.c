/*
 * WebP (RFC 9649; VP8: RFC 6386).
 *
 *	file: 'RIFF', size, 'WEBP', chunks (riff.c)
 *	simple: one chunk 'VP8 ' (lossy) or 'VP8L' (lossless); others may follow, such as titles
 *	extended: VP8X (flags, size of the canvas), then ICCP, ANIM and ANMF frames, or ALPH and a
 *	          picture; EXIF, 'XMP '
 *
 * The size at the start determines the length, and the chunks have to end exactly there. Checked
 * are the heads of the pictures: VP8 has a start code and the length of its first part, VP8L a
 * signature.
 *
 * Damage. Pictures are decoded to their ends (vp8.c, vp8l.c), which have to be the ends of their
 * data. Any bytes decode as VP8, so corruption of lossy data shows only at its end. But coded data
 * looks random, so after its first part, of predictions, it ends where plain bytes start: zeros, text, FF (noise.c). Where a file in
 * pieces is put together others' data shows within a cluster (vp8_follow.c, vp8l_follow.c), also in compressed
 * transparency, which is not decoded else. XMP at the end of
 * the file has to be XML up to its end, and a packet up to its last line, which is after blanks. EXIF has no such end: nothing confirms it unless it ends
 * with plain values (noise.h) or a thumbnail's end. Other chunks that end the file
 * are not verified, unless they are in the sector in which they begin.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "bytes.h"
#include "carver.h"
#include "exif.h"
#include "noise.h"
#include "plain_text.h"
#include "riff.h"
#include "vp8.h"
#include "vp8_follow.h"
#include "vp8l_follow.h"
#include "walk.h"

#define STEP_BACK 4096
#define ALPHA_REST 4 /* bytes after the last pixel of transparency */

enum webp_step { WEBP_ON, WEBP_END, WEBP_UNSURE, WEBP_CUT, WEBP_BROKEN };

struct webp {
	struct view *view;
	struct finding *finding;
	struct riff riff;
	uint64_t valid_end; /* end of what was recognised */
	uint64_t at;        /* where it is broken, or the end of what is cut */
	const char *problem;
	bool picture;  /* has a picture */
	bool alpha;    /* has transparency: its flags, before the picture */
	bool extended; /* VP8X came first */
	bool animated;
	bool has_alpha;                 /* VP8X says so */
	const struct carve_state *from; /* or NULL */
	bool describes;                 /* the data in which the view ends */
	struct webp_break *broken;      /* made of it */
	bool unpadded;          /* the data of a lossy picture do not end as encoders end them */
	uint32_t width, height; /* of the canvas */
};

/* What may follow data in which a view ends. */
struct webp_break {
	void *made; /* by vp8_break_new, or vp8l_break_new */
	bool is_lossless;
};

static enum webp_step set_broken(struct webp *webp, uint64_t at, const char *problem)
{
	webp->at = at;
	webp->problem = problem;
	return WEBP_BROKEN;
}

static enum webp_step set_cut(struct webp *webp, uint64_t end)
{
	webp->at = end;
	return WEBP_CUT;
}

/* Checks a lossy picture's head: RFC 6386, 9.1. Returns what is wrong with it, or NULL. */
static const char *vp8_problem(const uint8_t *p, uint32_t len)
{
	uint32_t tag = le16(p) | (uint32_t)p[2] << 16;

	if (len < 10 || (tag & 1) || (tag >> 1 & 7) > 3 || tag >> 5 > len - 10)
		return "an impossible VP8 frame";
	if (p[3] != 0x9d || p[4] != 0x01 || p[5] != 0x2a)
		return "a VP8 frame without its start code";
	if (!(le16(p + 6) & 0x3fff) || !(le16(p + 8) & 0x3fff))
		return "a VP8 frame without size";
	return NULL;
}

/* Whether the picture has the canvas's size. */
static bool fits_canvas(const struct webp *webp, const struct riff_chunk *chunk, const uint8_t *p)
{
	if (riff_is(chunk->id, "VP8 "))
		return (le16(p + 6) & 0x3fff) == webp->width &&
		       (le16(p + 8) & 0x3fff) == webp->height;
	return (le32(p + 1) & 0x3fff) + 1 == webp->width &&
	       (le32(p + 1) >> 14 & 0x3fff) + 1 == webp->height;
}

static void end_break(void *broken)
{
	struct webp_break *b = broken;

	if (b && b->is_lossless)
		vp8l_break_free(b->made);
	else if (b)
		vp8_break_free(b->made);
	free(b);
}

/* Describes data that goes on after the view. */
static void describe(struct webp *webp, const struct vp8l_place *place, bool is_lossless)
{
	struct webp_break *b = webp->broken ? NULL : calloc(1, sizeof(*b));

	if (!b && !webp->broken)
		view_no_memory(webp->view);
	if (!b)
		return;
	b->is_lossless = is_lossless;
	b->made = is_lossless ? vp8l_break_new(webp->view, place, webp->from)
			      : vp8_break_new(webp->view, place->at, place->end, webp->from);
	webp->broken = b;
	if (!b->made) {
		end_break(b);
		webp->broken = NULL;
	}
}

/* Whether only the few bytes follow the last pixel that some programs leave after transparency. */
static bool may_end_early(const struct vp8l_place *place, uint64_t size, uint64_t at)
{
	return place->width && place->end <= size && place->end - at <= ALPHA_REST;
}

/* Decodes a lossless image as far as it is readable. Returns what is wrong with it, or NULL; *at is how far it is valid. */
static const char *decode_lossless(struct webp *webp, const struct vp8l_place *place, uint64_t *at)
{
	uint64_t size = view_size(webp->view), end = place->end < size ? place->end : size;
	enum vp8l_state state;

	*at = end;
	if (webp->describes && place->end > size) {
		describe(webp, place, true);
		return NULL;
	}
	*at = place->at;
	state = walk_assembles(webp->view) ? vp8l_follow(webp->view, place, webp->from, at)
					   : vp8l_check(webp->view, at, end);
	if (state == VP8L_FOREIGN)
		return "a picture that does not go on as it began";
	if (state == VP8L_BROKEN || (state == VP8L_CUT && place->end <= size))
		return "an invalid picture";
	if (state == VP8L_EARLY && !may_end_early(place, size, *at))
		return "a picture that ends before its data";
	if (state == VP8L_UNKNOWN)
		view_unverified(webp->view, place->at, end);
	*at = end;
	return NULL;
}

/* The same for lossy data. */
static const char *decode_lossy(struct webp *webp, const struct riff_chunk *chunk, uint64_t *at)
{
	uint64_t size = view_size(webp->view), end = chunk->end < size ? chunk->end : size;
	const struct vp8l_place place = { .at = chunk->data, .end = chunk->end };
	enum vp8_state lossy;

	*at = end;
	if (webp->describes && chunk->end > size)
		describe(webp, &place, false);
	if (webp->describes || (chunk->end > size && !walk_assembles(webp->view)))
		return NULL;
	*at = chunk->data;
	lossy = walk_assembles(webp->view) ? vp8_follow(webp->view, at, chunk->end, webp->from)
					   : vp8_check(webp->view, at, end);
	if (lossy == VP8_FOREIGN)
		return "a picture that does not go on as it began";
	if (lossy == VP8_CUT)
		return NULL;
	if (lossy == VP8_EARLY)
		return "a picture that ends before its data";
	if (lossy == VP8_UNPADDED && view_is_trial(webp->view))
		return "a picture whose data do not end as they have to";
	webp->unpadded = webp->unpadded || lossy == VP8_UNPADDED;
	*at = end;
	return lossy == VP8_BROKEN ? "a picture that continues past its data" : NULL;
}

static const char *decode(struct webp *webp, const struct riff_chunk *chunk, uint64_t *at)
{
	const struct vp8l_place place = { .at = chunk->data, .end = chunk->end };

	return riff_is(chunk->id, "VP8L") ? decode_lossless(webp, &place, at)
					  : decode_lossy(webp, chunk, at);
}

static enum webp_step read_picture(struct webp *webp, const struct riff_chunk *chunk)
{
	const uint8_t *p = view_peek(webp->view, chunk->data, 10);
	uint64_t size = view_size(webp->view), end = chunk->end < size ? chunk->end : size, plain;
	uint64_t at, from;
	uint32_t first_len;
	const char *problem = NULL;

	if (!p)
		return set_cut(webp, chunk->end);
	first_len = (le16(p) | (uint32_t)p[2] << 16) >> 5;
	if (riff_is(chunk->id, "VP8 "))
		problem = vp8_problem(p, chunk->len);
	else if (p[0] != 0x2f || p[4] >> 5 || chunk->len < 6)
		problem = "no VP8L signature";
	if (!problem && webp->extended && !webp->animated && !fits_canvas(webp, chunk, p))
		problem = "a picture of another size than its canvas";
	if (problem)
		return set_broken(webp, chunk->data, problem);
	webp->picture = true;
	webp->valid_end = chunk->data + 10;
	problem = decode(webp, chunk, &at);
	/* Lossy data decodes without errors; it ends where it turns plain. */
	plain = at;
	/* The first part, of predictions, is less random: it is left out, in whole kilobytes. */
	from = webp->valid_end;
	if (riff_is(chunk->id, "VP8 "))
		from += (first_len + 1023) / 1024 * 1024;
	if (webp->from && webp->from->offset > from && webp->from->offset < at)
		from = webp->from->offset;
	if (riff_is(chunk->id, "VP8 ") && !webp->describes)
		plain = plain_start(webp->view, from, at);
	if (!problem && plain < at)
		problem = "data that is not coded picture data";
	webp->valid_end = plain < at ? plain : walk_before_fill(webp->view, webp->valid_end, at);
	if (problem)
		return set_broken(webp, webp->valid_end, problem);
	webp->valid_end = end;
	return chunk->end > size ? set_cut(webp, chunk->end) : WEBP_ON;
}

static bool is_picture(const struct riff_chunk *chunk)
{
	return riff_is(chunk->id, "VP8 ") || riff_is(chunk->id, "VP8L");
}

/* A frame of an animation: 16 bytes, then chunks. */
static enum webp_step read_frame(struct webp *webp, const struct riff_chunk *chunk)
{
	struct riff inside;
	struct riff_chunk part;
	enum riff_step step = RIFF_BROKEN;
	enum webp_step state = WEBP_ON;

	if (chunk->data + 16 > view_size(webp->view))
		return set_cut(webp, chunk->end);
	if (!riff_enter(&webp->riff, chunk, 16, &inside))
		return set_broken(webp, chunk->at, "an impossible frame");
	while (state == WEBP_ON && (step = riff_next(&inside, &part)) == RIFF_CHUNK) {
		if (is_picture(&part))
			state = read_picture(webp, &part);
		else if (part.end > view_size(webp->view))
			state = set_cut(webp, part.end);
		else
			view_unverified(webp->view, part.data, part.end);
	}
	if (state == WEBP_ON && step == RIFF_CUT)
		return set_cut(webp, inside.at + 8);
	if (state == WEBP_ON && step == RIFF_BROKEN)
		return set_broken(webp, inside.at, "no chunk");
	return state;
}

static void read_exif(struct webp *webp, const struct riff_chunk *chunk)
{
	/* Some programs keep JPEG's prefix before it. */
	if (!exif_read(webp->view, chunk->data, chunk->len, webp->finding) && chunk->len > 6)
		exif_read(webp->view, chunk->data + 6, chunk->len - 6, webp->finding);
}

static enum webp_step read_start(struct webp *webp, const struct riff_chunk *chunk)
{
	const uint8_t *p;

	webp->extended = riff_is(chunk->id, "VP8X");
	if (webp->extended ? chunk->len != 10 : !is_picture(chunk))
		return set_broken(webp, 12, "the first chunk is not WebP's");
	if (!webp->extended)
		return WEBP_ON;
	p = view_peek(webp->view, chunk->data, 10);
	if (!p)
		return set_cut(webp, chunk->end);
	webp->animated = p[0] & 2;
	webp->has_alpha = p[0] & 16;
	webp->width = (le32(p + 4) & 0xffffff) + 1;
	webp->height = (le32(p + 6) >> 8) + 1;
	return WEBP_ON;
}

/* Whether it is transparency, after a VP8X that announces it. */
static bool is_alpha(struct webp *webp, const struct riff_chunk *chunk)
{
	const uint8_t *p =
		riff_is(chunk->id, "ALPH") ? view_peek(webp->view, chunk->data, 1) : NULL;

	return p && webp->has_alpha && !(*p >> 6) && (*p >> 4 & 3) < 2 && (*p & 3) < 2;
}

/* Where pieces are put together, transparency is decoded if it is compressed. */
static enum webp_step read_alpha(struct webp *webp, const struct riff_chunk *chunk)
{
	const struct vp8l_place place = { chunk->data + 1, chunk->end, webp->width, webp->height };
	const uint8_t *p = view_peek(webp->view, chunk->data, 1);
	const char *problem = NULL;
	uint64_t at = chunk->end;

	webp->alpha = true;
	if (p && (*p & 3) == 1 && (webp->describes || walk_assembles(webp->view)) &&
		!(webp->from && webp->from->offset >= chunk->end))
		problem = decode_lossless(webp, &place, &at);
	else
		view_unverified(webp->view, chunk->data, chunk->end);
	if (problem) {
		webp->valid_end = walk_before_fill(webp->view, chunk->data, at);
		return set_broken(webp, at, problem);
	}
	if (chunk->end > view_size(webp->view)) {
		if (walk_assembles(webp->view))
			webp->valid_end =
				walk_before_fill(webp->view, chunk->data, view_size(webp->view));
		return set_cut(webp, chunk->end);
	}
	view_holds(webp->view, chunk->data, chunk->end);
	return WEBP_ON;
}

static enum webp_step read_chunk(struct webp *webp, const struct riff_chunk *chunk)
{
	if (chunk->at == 12) {
		enum webp_step state = read_start(webp, chunk);

		if (state != WEBP_ON)
			return state;
	}
	if (is_picture(chunk))
		return read_picture(webp, chunk);
	if (riff_is(chunk->id, "ANMF"))
		return read_frame(webp, chunk);
	if (is_alpha(webp, chunk))
		return read_alpha(webp, chunk);
	if (chunk->end > view_size(webp->view))
		return set_cut(webp, chunk->end);
	view_holds(webp->view, chunk->data, chunk->end);
	if (riff_is(chunk->id, "EXIF"))
		read_exif(webp, chunk);
	else if (!riff_is(chunk->id, "VP8X"))
		view_unverified(webp->view, chunk->data, chunk->end);
	riff_read_title(&webp->riff, chunk, webp->finding);
	return WEBP_ON;
}

/* Where the zeros and blanks with which XMP is padded up to `end` begin. */
static uint64_t markup_end(struct view *view, uint64_t start, uint64_t end)
{
	while (end > start) {
		size_t len = end - start < STEP_BACK ? (size_t)(end - start) : STEP_BACK;
		const uint8_t *p = view_peek(view, end - len, len);

		for (; p && len && (!p[len - 1] || strchr(" \t\r\n", p[len - 1])); len--)
			end--;
		if (!p || len)
			break;
	}
	return end;
}

/* Where in [start, end) UTF-8 text ends. */
static uint64_t text_end(struct view *view, uint64_t start, uint64_t end)
{
	uint64_t at = start;

	while (at < end) {
		const uint8_t *p = view_peek(view, at, 1);
		size_t len = !p || *p < 0x80 ? 1 : *p >> 5 == 6 ? 2 : *p >> 4 == 14 ? 3 : 4;

		if (!p || (*p < 0x80 && !plain_text_byte(*p)) || len > end - at)
			break;
		p = view_peek(view, at, len);
		if (!p || !utf8_valid(p, len))
			break;
		at += len;
	}
	return at;
}

#define XPACKET_LEN 9

/* Whether XMP has a packet's first line, so that its last one is an instruction, too. */
static bool is_packet(struct view *view, const struct riff_chunk *chunk)
{
	const uint8_t *p =
		chunk->len >= XPACKET_LEN + 1 ? view_peek(view, chunk->data, XPACKET_LEN) : NULL;

	return p && memcmp(p, "<?xpacket", XPACKET_LEN) == 0;
}

/* Checks XMP that ends the file: markup up to its padding. */
static enum webp_step end_with_xmp(struct webp *webp, const struct riff_chunk *chunk)
{
	uint64_t end = markup_end(webp->view, chunk->data, chunk->end);
	char before = is_packet(webp->view, chunk) ? '?' : 0;
	const uint8_t *p = end > chunk->data + 1 ? view_peek(webp->view, end - 2, 2) : NULL;

	if (chunk->len == 0 || (p && p[1] == '>' && (!before || p[0] == before) &&
				       plain_at_end(webp->view, chunk->data, end)))
		return WEBP_END;
	webp->valid_end = text_end(webp->view, chunk->data, end);
	return set_broken(webp, webp->valid_end, "XMP without its end");
}

/* Checks EXIF that ends the file: its last bytes are values, or those of a thumbnail. */
static enum webp_step end_with_exif(struct webp *webp, const struct riff_chunk *chunk)
{
	const uint8_t *p = chunk->len > 2 ? view_peek(webp->view, chunk->end - 2, 2) : NULL;

	if (!p || be16(p) == 0xffd9 || plain_at_end(webp->view, chunk->data, chunk->end))
		return WEBP_END;
	webp->at = chunk->data;
	webp->problem = "the end of the EXIF data cannot be verified";
	return WEBP_UNSURE;
}

/* After the last chunk. */
static enum webp_step check_end(struct webp *webp, const struct riff_chunk *last)
{
	if (webp->riff.end > view_size(webp->view))
		return set_cut(webp, webp->riff.end);
	webp->valid_end = webp->riff.end;
	if (!webp->picture)
		return set_broken(webp, webp->riff.at, "no picture");
	if (riff_is(last->id, "XMP ") || riff_is(last->id, "XMP"))
		return end_with_xmp(webp, last);
	if (riff_is(last->id, "EXIF"))
		return end_with_exif(webp, last);
	if (is_picture(last) || riff_is(last->id, "ANMF") ||
		last->at / SECTOR == (webp->riff.end - 1) / SECTOR)
		return WEBP_END;
	webp->at = last->at;
	webp->problem = "nothing verifies the last chunk,";
	return WEBP_UNSURE;
}

static enum webp_step walk(struct webp *webp)
{
	enum webp_step state = WEBP_ON;
	struct riff_chunk chunk = { 0 };

	while (state == WEBP_ON) {
		uint64_t at = webp->riff.at;

		switch (riff_next(&webp->riff, &chunk)) {
		case RIFF_END:
			return check_end(webp, &chunk);
		case RIFF_CUT:
			return set_cut(webp, webp->riff.end);
		case RIFF_BROKEN:
			return set_broken(webp, at, "no chunk");
		case RIFF_CHUNK:
			if (at <= view_size(webp->view))
				webp->valid_end = at;
			state = read_chunk(webp, &chunk);
		}
	}
	return state;
}

static enum verdict resume(
	struct view *view, const struct carve_state *from, struct finding *finding)
{
	struct webp webp = { .view = view, .finding = finding, .from = from };
	enum webp_step state;
	enum verdict verdict;

	if (!riff_open(&webp.riff, view, 0) || !riff_is(webp.riff.form, "WEBP"))
		return verdict_because(CARVE_REJECT, finding, "no WebP head at 0");
	state = walk(&webp);
	finding->length = webp.valid_end;
	if (state == WEBP_END && webp.unpadded)
		return verdict_because(CARVE_UNVERIFIED, finding,
			"lossy data that do not end as encoders end them, at %" PRIu64,
			finding->length);
	if (state == WEBP_END)
		return CARVE_COMPLETE;
	/* VP8X alone has few bytes that distinguish it from chance. */
	if (!webp.picture && !webp.alpha) {
		*finding = (struct finding){ 0 };
		return verdict_because(CARVE_REJECT, finding, "%s at %" PRIu64,
			state == WEBP_CUT ? "cut before any picture" : webp.problem, webp.at);
	}
	if (state == WEBP_CUT)
		return walk_cut(view, finding, webp.at, webp.valid_end);
	verdict = verdict_because(state == WEBP_UNSURE ? CARVE_UNVERIFIED : CARVE_TRUNCATED,
		finding, "%s at %" PRIu64, webp.problem, webp.at);
	return walk_past_unread(view, finding, verdict, webp.riff.end);
}

static enum verdict check(struct view *view, struct finding *finding)
{
	return resume(view, NULL, finding);
}

static void *begin_break(struct view *view, const struct carve_state *state)
{
	struct finding finding = { 0 };
	struct webp webp = { .view = view, .finding = &finding, .from = state, .describes = true };

	if (riff_open(&webp.riff, view, 0) && riff_is(webp.riff.form, "WEBP"))
		walk(&webp);
	return webp.broken;
}

static unsigned ask_break(const void *broken, const uint8_t *bytes, size_t len, uint64_t *work)
{
	const struct webp_break *b = broken;

	return b->is_lossless ? vp8l_break_ask(b->made, bytes, len, work)
			      : vp8_break_ask(b->made, bytes, len, work);
}

static const struct carve_codes break_codes = {
	.begin = begin_break,
	.ask = ask_break,
	.end = end_break,
	.goes_on = true,
};

const struct carver webp_carver = {
	.name = "webp",
	.summary = "WebP pictures, by their chunks and the heads of their pictures",
	.check = check,
	.resume = resume,
	.codes = &break_codes,
};
