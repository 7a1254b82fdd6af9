/*
 * The directories of a TIFF file: the chain that starts in its head, one for each page, and those
 * that tags point to: further pictures (SubIFDs), EXIF, GPS. Each is claimed with its values
 * outside the directory, maker notes among them. Pictures that a tag leads to, and those among
 * Photoshop's resources, are named as embedded. A tag may point anywhere, so the bytes that are
 * read as directories are bounded by where the file's parts end, which ends any loop.
 */
#include "tiff.h"

#include <stdlib.h>
#include <string.h>

#include "image_resources.h"
#include "walk.h"

#define EMPTY_IFD_LEN 6

enum {
	TAG_HEIGHT = 257,
	TAG_PHOTOMETRIC = 262,
	TAG_FILL_ORDER = 266,
	TAG_MAKE = 271,
	TAG_ROWS = 278,
	TAG_RAW_DATA = 280, /* Panasonic's; elsewhere a lowest sample value, which is never this
                               large */
	TAG_TILE_HEIGHT = 323,
	TAG_TILES = 324,
	TAG_TILE_LENS = 325,
	TAG_SUBFILES = 330,
	TAG_JPEG_TABLES = 347,
	TAG_JPEG = 513,
	TAG_JPEG_LEN = 514,
	TAG_RESOURCES = 34377,
	TAG_EXIF = 34665,
	TAG_GPS = 34853,
	TAG_INTEROPERABILITY = 40965,
	TAG_DNG_VERSION = 50706,
};

#define MAGIC_PANASONIC 0x55
#define IFD_NEAR 4096 /* most directories are shorter */
#define TYPE_TEXT 2
#define SHORT_VALUE 32  /* bytes: too few for tiff_check_stored */
#define STRETCH_WORK 64 /* units (view_work) to sort a stretch */
#define PHOTOMETRIC_CFA 32803
#define PHOTOMETRIC_LINEAR_RAW 34892

/* Strips mostly follow each other, and so become one stretch. */
static void add_stretch(struct tiff_walk *walk, uint64_t at, uint64_t end)
{
	struct stretches *stretches = &walk->stretches;
	struct stretch *last = stretches->count ? &stretches->list[stretches->count - 1] : NULL;

	if (last && last->end == at)
		last->end = end;
	else
		stretches_add(walk->tiff.view, stretches, TIFF_STRETCHES, at, end);
}

void tiff_claim(struct tiff_walk *walk, uint64_t offset, uint64_t len)
{
	if (!len)
		return;
	if (offset > INT64_MAX || len > INT64_MAX) {
		walk->odd = "an impossible offset";
		return;
	}
	if (offset + len > walk->end)
		walk->end = offset + len;
	walk->covered += len;
	add_stretch(walk, offset, offset + len);
}

void tiff_name_gaps(struct tiff_walk *walk)
{
	if (!walk->stretches.count || walk->stretches.count == TIFF_STRETCHES)
		view_unverified(walk->tiff.view, walk->tiff.wide ? 16 : 8, walk->end);
	else if (view_work(walk->tiff.view, walk->stretches.count * STRETCH_WORK))
		stretches_name_gaps(walk->tiff.view, &walk->stretches, 0);
}

void tiff_walk_free(struct tiff_walk *walk)
{
	free(walk->stretches.list);
	free(walk->subfiles);
}

void tiff_confirm(struct tiff_walk *walk, uint64_t end)
{
	if (end > walk->confirmed)
		walk->confirmed = end;
}

void tiff_note_bad(struct tiff_walk *walk, uint64_t at, const char *problem)
{
	if (at >= walk->bad)
		return;
	walk->bad = at;
	walk->problem = problem;
}

/* Counts len bytes of directories, which end at `end` at the latest. False when so many are read only where they overlap: the
 * bound is what the file is known to have, whatever follows it. */
static bool may_read(struct tiff_walk *walk, uint64_t end, uint64_t len)
{
	uint64_t most = end > walk->end ? end : walk->end;

	most = (most < walk->size ? most : walk->size) + VIEW_MAX_PEEK;
	if (len > most || walk->read > most - len) {
		walk->odd = "directories that overlap";
		return false;
	}
	walk->read += len;
	return true;
}

