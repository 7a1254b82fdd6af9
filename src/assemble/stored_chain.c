/*
 * Content that is stored as it is, samples or pixels, has nothing that a carver could verify, but its bytes show well which
 * cluster goes on where another one ends (content_end.h). So a chain of clusters is made from the file's start to its end,
 * which its header shows, and the carver checks only that. The cluster after the last one is likeliest; if its bytes do not
 * speak for it, all free clusters are looked at, of which those farther away need more bits to be taken. A few chains are
 * followed at a time.
 *
 * Pixels are of one colour where many pieces begin and end: such a cluster is near, or what follows it shows that it is the
 * right one. Where the format shows the file's end elsewhere (struct tail) the chain ends there.
 *
 * A chain is taken only if no other one is nearly as good, if nothing in it looks like another file's, and, of samples, if each
 * jump has evidence well beyond what its distance costs. Else the file is left as it is. Nothing proves joints of pixels, and
 * those of samples seldom: where all places of the file between clusters agree (sample_proof.h), the last bytes are proved, too,
 * and the file is complete though its carver can't say so.
 */
#include "assemble/strategies.h"

#include <stdlib.h>
#include <string.h>

#include "assemble/content_end.h"
#include "assemble/fine_log.h"
#include "assemble/mapping.h"
#include "assemble/sample_proof.h"
#include "base/memory.h"

#define BIT CONTENT_BIT
#define CHAINS 8             /* that are followed at a time */
#define CHOICES 128          /* clusters that are looked at twice... */
#define TAKEN 8              /* ...and those that a chain is continued with */
#define SURE (10 * BIT)      /* for the next cluster: others are not looked at then */
#define SURE_PART 4          /* for pixels: that part of what steps had so far, ... */
#define SURE_LEAST (5 * BIT) /* ...between these */
#define SURE_MOST (20 * BIT)
#define LINEAR (40 * BIT)    /* bits up to which they count wholly; beyond it an eighth */
#define NEXT_MOST (16 * BIT) /* that the next cluster of pixels counts */
#define POOR (-6 * BIT)      /* a chain with a worse step ends... */
#define POOR_NEXT \
	(-16 * BIT) /* ...but for the next cluster, which pixels may change in, and sound if nothing else goes on */
#define WORSE (64 * BIT)          /* than the best: a chain ends */
#define SAMPLES_LEAST (14 * BIT)  /* for each jump of what is taken... */
#define PIXELS_LEAST 0            /* as pieces begin where all is of one colour, too */
#define SAMPLES_MARGIN (12 * BIT) /* ...for it rather than another chain... */
#define PIXELS_MARGIN (8 * BIT)
#define STEP_MEAN (6 * BIT)  /* ...and for a step, on average */
#define GO_ON (BIT / 4)      /* what it costs to go on, ... */
#define JUMP (3 * BIT)       /* ...or elsewhere, without the distance */
#define TWIN (16 * BIT)      /* ...or elsewhere where it may go on */
#define NEAR 8               /* clusters that cost no more than less */
#define SLACK_MIN 32         /* bytes after the end that say something... */
#define SLACK_BITS (5 * BIT) /* ...if they are zeros, or not */
#define ENDED (12 * BIT)     /* against samples that end in zeros like the end of another file */
#define ENDED_MIN 48         /* zeros */
#define CHUNK_LEN 8          /* of the head of a chunk after samples: a name... */
#define NAME_BITS (5 * BIT)  /* ...of four letters, and a length */
#define ENDED_BEFORE 16      /* bytes before them that are not silent */
#define POOL_MAX ((uint64_t)1 << 15)     /* clusters on each side that are looked at */
#define CLUSTERS_MAX ((uint64_t)1 << 16) /* of a file */
#define EVIDENCE_MAX (PROOF_BITS - 1)    /* of what fits in the chain: no proof */
#define FIRST_LOOK_WORK 256              /* units for a first look at a cluster... */
#define LOOK_WORK 4096                   /* ...for a second one... */
#define LINK_WORK 2                      /* ...for a cluster of a chain that is compared... */
#define LEARN_WORK 32768                 /* ...and for what is before a place */

