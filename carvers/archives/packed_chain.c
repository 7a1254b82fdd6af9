#include "packed_chain.h"

#include <inttypes.h>

#include "walk.h"

#define PADDING_MAX 64
#define SECTOR 512

/* Where the next stream starts behind `at`; 0 when none does. Zeros up to the next sector are most
 * likely what a file system left behind the file, and then comes another. */
static uint64_t next_stream(struct view *view, const struct packed_chain *chain, uint64_t at)
{
	uint64_t from = at;

	if (chain->starts(view, at))
		return at;
	while (chain->padding && at - from < PADDING_MAX) {
		const uint8_t *p = view_peek(view, at, 1);

		if (!p || *p)
			break;
		at++;
	}
	if (at == from || (at - from) % chain->padding || at % SECTOR == 0)
		return 0;
	return chain->starts(view, at) ? at : 0;
}

/* The verdict on a stream at `at` that did not end well. */
static enum verdict judge(struct view *view, struct finding *finding,
	const struct packed_chain *chain, uint64_t at, enum compressed_state state,
	const struct compressed *packed)
{
	uint64_t size = view_size(view), sound = at + chain->starts(view, at);

	if (!chain->by_blocks && packed->end > sound)
		sound = walk_before_fill(view, sound, packed->end);
	else if (packed->proven > sound)
		sound = packed->proven;
	if (state == COMPRESSED_CUT)
		return walk_cut(
			view, finding, size + 1, walk_before_fill(view, sound, packed->end));
	finding->length = state == COMPRESSED_REFUSED ? packed->end : sound;
	if (state == COMPRESSED_REFUSED)
		return verdict_because(CARVE_UNVERIFIED, finding,
			"unpacks to more than is checked, at %" PRIu64, packed->end);
	return verdict_because(CARVE_TRUNCATED, finding,
		"the %s stream at %" PRIu64 " breaks, or its checksum is wrong, at %" PRIu64,
		chain->what, at, packed->end);
}

enum verdict packed_chain_check(
	struct view *view, struct finding *finding, const struct packed_chain *chain)
{
	struct compressed packed;
	enum compressed_state state;
	uint64_t at = 0, next;

	if (!chain->starts(view, 0))
		return verdict_because(CARVE_REJECT, finding, "no %s header at 0", chain->what);
	for (;; at = next) {
		state = compressed_walk(view, chain->format, at, view_size(view), &packed);
		if (state != COMPRESSED_DONE && packed.end < at + chain->sure_len) {
			if (at)
				break;
			return verdict_because(
				CARVE_REJECT, finding, "no %s stream at 0", chain->what);
		}
		if (at)
			view_part(view, at);
		else
			finding->extension = chain->extensions[compressed_content(&packed)];
		if (state != COMPRESSED_DONE)
			return judge(view, finding, chain, at, state, &packed);
		finding->length = packed.end;
		next = next_stream(view, chain, packed.end);
		if (!next)
			break;
	}
	return CARVE_COMPLETE;
}
