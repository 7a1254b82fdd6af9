/*
 * ICO and CUR, icons and cursors (Microsoft, Icons in Win32; ICONDIR, ICONDIRENTRY).
 *
 *	file:  0 (2 bytes, little-endian), 1 for icons or 2 for cursors, number of images,
 *	       entries, images
 *	entry: width, height (0: 256), colours, reserved, planes and bits a pixel (of a cursor:
 *	       the hot spot), length of the image (4), its offset (4)
 *	image: a PNG, or a bitmap without file header (dib.c) of twice the height: pixels, then
 *	       a mask of one bit each, which newer programs leave out where pixels have an
 *	       alpha channel
 *
 * The file ends after the last image. Each is checked: a bitmap's header against its length, a PNG
 * by its first and last chunk. A bitmap's mask, or its pixels where there is none, prove its end if
 * they continue as they began (predictor.c), and not in zeros (overwrite.c). Where a sector starts in a mask, what follows
 * must be of the same kind (struct mask_side). A file without a valid first image is rejected: the head alone is mostly
 * zeros.
 */
#include "ico.h"

#include <inttypes.h>
#include <string.h>

#include "bytes.h"
#include "dib.h"
#include "noise.h"
#include "overwrite.h"
#include "png.h"
#include "predictor.h"
#include "walk.h"

#define IMAGES_MAX 1024
#define EXTRA_MAX 8192 /* bytes after a bitmap's mask that its length may count */
#define PNG_LEN_MIN 57
#define MASK_MIN 64 /* bytes that are evidence by themselves */
#define MASK_MAX 8192
#define MASK_ROW_MAX 1024 /* bytes of a mask's row that are compared with pixels */
#define NOISE_PART \
	3 /* the part of bits that differ in noise, at least; in real icons it was a
                        fifth at most */

static const uint8_t png_start[] = { 0x89, 'P', 'N', 'G', '\r', '\n', 0x1a, '\n', 0, 0, 0, 13, 'I',
	'H', 'D', 'R' };
static const uint8_t png_end[] = { 0, 0, 0, 0, 'I', 'E', 'N', 'D', 0xae, 0x42, 0x60, 0x82 };

struct image {
	uint64_t at, len;
	uint8_t width;
};

static bool has_bytes(struct view *view, uint64_t at, const uint8_t *bytes, size_t len)
{
	const uint8_t *p = view_peek(view, at, len);

	return p && memcmp(p, bytes, len) == 0;
}

static enum ico_state set_broken(struct ico *ico, uint64_t at, const char *problem)
{
	ico->at = at;
	ico->problem = problem;
	return ICO_BROKEN;
}

/* The same at a place within an image, up to which its pixels are as they should be. */
static enum ico_state set_foreign(struct ico *ico, uint64_t at)
{
	ico->valid_end = at > ico->valid_end ? at : ico->valid_end;
	return set_broken(ico, at, "bytes unlike the pixels before");
}

static enum ico_state check_png(struct view *view, struct ico *ico, const struct image *image)
{
	uint64_t end = image->at + image->len, valid;

	if (image->len < PNG_LEN_MIN)
		return set_broken(ico, image->at, "a PNG that is too short");
	ico->images++;
	if (end > ico->valid_end) {
		ico->pixels = 0;
		ico->unproved = false;
	}
	if (end <= view_size(view) &&
		!has_bytes(view, end - sizeof(png_end), png_end, sizeof(png_end)))
		return set_broken(ico, end - sizeof(png_end), "a PNG without its end");
	if (ico->assembles) { /* then PNGs are checked chunk by chunk */
		valid = png_follow_chunks(view, image->at, end);
		if (valid < end && valid < view_size(view)) {
			ico->valid_end = valid > ico->valid_end ? valid : ico->valid_end;
			return set_broken(ico, valid, "an invalid chunk of a PNG");
		}
	}
	view_unverified(view, image->at + sizeof(png_start), end - sizeof(png_end));
	return ICO_DONE;
}

/* Whether a mask is noise: few bits of a shape differ from those beside and above them, half of
 * random bits do. */
static bool mask_is_noise(struct view *view, const struct dib *dib, uint64_t mask)
{
	size_t row_len = (size_t)dib_row_len(dib->width, 1);
	uint64_t rows = dib->height / 2, beside = 0, above = 0;
	const uint8_t *p = row_len * rows >= MASK_MIN && row_len * rows <= MASK_MAX
				   ? view_peek(view, mask, row_len * rows)
				   : NULL;

	for (size_t i = 0; p && i < row_len * rows; i++) {
		beside += (unsigned)__builtin_popcount((p[i] ^ p[i] >> 1) & 0x7fu);
		above += i < row_len ? 0 : (unsigned)__builtin_popcount(p[i] ^ p[i - row_len]);
	}
	return beside * NOISE_PART > 7 * row_len * rows &&
	       above * NOISE_PART > 8 * row_len * (rows - 1);
}

