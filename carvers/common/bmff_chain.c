/*
 * What decoded samples say of joints before them. Tables say where each sample begins and how long it is. If one is decoded from
 * there to its end, then what is after the last joint before it is in its place, however far that joint is. It does not say
 * where before it the joint is: that shows in samples which are decoded, and in a gap between two of them if that has room for
 * one joint only.
 *
 * That the first sample after a joint fits is the least likely by chance. Where another place of the same film begins with a
 * sample there as well, the next ones only need its length, too.
 */
#include "bmff_media.h"

#define SECTOR 512 /* joints are so far apart at least */

/* Where a joint is pinned down to: the next sample begins at `next`, and that is known at `known`. */
static uint64_t pinned_to(uint64_t end, uint64_t next, uint64_t known)
{
	return next - end < SECTOR ? known : end;
}

void bmff_chain_add(struct bmff_chain *chain, struct view *view, const struct bmff_link *link,
	unsigned bits, unsigned more_bits)
{
	uint64_t next = link->from, known = link->known;
	uint32_t count = chain->count < BMFF_CHAIN ? chain->count : BMFF_CHAIN;

	if (count && chain->links[(chain->count - 1) % BMFF_CHAIN].to > link->from)
		chain->count = count = 0; /* not in the order of the file */
	for (uint32_t i = 0; i < count; i++) {
		const struct bmff_link *before = &chain->links[(chain->count - 1 - i) % BMFF_CHAIN];

		if (view_linked(view, before->from, link->known, 0))
			view_proved(view, before->from, pinned_to(before->to, next, known),
				i ? more_bits : bits);
		next = before->from;
		known = before->from + 1;
	}
	chain->links[chain->count++ % BMFF_CHAIN] = *link;
}
