/*
 * A chain is wrong if the file goes on elsewhere at a joint. If all that follows there is another file's, that one is likely as
 * long, as many sounds of one maker are; so the joint alone has to be proof, though of those clusters only that may follow. Else the
 * other file would have to end where this one's header says by chance, or the file's own content follows later, so that
 * there is another wrong place, at a joint or between two clusters that follow each other. So a place counts by how well it
 * fits (sample_joint.h), less what it was chosen from, and by the worst of all others, the end among them: both must
 * happen by chance together. Where a cluster was overwritten, it is the same.
 *
 * A file of which there is another version might go on in that just as well: if what is before a piece in the image, or after the one
 * before, fits there too, nothing is proved.
 */
#include "assemble/sample_proof.h"

#include <stdlib.h>
#include <string.h>

#include "assemble/content_end.h"
#include "assemble/fine_log.h"
#include "assemble/sample_joint.h"
#include "base/memory.h"

#define BIT CONTENT_BIT
#define PLACE_MAX (20 * BIT)  /* of a place: more was not measured */
#define JOINT_SURE (19 * BIT) /* with these a joint has as many: RESULTS.md says why */
#define RIVAL (8 * BIT)       /* with which other clusters fit at a joint */
#define CHUNK_MIN 8           /* bytes after the samples that the carver checks: a chunk... */
#define CHUNK_BITS (32 * BIT) /* ...whose name and length are where they have to be */
#define MANY 64               /* clusters: their joints are looked at less closely */
#define SHARES 40

struct proof {
	struct workbench *bench;
	const struct sample_chain *chain;
	struct sample_joint *joint;
	size_t reach;
	uint8_t *before, *after;
};

/* ---- bytes --------------------------------------------------------------------------------- */

/* Reads bytes of the file, and what follows its end in the last cluster. */
static bool read_file(struct proof *proof, uint64_t at, uint8_t *bytes, size_t len)
{
	uint64_t size = proof->chain->size;

	while (len) {
		size_t some = (size_t)(size - at % size);

		some = some < len ? some : len;
		if (!workbench_fetch(
			    proof->bench, proof->chain->places[at / size] + at % size, bytes, some))
			return false;
		at += some;
		bytes += some;
		len -= some;
	}
	return true;
}

/* Reads what is around a place of the content, whose end is `to`. */
static bool read_place(struct proof *proof, uint64_t at, uint64_t to, struct sample_place *place)
{
	uint64_t before = at - proof->chain->stored->from, after = to - at;

	*place = (struct sample_place){ .at = at,
		.before = proof->before,
		.after = proof->after,
		.before_len = before < proof->reach ? (size_t)before : proof->reach,
		.after_len = after < proof->reach ? (size_t)after : proof->reach };
	return read_file(proof, at - place->before_len, proof->before, place->before_len) &&
	       read_file(proof, at, proof->after, place->after_len);
}

/* ---- places -------------------------------------------------------------------------------- */

typedef int64_t find_bits(
	struct sample_joint *joint, const struct sample_place *place, uint64_t *work);

static int64_t count_bits(struct proof *proof, const struct sample_place *place, find_bits *find)
{
	uint64_t work = 0;
	int64_t bits = find(proof->joint, place, &work);

	workbench_spend(proof->bench, work);
	return bits < 0 ? 0 : bits < PLACE_MAX ? bits : PLACE_MAX;
}

/* Whether the cluster before a piece in the image goes on with it, or that after the piece before with that. */
static bool has_rival(struct proof *proof, size_t number, const struct sample_place *place)
{
	const struct sample_chain *chain = proof->chain;
	uint64_t size = chain->size, here = chain->places[number];
	uint64_t next = chain->places[number - 1] + size;
	struct sample_place rival = *place;

	if (here >= size) {
		rival.before_len = size < proof->reach ? (size_t)size : proof->reach;
		if (!workbench_fetch(proof->bench, here - rival.before_len, proof->before,
			    rival.before_len) ||
			count_bits(proof, &rival, sample_joint_near_bits) >= RIVAL)
			return true;
	}
	rival = *place;
	if (next < proof->bench->clusters->end) {
		uint64_t left = proof->bench->clusters->end - next;

		left = left < size ? left : size;
		rival.after_len = left < proof->reach ? (size_t)left : proof->reach;
		if (!read_file(proof, place->at - place->before_len, proof->before,
			    place->before_len) ||
			!workbench_fetch(proof->bench, next, proof->after, rival.after_len) ||
			count_bits(proof, &rival, sample_joint_near_bits) >= RIVAL)
			return true;
	}
	return false;
}

