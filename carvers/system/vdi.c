/*
 * VirtualBox's disk images (VirtualBox, src/VBox/Storage/VDICore.h).
 *
 *	text, signature, version, header; a map of blocks (4 bytes each); blocks in the order in
 *	which they were written
 *
 * The header has the number of stored blocks, which gives the length; the map has to contain that
 * many, all with possible numbers. The blocks themselves cannot be verified: unverified. Files inside are found
 * where they start at a sector of the image, as one that overwrote a block does.
 */
#include <inttypes.h>
#include <string.h>

#include "bytes.h"
#include "foreign.h"
#include "title.h"
#include "walk.h"

/* Counts the map's entries that are stored blocks; false when an entry is impossible. */
static bool count_stored(
	struct view *view, uint64_t map, uint32_t blocks, uint32_t stored, uint32_t *count)
{
	*count = 0;
	for (uint64_t i = 0; i < blocks; i++) {
		const uint8_t *p = view_peek(view, map + 4 * i, 4);

		if (!p || (le32(p) >= stored && le32(p) < 0xfffffffe))
			return false;
		*count += le32(p) < 0xfffffffe;
	}
	return true;
}

static enum verdict check(struct view *view, struct finding *finding)
{
	const uint8_t *p = view_peek(view, 0, 512);
	uint32_t map, data, block_len, extra_len, blocks, stored, count;
	uint64_t end;

	if (!p || le32(p + 64) != 0xbeda107f || le16(p + 70) != 1)
		return verdict_because(CARVE_REJECT, finding, "no signature and version at 64");
	map = le32(p + 0x154);
	data = le32(p + 0x158);
	block_len = le32(p + 0x178);
	extra_len = le32(p + 0x17c);
	blocks = le32(p + 0x180);
	stored = le32(p + 0x184);
	if (map < 0x190 || data < map || (uint64_t)map + 4 * (uint64_t)blocks > data ||
		block_len < 4096 || (block_len & (block_len - 1)) || extra_len > block_len ||
		stored > blocks || le32(p + 0x4c) - 1 > 3)
		return verdict_because(CARVE_REJECT, finding, "impossible sizes at 340");
	p = view_peek(view, 0x54, 256);
	if (p)
		finding_set_title(finding, p, strnlen((const char *)p, 256));
	end = data + (uint64_t)stored * ((uint64_t)block_len + extra_len);
	if (!count_stored(view, map, blocks, stored, &count) || count != stored)
		return foreign_cut(view, finding, 0x190, end > view_size(view) ? end : data,
			"no map of blocks", map);
	if (end > view_size(view))
		return walk_cut(view, finding, end, foreign_start(view, data, end));
	view_holds(view, data, end);
	finding->length = end;
	return verdict_because(CARVE_UNVERIFIED, finding,
		"the map agrees, but the blocks up to %" PRIu64 " cannot be verified", end);
}

const struct carver vdi_carver = {
	.name = "vdi",
	.summary = "VirtualBox's VDI disk images, by their map of blocks",
	.check = check,
};