/* What a part of a mask has. Where a bit is set, what is on the screen shows through: there pixels are transparent, or black.
 * Writers set it wherever they are, or nowhere at all. What fills a row up to 4 bytes is all zeros, or all ones. */
struct mask_side {
	bool set, visible; /* a bit, and one of a pixel that is not so */
	bool transparent;  /* one that is not set, of a transparent pixel */
	uint8_t filling;   /* bit n: a bit n fills a row */
};

/* Whether the pixel shows, and whether it is certainly transparent. */
static bool is_visible(const struct dib *dib, const uint8_t *row, uint32_t x,
	const uint8_t *palette, bool *is_transparent)
{
	uint32_t bits = dib->bits;

	*is_transparent = bits == 32 && row[4 * (size_t)x + 3] == 0;
	if (bits == 32)
		return row[4 * (size_t)x + 3] >= 128;
	if (bits == 24)
		return row[3 * (size_t)x] || row[3 * (size_t)x + 1] || row[3 * (size_t)x + 2];
	if (bits <= 8 && palette) {
		uint32_t colour =
			row[(size_t)x * bits / 8] >> (8 - bits - x * bits % 8) & ((1u << bits) - 1);

		if (4 * (uint64_t)colour + 4 <= dib->colours_len)
			return palette[4 * colour] || palette[4 * colour + 1] ||
			       palette[4 * colour + 2];
	}
	return false;
}

static void add_mask_row(struct mask_side sides[2], const struct dib *dib, const uint8_t *pixels,
	const uint8_t *mask, const uint8_t *palette, size_t first)
{
	size_t row_len = (size_t)dib_row_len(dib->width, 1);

	for (size_t i = 0; i < row_len * 8; i++) {
		struct mask_side *side = &sides[i / 8 >= first];
		bool bit = mask[i / 8] >> (7 - i % 8) & 1, is_transparent, visible;

		if (i >= dib->width) {
			side->filling |= (uint8_t)(1 << bit);
			continue;
		}
		visible = is_visible(dib, pixels, (uint32_t)i, palette, &is_transparent);
		side->set |= bit;
		side->visible |= bit && visible;
		side->transparent |= !bit && is_transparent;
	}
}

/* Whether a sector starts in the mask and what is after that is not as what is before it. */
static bool mask_changes(
	struct view *view, uint64_t header, const struct dib *dib, uint64_t mask, uint64_t end)
{
	uint64_t sector = (mask / SECTOR + 1) * SECTOR, rows = dib->height / 2;
	size_t row_len = (size_t)dib_row_len(dib->width, dib->bits), palette_len,
	       mask_len = (size_t)dib_row_len(dib->width, 1);
	struct mask_side sides[2] = { 0 };
	uint8_t palette[4 * 256], bits[MASK_ROW_MAX];
	const uint8_t *p;

	if (sector >= end || mask_len > sizeof(bits) || dib->colours_len > sizeof(palette))
		return false;
	/* Nothing is known of what may follow the mask. */
	if (mask + rows * mask_len < end && !walk_zeros(view, mask + rows * mask_len, end))
		return true;
	palette_len = (size_t)dib->colours_len;
	p = view_peek(view, header + dib->header_len, palette_len);
	if (!p)
		return false;
	memcpy(palette, p, palette_len);
	for (uint64_t i = 0; i < rows && mask + (i + 1) * mask_len <= end; i++) {
		uint64_t at = mask + i * mask_len;

		p = view_peek(view, at, mask_len);
		if (!p || !view_work(view, dib->width))
			return false;
		memcpy(bits, p, mask_len);
		p = view_peek(view, mask - (rows - i) * row_len, row_len);
		if (!p)
			return false;
		add_mask_row(sides, dib, p, bits, palette_len ? palette : NULL,
			sector > at ? (size_t)(sector - at) : 0);
	}
	return (sides[1].visible && !sides[0].visible) ||
	       (sides[1].transparent && sides[0].set && !sides[0].transparent) ||
	       (sides[1].set && !sides[0].set && sides[0].transparent) ||
	       (sides[0].filling && sides[1].filling & ~sides[0].filling);
}