/* A cluster of a chain. Those of all chains are in one array. */
struct link {
	uint64_t place; /* in the evidence */
	size_t before;  /* the link; its own number: none */
};

struct chain {
	size_t last;           /* link */
	int64_t sum;           /* of all steps, in BITs */
	int64_t next_sum;      /* of those to the next cluster, without a limit... */
	uint64_t next_count;   /* ...and how many they are */
	int64_t margin, least; /* over other chains with the same last cluster; the worst jump */
	unsigned jumps;
	bool is_open; /* the last cluster does not go on as the one before did: the next one has to go on as that does */
};

/* A cluster that may be next. */
struct choice {
	uint64_t place;
	int64_t bits;
	int64_t content; /* bits without limit, of the next cluster */
};

struct chaining {
	struct workbench *bench;
	const struct broken *broken;
	struct carve_stored stored;
	struct tail tail; /* from 0: it is not known where the file's end is */
	struct content_end *end;
	uint64_t size; /* of a cluster */
	struct link *links;
	size_t link_count, link_capacity;
	struct choice *choices;
	size_t choice_count, choice_capacity;
	uint8_t *past, *cluster, *other; /* what is learnt from, and bytes of clusters */
	uint8_t *heads; /* the first head_len bytes of clusters from this number on */
	uint64_t first_head;
	size_t head_len;
	uint64_t like_count; /* clusters from which one was chosen */
	uint64_t at;         /* the place in the file that clusters are looked at for */
};

/* ---- clusters ------------------------------------------------------------------------------ */

static bool is_free(const struct chaining *chaining, uint64_t place)
{
	const struct clusters *clusters = chaining->bench->clusters;

	return place < clusters->end && clusters->end - place >= chaining->size &&
	       clusters_are_free(clusters, place, chaining->size) &&
	       !clusters_is_start(clusters, place);
}

/* Whether a cluster has the file's end, which follows only what is before it. */
static bool is_tail(const struct chaining *chaining, uint64_t place)
{
	const struct tail *tail = &chaining->tail;

	return tail->from &&
	       place - (tail->from + tail->shift) < chaining->stored.length - tail->from;
}

static bool has(const struct chaining *chaining, const struct chain *chain, uint64_t place)
{
	size_t link = chain->last;
	uint64_t count = 0;

	for (; chaining->links[link].place != place && chaining->links[link].before != link;
		count++)
		link = chaining->links[link].before;
	workbench_spend(chaining->bench, count * LINK_WORK);
	return chaining->links[link].place == place;
}

/* What a step costs, by its distance from the place after the last cluster. */
static int64_t step_cost(const struct chaining *chaining, uint64_t after, uint64_t place)
{
	uint64_t distance = (place < after ? after - place : place - after) / chaining->size;

	if (!distance)
		return GO_ON;
	return JUMP + fine_log(distance + NEAR) * 3 / 2 + (place < after ? BIT : 0);
}

/* Bits for what is after the content in the cluster: the file's end at `left` bytes; or that it seems to end in it
 * although it can't. */
static int64_t end_bits(const struct chaining *chaining, uint64_t left)
{
	const uint8_t *bytes = chaining->cluster;
	size_t size = (size_t)chaining->size, len = size;

	if (left < size)
		return size - left < SLACK_MIN                          ? 0
		       : is_all_zero(bytes + left, size - (size_t)left) ? SLACK_BITS
									: -SLACK_BITS;
	while (len && !bytes[len - 1])
		len--;
	if (chaining->stored.row_len || size - len < ENDED_MIN || len < ENDED_BEFORE)
		return 0;
	for (size_t i = len - ENDED_BEFORE; i < len; i++)
		if (bytes[i] < 4 || bytes[i] >= 252)
			return 0;
	return -ENDED;
}

