/*
 * Parallels' virtual disks (QEMU, docs/interop/parallels.txt).
 *
 *	header: 'WithoutFreeSpace' (places in sectors) or 'WithouFreSpacExt' (in clusters), version 2, heads, cylinders, sectors a
 *	        cluster, entries of the table (4 each, little-endian), sectors of the disk (8), mark of use (4), start of
 *	        the data in sectors (4), flags (4), place of an extension (8)
 *	table:  for each cluster of the disk its place (4); 0: it has none
 *
 * A cluster ends the file, and nothing verifies what is in it.
 */
#include <inttypes.h>
#include <stdbool.h>
#include <string.h>

#include "bytes.h"
#include "walk.h"

#define HEAD_LEN 64
#define CLUSTER_MAX (1u << 20) /* in sectors */
#define ENTRIES_MAX (1u << 26)

static enum verdict check(struct view *view, struct finding *finding)
{
	const uint8_t *p = view_peek(view, 0, HEAD_LEN);
	uint64_t size = view_size(view), end, cluster, unit, at = HEAD_LEN, table_end, place;
	uint32_t sectors, entries, used = 0;
	bool extended;
	size_t len;

	extended = p && memcmp(p, "WithouFreSpacExt", 16) == 0;
	if (!p || (!extended && memcmp(p, "WithoutFreeSpace", 16) != 0) || le32(p + 16) != 2)
		return verdict_because(CARVE_REJECT, finding, "no header of version 2 at 0");
	sectors = le32(p + 28);
	entries = le32(p + 32);
	if (!sectors || sectors > CLUSTER_MAX || !entries || entries > ENTRIES_MAX)
		return verdict_because(CARVE_REJECT, finding, "impossible sizes at 28");
	cluster = (uint64_t)sectors * SECTOR;
	unit = extended ? cluster : SECTOR;
	end = (uint64_t)le32(p + 48) * SECTOR;
	table_end = HEAD_LEN + UINT64_C(4) * entries;
	if (end < table_end)
		end = table_end;
	for (; at < table_end; at += len) {
		p = walk_window(view, at, table_end, &len);
		if (!p || (len & ~(size_t)3) == 0)
			return walk_cut(view, finding, table_end, at < size ? at : size);
		len &= ~(size_t)3;
		for (size_t i = 0; i < len; i += 4) {
			place = le32(p + i) * unit;
			used += place != 0;
			if (place && place < table_end)
				return verdict_because(CARVE_REJECT, finding,
					"an impossible place of a cluster at %" PRIu64, at + i);
			if (place && place + cluster > end)
				end = place + cluster;
		}
	}
	/* Too many places beyond: no table. */
	if (used > (end - table_end) / cluster + 1)
		return verdict_because(
			CARVE_REJECT, finding, "more clusters than fit before %" PRIu64, end);
	if (end > size)
		return walk_cut(view, finding, end, size);
	finding->length = end;
	return verdict_because(
		CARVE_UNVERIFIED, finding, "nothing verifies the clusters up to %" PRIu64, end);
}

const struct carver parallels_carver = {
	.name = "parallels",
	.summary = "Parallels' virtual disks, by their table of clusters",
	.check = check,
};