/* Checks the last bytes of the bitmap whose header is at `at`, and whose mask, if it has one, starts at `mask`. */
static enum ico_state check_tail(struct view *view, struct ico *ico, uint64_t at,
	const struct dib *dib, uint64_t mask, uint64_t end)
{
	uint64_t start = mask - dib_row_len(dib->width, dib->bits) * (dib->height / 2), foreign;
	bool has_mask = end > mask && end - mask >= MASK_MIN;
	enum predictor_end unproved = PREDICTOR_CONTINUOUS, tail;

	tail = dib_check_pixels(view, at, dib, start, has_mask ? mask : end, &foreign);
	if (tail == PREDICTOR_FOREIGN)
		return set_foreign(ico, foreign);
	if (has_mask) {
		unproved = tail;
		tail = predictor_check(view, mask, end, dib_row_len(dib->width, 1), 1, &foreign);
	}
	if (tail == PREDICTOR_FOREIGN)
		return set_foreign(ico, foreign);
	if (tail == PREDICTOR_UNKNOWN && has_mask && mask_is_noise(view, dib, mask))
		return set_broken(ico, mask, "a mask of random bits");
	if (end > ico->valid_end)
		ico->unproved = tail == PREDICTOR_UNKNOWN || unproved == PREDICTOR_UNKNOWN;
	if (end > mask && !ico->odd && mask_changes(view, at, dib, mask, end))
		ico->odd = "a mask that changes at a sector, as if the rest were another file's";
	return ICO_DONE;
}

static enum ico_state check_bitmap(struct view *view, struct ico *ico, const struct image *image)
{
	uint64_t end = image->at + image->len, pixels, mask_len, noise;
	struct dib dib;
	const char *problem = dib_read(view, image->at, &dib);

	if (problem)
		return set_broken(ico, image->at, problem);
	if (dib.header_len != DIB_HEADER_LEN || dib.bits == 0 || !dib_is_plain(&dib))
		return set_broken(ico, image->at, "a bitmap that does not occur in icons");
	pixels = dib.header_len + dib.colours_len +
		 dib_row_len(dib.width, dib.bits) * (dib.height / 2);
	mask_len = dib_row_len(dib.width, 1) * (dib.height / 2);
	if (image->width && image->width != dib.width)
		ico->odd = "an image of another width than in its entry";
	if (image->len < pixels || image->len > pixels + mask_len + EXTRA_MAX) {
		if (!ico->images)
			return set_broken(
				ico, image->at, "a bitmap of another length than in its entry");
		ico->odd = "a bitmap of another length than in its entry";
	}
	ico->images++;
	if (end > view_size(view))
		return ICO_DONE;
	view_unverified(view, image->at + dib.header_len, end);
	if (end > ico->valid_end) {
		ico->row_len = dib_row_len(dib.width, dib.bits);
		ico->pixels = image->at + pixels - ico->row_len * (dib.height / 2);
		ico->mask = dib.bits == 32 ? image->at + pixels : 0;
	}
	noise = noise_start(view, image->at + dib.header_len, end);
	if (noise < end)
		return set_broken(ico, noise, "random bytes instead of pixels");
	return check_tail(view, ico, image->at, &dib, image->at + pixels, end);
}

/* Checks entry `index`; images start at `first`, after all entries. */
static enum ico_state check_image(
	struct view *view, uint64_t base, uint32_t index, uint64_t first, struct ico *ico)
{
	const uint8_t *p =
		view_peek(view, base + ICO_HEAD_LEN + index * ICO_ENTRY_LEN, ICO_ENTRY_LEN);
	struct image image;
	enum ico_state state;

	if (!p)
		return ICO_CUT;
	image = (struct image){ .at = base + le32(p + 12), .len = le32(p + 8), .width = p[0] };
	if (image.at < first || !image.len || (p[3] != 0 && p[3] != 255))
		return set_broken(
			ico, base + ICO_HEAD_LEN + index * ICO_ENTRY_LEN, "an impossible entry");
	if (image.at + image.len > ico->end)
		ico->end = image.at + image.len;
	if (image.at + DIB_HEADER_LEN > view_size(view))
		return ICO_CUT;
	view_embedded(view, image.at);
	state = has_bytes(view, image.at, png_start, sizeof(png_start))
			? check_png(view, ico, &image)
			: check_bitmap(view, ico, &image);
	if (state == ICO_BROKEN)
		return state;
	if (image.at + image.len > view_size(view)) {
		ico->valid_end = view_size(view);
		return ICO_CUT;
	}
	if (image.at + image.len > ico->valid_end)
		ico->valid_end = image.at + image.len;
	return ICO_DONE;
}

/* Checks whether the end of the last image may have been overwritten. Writers put a mask of zeros
 * after pixels with an alpha channel. */
static enum ico_state check_end(struct view *view, struct ico *ico)
{
	uint64_t end = ico->end, at;
	const char *what;
	enum overwrite seam;

