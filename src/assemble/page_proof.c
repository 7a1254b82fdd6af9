/*
 * A file of pages in pieces: each piece belongs to the file by as many bits as links between its pages and those of pieces
 * that belong to it, beginning with the first piece. That a page fits its place does not show that it is of the same version
 * of the file as the others. So nothing is proved where a joint could be elsewhere: a page beside it could be what the other
 * piece has there; or if anywhere in the image, but in complete files, there is a page with content of the file that is not
 * one of its pages, or one of its pages once more, next to where one of its pieces begins or ends. Then checks that cover
 * the joints alone prove nothing, either.
 */
#include "assemble/page_proof.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

#define RUNS_MAX 256
#define BIT 16                /* links are in 16ths of a bit */
#define BITS_MAX (4096 * BIT) /* of a piece */
#define VOTERS_MIN 20  /* files from whose places the size of clusters is known, not guessed */
#define STEPS_MAX 4096 /* other places of a joint that are looked at */
#define CHUNK ((uint64_t)65536) /* bytes of the image that are read at once */
#define BYTES_WORK 32           /* that are a unit of work, to look for pages */
#define LOOK_WORK 16            /* units, to look at one that may be a page... */
#define PAGE_WORK_BYTES 8       /* ...and one more for each of as many of its bytes */

struct proof {
	struct workbench *bench;
	const struct extents *extents;
	const struct carve_pages *carver;
	void *pages;
	uint32_t page_len, page_count;
	uint64_t *begins;       /* of each piece in the file, and where the last one ends */
	uint64_t step;          /* from one possible place of a joint to the next */
	uint32_t *sums[2];      /* bits of links between two pieces, in both ways */
	uint8_t *bytes, *other; /* a page */
};

/* ---- links -------------------------------------------------------------------------------------- */

/* The piece that has a byte of the file. */
static size_t piece_of(const struct proof *proof, uint64_t at)
{
	size_t low = 0, high = proof->extents->count;

	while (high - low > 1) {
		size_t middle = low + (high - low) / 2;

		if (proof->begins[middle] <= at)
			low = middle;
		else
			high = middle;
	}
	return low;
}

static size_t piece_of_page(const struct proof *proof, uint32_t page)
{
	return piece_of(proof, (uint64_t)page * proof->page_len);
}

static void add_bits(struct proof *proof, size_t a, size_t b, unsigned bits, unsigned way)
{
	size_t count = proof->extents->count;
	uint32_t *sum = proof->sums[way & 1];

	if (a == b)
		return;
	bits = bits < BITS_MAX ? bits : BITS_MAX;
	sum[a * count + b] += bits;
	sum[b * count + a] += bits;
}

static void add_link(void *context, const struct carve_page_link *link)
{
	struct proof *proof = context;
	size_t piece = piece_of_page(proof, link->page);
	bool is_first = !link->page || piece_of_page(proof, link->page - 1) != piece;

	add_bits(proof, piece, piece_of_page(proof, link->other),
		link->bits + (is_first ? link->first_bits : 0), link->way);
}

/* The bits by which each piece belongs to the first one, directly or by others:
 * those of the weakest link. */
static void follow_links(const struct proof *proof, uint32_t *strength)
{
	size_t count = proof->extents->count;
	uint32_t *sum[2] = { xcalloc(count, sizeof(*sum[0])), xcalloc(count, sizeof(*sum[1])) };
	bool *belongs = xcalloc(count, sizeof(*belongs));
	uint32_t least = UINT32_MAX;

	for (size_t next = 0; next < count;) {
		uint32_t best = 0;

		belongs[next] = true;
		strength[next] = least / BIT;
		for (size_t i = 0; i < count; i++)
			for (int way = 0; way < 2; way++)
				sum[way][i] += proof->sums[way][next * count + i];
		next = count;
		for (size_t i = 0; i < count; i++) {
			uint32_t bits = sum[0][i] > sum[1][i] ? sum[0][i] : sum[1][i];

			if (belongs[i] || bits <= best)
				continue;
			best = bits;
			next = i;
		}
		least = best < least ? best : least;
	}
	free(belongs);
	free(sum[0]);
	free(sum[1]);
}