static bool add_subfile(struct tiff_walk *walk, uint64_t at)
{
	uint64_t *subfiles;

	if (walk->subfile_count == TIFF_SUBFILES) {
		walk->odd = "too many subfiles";
		return false;
	}
	subfiles = walk_list_grow(walk->tiff.view, walk->subfiles, walk->subfile_count,
		&walk->subfile_room, TIFF_SUBFILES, sizeof(*subfiles));
	if (!subfiles)
		return false;
	walk->subfiles = subfiles;
	walk->subfiles[walk->subfile_count++] = at;
	return true;
}

static void add_subfiles(struct tiff_walk *walk, const struct tiff_entry *entry)
{
	uint64_t at;

	for (uint64_t i = 0; i < entry->count && i < TIFF_SUBFILES; i++) {
		if (!tiff_read_value(&walk->tiff, entry, i, &at) || !at || !add_subfile(walk, at))
			return;
	}
}

/* Names the pictures in an entry's values (view_embedded), and texts (XMP). */
static void name_embedded(struct tiff_walk *walk, const struct tiff_entry *entry)
{
	const uint8_t *p;

	if (entry->data > walk->size || entry->len > walk->size - entry->data)
		return;
	if (entry->tag == TAG_RESOURCES && !walk->resources_named) {
		walk->resources_named = true;
		image_resources_name(walk->tiff.view, entry->data, entry->data + entry->len);
	}
	p = tiff_peek(&walk->tiff, entry->data, 3);
	if (p && memcmp(p, "\xff\xd8\xff", 3) == 0)
		view_embedded(walk->tiff.view, entry->data);
	if (p && p[0] == '<')
		view_holds(walk->tiff.view, entry->data, entry->data + entry->len);
}

static void read_make(struct tiff_walk *walk, const struct tiff_entry *entry)
{
	size_t len =
		entry->len < sizeof(walk->make) - 1 ? (size_t)entry->len : sizeof(walk->make) - 1;
	const uint8_t *p = tiff_peek(&walk->tiff, entry->data, len);

	if (p)
		memcpy(walk->make, p, len);
}

/* The field of a page for a tag's value, or NULL. */
static uint64_t *field(struct tiff_page *page, uint16_t tag)
{
	switch (tag) {
	case TIFF_TAG_WIDTH:
		return &page->width;
	case TAG_HEIGHT:
		return &page->height;
	case TIFF_TAG_BITS:
		return &page->bits;
	case TIFF_TAG_COMPRESSION:
		return &page->compression;
	case TAG_PHOTOMETRIC:
		return &page->photometric;
	case TAG_FILL_ORDER:
		return &page->fill_order;
	case TIFF_TAG_SAMPLES:
		return &page->samples;
	case TAG_ROWS:
	case TAG_TILE_HEIGHT:
		return &page->rows;
	case TIFF_TAG_PLANAR:
		return &page->planar;
	case TIFF_TAG_TILE_WIDTH:
		return &page->tile_width;
	case TAG_JPEG:
		return &page->jpeg;
	case TAG_JPEG_LEN:
		return &page->jpeg_len;
	}
	return NULL;
}

static void read_entry(
	struct tiff_walk *walk, struct tiff_page *page, const struct tiff_entry *entry)
{
	uint64_t *value = field(page, entry->tag), first = 0;

	if (value && tiff_read_value(&walk->tiff, entry, 0, &first))
		*value = first;
	switch (entry->tag) {
	case TIFF_TAG_BITS:
		/* If samples differ in size, their total is unknown. */
		for (uint64_t i = 1; i < entry->count && i < 16; i++)
			if (tiff_read_value(&walk->tiff, entry, i, &first) && first != page->bits)
				page->bits = 0;
		break;
	case TIFF_TAG_STRIPS:
	case TAG_TILES:
		page->offsets = *entry;
		break;
	case TIFF_TAG_STRIP_LENS:
	case TAG_TILE_LENS:
		page->lens = *entry;
		break;
	case TAG_SUBFILES:
	case TAG_EXIF:
	case TAG_GPS:
	case TAG_INTEROPERABILITY:
		add_subfiles(walk, entry);
		break;
	case TAG_RAW_DATA:
		if (walk->tiff.magic == MAGIC_PANASONIC)
			tiff_read_value(&walk->tiff, entry, 0, &page->raw);
		break;
	case TAG_JPEG_TABLES:
		page->tables = entry->data;
		page->tables_end = entry->data + entry->len;
		break;
	case TAG_MAKE:
		read_make(walk, entry);
		break;
	case TAG_DNG_VERSION:
		walk->dng = true;
		break;
	}
}