/* Whether the cluster at this place of the file has the head of a chunk after the samples, if there is one. */
static bool has_chunk(const struct chaining *chaining, uint64_t at, uint64_t *chunk)
{
	const struct carve_stored *stored = &chaining->stored;

	*chunk = stored->to + (stored->to & 1);
	return !stored->row_len && *chunk >= at && *chunk + CHUNK_LEN <= at + chaining->size &&
	       *chunk + CHUNK_LEN <= stored->length;
}

/* Bits for a chunk that begins where the samples of the file end, and is in it: its length is of either order of bytes. */
static int64_t chunk_bits(const struct chaining *chaining, uint64_t at)
{
	uint64_t chunk, rest, lens[2] = { 0 };
	const uint8_t *p;

	if (!has_chunk(chaining, at, &chunk))
		return 0;
	p = chaining->cluster + (chunk - at);
	rest = chaining->stored.length - chunk - CHUNK_LEN;
	for (unsigned i = 0; i < 4; i++) {
		if (p[i] < ' ' || p[i] > '~')
			return 0;
		lens[0] = lens[0] << 8 | p[4 + i];
		lens[1] |= (uint64_t)p[4 + i] << 8 * i;
	}
	for (unsigned i = 0; i < 2; i++)
		if (lens[i] && lens[i] <= rest && rest - lens[i] != 1)
			return NAME_BITS + fine_log(UINT32_MAX / (lens[i] == rest ? 1 : rest) + 1) -
			       BIT;
	return 0;
}

/* All bits for the cluster that was read. at: its place in the file. */
static int64_t cluster_bits(struct chaining *chaining, uint64_t at)
{
	int64_t bits = content_end_bits(chaining->end, chaining->cluster) +
		       end_bits(chaining, chaining->stored.length - at) + chunk_bits(chaining, at);

	workbench_spend(chaining->bench, LOOK_WORK);
	return bits > LINEAR ? LINEAR + (bits - LINEAR) / 8 : bits;
}

/* What this costs is counted by the caller. False: trials can't go on. */
static bool read_cluster(struct chaining *chaining, uint64_t place, uint8_t *bytes)
{
	return workbench_fetch(chaining->bench, place, bytes, (size_t)chaining->size);
}

/* ---- choices ------------------------------------------------------------------------------- */

static int compare_choices(const void *a, const void *b)
{
	const struct choice *left = a, *right = b;

	if (left->bits != right->bits)
		return left->bits < right->bits ? 1 : -1;
	return left->place < right->place ? -1 : left->place > right->place;
}

static void sort_choices(struct chaining *chaining, size_t from)
{
	if (chaining->choice_count > from + 1)
		qsort(chaining->choices + from, chaining->choice_count - from,
			sizeof(*chaining->choices), compare_choices);
}

static struct choice *add_choice(struct chaining *chaining, uint64_t place, int64_t bits)
{
	chaining->choices = xgrow(chaining->choices, &chaining->choice_capacity,
		chaining->choice_count, sizeof(*chaining->choices));
	chaining->choices[chaining->choice_count] = (struct choice){ place, bits, 0 };
	return &chaining->choices[chaining->choice_count++];
}

/* The first bytes of a cluster. NULL: trials can't go on. */
static const uint8_t *read_head(struct chaining *chaining, uint64_t place)
{
	struct workbench *bench = chaining->bench;
	uint64_t number = 0, first;

	searcher_number(bench->searcher, place, &number);
	first = number / SEARCHER_SPAN * SEARCHER_SPAN;
	if (first != chaining->first_head) {
		searcher_read_heads(bench->searcher, bench->evidence, first, chaining->heads);
		bench->stopped |= image_was_cut(bench->evidence);
		chaining->first_head = first;
	}
	return bench->stopped ? NULL : chaining->heads + (number - first) * chaining->head_len;
}