/* ---- bytes -------------------------------------------------------------------------------------- */

/* Reads a page, if the joint before piece `next` were at `joint`. False: the
 * piece can't be there. */
static bool read_page(
	struct proof *proof, uint32_t page, size_t next, uint64_t joint, uint8_t *bytes)
{
	const struct range *runs = proof->extents->runs;
	const struct clusters *clusters = proof->bench->clusters;
	uint64_t at = (uint64_t)page * proof->page_len, end = at + proof->page_len;
	uint64_t file_end = proof->begins[proof->extents->count];

	if (end > file_end) {
		memset(bytes, 0, proof->page_len);
		end = file_end;
	}
	while (at < end) {
		size_t piece = piece_of(proof, at);
		uint64_t to = proof->begins[piece + 1], place;

		if (piece + 1 == next || piece == next) {
			piece = at < joint ? next - 1 : next;
			to = at < joint ? joint : proof->begins[next + 1];
		}
		to = to < end ? to : end;
		place = runs[piece].offset + (at - proof->begins[piece]);
		if (place >= clusters->end || to - at > clusters->end - place ||
			!clusters_are_free(clusters, place, to - at) ||
			!workbench_fetch(proof->bench, place, bytes, (size_t)(to - at)))
			return false;
		bytes += to - at;
		at = to;
	}
	return true;
}

/* ---- other places of a joint -------------------------------------------------------------------- */

enum answer_of_joint { JOINT_IS_SAME, JOINT_IS_REFUSED, JOINT_MAY_BE };

/* What comes of a joint at another place. */
static enum answer_of_joint try_joint(struct proof *proof, size_t next, uint64_t joint)
{
	uint64_t now = proof->begins[next], from = joint < now ? joint : now;
	uint64_t to = joint < now ? now : joint;
	enum answer_of_joint answer = JOINT_IS_SAME;

	for (uint64_t page = from / proof->page_len; page * proof->page_len < to; page++) {
		uint32_t number = (uint32_t)page;

		workbench_spend(proof->bench, LOOK_WORK + proof->page_len / PAGE_WORK_BYTES);
		if (!read_page(proof, number, next, now, proof->bytes))
			return JOINT_MAY_BE; /* nothing is known of it */
		if (!read_page(proof, number, next, joint, proof->other))
			return JOINT_IS_REFUSED;
		if (!memcmp(proof->bytes, proof->other, proof->page_len))
			continue;
		if (!proof->carver->may_be(proof->pages, number, proof->other))
			return JOINT_IS_REFUSED;
		answer = JOINT_MAY_BE;
	}
	return answer;
}

/* Whether the joint before a piece could be at other places in a direction: up
 * to where a whole page would be another one. */
static bool may_move(struct proof *proof, size_t next, bool backwards)
{
	uint64_t least = proof->begins[next - 1], most = proof->begins[next + 1];
	uint64_t joint = proof->begins[next];

	for (unsigned i = 0; i < STEPS_MAX; i++) {
		enum answer_of_joint answer;

		if (backwards ? joint <= least + proof->step : joint + proof->step >= most)
			return false;
		joint = backwards ? joint - proof->step : joint + proof->step;
		answer = try_joint(proof, next, joint);
		if (answer == JOINT_MAY_BE || !workbench_goes_on(proof->bench))
			return true;
		if (answer == JOINT_IS_REFUSED && joint % proof->page_len == 0)
			return false;
	}
	return true;
}

/* Whether any of the pages in [from, to) can't be just anything, of those that the file has. */
static bool is_checked(const struct proof *proof, uint64_t from, uint64_t to)
{
	uint64_t end = proof->begins[proof->extents->count];

	to = to < end ? to : end;
	for (uint64_t page = from / proof->page_len; page * proof->page_len < to; page++)
		if (!proof->carver->may_be(proof->pages, (uint32_t)page, NULL))
			return true;
	return false;
}

