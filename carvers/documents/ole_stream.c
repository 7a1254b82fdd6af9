/* Reading a compound file's streams, whose sectors may stand anywhere. */
#include "ole.h"

#include <string.h>

/* Where the stream's sector number `index` is in the file; *len: bytes of it. 0: nowhere. */
static uint64_t find_sector(struct ole *ole, struct ole_place *place, uint64_t index, size_t *len)
{
	bool small = place->entry->len < ole->cutoff;
	const struct ole_table *table = small ? &ole->mini : &ole->fat;
	uint64_t in;

	if (!place->started) {
		place->started = true;
		place->sector = place->entry->start;
		place->index = 0;
	}
	if (index < place->index)
		return 0;
	while (place->sector < table->count && place->index < index) {
		place->sector = table->next[place->sector];
		place->index++;
	}
	if (place->sector >= table->count)
		return 0;
	*len = (size_t)1 << (small ? OLE_MINI_SHIFT : ole->shift);
	if (!small)
		return ole_sector_at(ole, place->sector);
	in = (uint64_t)place->sector << OLE_MINI_SHIFT;
	if (in >> ole->shift >= ole->mini_stream_count)
		return 0;
	return ole_sector_at(ole, ole->mini_stream[in >> ole->shift]) +
	       (in & (((uint64_t)1 << ole->shift) - 1));
}

bool ole_read(struct ole *ole, struct ole_place *place, uint64_t offset, uint8_t *bytes, size_t len)
{
	unsigned shift = place->entry->len < ole->cutoff ? OLE_MINI_SHIFT : ole->shift;

	if (offset > place->entry->len || len > place->entry->len - offset)
		return false;
	while (len) {
		size_t in = offset & ((1u << shift) - 1), part;
		uint64_t at = find_sector(ole, place, offset >> shift, &part);
		const uint8_t *p;

		if (!at)
			return false;
		part -= in;
		if (part > len)
			part = len;
		p = view_peek(ole->view, at + in, part);
		if (!p)
			return false;
		memcpy(bytes, p, part);
		bytes += part;
		offset += part;
		len -= part;
	}
	return true;
}