/* A first look at a free cluster. */
static bool look(struct chaining *chaining, uint64_t after, uint64_t place)
{
	const uint8_t *head = read_head(chaining, place);
	int64_t rank;

	workbench_spend(
		chaining->bench, chaining->stored.row_len ? FIRST_LOOK_WORK / 2 : FIRST_LOOK_WORK);
	if (!head || !workbench_goes_on(chaining->bench))
		return false;
	if (content_end_may_go_on(chaining->end, head, chaining->head_len, &rank))
		add_choice(chaining, place, rank ? rank : -step_cost(chaining, after, place));
	return true;
}

/* The same for one that may have the chunk after the samples. */
static bool look_for_chunk(struct chaining *chaining, uint64_t after, uint64_t place)
{
	int64_t bits;

	workbench_spend(chaining->bench, FIRST_LOOK_WORK);
	if (!read_cluster(chaining, place, chaining->cluster) ||
		!workbench_goes_on(chaining->bench))
		return false;
	bits = chunk_bits(chaining, chaining->at);
	if (bits)
		add_choice(chaining, place, bits - step_cost(chaining, after, place));
	return true;
}

/* Visits all that are free and not too far from a place. False: no work is left. */
static bool look_around(struct chaining *chaining, uint64_t after,
	bool (*visit)(struct chaining *chaining, uint64_t after, uint64_t place))
{
	const struct clusters *clusters = chaining->bench->clusters;
	uint64_t size = chaining->size, reach = POOL_MAX * size;
	uint64_t from = after > reach ? after - reach : 0, to = after + reach;

	for (const struct range *run = clusters_free_after(clusters, from);
		run && run < clusters->free_runs + clusters->free_count && run->offset < to;
		run++) {
		uint64_t end = run->offset + run->length < to ? run->offset + run->length : to;
		uint64_t place = run->offset < from ? clusters_next(clusters, from) : run->offset;

		for (; place < end && end - place >= size; place += size)
			if (place != after && !clusters_is_start(clusters, place) &&
				!is_tail(chaining, place) && !visit(chaining, after, place))
				return false;
	}
	return true;
}

/* A copy of one that is a choice already is none, but the nearer one of both is taken. */
static bool is_copy(struct chaining *chaining, size_t count, uint64_t place, int64_t bits)
{
	for (size_t i = 0; i < count; i++) {
		struct choice *choice = &chaining->choices[i];

		workbench_spend(chaining->bench, FIRST_LOOK_WORK);
		if (!read_cluster(chaining, choice->place, chaining->other) ||
			memcmp(chaining->cluster, chaining->other, (size_t)chaining->size) != 0)
			continue;
		if (bits > choice->bits)
			*choice = (struct choice){ place, bits, 0 };
		return true;
	}
	return false;
}

/* Of the next cluster. How well a picture's rows go on differs: where they do better, it is not likelier the one. */
static int64_t next_bits(const struct chaining *chaining, int64_t bits)
{
	return chaining->stored.row_len && bits > NEXT_MOST ? NEXT_MOST : bits;
}

/* Second looks at the best choices from number `kept` on: those are choices already. */
static void choose(struct chaining *chaining, const struct chain *chain, uint64_t after,
	uint64_t at, size_t kept)
{
	const struct choice *next = chaining->choices;
	/* Where pixels may well go on, pieces of a picture that is much alike may look better. */
	int64_t more = kept && chaining->stored.row_len && next->bits >= -BIT
			       ? TWIN + next->content - next_bits(chaining, next->content)
			       : 0;
	size_t count = kept, all;

	sort_choices(chaining, kept);
	all = chaining->choice_count < CHOICES ? chaining->choice_count : CHOICES;
	for (size_t i = kept; i < all; i++) {
		uint64_t place = chaining->choices[i].place;
		int64_t bits;

		if (has(chaining, chain, place) ||
			!read_cluster(chaining, place, chaining->cluster))
			continue;
		bits = cluster_bits(chaining, at) - step_cost(chaining, after, place) - more;
		if (bits >= 0 && !is_copy(chaining, count, place, bits))
			chaining->choices[count++] = (struct choice){ place, bits, 0 };
	}
	chaining->choice_count = count;
}

