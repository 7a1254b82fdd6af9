/*
 * Outlook Express 5 and 6 (A. Schloh, "OE dbx file format").
 *
 *	header: 9,404 bytes: class; at 24h, 30h and 3Ch the last segments of three kinds, each as
 *	        offset and length; at C4h the number of entries; at E4h the tree of them
 *	node:   its own offset, a zero, a child, the parent, a byte, number of entries (1 byte),
 *	        zeros, number of entries below; then entries (object, child, number below) of 12
 *	        bytes
 *	object: its own offset, length, ...
 *
 * Every structure begins with its own offset in the file. The tree is walked, up to a limit: nodes
 * and the objects that they refer to have to be at their stated offsets. A file is at least as long
 * as its last segments; whether free space follows them is not stored, so its end remains a guess.
 */
#include <inttypes.h>
#include <stdbool.h>
#include <string.h>

#include "bytes.h"
#include "carver.h"
#include "walk.h"

#define HEADER_LEN 9404
#define NODE_LEN 24
#define ENTRY_LEN 12
#define ENTRIES_MAX 51
#define STACK_MAX 256
#define NODES_MAX (1u << 16)

struct dbx {
	struct view *view;
	uint64_t stack[STACK_MAX];
	unsigned waiting;
	uint64_t furthest;   /* after the last valid structure */
	uint64_t invalid_at; /* an invalid structure; 0: none */
	uint32_t objects;
};

/* Whether a structure with this offset is at `at`. */
static bool is_valid_structure(struct dbx *dbx, uint64_t at)
{
	const uint8_t *p = at >= HEADER_LEN ? view_peek(dbx->view, at, 4) : NULL;

	if (p && le32(p) == at) {
		if (at + 4 > dbx->furthest)
			dbx->furthest = at + 4;
		return true;
	}
	if (!dbx->invalid_at || at < dbx->invalid_at)
		dbx->invalid_at = at;
	return false;
}

static void push(struct dbx *dbx, uint64_t node)
{
	if (node && dbx->waiting < STACK_MAX)
		dbx->stack[dbx->waiting++] = node;
}

static void walk_tree(struct dbx *dbx, uint64_t root)
{
	push(dbx, root);
	for (unsigned nodes = 0; dbx->waiting && nodes < NODES_MAX; nodes++) {
		uint64_t at = dbx->stack[--dbx->waiting];
		const uint8_t *p;
		unsigned count;

		if (!is_valid_structure(dbx, at))
			continue;
		p = view_peek(dbx->view, at, NODE_LEN);
		count = p ? p[17] : 0;
		if (!p || count > ENTRIES_MAX)
			continue;
		push(dbx, le32(p + 8));
		for (unsigned i = 0; i < count; i++) {
			p = view_peek(dbx->view, at + NODE_LEN + i * ENTRY_LEN, ENTRY_LEN);
			if (!p)
				break;
			push(dbx, le32(p + 4));
			dbx->objects += is_valid_structure(dbx, le32(p));
		}
	}
}

/* The end of the last segments, according to the header. */
static uint64_t segments_end(const uint8_t *p)
{
	static const unsigned places[] = { 0x24, 0x30, 0x3c };
	uint64_t end = HEADER_LEN + le32(p + 0x1c);

	for (size_t i = 0; i < sizeof(places) / sizeof(*places); i++) {
		uint64_t segment = le32(p + places[i]);

		if (segment && segment + le32(p + places[i] + 4) > end)
			end = segment + le32(p + places[i] + 4);
	}
	return end;
}

static enum verdict check(struct view *view, struct finding *finding)
{
	struct dbx dbx = { .view = view, .furthest = HEADER_LEN };
	const uint8_t *p = view_peek(view, 0, HEADER_LEN);
	uint64_t size = view_size(view), end;
	uint32_t entries, root;

	if (!p || memcmp(p, "\xcf\xad\x12\xfe", 4) != 0 || le32(p + 0x1c) > 1u << 20)
		return verdict_because(CARVE_REJECT, finding, "no header at 0");
	end = segments_end(p);
	entries = le32(p + 0xc4);
	root = le32(p + 0xe4);
	if (!!entries != !!root)
		return verdict_because(CARVE_REJECT, finding,
			"%" PRIu32 " entries, but a tree offset of %" PRIu32, entries, root);
	walk_tree(&dbx, root);
	if (dbx.invalid_at && dbx.invalid_at < size) {
		finding->length = dbx.furthest < dbx.invalid_at ? dbx.furthest : dbx.invalid_at;
		if (finding->length < HEADER_LEN)
			finding->length = HEADER_LEN;
		return verdict_because(CARVE_TRUNCATED, finding,
			"no structure with its own offset at %" PRIu64, dbx.invalid_at);
	}
	if (end > size)
		return walk_cut(view, finding, end, size);
	finding->length = end;
	view_holds(view, HEADER_LEN, end);
	return verdict_because(CARVE_UNVERIFIED, finding,
		"the last segment ends at %" PRIu64 ", and free space may follow", end);
}

const struct carver dbx_carver = {
	.name = "dbx",
	.summary = "Outlook Express message stores, by their trees",
	.check = check,
};