	if (!ico->pixels)
		return ICO_DONE;
	if (ico->mask && ico->mask < end && walk_zeros(view, ico->mask, end))
		end = ico->mask;
	seam = overwrite_find(view, ico->pixels, end, ico->row_len, &at, &what);
	if (seam == OVERWRITE_CERTAIN) {
		ico->valid_end = at;
		return set_broken(ico, at, "other bytes than pixels");
	}
	ico->agrees = !ico->odd;
	if (seam == OVERWRITE_POSSIBLE && !ico->odd)
		ico->odd = "the last image ends in zeros, as if wiped";
	if (ico->unproved && !ico->odd)
		ico->odd = "nothing verifies the last pixels of the last image";
	return ICO_DONE;
}

bool ico_read_head(struct view *view, uint64_t base, struct ico *ico, uint32_t *count)
{
	const uint8_t *p = view_peek(view, base, ICO_HEAD_LEN);

	*ico = (struct ico){ .at = base, .end = base, .assembles = walk_assembles(view) };
	if (!p || le16(p) != 0 || (le16(p + 2) != 1 && le16(p + 2) != 2) || !le16(p + 4) ||
		le16(p + 4) > IMAGES_MAX)
		return false;
	ico->cursor = le16(p + 2) == 2;
	*count = le16(p + 4);
	return true;
}

/* What a check comes to after some images, all of which are valid: one that goes on from there looks at the others only. */
struct saved {
	struct ico ico;
	uint32_t next; /* image */
};

static void save(struct view *view, const struct ico *ico, uint32_t next)
{
	struct saved saved = { .ico = *ico, .next = next };
	struct carve_state state = {
		.offset = ico->valid_end, .len = sizeof(saved), .data = &saved
	};

	if (!ico->odd && view_wants_states(view))
		view_save(view, &state);
}

/* Checks the images from entry `index` on. */
static enum ico_state walk_images(
	struct view *view, uint64_t base, uint32_t index, uint32_t count, struct ico *ico)
{
	uint64_t first = base + ICO_HEAD_LEN + (uint64_t)count * ICO_ENTRY_LEN;
	enum ico_state state = ICO_DONE;

	if (!index)
		ico->valid_end = first;
	for (uint32_t i = index; i < count && state != ICO_BROKEN; i++) {
		enum ico_state next = check_image(view, base, i, first, ico);

		state = next == ICO_DONE ? state : next;
		if (state == ICO_CUT && !ico->images)
			return set_broken(ico, ico->end, "the image ends before any picture");
		if (state == ICO_DONE)
			save(view, ico, i + 1);
	}
	return state == ICO_DONE ? check_end(view, ico) : state;
}

enum ico_state ico_walk(struct view *view, uint64_t base, struct ico *ico)
{
	uint32_t count;

	if (!ico_read_head(view, base, ico, &count))
		return set_broken(ico, base, "no header of an icon");
	return walk_images(view, base, 0, count, ico);
}

static enum verdict verdict_of(
	struct view *view, const struct ico *ico, enum ico_state state, struct finding *finding)
{
	if (!ico->images)
		return verdict_because(
			CARVE_REJECT, finding, "%s at %" PRIu64, ico->problem, ico->at);
	finding->extension = ico->cursor ? "cur" : "ico";
	finding->length = ico->valid_end < view_size(view) ? ico->valid_end : view_size(view);
	if (state == ICO_BROKEN) {
		if (ico->images == 1 && ico->at > finding->length)
			finding->length = ico->at;
		return verdict_because(
			CARVE_TRUNCATED, finding, "%s at %" PRIu64, ico->problem, ico->at);
	}
	if (state == ICO_CUT)
		return walk_cut(view, finding, ico->end, finding->length);
	finding->length = ico->end;
	if (ico->agrees && ico->assembles)
		view_agrees(view);
	if (ico->odd)
		return verdict_because(CARVE_UNVERIFIED, finding, "%s", ico->odd);
	return CARVE_COMPLETE;
}

static enum verdict check(struct view *view, struct finding *finding)
{
	struct ico ico;
	enum ico_state state = ico_walk(view, 0, &ico);

	return verdict_of(view, &ico, state, finding);
}

static enum verdict resume(
	struct view *view, const struct carve_state *from, struct finding *finding)
{
	enum ico_state state;
	struct saved saved;
	struct ico ico;
	uint32_t count;

	if (from->len != sizeof(saved) || !ico_read_head(view, 0, &ico, &count))
		return check(view, finding);
	memcpy(&saved, from->data, sizeof(saved));
	state = walk_images(view, 0, saved.next, count, &saved.ico);
	return verdict_of(view, &saved.ico, state, finding);
}

const struct carver ico_carver = {
	.name = "ico",
	.summary = "icons and cursors, by their entries and the heads of their images",
	.check = check,
	.quick = true,
	.resume = resume,
	.map = &ico_map,
};