/* Reads what is before a place in the file. */
static bool learn(struct chaining *chaining, const struct chain *chain, uint64_t at)
{
	uint64_t size = chaining->size;
	uint64_t most = (content_end_past(chaining->end) + size - 1) / size * size;
	size_t len = (size_t)(at < most ? at : most), link = chain->last;

	for (size_t done = 0; done < len; done += (size_t)size) {
		if (!read_cluster(chaining, chaining->links[link].place,
			    chaining->past + len - done - size))
			return false;
		link = chaining->links[link].before;
	}
	most = content_end_past(chaining->end);
	if (len > most)
		content_end_learn(chaining->end, chaining->past + len - most, (size_t)most, at);
	else
		content_end_learn(chaining->end, chaining->past, len, at);
	workbench_spend(chaining->bench, LEARN_WORK);
	return true;
}

/* Bits with which others than the next cluster are not looked at: where pixels have many, few show that another picture
 * may have begun. */
static int64_t sure_bits(const struct chaining *chaining, const struct chain *chain)
{
	int64_t part;

	if (!chaining->stored.row_len)
		return SURE;
	part = chain->next_count ? chain->next_sum / (int64_t)chain->next_count / SURE_PART : 0;
	return part < SURE_LEAST ? SURE_LEAST : part < SURE_MOST ? part : SURE_MOST;
}

/* In one piece with the file's end the cluster may well be here. */
static void add_before_tail(
	struct chaining *chaining, const struct chain *chain, uint64_t after, uint64_t at)
{
	uint64_t place = at + chaining->tail.shift;

	if (place != after && is_free(chaining, place) && !has(chaining, chain, place) &&
		read_cluster(chaining, place, chaining->cluster))
		add_choice(chaining, place, cluster_bits(chaining, at) - JUMP);
}

/* Finds what may follow a chain of `at` bytes, the best first. */
static void find_choices(struct chaining *chaining, const struct chain *chain, uint64_t at)
{
	uint64_t after = chaining->links[chain->last].place + chaining->size;
	bool is_end = chaining->tail.from && at >= chaining->tail.from;
	int64_t bits = INT64_MIN;
	uint64_t chunk;

	chaining->choice_count = 0;
	chaining->at = at;
	if (!learn(chaining, chain, at))
		return;
	if (is_end && after != at + chaining->tail.shift) {
		add_before_tail(chaining, chain, after, at);
		return;
	}
	if (is_free(chaining, after) && is_tail(chaining, after) == is_end &&
		read_cluster(chaining, after, chaining->cluster)) {
		bits = cluster_bits(chaining, at);
		if (!has(chaining, chain, after))
			add_choice(chaining, after, next_bits(chaining, bits) - GO_ON)->content =
				bits;
	}
	if (!is_end && bits < sure_bits(chaining, chain) && has_chunk(chaining, at, &chunk)) {
		size_t kept = chaining->choice_count;

		if (!look_around(chaining, after, look_for_chunk))
			return;
		choose(chaining, chain, after, at, kept);
	} else if (!is_end && bits < sure_bits(chaining, chain) && at < chaining->stored.to &&
		   content_end_is_known(chaining->end)) {
		size_t kept;

		if (chaining->tail.from)
			add_before_tail(chaining, chain, after, at);
		kept = chaining->choice_count;
		if (!look_around(chaining, after, look))
			return;
		choose(chaining, chain, after, at, kept);
	}
	sort_choices(chaining, 0);
}

/* ---- chains -------------------------------------------------------------------------------- */

