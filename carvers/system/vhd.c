/*
 * Virtual PC's disk images that grow (Microsoft, Virtual Hard Disk Image Format Specification).
 *
 *	copy of the footer, header with the table's offset, table of blocks; blocks, each preceded
 *	by a bitmap; footer (512 bytes)
 *
 * Footer and header have checksums. A footer after the last block that equals its copy at the start
 * makes an image complete. Images of fixed size have only a footer, so their start cannot be found.
 */
#include <inttypes.h>
#include <string.h>

#include "bytes.h"
#include "foreign.h"
#include "walk.h"

#define FOOTER_LEN 512

/* Whether the checksum is the complement of the sum of all other bytes. */
static bool checksum_matches(const uint8_t *p, size_t len, size_t sum_at)
{
	uint32_t sum = 0;

	for (size_t i = 0; i < len; i++)
		if (i < sum_at || i >= sum_at + 4)
			sum += p[i];
	return ~sum == be32(p + sum_at);
}

/* The end of the last block, or 0 when the table is invalid. */
static uint64_t find_end(struct view *view, uint64_t table, uint32_t count, uint32_t block_len)
{
	uint64_t bitmap = ((uint64_t)block_len / 4096 + 511) / 512 * 512;
	uint64_t end = (table + 4 * (uint64_t)count + 511) / 512 * 512;

	for (uint64_t i = 0; i < count; i++) {
		const uint8_t *p = view_peek(view, table + 4 * i, 4);

		if (!p)
			return 0;
		if (be32(p) == 0xffffffff)
			continue;
		if (be32(p) * (uint64_t)512 < table)
			return 0;
		if (be32(p) * (uint64_t)512 + bitmap + block_len > end)
			end = be32(p) * (uint64_t)512 + bitmap + block_len;
	}
	return end;
}

static enum verdict check(struct view *view, struct finding *finding)
{
	const uint8_t *p = view_peek(view, 0, FOOTER_LEN), *q;
	uint8_t footer[FOOTER_LEN];
	uint64_t header, table, end;
	uint32_t count, block_len;

	if (!p || memcmp(p, "conectix", 8) != 0 || (be32(p + 60) != 3 && be32(p + 60) != 4) ||
		!checksum_matches(p, FOOTER_LEN, 64))
		return verdict_because(CARVE_REJECT, finding, "no copy of a footer at 0");
	memcpy(footer, p, FOOTER_LEN);
	header = be64(p + 16);
	if (be32(p + 24))
		finding->time = (int64_t)be32(p + 24) + 946684800;
	q = header <= INT32_MAX ? view_peek(view, header, 1024) : NULL;
	if (!q || memcmp(q, "cxsparse", 8) != 0 || !checksum_matches(q, 1024, 36))
		return verdict_because(CARVE_REJECT, finding, "no header at %" PRIu64, header);
	table = be64(q + 16);
	count = be32(q + 28);
	block_len = be32(q + 32);
	if (table > INT64_MAX / 2 || table < 1024 || block_len < 4096 ||
		(block_len & (block_len - 1)) || count > 1 << 28)
		return verdict_because(
			CARVE_REJECT, finding, "impossible sizes at %" PRIu64, header + 16);
	end = find_end(view, table, count, block_len);
	if (end == 0)
		return foreign_cut(
			view, finding, header + 1024, table, "no table of blocks", table);
	p = view_peek(view, end, FOOTER_LEN);
	if (!p)
		return walk_cut(
			view, finding, end + FOOTER_LEN, foreign_start(view, header + 1024, end));
	if (memcmp(p, footer, FOOTER_LEN) != 0)
		return foreign_cut(view, finding, header + 1024, end, "no footer", end);
	finding->length = end + FOOTER_LEN;
	return CARVE_COMPLETE;
}

const struct carver vhd_carver = {
	.name = "vhd",
	.summary = "Virtual PC's VHD disk images that grow, by table of blocks and footer",
	.check = check,
};
