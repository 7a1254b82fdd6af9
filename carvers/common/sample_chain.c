/*
 * What decoded samples say of joints before them. Tables say where each sample begins and how long it is. If one is decoded from
 * there to its end, then what is after the last joint before it is in its place, however far that joint is. It does not say
 * where before it the joint is: that shows in samples which are decoded, and in a gap between two of them if that has room for
 * one joint only.
 *
 * That the first sample after a joint fits is the least likely by chance. Where another place of the same film begins with a
 * sample there as well, the next ones only need its length, too.
 */
#include "sample_chain.h"

#define VIDEO_BITS 12
#define VIDEO_MORE_BITS 6
#define COMMON 64 /* a sample is common if more than one in so many others is like it */

/* Where a joint is pinned down to: the next sample begins at `next`, and that is known at `known`. */
static uint64_t pinned_to(uint64_t end, uint64_t next, uint64_t known)
{
	return next - end < SAMPLE_SECTOR ? known : end;
}

void sample_chain_add(struct sample_chain *chain, struct view *view, const struct sample_link *link,
	unsigned bits, unsigned more_bits)
{
	uint64_t next = link->from, known = link->known;
	uint32_t count = chain->count < SAMPLE_CHAIN ? chain->count : SAMPLE_CHAIN;

	if (count && chain->links[(chain->count - 1) % SAMPLE_CHAIN].to > link->from)
		chain->count = count = 0; /* not in the order of the file */
	for (uint32_t i = 0; i < count; i++) {
		const struct sample_link *before =
			&chain->links[(chain->count - 1 - i) % SAMPLE_CHAIN];

		if (view_linked(view, before->from, link->known, 0))
			view_proved(view, before->from, pinned_to(before->to, next, known),
				i ? more_bits : bits);
		next = before->from;
		known = before->from + 1;
	}
	chain->links[chain->count++ % SAMPLE_CHAIN] = *link;
}

static bool is_common(const struct sample_likeness *likeness, size_t count)
{
	return !likeness->count || (count > 1 && (count - 1) * COMMON > likeness->count);
}

static bool is_usual_length(const struct sample_likeness *likeness, uint64_t len)
{
	return is_common(likeness, likeness->lens[len % SAMPLE_LENGTHS]);
}

void sample_likeness_add(struct sample_likeness *likeness, uint64_t end, uint64_t len)
{
	likeness->count++;
	likeness->ends[end % SAMPLE_SECTOR]++;
	likeness->lens[len % SAMPLE_LENGTHS]++;
}

unsigned sample_likeness_keeps(
	const struct sample_likeness *likeness, uint64_t end, uint64_t len, unsigned bits)
{
	bool by_end = is_common(likeness, likeness->ends[end % SAMPLE_SECTOR]);
	bool by_length = is_usual_length(likeness, len);

	return by_end && by_length ? 0 : by_end || by_length ? bits / 2 : bits;
}

void sample_chain_add_video(struct sample_chain *chain, struct view *view,
	const struct sample_likeness *likeness, const struct sample_link *link, uint64_t len)
{
	sample_chain_add(chain, view, link,
		sample_likeness_keeps(likeness, link->to, len, VIDEO_BITS),
		is_usual_length(likeness, len) ? 0 : VIDEO_MORE_BITS);
}
