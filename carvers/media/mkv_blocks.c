/*
 * A block's length leads to the next block's head, which names a track and a time. So a head after a joint shows that its piece is where it
 * should be; and where the blocks after that lead to a further head after the next joint, or to the cluster's end, they show it once
 * more. It is not shown where in the block before the head the joint is: the cluster's CRC does that.
 *
 * Among the clusters of 60 films of FFmpeg's, at all multiples of 512 bytes, one in 16,000 goes on with a head of one of the film's
 * tracks whose time is no farther from the last one than two blocks have been, and one in 1,400 for the worst of 17,000 joints
 * (tests/bench/RESULTS.md, "Blocks after a joint"). Frames that are all as long as each other are alike in other films, too: they show
 * nothing.
 */
#include "mkv_blocks.h"

#define HEAD_BITS 10 /* see view_proved */
#define AGAIN_BITS 6 /* blocks have more than 100 bytes in nearly all films */
#define LENGTHS_MIN 8
#define STEP_MIN 100 /* units of time, mostly milliseconds */

void mkv_blocks_begin(struct mkv_blocks *blocks, struct view *view, uint64_t at)
{
	blocks->view = view;
	blocks->known = at;
	blocks->time = 0;
	blocks->is_open = false;
}

static void close_joint(struct mkv_blocks *blocks)
{
	if (blocks->is_open)
		blocks->joints[blocks->count - 1].is_again = true;
	blocks->is_open = false;
}

void mkv_blocks_add(
	struct mkv_blocks *blocks, uint64_t at, uint64_t head_end, uint64_t end, int32_t time)
{
	uint64_t before = blocks->known - 1;
	int32_t step = time < blocks->time ? blocks->time - time : time - blocks->time;
	bool is_cut = view_linked(blocks->view, at, head_end, 0);

	if (view_linked(blocks->view, before, head_end, 0)) {
		close_joint(blocks);
		if (!is_cut && blocks->count < MKV_JOINTS) {
			blocks->joints[blocks->count++] =
				(struct mkv_joint){ .from = before, .to = at + 1, .step = step };
			blocks->is_open = true;
		}
	} else if (step > blocks->step) {
		blocks->step = step;
	}
	blocks->lengths |= UINT64_C(1) << ((end - at) * 0x9e3779b97f4a7c15 >> 58);
	/* The head after one with a joint in it says where that joint's piece is. */
	blocks->known = is_cut ? at + 1 : head_end;
	blocks->time = time;
}

void mkv_blocks_end(struct mkv_blocks *blocks)
{
	close_joint(blocks);
}

static bool are_varied(const struct mkv_blocks *blocks)
{
	unsigned count = 0;

	for (uint64_t bits = blocks->lengths; bits; bits &= bits - 1)
		count++;
	return count >= LENGTHS_MIN;
}

void mkv_blocks_prove(const struct mkv_blocks *blocks)
{
	int32_t most = blocks->step > STEP_MIN ? blocks->step : STEP_MIN;

	for (unsigned i = 0; i < blocks->count && are_varied(blocks); i++) {
		const struct mkv_joint *joint = &blocks->joints[i];

		if (joint->step <= most)
			view_proved(blocks->view, joint->from, joint->to,
				HEAD_BITS + (joint->is_again ? AGAIN_BITS : 0));
	}
}
