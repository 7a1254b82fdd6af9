/*
 * A directory (TIFF 6.0, section 2; BigTIFF in brackets): the number of entries in 2 [8] bytes,
 * entries, the offset of the next directory in 4 [8]. An entry: tag and type in 2 bytes each, the
 * number of values in 4 [8], and the values, or their offset if they take more than 4 [8] bytes.
 */
#include "tiff_ifd.h"

#include "bytes.h"

#define ENTRIES_MAX 4096

static uint16_t u16(const struct tiff *tiff, const uint8_t *p)
{
	return tiff->big_endian ? be16(p) : le16(p);
}

uint32_t tiff_u32(const struct tiff *tiff, const uint8_t *p)
{
	return tiff->big_endian ? be32(p) : le32(p);
}

static uint64_t u64(const struct tiff *tiff, const uint8_t *p)
{
	return tiff->big_endian ? be64(p) : le64(p);
}

/* A field that is wider in BigTIFF. */
static uint64_t offset_at(const struct tiff *tiff, const uint8_t *p)
{
	return tiff->wide ? u64(tiff, p) : tiff_u32(tiff, p);
}

bool tiff_open_any(struct tiff *tiff, struct view *view, uint64_t base, uint64_t len)
{
	const uint8_t *p;

	*tiff = (struct tiff){ .view = view, .base = base, .len = len };
	p = tiff_peek(tiff, 0, 8);
	if (!p || p[0] != p[1] || (p[0] != 'I' && p[0] != 'M'))
		return false;
	tiff->big_endian = p[0] == 'M';
	tiff->magic = u16(tiff, p + 2);
	tiff->first_ifd = tiff_u32(tiff, p + 4);
	if (tiff->magic != TIFF_MAGIC_BIG)
		return true;
	tiff->wide = true;
	p = tiff_peek(tiff, 4, 12);
	if (!p || u16(tiff, p) != 8 || u16(tiff, p + 2) != 0)
		return false;
	tiff->first_ifd = u64(tiff, p + 4);
	return true;
}

bool tiff_open(struct tiff *tiff, struct view *view, uint64_t base, uint64_t len)
{
	return tiff_open_any(tiff, view, base, len) && tiff->magic == TIFF_MAGIC;
}

const uint8_t *tiff_peek(const struct tiff *tiff, uint64_t offset, size_t len)
{
	if (offset > tiff->len || len > tiff->len - offset)
		return NULL;
	return view_peek(tiff->view, tiff->base + offset, len);
}

/* Bytes of a value of this type, 0 for an unknown one. */
static uint8_t type_len(uint16_t type)
{
	static const uint8_t lens[] = { 0, 1, 1, 2, 4, 8, 1, 1, 2, 4, 8, 4, 8, 4, 0, 0, 8, 8, 8 };

	return type < sizeof(lens) ? lens[type] : 0;
}

bool tiff_read_ifd(const struct tiff *tiff, uint64_t at, struct tiff_ifd *ifd)
{
	size_t count_len = tiff->wide ? 8 : 2, next_len = tiff->wide ? 8 : 4;
	const uint8_t *p = tiff_peek(tiff, at, count_len);

	*ifd = (struct tiff_ifd){ .at = at };
	if (!p)
		return false;
	ifd->count = tiff->wide ? u64(tiff, p) : u16(tiff, p);
	if (!ifd->count || ifd->count > ENTRIES_MAX)
		return false;
	ifd->end = at + count_len + ifd->count * (tiff->wide ? 20 : 12);
	if (ifd->end > tiff->len)
		return false;
	p = tiff_peek(tiff, ifd->end, next_len);
	ifd->next = p ? offset_at(tiff, p) : 0;
	ifd->end += next_len;
	return true;
}

bool tiff_read_entry(const struct tiff *tiff, const struct tiff_ifd *ifd, uint64_t index,
	struct tiff_entry *entry)
{
	size_t entry_len = tiff->wide ? 20 : 12, inside_len = tiff->wide ? 8 : 4;
	uint64_t at = ifd->at + (tiff->wide ? 8 : 2) + index * entry_len;
	const uint8_t *p = tiff_peek(tiff, at, entry_len);
	uint8_t value_len;

	if (!p)
		return false;
	entry->tag = u16(tiff, p);
	entry->type = u16(tiff, p + 2);
	entry->count = offset_at(tiff, p + 4);
	value_len = type_len(entry->type);
	entry->len = value_len && entry->count < UINT64_MAX / 8 ? entry->count * value_len : 0;
	entry->apart = entry->len > inside_len;
	entry->data =
		entry->apart ? offset_at(tiff, p + 4 + inside_len) : at + entry_len - inside_len;
	return true;
}

bool tiff_read_value(
	const struct tiff *tiff, const struct tiff_entry *entry, uint64_t index, uint64_t *value)
{
	uint8_t len = type_len(entry->type);
	const uint8_t *p;

	if (index >= entry->count || !entry->len || entry->type == 2 || entry->type == 5 ||
		(entry->type >= 10 && entry->type <= 12))
		return false;
	if (entry->data > tiff->len || index > tiff->len)
		return false;
	p = tiff_peek(tiff, entry->data + index * len, len);
	if (!p)
		return false;
	if (len == 1)
		*value = p[0];
	else if (len == 2)
		*value = u16(tiff, p);
	else
		*value = len == 4 ? tiff_u32(tiff, p) : u64(tiff, p);
	return true;
}

bool tiff_find(const struct tiff *tiff, uint64_t ifd, uint16_t tag, struct tiff_entry *entry)
{
	struct tiff_ifd directory;

	if (!tiff_read_ifd(tiff, ifd, &directory))
		return false;
	for (uint64_t i = 0; i < directory.count; i++) {
		if (!tiff_read_entry(tiff, &directory, i, entry))
			return false;
		if (entry->tag == tag)
			return true;
	}
	return false;
}
