/*
 * VMware's sparse disk images (VMware, Virtual Disk Format 5.0): hosted sparse extents and
 * stream-optimised ones.
 *
 *	header: 'KDMV', sizes in sectors; a description in text; directories of grain tables; grains
 *	stream-optimised: markers of a sector: a compressed grain (zlib), a table, a directory, the
 *		footer, the end
 *
 * A sparse extent ends with the last part in its tables; the grains cannot be verified: unverified. Files inside
 * are found where they start at a sector of the image, as one that overwrote a grain does. A stream is walked from marker to marker, with each
 * grain decompressed, up to the footer and the end marker: complete. Flat extents and separate
 * descriptions have no such header.
 */
#include <inttypes.h>
#include <string.h>

#include "bytes.h"
#include "foreign.h"
#include "inflated.h"
#include "walk.h"

#define UNIT 512ull /* bytes: VMDK counts in them */

struct vmdk {
	struct view *view;
	struct finding *finding;
	uint64_t capacity, grain, text, text_len, backup, directory, overhead;
	uint32_t per_table;
	bool compressed;
	bool footer;         /* its marker was found */
	uint64_t last_grain; /* where its marker is */
	uint64_t end;
	uint64_t where;
};

static const char *read_header(struct vmdk *vmdk)
{
	const uint8_t *p = view_peek(vmdk->view, 0, 512);

	if (!p || memcmp(p, "KDMV", 4) != 0 || le32(p + 4) - 1 > 2)
		return "no magic and version";
	/* These show whether the image was transferred as text. */
	if (memcmp(p + 73, "\n \r\n", 4) != 0)
		return "no line ends";
	vmdk->capacity = le64(p + 12);
	vmdk->grain = le64(p + 20);
	vmdk->text = le64(p + 28);
	vmdk->text_len = le64(p + 36);
	vmdk->per_table = le32(p + 44);
	vmdk->backup = le64(p + 48);
	vmdk->directory = le64(p + 56);
	vmdk->overhead = le64(p + 64);
	vmdk->compressed = le32(p + 8) & 1 << 16 && le16(p + 77) == 1;
	if (vmdk->grain < 1 || vmdk->grain > 1 << 16 || (vmdk->grain & (vmdk->grain - 1)) ||
		vmdk->per_table < 1 || vmdk->per_table > 65536 || vmdk->capacity > 1ull << 50 ||
		vmdk->text > 1 << 20 || vmdk->text_len > 1 << 20 || vmdk->overhead > 1 << 30)
		return "impossible sizes";
	return NULL;
}

static void extend_to(struct vmdk *vmdk, uint64_t end)
{
	if (end > vmdk->end)
		vmdk->end = end;
}

/* Reads a grain table: offsets in sectors; 0 and 1 are not offsets. */
static bool read_table(struct vmdk *vmdk, uint64_t at)
{
	extend_to(vmdk, at + 4 * (uint64_t)vmdk->per_table);
	for (uint64_t i = 0; i < vmdk->per_table; i++) {
		const uint8_t *p = view_peek(vmdk->view, at + 4 * i, 4);

		vmdk->where = at + 4 * i;
		if (!p || (le32(p) > 1 && le32(p) < vmdk->overhead))
			return false;
		if (le32(p) > 1)
			extend_to(vmdk, (le32(p) + vmdk->grain) * UNIT);
	}
	return true;
}

static bool read_directory(struct vmdk *vmdk, uint64_t directory)
{
	uint64_t per_table = vmdk->grain * vmdk->per_table;
	uint64_t count = (vmdk->capacity + per_table - 1) / per_table;

	if (directory > 1ull << 40)
		return false;
	for (uint64_t i = 0; i < count; i++) {
		const uint8_t *p = view_peek(vmdk->view, directory * UNIT + 4 * i, 4);

		vmdk->where = directory * UNIT + 4 * i;
		if (!p)
			return false;
		if (le32(p) && !read_table(vmdk, le32(p) * UNIT))
			return false;
	}
	return true;
}

static enum verdict check_sparse(struct vmdk *vmdk)
{
	struct finding *finding = vmdk->finding;

