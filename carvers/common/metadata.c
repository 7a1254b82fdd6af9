#include "metadata.h"

#include <string.h>

#include "bytes.h"
#include "md5.h"
#include "plain_text.h"
#include "tiff_ifd.h"
#include "walk.h"
#include "xml_scan.h"

/* ---- XMP ----------------------------------------------------------------------------------- */

#define XMP_STEP 64
#define XMP_WINDOW \
	1024 /* bytes that are looked at before it is known whether those before are right */

static bool add_utf8(unsigned *missing, const uint8_t *p, size_t len)
{
	for (size_t i = 0; i < len; i++)
		if (!utf8_follow(missing, p[i]))
			return false;
	return true;
}

/* Feeds the bytes that a window has of it. Returns how many of them can follow. */
static size_t feed_xmp(struct xml_scan *scan, unsigned *missing, const uint8_t *p, size_t len)
{
	for (size_t i = 0; i < len; i += XMP_STEP) {
		size_t step = len - i < XMP_STEP ? len - i : XMP_STEP;

		if (!add_utf8(missing, p + i, step) || !xml_scan_feed(scan, p + i, step))
			return i;
	}
	return len;
}

bool metadata_is_xmp(struct view *view, uint64_t at, uint64_t end, uint64_t *valid)
{
	static const uint8_t declaration[] = "<?xml?>";
	struct xml_scan scan = { 0 };
	unsigned missing = 0;
	const uint8_t *p = view_peek(view, at, 3);
	uint64_t ignored, start = at;
	size_t len, fed;

	valid = valid ? valid : &ignored;
	if (p && memcmp(p, "\xef\xbb\xbf", 3) == 0)
		at += 3;
	p = end > at ? view_peek(view, end - 1, 1) : NULL;
	if (p && !p[0])
		end--; /* some end it as a text in C */
	xml_scan_feed(&scan, declaration, sizeof(declaration) - 1);
	for (; at < end; at += len) {
		p = walk_window(view, at, end - at < XMP_WINDOW ? end : at + XMP_WINDOW, &len);
		fed = p ? feed_xmp(&scan, &missing, p, len) : 0;
		*valid = at + fed;
		if (!p || fed < len)
			return false;
	}
	*valid = start;
	return !missing && xml_scan_is_done(&scan);
}

/* ---- ICC ----------------------------------------------------------------------------------- */

#define ICC_HEAD 128
#define ICC_ID 84 /* the MD5, of all but it, flags and intent */
#define ICC_FLAGS 44
#define ICC_INTENT 64
#define ICC_TAG 12
#define ICC_TAGS_MAX 256
#define ICC_CURVE_MAX 4096

static bool is_md5_right(struct view *view, uint64_t at, uint64_t end, const uint8_t *head)
{
	static const uint8_t none[MD5_LEN];
	uint8_t id[MD5_LEN], digest[MD5_LEN], copy[ICC_HEAD];
	struct md5 md5;

	memcpy(id, head + ICC_ID, MD5_LEN);
	if (memcmp(id, none, MD5_LEN) == 0)
		return true;
	memcpy(copy, head, ICC_HEAD);
	memset(copy + ICC_FLAGS, 0, 4);
	memset(copy + ICC_INTENT, 0, 4);
	memset(copy + ICC_ID, 0, MD5_LEN);
	md5_start(&md5);
	md5_add(&md5, copy, ICC_HEAD);
	if (!md5_add_view(&md5, view, at + ICC_HEAD, end))
		return false;
	md5_end(&md5, digest);
	return memcmp(id, digest, MD5_LEN) == 0;
}

/* A curve's values, 16 bits each, of which none is less than the one before. */
static bool does_rise(struct view *view, uint64_t at, uint64_t end)
{
	const uint8_t *p = view_peek(view, at, 4);
	uint32_t count = p ? be32(p) : 0;

	if (!p || count > ICC_CURVE_MAX || 2 * (uint64_t)count > end - at - 4)
		return false;
	p = view_peek(view, at + 4, 2 * (size_t)count);
	for (uint32_t i = 1; p && i < count; i++)
		if (be16(p + 2 * i) < be16(p + 2 * i - 2))
			return false;
	return p != NULL;
}

/* Whether what a tag points to begins with a type, 4 letters, and zeros. */
static bool is_tag(struct view *view, uint64_t at, uint64_t end)
{
	const uint8_t *p = end - at >= 8 ? view_peek(view, at, 8) : NULL;

	if (!p || be32(p + 4))
		return false;
	for (int i = 0; i < 4; i++)
		if (p[i] < ' ' || p[i] > '~')
			return false;
	return memcmp(p, "curv", 4) != 0 || (end - at >= 12 && does_rise(view, at + 8, end));
}

