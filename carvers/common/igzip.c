#include "igzip.h"

#include <isa-l/igzip_lib.h>
#include <stdlib.h>

struct inflate_state *igzip_open(bool gzip)
{
	/* Not zeroed: most of its 88 KB are buffers, and many streams are short. */
	struct inflate_state *state = malloc(sizeof(*state));

	if (!state)
		return NULL;
	isal_inflate_init(state);
	state->crc_flag = gzip ? ISAL_GZIP : ISAL_DEFLATE;
	return state;
}

enum igzip_step igzip_run(struct inflate_state *state, const uint8_t **in, size_t *in_left,
	uint8_t *out, size_t *out_left)
{
	size_t len = *in_left, room = *out_left, ahead;
	int code;

	state->next_in = (uint8_t *)*in;
	state->avail_in = (uint32_t)len;
	state->next_out = out;
	state->avail_out = (uint32_t)room;
	code = isal_inflate(state);
	if (code != ISAL_DECOMP_OK || state->avail_in > len || state->avail_out > room)
		return IGZIP_BAD;
	*out_left = state->avail_out;
	*in += len - state->avail_in;
	*in_left = state->avail_in;
	if (state->block_state != ISAL_BLOCK_FINISH)
		return IGZIP_MORE;
	/* Whole bytes that it read ahead, perhaps in the previous call, and did not use. */
	ahead = state->read_in_length > 0 ? (size_t)state->read_in_length / 8 : 0;
	*in -= ahead;
	*in_left += ahead;
	return IGZIP_DONE;
}

void igzip_close(struct inflate_state *state)
{
	free(state);
}