static size_t add_link(struct chaining *chaining, uint64_t place, size_t before)
{
	chaining->links = xgrow(chaining->links, &chaining->link_capacity, chaining->link_count,
		sizeof(*chaining->links));
	chaining->links[chaining->link_count] = (struct link){ place, before };
	return chaining->link_count++;
}

/* Adds a chain to those of one length, the best first. One with the same last cluster as a better one is no chain of its
 * own. */
static void add_chain(
	const struct chaining *chaining, struct chain *chains, size_t *count, struct chain chain)
{
	uint64_t place = chaining->links[chain.last].place;
	size_t at = *count;

	for (size_t i = 0; i < *count; i++) {
		struct chain *other = &chains[i];
		struct chain worse = chain;

		if (chaining->links[other->last].place != place)
			continue;
		if (chain.sum > other->sum) {
			worse = *other;
			memmove(other, other + 1, (--*count - i) * sizeof(*chains));
			at = *count;
		}
		/* The better one is so much better. */
		other = chain.sum > worse.sum ? &chain : other;
		if (other->sum - worse.sum < other->margin)
			other->margin = other->sum - worse.sum;
		if (other != &chain)
			return;
		break;
	}
	while (at && chains[at - 1].sum < chain.sum)
		at--;
	if (at == CHAINS)
		return;
	if (*count == CHAINS)
		--*count;
	memmove(chains + at + 1, chains + at, (*count - at) * sizeof(*chains));
	chains[at] = chain;
	++*count;
}

/* What a choice counts. Sound may set in or change with a cluster: where nothing else fits it goes on there nevertheless. */
static int64_t step_bits(
	const struct chaining *chaining, const struct choice *choice, uint64_t after)
{
	bool is_alone =
		!chaining->stored.row_len && chaining->choice_count == 1 && choice->place == after;

	return is_alone && choice->bits < POOR_NEXT ? POOR_NEXT : choice->bits;
}

/* The least that a choice must count. */
static int64_t least_bits(
	const struct chaining *chaining, const struct choice *choice, uint64_t after)
{
	return choice->place == after && (chaining->stored.row_len || chaining->choice_count == 1)
		       ? POOR_NEXT
		       : POOR;
}

/* Continues a chain with each of its choices. */
static void continue_chain(struct chaining *chaining, const struct chain *chain, uint64_t at,
	struct chain *next, size_t *count)
{
	uint64_t after = chaining->links[chain->last].place + chaining->size;

	find_choices(chaining, chain, at);
	for (size_t i = 0; i < chaining->choice_count && i < TAKEN; i++) {
		const struct choice *choice = &chaining->choices[i];
		struct chain longer = *chain;
		int64_t bits = step_bits(chaining, choice, after);

		if (bits < (chain->is_open ? STEP_MEAN : least_bits(chaining, choice, after)))
			continue;
		longer.last = add_link(chaining, choice->place, chain->last);
		longer.sum += bits;
		longer.is_open = !chaining->stored.row_len && bits < POOR;
		if (choice->place == after) {
			longer.next_sum += choice->content;
			longer.next_count++;
		} else {
			longer.jumps++;
			longer.least = choice->bits < longer.least ? choice->bits : longer.least;
		}
		add_chain(chaining, next, count, longer);
	}
}

/* Makes a chain of the whole file. False: there is none. */
static bool make_chain(struct chaining *chaining, struct chain *best)
{
	struct chain chains[CHAINS], next[CHAINS];
	size_t count = 1;

	chains[0] = (struct chain){ .last = add_link(chaining, chaining->broken->start, 0),
		.margin = INT64_MAX,
		.least = INT64_MAX };
	for (uint64_t at = chaining->size; at < chaining->stored.length; at += chaining->size) {
		size_t next_count = 0;

		for (size_t i = 0; i < count && workbench_goes_on(chaining->bench); i++)
			if (chains[i].sum >= chains[0].sum - WORSE)
				continue_chain(chaining, &chains[i], at, next, &next_count);
		if (!next_count || !workbench_goes_on(chaining->bench))
			return false;
		count = next_count;
		memcpy(chains, next, count * sizeof(*next));
	}
	*best = chains[0];
	if (count > 1 && best->sum - chains[1].sum < best->margin)
		best->margin = best->sum - chains[1].sum;
	return true;
}