/* Bits for the beginning of a cluster. */
static int64_t cluster_bits(struct proof *proof, size_t number)
{
	const struct sample_chain *chain = proof->chain;
	uint64_t at = number * chain->size, to = chain->stored->to;
	struct sample_place place;
	int64_t bits;

	/* What is not samples the carver checks. */
	if (at <= chain->stored->from || at >= to)
		return chain->choices[number] ? 0 : CHUNK_BITS;
	if (!read_place(proof, at, to, &place))
		return 0;
	if (!chain->choices[number])
		return count_bits(proof, &place,
			chain->count > MANY ? sample_joint_near_bits : sample_joint_half_bits);
	if (count_bits(proof, &place, sample_joint_bits) < JOINT_SURE ||
		has_rival(proof, number, &place))
		return 0;
	bits = PLACE_MAX - fine_log(chain->choices[number]);
	return bits > 0 ? bits : 0;
}

/* Bits for the file's end: other sound would go on after it. */
static int64_t end_bits(struct proof *proof)
{
	const struct sample_chain *chain = proof->chain;
	uint64_t to = chain->stored->to, last = chain->count - 1;
	struct sample_place place;

	if (chain->length - to >= CHUNK_MIN)
		return CHUNK_BITS;
	while (last && !chain->choices[last])
		last--;
	if (!read_place(proof, to, chain->count * chain->size, &place))
		return 0;
	/* Other sound is sure only from the last joint on. */
	if (place.before_len > to - last * chain->size) {
		size_t over = place.before_len - (size_t)(to - last * chain->size);

		place.before += over;
		place.before_len -= over;
	}
	return count_bits(proof, &place, sample_joint_end_bits);
}

/* ---- all ----------------------------------------------------------------------------------- */

/* The share of chance. */
static uint64_t share_of(int64_t bits)
{
	return (uint64_t)1 << (bits < SHARES * BIT ? SHARES - bits / BIT : 0);
}

/* The bits of the worst place: its own, and those of the others together. */
static int64_t worst_bits(const struct sample_chain *chain, const int64_t *bits, uint64_t shares)
{
	int64_t worst = PLACE_MAX;

	for (size_t i = 1; i < chain->count; i++) {
		int64_t both = bits[i] + SHARES * BIT - fine_log(shares - share_of(bits[i]));

		worst = both < worst ? both : worst;
	}
	return worst;
}

static int64_t prove(struct proof *proof)
{
	const struct sample_chain *chain = proof->chain;
	int64_t *bits = xcalloc(chain->count, sizeof(*bits)), worst = 0;
	int64_t end = end_bits(proof);
	uint64_t shares = share_of(end);
	bool may_be = true;

	/* Joints first: most work is for what follows. */
	for (unsigned pass = 0; pass < 2 && may_be; pass++)
		for (size_t i = 1; i < chain->count && may_be; i++) {
			if ((chain->choices[i] ? 0 : 1) != pass)
				continue;
			bits[i] = cluster_bits(proof, i);
			shares += share_of(bits[i]);
			may_be = bits[i] && bits[i] + end >= PROOF_BITS * BIT &&
				 workbench_goes_on(proof->bench);
		}
	if (may_be)
		worst = worst_bits(chain, bits, shares);
	free(bits);
	return worst;
}

uint32_t sample_proof_bits(struct workbench *bench, const struct sample_chain *chain)
{
	struct proof proof = {
		.bench = bench, .chain = chain, .joint = sample_joint_new(chain->stored)
	};
	int64_t bits;

	proof.reach = sample_joint_reach(proof.joint);
	proof.before = xmalloc(2 * proof.reach);
	proof.after = proof.before + proof.reach;
	bits = prove(&proof);
	free(proof.before);
	sample_joint_free(proof.joint);
	return bits > 0 && workbench_goes_on(bench) ? (uint32_t)(bits / BIT) : 0;
}
