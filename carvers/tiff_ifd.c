#include "tiff_ifd.h"

#include <string.h>

#include "bytes.h"

#define ENTRY_LEN 12
#define ENTRIES_MAX 1000

uint16_t tiff_u16(const struct tiff *tiff, const uint8_t *p)
{
	return tiff->big_endian ? be16(p) : le16(p);
}

uint32_t tiff_u32(const struct tiff *tiff, const uint8_t *p)
{
	return tiff->big_endian ? be32(p) : le32(p);
}

bool tiff_open(struct tiff *tiff, struct view *view, uint64_t base, uint64_t len)
{
	const uint8_t *p;

	*tiff = (struct tiff){ .view = view, .base = base, .len = len };
	p = tiff_peek(tiff, 0, 8);
	if (!p)
		return false;
	tiff->big_endian = p[0] == 'M';
	tiff->first_ifd = tiff_u32(tiff, p + 4);
	return memcmp(p, "II*\0", 4) == 0 || memcmp(p, "MM\0*", 4) == 0;
}

const uint8_t *tiff_peek(const struct tiff *tiff, uint64_t offset, size_t len)
{
	if (offset > tiff->len || len > tiff->len - offset)
		return NULL;
	return view_peek(tiff->view, tiff->base + offset, len);
}

static uint32_t value_len(uint16_t type, uint32_t count)
{
	static const uint8_t sizes[] = { 0, 1, 1, 2, 4, 8, 1, 1, 2, 4, 8, 4, 8, 4 };
	uint64_t len = type < sizeof(sizes) ? (uint64_t)sizes[type] * count : 0;

	return len <= UINT32_MAX ? (uint32_t)len : 0;
}

bool tiff_find(const struct tiff *tiff, uint32_t ifd, uint16_t tag, struct tiff_entry *entry)
{
	const uint8_t *p = tiff_peek(tiff, ifd, 2);
	size_t count = p ? tiff_u16(tiff, p) : 0;

	p = tiff_peek(
		tiff, (uint64_t)ifd + 2, (count < ENTRIES_MAX ? count : ENTRIES_MAX) * ENTRY_LEN);
	if (!p)
		return false;
	for (size_t i = 0; i < count && i < ENTRIES_MAX; i++, p += ENTRY_LEN) {
		if (tiff_u16(tiff, p) != tag)
			continue;
		entry->tag = tag;
		entry->type = tiff_u16(tiff, p + 2);
		entry->count = tiff_u32(tiff, p + 4);
		entry->len = value_len(entry->type, entry->count);
		entry->data = entry->len > 4 ? tiff_u32(tiff, p + 8)
					     : ifd + 2 + (uint32_t)(i * ENTRY_LEN) + 8;
		return true;
	}
	return false;
}
