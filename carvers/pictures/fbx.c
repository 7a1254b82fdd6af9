/*
 * Autodesk FBX models in binary form (Blender's developers: FBX binary file format specification).
 *
 *	file:   'Kaydara FBX Binary  ' 00 1A 00, version (4 bytes, little-endian), nodes, a null node, footer
 *	node:   where it ends, count and length of its values (4 bytes each; 8 from version 7500 on), length of
 *	        its name (1), name, values, nodes and a null node
 *	null:   as many zeros as the part before a name has bytes
 *	footer: 16 bytes, zeros up to a multiple of 16, 4 zeros, version, 120 zeros, 16 bytes that are always
 *	        the same
 *
 * Each node leads to the next. The footer's last bytes prove the end.
 */
#include <inttypes.h>
#include <stdbool.h>
#include <string.h>

#include "bytes.h"
#include "carver.h"
#include "walk.h"

#define HEAD_LEN 27
#define WIDE_VERSION 7500
#define FOOTER_MIN (16 + 4 + 4 + 120 + 16)
#define FOOTER_MAX (FOOTER_MIN + 32)

struct fbx {
	struct view *view;
	struct finding *finding;
	uint32_t version;
	unsigned field_len;
};

static enum verdict check_footer(const struct fbx *fbx, uint64_t at)
{
	static const uint8_t mark[16] = { 0xf8, 0x5a, 0x8c, 0x6a, 0xde, 0xf5, 0xd9, 0x7e, 0xec,
		0xe9, 0x0c, 0xe3, 0x75, 0x8f, 0x29, 0x0b };
	uint64_t size = view_size(fbx->view);
	size_t len;
	const uint8_t *p = walk_window(fbx->view, at, at + FOOTER_MAX, &len);

	for (size_t end = FOOTER_MIN; p && end <= len; end++)
		if (memcmp(p + end - 16, mark, 16) == 0 && le32(p + end - 140) == fbx->version) {
			fbx->finding->length = at + end;
			return CARVE_COMPLETE;
		}
	if (at + FOOTER_MAX > size)
		return walk_cut(fbx->view, fbx->finding, size + 1, at);
	fbx->finding->length = at;
	return verdict_because(CARVE_TRUNCATED, fbx->finding, "no footer at %" PRIu64, at);
}

static enum verdict check(struct view *view, struct finding *finding)
{
	const uint8_t *p = view_peek(view, 0, HEAD_LEN);
	struct fbx fbx = { .view = view, .finding = finding };
	uint64_t at = HEAD_LEN, size = view_size(view);
	size_t head_len;

	if (!p || memcmp(p, "Kaydara FBX Binary  \0\x1a", 23) != 0 || le32(p + 23) > 100000)
		return verdict_because(CARVE_REJECT, finding, "no header at 0");
	fbx.version = le32(p + 23);
	fbx.field_len = fbx.version < WIDE_VERSION ? 4 : 8;
	head_len = 3 * fbx.field_len + 1;
	while (at + head_len <= size) {
		uint64_t end;
		uint8_t name_len;

		p = view_peek(view, at, head_len);
		if (!p)
			break;
		end = fbx.field_len == 4 ? le32(p) : le64(p);
		name_len = p[head_len - 1];
		if (!end && walk_zeros(view, at, at + head_len))
			return check_footer(&fbx, at + head_len);
		if (end < at + head_len + name_len || end > (uint64_t)1 << 48) {
			finding->length = at > HEAD_LEN ? at : 0;
			return verdict_because(at > HEAD_LEN ? CARVE_TRUNCATED : CARVE_REJECT,
				finding, "no node at %" PRIu64, at);
		}
		view_unverified(view, at + head_len, end < size ? end : size);
		at = end;
	}
	return walk_cut(view, finding, at + head_len, at < size ? at : size);
}

const struct carver fbx_carver = {
	.name = "fbx",
	.summary = "FBX models in binary form, by their nodes and footer",
	.check = check,
};