/* Whether the evidence suffices. */
static bool is_convincing(const struct chaining *chaining, const struct chain *chain)
{
	uint64_t steps = (chaining->stored.length - 1) / chaining->size;
	int64_t least = chaining->stored.row_len ? PIXELS_LEAST : SAMPLES_LEAST;
	int64_t margin = chaining->stored.row_len ? PIXELS_MARGIN : SAMPLES_MARGIN;

	return chain->jumps && !chain->is_open && chain->least >= least &&
	       chain->margin >= margin && chain->sum >= (int64_t)steps * STEP_MEAN;
}

static void lay_out(
	const struct chaining *chaining, const struct chain *chain, struct extents *extents)
{
	uint64_t count = (chaining->stored.length - 1) / chaining->size + 1;
	uint64_t *places = xcalloc((size_t)count, sizeof(*places));
	size_t link = chain->last;

	for (size_t i = (size_t)count; i-- > 0; link = chaining->links[link].before)
		places[i] = chaining->links[link].place;
	extents_clear(extents);
	for (size_t i = 0; i < count; i++)
		extents_add(extents, places[i], chaining->size);
	free(places);
}

/* ---- proof --------------------------------------------------------------------------------- */

/* Counts a free cluster from which one is chosen if its sound is like that before, as that of the chosen one has to be: whether it is
 * depends on nothing near its beginning. */
static bool count_like(struct chaining *chaining, uint64_t after, uint64_t place)
{
	const uint8_t *head = read_head(chaining, place);

	(void)after;
	workbench_spend(chaining->bench, FIRST_LOOK_WORK);
	if (!head || !workbench_goes_on(chaining->bench))
		return false;
	chaining->like_count += content_end_is_like(chaining->end, head, chaining->head_len);
	return true;
}

/* From how many clusters that of a link was chosen, at this place of the file. UINT64_MAX: its sound is not like that before, or no
 * work is left. */
static uint64_t count_choices(struct chaining *chaining, size_t link, uint64_t at)
{
	struct link *links = chaining->links;
	const struct chain chain = { .last = links[link].before };
	uint64_t after = links[chain.last].place + chaining->size, place = links[link].place;
	const uint8_t *head;

	if (!learn(chaining, &chain, at))
		return UINT64_MAX;
	head = read_head(chaining, place);
	if (!head || !content_end_is_like(chaining->end, head, chaining->head_len))
		return UINT64_MAX;
	chaining->like_count = 1;
	return look_around(chaining, after, count_like) ? chaining->like_count : UINT64_MAX;
}

/* The bits of the joint that is proved least. */
static uint32_t prove(struct chaining *chaining, const struct chain *chain, uint64_t length)
{
	uint64_t size = chaining->size;
	size_t count = (size_t)((length - 1) / size + 1), link = chain->last;
	uint64_t *places = xcalloc(2 * count, sizeof(*places)), *choices = places + count;
	struct sample_chain samples = { .stored = &chaining->stored,
		.length = length,
		.size = size,
		.places = places,
		.choices = choices,
		.count = count };
	uint32_t bits = 0;
	bool is_known = true;

	for (size_t i = count; i-- > 0 && is_known; link = chaining->links[link].before) {
		places[i] = chaining->links[link].place;
		if (i && chaining->links[chaining->links[link].before].place + size != places[i])
			choices[i] = count_choices(chaining, link, i * size);
		is_known = choices[i] < UINT64_MAX;
	}
	if (is_known)
		bits = sample_proof_bits(chaining->bench, &samples);
	free(places);
	return bits;
}

/* ---- the strategy -------------------------------------------------------------------------- */

