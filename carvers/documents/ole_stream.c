/* Reads a compound file's streams, whose sectors may be anywhere. */
#include "ole.h"

#include <string.h>

/* The file offset of the stream's sector number `index`; *len: bytes of it. 0: none. */
static uint64_t find_sector(
	struct ole *ole, struct ole_position *position, uint64_t index, size_t *len)
{
	bool small = position->entry->len < ole->cutoff;
	const struct ole_table *table = small ? &ole->mini : &ole->fat;
	uint64_t in;

	if (!position->started) {
		position->started = true;
		position->sector = position->entry->start;
		position->index = 0;
	}
	if (index < position->index)
		return 0;
	while (position->sector < table->count && position->index < index) {
		position->sector = table->next[position->sector];
		position->index++;
	}
	if (position->sector >= table->count)
		return 0;
	*len = (size_t)1 << (small ? OLE_MINI_SHIFT : ole->shift);
	if (!small)
		return ole_sector_at(ole, position->sector);
	in = (uint64_t)position->sector << OLE_MINI_SHIFT;
	if (in >> ole->shift >= ole->mini_stream_count)
		return 0;
	return ole_sector_at(ole, ole->mini_stream[in >> ole->shift]) +
	       (in & (((uint64_t)1 << ole->shift) - 1));
}

uint64_t ole_file_offset(struct ole *ole, struct ole_position *position, uint64_t offset)
{
	unsigned shift = position->entry->len < ole->cutoff ? OLE_MINI_SHIFT : ole->shift;
	size_t len;
	uint64_t at = find_sector(ole, position, offset >> shift, &len);

	return at ? at + (offset & (len - 1)) : 0;
}

bool ole_read(
	struct ole *ole, struct ole_position *position, uint64_t offset, uint8_t *bytes, size_t len)
{
	unsigned shift = position->entry->len < ole->cutoff ? OLE_MINI_SHIFT : ole->shift;

	if (offset > position->entry->len || len > position->entry->len - offset)
		return false;
	while (len) {
		size_t in = offset & ((1u << shift) - 1), part_len;
		uint64_t at = find_sector(ole, position, offset >> shift, &part_len);
		const uint8_t *p;

		if (!at)
			return false;
		part_len -= in;
		if (part_len > len)
			part_len = len;
		p = view_peek(ole->view, at + in, part_len);
		if (!p)
			return false;
		memcpy(bytes, p, part_len);
		bytes += part_len;
		offset += part_len;
		len -= part_len;
	}
	return true;
}