	extend_to(vmdk, vmdk->overhead * UNIT);
	extend_to(vmdk, (vmdk->text + vmdk->text_len) * UNIT);
	if (!read_directory(vmdk, vmdk->directory) ||
		(vmdk->backup && !read_directory(vmdk, vmdk->backup)))
		return foreign_cut(vmdk->view, finding, UNIT,
			vmdk->where < UNIT * 2 ? UNIT * 2 : vmdk->where, "no grain table",
			vmdk->where);
	if (vmdk->end > view_size(vmdk->view))
		return walk_cut(
			vmdk->view, finding, vmdk->end, foreign_start(vmdk->view, UNIT, vmdk->end));
	view_holds(vmdk->view, vmdk->overhead * UNIT, vmdk->end);
	finding->length = vmdk->end;
	return verdict_because(CARVE_UNVERIFIED, finding,
		"the tables agree, but the grains up to %" PRIu64 " cannot be verified", vmdk->end);
}

static bool decompresses(struct vmdk *vmdk, uint64_t at, uint32_t len)
{
	struct inflated inflated = { 0 };
	enum inflated_state state =
		inflated_walk(&inflated, vmdk->view, INFLATED_ZLIB, &at, at + len);

	return state == INFLATED_DONE && inflated.output_len <= vmdk->grain * UNIT;
}

enum { MARK_END = 0, MARK_LAST = 3 };

/* Checks the marker at *at and moves past it: 1, or 0 for the end marker; -1 when it is invalid. */
static int next_marker(struct vmdk *vmdk, uint64_t *at)
{
	const uint8_t *p = view_peek(vmdk->view, *at, UNIT);
	uint64_t sectors = p ? le64(p) : 0;
	uint32_t len = p ? le32(p + 8) : 0, kind = p ? le32(p + 12) : 0;
	uint64_t end;

	if (!p || sectors > vmdk->capacity + (1 << 20))
		return -1;
	if (len) {
		if (len > 2 * vmdk->grain * UNIT + 4096 || !decompresses(vmdk, *at + 12, len))
			return -1;
		end = *at + (12 + (uint64_t)len + UNIT - 1) / UNIT * UNIT;
		if (end > view_size(vmdk->view))
			return -1;
		vmdk->last_grain = *at;
		*at = end;
		return 1;
	}
	if (kind > MARK_LAST || !walk_zeros(vmdk->view, *at + 16, *at + UNIT))
		return -1;
	if (kind == MARK_END) {
		*at += UNIT;
		return sectors == 0 ? 0 : -1;
	}
	if ((sectors + 1) * UNIT > view_size(vmdk->view) - *at)
		return -1;
	vmdk->footer = kind == MARK_LAST;
	*at += (sectors + 1) * UNIT;
	return 1;
}

static enum verdict check_stream(struct vmdk *vmdk)
{
	uint64_t at = vmdk->overhead * UNIT;
	int state;

	if (at < UNIT || at >= view_size(vmdk->view))
		return verdict_because(CARVE_REJECT, vmdk->finding, "no marker at %" PRIu64, at);
	do
		state = next_marker(vmdk, &at);
	while (state > 0);
	vmdk->finding->length = at;
	if (state == 0 && vmdk->footer)
		return CARVE_COMPLETE;
	/* QEMU writes the directory at the start, and zeros after the grains: the last one may have
	 * as much room as an uncompressed one. */
	if (state == 0 && vmdk->directory != UINT64_MAX) {
		uint64_t room = vmdk->last_grain + vmdk->grain * UNIT;

		if (room > at && room <= view_size(vmdk->view) && walk_zeros(vmdk->view, at, room))
			vmdk->finding->length = at = room;
		return verdict_because(CARVE_UNVERIFIED, vmdk->finding,
			"zeros instead of a footer after the grains, before %" PRIu64, at);
	}
	if (state == 0)
		vmdk->finding->length = at -= UNIT;
	return verdict_because(CARVE_TRUNCATED, vmdk->finding, "no valid marker at %" PRIu64, at);
}

static enum verdict check(struct view *view, struct finding *finding)
{
	struct vmdk vmdk = { .view = view, .finding = finding };
	const char *problem = read_header(&vmdk);

	if (problem)
		return verdict_because(CARVE_REJECT, finding, "%s at 0", problem);
	return vmdk.compressed ? check_stream(&vmdk) : check_sparse(&vmdk);
}

const struct carver vmdk_carver = {
	.name = "vmdk",
	.summary = "VMware's sparse and stream-optimised VMDK disk images",
	.check = check,
};