/* Reads the header, or the directory at the file's end. False: there is no such content, or not enough of it is
 * understood. */
static bool describe(struct workbench *bench, const struct broken *broken,
	struct carve_stored *stored, struct tail *tail)
{
	uint64_t end = bench->clusters->end, start = broken->start;
	struct extents extents = { 0 };
	bool is_described;

	*stored = (struct carve_stored){ 0 };
	*tail = (struct tail){ 0 };
	extents_add(&extents, start, end - start);
	is_described = workbench_describe_stored(bench, &extents, stored);
	if (!is_described && mapping_find_tail(bench, broken, tail) && tail->from < end - start) {
		extents_clear(&extents);
		extents_add(&extents, start, tail->from);
		extents_add(&extents, tail->from + tail->shift, end - (tail->from + tail->shift));
		is_described = workbench_describe_stored(bench, &extents, stored) &&
			       tail->from < stored->length;
	}
	extents_free(&extents);
	return is_described && stored->from < stored->to && stored->to <= stored->length &&
	       stored->row_len <= CONTENT_ROW_MAX && stored->sample_len &&
	       stored->sample_len <= 4 && stored->channels &&
	       stored->channels <= CONTENT_CHANNELS &&
	       (!stored->row_len || stored->row_len > 2u * stored->channels) &&
	       stored->length > bench->clusters->size &&
	       stored->length / bench->clusters->size < CLUSTERS_MAX;
}

static bool find_chain(struct chaining *chaining, struct extents *extents, struct outcome *outcome,
	struct assembly *assembly)
{
	struct workbench *bench = chaining->bench;
	struct chain chain;
	uint64_t length = chaining->stored.length;

	if (!make_chain(chaining, &chain) || !is_convincing(chaining, &chain))
		return false;
	lay_out(chaining, &chain, extents);
	if (!workbench_check(bench, extents, CARVE_UNVERIFIED, outcome))
		return false;
	if (outcome->length < chaining->stored.to || outcome->length > length + 1) {
		outcome_free(outcome);
		return false;
	}
	assembly->evidence = (uint32_t)(chain.least / BIT);
	if (assembly->evidence > EVIDENCE_MAX)
		assembly->evidence = EVIDENCE_MAX;
	if (!chaining->stored.row_len && outcome_is_whole(outcome)) {
		uint32_t bits = prove(chaining, &chain, outcome->length);

		if (bits > EVIDENCE_MAX) {
			assembly->evidence = bits;
			outcome->verdict = CARVE_COMPLETE;
			outcome->agrees = false;
			*outcome->finding.why = '\0';
		}
	}
	return true;
}

bool find_stored_chain(struct workbench *bench, const struct broken *broken,
	struct extents *extents, struct outcome *outcome, struct assembly *assembly)
{
	struct chaining chaining = { .bench = bench,
		.broken = broken,
		.size = bench->clusters->size,
		.first_head = UINT64_MAX,
		.head_len = searcher_head_len(bench->searcher) };
	size_t past;
	bool found;

	if (!bench->rule->carver->stored || (broken->is_weak && !bench->rule->carver->map) ||
		broken->start % chaining.size != bench->clusters->origin ||
		chaining.size > CONTENT_PAST ||
		!describe(bench, broken, &chaining.stored, &chaining.tail))
		return false;
	chaining.end = content_end_new(&chaining.stored, chaining.size);
	past = content_end_past(chaining.end) + (size_t)chaining.size;
	chaining.past = xmalloc(past + 2 * (size_t)chaining.size);
	chaining.cluster = chaining.past + past;
	chaining.other = chaining.cluster + chaining.size;
	chaining.heads = xmalloc(SEARCHER_SPAN * chaining.head_len);
	found = find_chain(&chaining, extents, outcome, assembly);
	content_end_free(chaining.end);
	free(chaining.past);
	free(chaining.heads);
	free(chaining.links);
	free(chaining.choices);
	return found;
}