bool metadata_is_icc(struct view *view, uint64_t at, uint64_t end)
{
	const uint8_t *p = end - at >= ICC_HEAD + 4 ? view_peek(view, at, ICC_HEAD + 4) : NULL;
	uint32_t count, offset, len;
	uint8_t head[ICC_HEAD];

	if (!p || be32(p) != end - at || memcmp(p + 36, "acsp", 4) != 0)
		return false;
	count = be32(p + ICC_HEAD);
	memcpy(head, p, ICC_HEAD);
	if (count > ICC_TAGS_MAX)
		return false;
	for (uint32_t i = 0; i < count; i++) {
		p = view_peek(view, at + ICC_HEAD + 4 + (uint64_t)i * ICC_TAG, ICC_TAG);
		if (!p)
			return false;
		offset = be32(p + 4);
		len = be32(p + 8);
		if (offset > end - at || len > end - at - offset ||
			!is_tag(view, at + offset, at + offset + len))
			return false;
	}
	return is_md5_right(view, at, end, head);
}

/* ---- EXIF ---------------------------------------------------------------------------------- */

enum {
	TAG_THUMBNAIL = 0x0201,
	TAG_THUMBNAIL_LEN = 0x0202,
	TAG_EXIF_IFD = 0x8769,
	TAG_GPS_IFD = 0x8825,
	TAG_INTEROP_IFD = 0xa005,
};

enum { TYPE_BYTE = 1, TYPE_UNDEFINED = 7 };

/* Declares a value of bytes that nothing explains, and in which another file's cluster has room, such as a camera's notes. A joint
 * in it has no proof; where all joints are elsewhere its bytes are next to each other in the image, as those of a whole file. */
static void note_unknown(
	const struct tiff *tiff, const struct tiff_entry *entry, struct metadata_exif *exif)
{
	uint64_t at = tiff->base + entry->data;

	if ((entry->type != TYPE_BYTE && entry->type != TYPE_UNDEFINED) || entry->len < SECTOR ||
		walk_zeros(tiff->view, at, at + entry->len))
		return;
	view_unverified(tiff->view, at, at + entry->len);
	exif->has_unknown = true;
}

/* Some programs write a directory of positions for a picture that has none. */
static bool has_no_entries(const struct tiff *tiff, uint64_t at)
{
	const uint8_t *p = tiff_peek(tiff, at, 6);

	return p && memcmp(p, "\0\0\0\0\0", 6) == 0;
}

/* Whether a directory's values are all in the data. *next: the directory after it. */
static bool is_directory(
	const struct tiff *tiff, uint64_t at, struct metadata_exif *exif, uint64_t *next)
{
	struct tiff_entry entry;
	struct tiff_ifd ifd;

	*next = 0;
	if (has_no_entries(tiff, at))
		return true;
	if (!tiff_read_ifd(tiff, at, &ifd))
		return false;
	for (uint64_t i = 0; i < ifd.count; i++) {
		if (!tiff_read_entry(tiff, &ifd, i, &entry) || entry.data > tiff->len ||
			entry.len > tiff->len - entry.data)
			return false;
		note_unknown(tiff, &entry, exif);
	}
	*next = ifd.next;
	return true;
}

/* The same for one that a tag of another points to, if it does. */
static bool is_inner(const struct tiff *tiff, uint64_t at, uint16_t tag, struct metadata_exif *exif,
	uint64_t *inner)
{
	struct tiff_entry entry;
	uint64_t next;

	*inner = 0;
	return !at || !tiff_find(tiff, at, tag, &entry) ||
	       (tiff_read_value(tiff, &entry, 0, inner) && is_directory(tiff, *inner, exif, &next));
}

static uint64_t value_of(const struct tiff *tiff, uint64_t at, uint16_t tag)
{
	struct tiff_entry entry;
	uint64_t value = 0;

	return tiff_find(tiff, at, tag, &entry) && tiff_read_value(tiff, &entry, 0, &value) ? value
											    : 0;
}

bool metadata_is_exif(struct view *view, uint64_t at, uint64_t end, struct metadata_exif *exif)
{
	uint64_t second, own, inner, after, place, len;
	struct tiff tiff;

	*exif = (struct metadata_exif){ 0 };
	if (!tiff_open(&tiff, view, at, end - at) ||
		!is_directory(&tiff, tiff.first_ifd, exif, &second) ||
		!is_inner(&tiff, tiff.first_ifd, TAG_EXIF_IFD, exif, &own) ||
		!is_inner(&tiff, tiff.first_ifd, TAG_GPS_IFD, exif, &inner) ||
		!is_inner(&tiff, own, TAG_INTEROP_IFD, exif, &inner))
		return false;
	if (!second)
		return true;
	if (!is_directory(&tiff, second, exif, &after))
		return false;
	place = value_of(&tiff, second, TAG_THUMBNAIL);
	len = value_of(&tiff, second, TAG_THUMBNAIL_LEN);
	if (!place || !len)
		return true;
	if (place > tiff.len || len > tiff.len - place)
		return false;
	exif->thumbnail = at + place;
	exif->len = len;
	return true;
}