/* Whether the joint before a piece is where it is, and nowhere else: something is known of the clusters beside it, and would not
 * be so elsewhere. */
static bool is_fixed(struct proof *proof, size_t next)
{
	uint64_t at = proof->begins[next];
	uint64_t before = at - proof->begins[next - 1] < proof->step ? proof->begins[next - 1]
								     : at - proof->step;

	return is_checked(proof, before, at) && is_checked(proof, at, at + proof->step) &&
	       !may_move(proof, next, true) && !may_move(proof, next, false);
}

/* Whether something is known of all parts of this length: a piece may have another file's in the place of its own, and go on after
 * it. */
static bool are_all_checked(const struct proof *proof, uint64_t len)
{
	uint64_t end = proof->begins[proof->extents->count];

	for (uint64_t at = 0; at < end; at += len)
		if (!is_checked(proof, at, at + len))
			return false;
	return true;
}

/* ---- other versions ----------------------------------------------------------------------------- */

/* Whether the file has a byte of the place, and where its pieces begin and end:
 * whether one is next to it. */
static bool is_own(const struct proof *proof, uint64_t place, bool *is_next)
{
	const struct extents *extents = proof->extents;
	uint64_t end = place + proof->page_len;

	*is_next = false;
	for (size_t i = 0; i < extents->count; i++) {
		const struct range *run = &extents->runs[i];

		if (place < run->offset + run->length && end > run->offset)
			return true;
		*is_next |= end == run->offset || place == run->offset + run->length;
	}
	return false;
}

/* Whether a page elsewhere shows that not all pages need be of one version. */
static bool is_doubtful(struct proof *proof, uint64_t place, const uint8_t *bytes)
{
	enum carve_kin kin;
	bool is_next;

	workbench_spend(proof->bench, LOOK_WORK);
	if (!clusters_are_free(proof->bench->clusters, place, proof->page_len) ||
		is_own(proof, place, &is_next))
		return false;
	kin = proof->carver->kin(proof->pages, bytes);
	if (kin != CARVE_NO_KIN)
		workbench_spend(proof->bench, proof->page_len / PAGE_WORK_BYTES);
	return kin == CARVE_VERSION || (kin == CARVE_COPY && is_next);
}

/* Whether the image has any. */
static bool has_versions(struct proof *proof)
{
	struct workbench *bench = proof->bench;
	uint64_t end = bench->clusters->end, len = proof->page_len;
	uint64_t step = proof->step < len ? proof->step : len;
	uint8_t *chunk = xmalloc(CHUNK + len);
	bool has = false;

	for (uint64_t at = bench->clusters->origin % step; at < end && !has; at += CHUNK) {
		uint64_t room = end - at < CHUNK + len ? end - at : CHUNK + len;

		workbench_spend(bench, CHUNK / BYTES_WORK);
		if (!workbench_fetch(bench, at, chunk, (size_t)room)) {
			has = true; /* perhaps */
			break;
		}
		for (uint64_t i = 0; i < CHUNK && i + len <= room && !has; i += step)
			if (is_doubtful(proof, at + i, chunk + i))
				has = true;
	}
	free(chunk);
	return has || !workbench_goes_on(bench);
}

/* ---- the whole ---------------------------------------------------------------------------------- */

static void *begin(struct proof *proof)
{
	struct workbench *bench = proof->bench;
	void *pages;

	workbench_open(bench, proof->extents);
	pages = proof->carver->begin(bench->view, &proof->page_len, &proof->page_count);
	workbench_close(bench);
	return pages;
}

/* Where joints may be: as pieces begin at clusters, whatever those are taken
 * for that are looked at now. */
static uint64_t find_step(const struct clusters *clusters)
{
	return clusters->voters.count < VOTERS_MIN ? SECTOR
	       : clusters->finest                  ? clusters->finest
						   : clusters->size;
}

