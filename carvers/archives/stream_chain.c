/*
 * A stream directly after another belongs to the same file. Only at a sector boundary it may be another
 * file: there it is taken for one if it is damaged.
 */
#include "stream_chain.h"

#include <inttypes.h>

#include "walk.h"

#define PADDING_MAX 64
/* A decoder's last valid byte may be this far before what stopped it. */
#define DECODER_EARLY 4096

/* Where the next stream starts after `at`; 0 when none does. Zeros up to the next sector are most
 * likely what the file system left after the file, and the next stream is another file. */
static uint64_t next_stream(struct view *view, const struct stream_chain *chain, uint64_t at)
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

/* The verdict on a stream at `at` that did not end with its checksum. */
static enum verdict judge_damage(struct view *view, struct finding *finding,
	const struct stream_chain *chain, uint64_t at, enum compressed_state state,
	const struct compressed *stream)
{
	uint64_t size = view_size(view), valid_end = at + chain->starts(view, at);

	if (!chain->by_blocks && stream->end > valid_end)
		valid_end = walk_before_fill(view, valid_end, stream->end);
	else if (stream->proven > valid_end)
		valid_end = stream->proven;
	if (state == COMPRESSED_CUT)
		return walk_cut(
			view, finding, size + 1, walk_before_fill(view, valid_end, stream->end));
	finding->length = state == COMPRESSED_REFUSED ? stream->end : valid_end;
	if (state == COMPRESSED_REFUSED)
		return verdict_because(CARVE_UNVERIFIED, finding,
			"decompresses to more than burin checks, at %" PRIu64, stream->end);
	return verdict_because(CARVE_TRUNCATED, finding,
		"the %s stream at %" PRIu64 " is invalid, or its checksum wrong, at %" PRIu64,
		chain->what, at, stream->end);
}

/* Ends a stream that does not decompress where its end is, if that is because of bytes that can't be read. */
static void find_end(struct view *view, const struct stream_chain *chain, uint64_t at,
	struct compressed *stream, enum compressed_state *state)
{
	uint64_t after, end;

	if (*state == COMPRESSED_DONE || !chain->find_end ||
		!walk_unread(view, at, stream->end + DECODER_EARLY, &after))
		return;
	end = chain->find_end(view, at, after);
	if (!end)
		return;
	view_unverified(view, at + chain->starts(view, at), end);
	stream->end = end;
	*state = COMPRESSED_DONE;
}

/* Decompresses a stream, if its codes do not show before that it is damaged. */
static enum compressed_state walk_stream_at(
	struct view *view, const struct stream_chain *chain, uint64_t at, struct compressed *stream)
{
	if (chain->walk_codes && (view_thorough(view) || view_wants_states(view))) {
		enum compressed_state state;

		*stream = (struct compressed){ 0 };
		state = chain->walk_codes(view, at, NULL, &stream->end);
		stream->proven = stream->end;
		if (state != COMPRESSED_DONE)
			return state;
	}
	return compressed_walk(view, chain->format, at, view_size(view), stream);
}

enum verdict stream_chain_resume(struct view *view, struct finding *finding,
	const struct stream_chain *chain, uint64_t at, const void *state)
{
	struct compressed stream = { 0 };
	enum compressed_state end;

	if (at && at % SECTOR == 0)
		return stream_chain_check(view, finding, chain);
	end = chain->walk_codes(view, at, state, &stream.end);
	stream.proven = stream.end;
	if (end == COMPRESSED_DONE || stream.end < at + chain->sure_len)
		return stream_chain_check(view, finding, chain);
	return judge_damage(view, finding, chain, at, end, &stream);
}

enum verdict stream_chain_check(
	struct view *view, struct finding *finding, const struct stream_chain *chain)
{
	struct compressed stream;
	enum compressed_state state;
	uint64_t at = 0, next;

	if (!chain->starts(view, 0))
		return verdict_because(CARVE_REJECT, finding, "no %s header at 0", chain->what);
	for (;; at = next) {
		state = walk_stream_at(view, chain, at, &stream);
		find_end(view, chain, at, &stream, &state);
		if (state != COMPRESSED_DONE && stream.end < at + chain->sure_len) {
			if (at)
				break;
			return verdict_because(
				CARVE_REJECT, finding, "no %s stream at 0", chain->what);
		}
		/* finding->length is that of the streams before. */
		if (at && at % SECTOR == 0 && state != COMPRESSED_DONE)
			return verdict_because(CARVE_COMPLETE, finding,
				"the damaged stream at the sector boundary at %" PRIu64
				" is taken for another file",
				at);
		if (at)
			view_part(view, at);
		else
			finding->extension = chain->extensions[compressed_content(&stream)];
		if (state != COMPRESSED_DONE)
			return judge_damage(view, finding, chain, at, state, &stream);
		finding->length = stream.end;
		next = next_stream(view, chain, stream.end);
		if (!next)
			break;
	}
	return CARVE_COMPLETE;
}
