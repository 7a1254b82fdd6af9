/*
 * A compound file's header lists the sectors of its FAT, each of which marks itself in the FAT, and where
 * the directory begins, with the root entry. Programs write both last, so they show where the
 * file's end is. They look the same in all such files but for their places, so which of several is
 * this file's the check of all chains decides.
 */
#include "ole.h"

#include <string.h>

#include "bytes.h"

#define HEADER_LEN 512
#define HEADER_TABLES 109
#define SECTORS_MAX ((uint32_t)1 << 22)

/* The first letters of the root entry's name, as nearly all programs write it. */
#define ROOT "R\0o\0o\0t"
#define ROOT_LEN 8

/* The words of the map. */
enum { WORD_MARK, WORD_ROOT };

static bool expect_mark(struct carve_table *table, unsigned shift, const uint32_t *tables,
	uint32_t table_count, uint32_t number)
{
	struct carve_anchor mark = { .len = 4, .word = WORD_MARK, .bytes = "\xfd\xff\xff\xff" };
	uint32_t per_sector = (uint32_t)1 << (shift - 2), part = tables[number] / per_sector;

	if (tables[number] > SECTORS_MAX || part >= table_count)
		return false;
	mark.offset = ((uint64_t)tables[part] + 1) << shift;
	mark.offset += 4 * (uint64_t)(tables[number] % per_sector);
	return table->add(table, &mark);
}

static bool expect_root(struct carve_table *table, unsigned shift, uint32_t start)
{
	struct carve_anchor root = { .len = ROOT_LEN, .word = WORD_ROOT };

	if (start > SECTORS_MAX)
		return false;
	memcpy(root.bytes, ROOT, ROOT_LEN);
	root.offset = ((uint64_t)start + 1) << shift;
	return table->add(table, &root);
}

static bool read_head(struct view *view, struct carve_table *table)
{
	const uint8_t *p = view_peek(view, 0, HEADER_LEN);
	uint32_t tables[HEADER_TABLES], count, directory;
	unsigned shift;

	if (!p)
		return false;
	shift = le16(p + 30);
	count = le32(p + 44);
	directory = le32(p + 48);
	if ((shift != 9 && shift != 12) || !count)
		return false;
	if (count > HEADER_TABLES)
		count = HEADER_TABLES;
	for (uint32_t i = 0; i < count; i++)
		tables[i] = le32(p + 76 + 4 * i);
	if (!expect_root(table, shift, directory))
		return false;
	for (uint32_t i = 0; i < count; i++)
		if (!expect_mark(table, shift, tables, count, i))
			return false;
	return true;
}

#define FAT_PART ((uint64_t)512)
#define NEAR 32      /* sectors: where streams grow in turns, as Outlook's */
#define ROOT_HEAD 68 /* bytes of an entry up to its type */

/* A root entry's name has an even length, and its type is 5. */
static bool is_root(struct view *view, uint64_t at)
{
	const uint8_t *p = view_peek(view, at, ROOT_HEAD);

	return p && p[66] == 5 && p[65] == 0 && p[64] % 2 == 0 && p[64] <= 64;
}

/* Whether most of the sectors that have a successor in a part of a FAT are followed by the next one or one nearby, and none by the
 * same as another. */
static bool is_fat(struct view *view, uint64_t from)
{
	const uint8_t *p = view_peek(view, from, FAT_PART);
	uint32_t seen[FAT_PART / 4];
	unsigned count = 0, near = 0;

	for (uint32_t i = 0; p && i < FAT_PART / 4; i++) {
		uint32_t entry = le32(p + 4 * i);

		if (entry > OLE_LAST_SECTOR && entry < 0xfffffffc)
			return false;
		if (entry > OLE_LAST_SECTOR)
			continue;
		if (entry > SECTORS_MAX)
			return false;
		for (unsigned k = 0; k < count; k++)
			if (entry && seen[k] == entry)
				return false;
		seen[count++] = entry;
		near += (entry - i + NEAR) % (FAT_PART / 4) <= 2 * NEAR;
	}
	return p && near >= count - near;
}

static bool fits(struct view *view, uint64_t at, const struct carve_anchor *anchor)
{
	uint64_t inside = anchor->offset % FAT_PART;

	return anchor->word == WORD_ROOT ? is_root(view, at)
					 : at >= inside && is_fat(view, at - inside);
}

const struct carve_map ole_map = {
	.words = { { 4, false, "\xfd\xff\xff\xff" }, { ROOT_LEN, false, ROOT } },
	.common = true,
	.fits = fits,
	.head = read_head,
};