/* Reads the entries of a directory into page. False when more than a few have an undefined type: by
 * chance a type is defined once in a few thousand times. */
static bool read_entries(struct tiff_walk *walk, const struct tiff_ifd *ifd, struct tiff_page *page)
{
	uint64_t unknown = 0;
	struct tiff_entry entry;

	*page = (struct tiff_page){
		.bits = 1, .samples = 1, .compression = TIFF_PLAIN, .planar = 1, .rows = UINT32_MAX
	};
	for (uint64_t i = 0; i < ifd->count; i++) {
		if (!tiff_read_entry(&walk->tiff, ifd, i, &entry))
			return false;
		if (!entry.len && entry.count) {
			unknown++;
			continue;
		}
		if (entry.apart) {
			tiff_claim(walk, entry.data, entry.len);
			name_embedded(walk, &entry);
			if (entry.data < INT64_MAX && entry.data + entry.len > walk->value_end) {
				walk->value = entry.data;
				walk->value_end = entry.data + entry.len;
				walk->value_is_text = entry.type == TYPE_TEXT;
			}
		}
		read_entry(walk, page, &entry);
	}
	return unknown <= 1 + ifd->count / 16;
}

static bool is_sensor(const struct tiff_walk *walk, const struct tiff_page *page)
{
	bool camera = walk->tiff.magic != TIFF_MAGIC && walk->tiff.magic != TIFF_MAGIC_BIG;

	return camera || page->photometric == PHOTOMETRIC_CFA ||
	       page->photometric == PHOTOMETRIC_LINEAR_RAW || page->compression == TIFF_NIKON ||
	       page->compression == TIFF_SONY || page->compression == TIFF_PENTAX ||
	       page->compression == TIFF_SAMSUNG || page->compression == TIFF_SAMSUNG_2;
}

/* How far a directory is confirmed: its last field points to the next one, and means nothing if
 * there is none. */
static uint64_t confirmed_end(const struct tiff *tiff, const struct tiff_ifd *ifd)
{
	struct tiff_ifd next;

	return !ifd->next || tiff_read_ifd(tiff, ifd->next, &next)
		       ? ifd->end
		       : ifd->end - (tiff->wide ? 8 : 4);
}

/* Canon's directory of the sensor's data has no size, but one strip: a JPEG. */
static void read_bare_jpeg(struct tiff_walk *walk, const struct tiff_page *page)
{
	uint64_t place, len;

	if (page->compression != TIFF_OLD_JPEG || page->offsets.count != 1 ||
		page->lens.count != 1 || !tiff_read_value(&walk->tiff, &page->offsets, 0, &place) ||
		!tiff_read_value(&walk->tiff, &page->lens, 0, &len) || !len)
		return;
	tiff_claim(walk, place, len);
	tiff_check_jpeg(walk, place, len);
}

/* Reads the directory at `at` and all that it points to; *next (may be NULL) is the directory after
 * it. False when it is invalid. */
static bool read_directory(struct tiff_walk *walk, uint64_t at, uint64_t *next)
{
	struct tiff_ifd ifd;
	struct tiff_page page;
	size_t subfiles = walk->subfile_count;
	uint64_t end;

	if (!tiff_read_ifd(&walk->tiff, at, &ifd) || !may_read(walk, ifd.end, ifd.end - at) ||
		!read_entries(walk, &ifd, &page))
		return false;
	end = next ? confirmed_end(&walk->tiff, &ifd) : ifd.end;
	tiff_claim(walk, at, end - at);
	tiff_confirm(walk, end);
	if (next)
		*next = ifd.next;
	page.sensor = is_sensor(walk, &page);
	walk->raw = walk->raw || page.sensor;
	if ((page.offsets.count && page.width && page.height) || page.raw ||
		(page.offsets.count && walk->tiff.magic == MAGIC_PANASONIC)) {
		walk->pages++;
		if (may_read(walk, 0, page.offsets.len) && may_read(walk, 0, page.lens.len))
			tiff_check_data(walk, &page);
		/* Tables that lead to strips. */
		tiff_confirm(walk, page.offsets.data + page.offsets.len);
		tiff_confirm(walk, page.lens.data + page.lens.len);
	}
	if (at == walk->tiff.first_ifd)
		walk->first_has_picture =
			walk->pages ||
			(walk->subfile_count > subfiles && page.width && page.height) ||
			(page.jpeg && walk->subfile_count > subfiles);
	else if (!page.width && !page.height)
		read_bare_jpeg(walk, &page);
	if (page.jpeg && page.jpeg_len) {
		tiff_claim(walk, page.jpeg, page.jpeg_len);
		tiff_check_jpeg(walk, page.jpeg, page.jpeg_len);
	}
	return true;
}