static void find_begins(struct proof *proof)
{
	const struct extents *extents = proof->extents;

	proof->begins = xcalloc(extents->count + 1, sizeof(*proof->begins));
	for (size_t i = 0; i < extents->count; i++)
		proof->begins[i + 1] = proof->begins[i] + extents->runs[i].length;
}

/* Pages of which several pieces have a part. */
static void link_inside(struct proof *proof)
{
	for (size_t i = 1; i < proof->extents->count; i++) {
		uint64_t at = proof->begins[i], end = proof->begins[i + 1];
		uint64_t page = at / proof->page_len, from = page * proof->page_len;

		if (from == at || !read_page(proof, (uint32_t)page, i, at, proof->bytes))
			continue;
		end = end - from < proof->page_len ? end - from : proof->page_len;
		add_bits(proof, piece_of(proof, from), i,
			proof->carver->inner_bits(proof->pages, proof->bytes, (uint32_t)page,
				(uint32_t)(at - from), (uint32_t)end),
			0);
	}
}

/* The bits that each joint has to have: a place that was chosen among others could have been any of them, as if each were tried. */
static uint32_t least_bits(const struct workbench *bench)
{
	return PROOF_BITS + workbench_bits(bench->tested + bench->compared);
}

static bool is_proved(struct proof *proof, const uint32_t *strength)
{
	uint32_t least = least_bits(proof->bench);
	size_t count = proof->extents->count;

	for (size_t i = 1; i < count; i++)
		if (strength[i] < least)
			return false;
	for (size_t i = 1; i < count; i++)
		if (!is_fixed(proof, i))
			return false;
	/* Of pages that are sectors many have nothing to do with others. */
	if (proof->page_len == SECTOR && !are_all_checked(proof, proof->step))
		return false;
	return !has_versions(proof);
}

/* Checks over joints do not show that pages elsewhere, of which nothing is known, are not another version's. */
static bool may_be_mixed(struct proof *proof, const struct joint_bits *bits)
{
	uint32_t least = least_bits(proof->bench);

	for (size_t i = 0; i + 1 < proof->extents->count; i++)
		if (bits[i].checked < least)
			return false;
	return !are_all_checked(proof, proof->page_len) && has_versions(proof);
}

static void raise(uint32_t *bits, uint32_t to)
{
	if (*bits < to)
		*bits = to;
}

static void prove(struct proof *proof, struct joint_bits *bits)
{
	size_t count = proof->extents->count;
	uint32_t *strength = xcalloc(count, sizeof(*strength));

	find_begins(proof);
	proof->step = find_step(proof->bench->clusters);
	proof->sums[0] = xcalloc(count * count, sizeof(*proof->sums[0]));
	proof->sums[1] = xcalloc(count * count, sizeof(*proof->sums[1]));
	proof->bytes = xmalloc(2 * (size_t)proof->page_len);
	proof->other = proof->bytes + proof->page_len;
	if ((proof->begins[count] + proof->page_len - 1) / proof->page_len == proof->page_count) {
		proof->carver->links(proof->pages, add_link, proof);
		link_inside(proof);
		follow_links(proof, strength);
		if (may_be_mixed(proof, bits))
			memset(bits, 0, (count - 1) * sizeof(*bits));
		else if (is_proved(proof, strength))
			for (size_t i = 1; i < count; i++)
				raise(&bits[i - 1].checked, strength[i] < strength[i - 1]
								    ? strength[i]
								    : strength[i - 1]);
	}
	free(proof->begins);
	free(proof->sums[0]);
	free(proof->sums[1]);
	free(proof->bytes);
	free(strength);
}

void page_proof_add(struct workbench *bench, const struct extents *extents, struct joint_bits *bits)
{
	struct proof proof = {
		.bench = bench, .extents = extents, .carver = bench->rule->carver->pages
	};

	if (!proof.carver || extents->count < 2 || extents->count > RUNS_MAX ||
		!workbench_goes_on(bench))
		return;
	proof.pages = begin(&proof);
	if (!proof.pages)
		return;
	prove(&proof, bits);
	proof.carver->end(proof.pages);
}