bool tiff_unread_ifd(struct tiff_walk *walk, uint64_t at)
{
	uint64_t after;

	return at < walk->size && walk_unread(walk->tiff.view, at, at + IFD_NEAR, &after);
}

/* A directory without an entry, as OpenImageIO writes it for EXIF: two numbers that are 0, and then something else of the
 * file. */
static bool is_empty_directory(struct tiff_walk *walk, uint64_t at)
{
	const uint8_t *p = walk->tiff.wide ? NULL : tiff_peek(&walk->tiff, at, EMPTY_IFD_LEN + 1);

	if (!p || memcmp(p, "\0\0\0\0\0", EMPTY_IFD_LEN) != 0 || !p[EMPTY_IFD_LEN] ||
		at + EMPTY_IFD_LEN >= walk->end)
		return false;
	tiff_claim(walk, at, EMPTY_IFD_LEN);
	return true;
}

/* Notes a directory that is not where it should be. */
static void note_missing(struct tiff_walk *walk, uint64_t at)
{
	if (!walk->odd && tiff_unread_ifd(walk, at))
		walk->odd = "a directory that can't be read";
	else if (!walk->odd)
		tiff_note_bad(walk, at,
			at < walk->size ? "no directory" : "the image ends before the directory");
}

/* Notices a chain of directories that leads back into itself, before it was followed three times (Brent's algorithm): it
 * compares each directory with one before it, which it moves ahead ever more rarely. */
struct chain {
	uint64_t seen, steps, until;
};

static bool leads_back(struct chain *chain, uint64_t at)
{
	if (at == chain->seen)
		return true;
	if (chain->steps++ == chain->until) {
		chain->seen = at;
		chain->steps = 0;
		chain->until = 2 * chain->until + 1;
	}
	return false;
}

/* Whether the last value, if it is short, is one for certain: a text with its end, or bytes of a cluster in which others
 * are confirmed. Of longer ones, tiff_check_stored shows it. A zero ends each text. */
static bool is_value_shown(struct tiff_walk *walk)
{
	uint64_t len = walk->end - walk->value;
	const uint8_t *p =
		walk->value_is_text ? view_peek(walk->tiff.view, walk->end - 1, 1) : NULL;

	if (walk->value_is_text && (!p || *p))
		return false;
	if (len > SHORT_VALUE || walk->confirmed > (walk->end - 1) / USUAL_CLUSTER * USUAL_CLUSTER)
		return true;
	p = walk->value_is_text ? view_peek(walk->tiff.view, walk->value, (size_t)len) : NULL;
	if (!p || p[len - 1])
		return false;
	for (uint64_t i = 0; i + 1 < len && p[i]; i++)
		if (p[i] < ' ')
			return false;
	return p[0];
}

bool tiff_walk(struct tiff_walk *walk, struct view *view)
{
	struct chain chain = { 0 };
	uint64_t at, next = 0;

	walk->size = view_size(view);
	walk->bad = UINT64_MAX;
	walk->to_check = walk->size;
	walk->to_unpack = 1u << 30;
	if (!tiff_open_any(&walk->tiff, view, 0, walk->size))
		return false;
	at = walk->tiff.first_ifd;
	if (at < 8 || !read_directory(walk, at, &next) || !walk->first_has_picture)
		return false;
	tiff_claim(walk, 0, walk->tiff.wide ? 16 : 8);
	chain.seen = at;
	for (at = next; at && !walk->odd; at = next) {
		next = 0;
		if (leads_back(&chain, at)) {
			walk->odd = "directories that overlap";
			break;
		}
		if (!read_directory(walk, at, &next))
			note_missing(walk, at);
	}
	for (size_t i = 0; i < walk->subfile_count && !walk->odd; i++)
		if (!read_directory(walk, walk->subfiles[i], NULL) &&
			!is_empty_directory(walk, walk->subfiles[i]))
			note_missing(walk, walk->subfiles[i]);
	tiff_finish_data(walk);
	if (walk->value_end == walk->end && walk->end <= walk->size && is_value_shown(walk))
		tiff_check_stored(walk, walk->value, walk->end, 1, 1);
	return true;
}
