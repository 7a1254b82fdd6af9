/*
 * Carvers of texts (struct carver, is_text) accept nearly any other text at a joint, so what they notice does not show which
 * cluster is next. But a text's own clusters are known by their strings, and its bytes go on where a joint is right
 * (text_model.h). So chains of clusters are made from the file's start on, in which each step costs bits: to the next cluster, if
 * that is unlike the text or does not go on with it; to any other one for the same, for its distance, and if the next cluster
 * would do, or the one before the other. The chain that costs least so far is continued first (E. W. Dijkstra, A note on two
 * problems in connexion with graphs, 1959). Where one may jump or end the carver is asked: what it noticed before is not
 * continued, and what it finds whole is an end. Of the ends the likeliest is taken: one of which others are only parts costs more
 * steps, but has more that fits.
 *
 * Of the text's own clusters only the first is known at first. Those that are like it are learnt, too, and so on for a few
 * rounds. Nothing of that proves a joint: the carver does, or the file stays unverified.
 */
#include "assemble/strategies.h"

#include <stdlib.h>
#include <string.h>

#include "assemble/fine_log.h"
#include "assemble/text_model.h"
#include "base/memory.h"

#define BIT FINE_LOG_BIT
#define SIZE_LEAST 1024              /* bytes of a cluster: fewer show too little */
#define SIZE_MOST ((uint64_t)65536)  /* and at most */
#define AROUND 2048                  /* clusters of text on each side that are looked at... */
#define FAR 8192                     /* ...none of them farther away... */
#define BYTES_MAX ((size_t)32 << 20) /* ...nor more bytes */
#define PLAIN_LEAST 4                /* bytes of text with which a cluster begins... */
#define ASCII_LEAST 64               /* ...in ASCII if they are fewer */
#define ANY_LEN 1024                 /* bytes of each that show what texts are like */
#define ROUNDS 3                     /* in which own clusters are learnt */
#define LIKE_MAX ((size_t)128 << 10) /* bytes of them */
#define STEP 64                      /* bytes after which a text may have ended */
#define UNLIKE_TIMES 150             /* what a bit costs by which a byte is unlike the text */
#define CHANGE_LEAST 35              /* hundredths by which content changes that cost nothing, */
#define CHANGE_TIMES 20              /* and bits for each hundred more */
#define UNLIKE_MOST (24 * BIT)       /* either costs */
#define PART_MAX ((size_t)64 << 10)  /* bytes of a chain with which steps are compared, */
#define PART_LEN 1024                /* and of each of these */
#define PART_TIMES \
	250 /* what a bit costs by which a byte is less like the chain than the best step's */
#define PART_MOST (30 * BIT)
#define FIT_MOST (12 * BIT)   /* a joint counts at most... */
#define UNFIT_MOST (30 * BIT) /* ...and against it */
#define FIT_USUAL (8 * BIT)   /* what one of a jump is expected to have */
#define JUMP (2 * BIT)        /* what each jump costs... */
#define LEAVE (4 * BIT)       /* ...and one from a cluster that goes on, or into such ones */
#define GOES_ON (2 * BIT)     /* what the next one costs then */
#define NEAR 4                /* clusters of distance that cost nothing */
#define BACK (2 * BIT)        /* for a jump back */
#define LOOSE (60 * BIT)      /* a step that costs more is not taken */
#define LISTED 256            /* jumps from one place that are compared further, */
#define TAKEN 24              /* and that are taken */
#define FOR_JUMP (8 * BIT)    /* what speaks for an end is each jump... */
#define FOR_TWICE 12          /* ...and that the chain is twice as long as another, in bits */
#define DOUBTFUL (12 * BIT)   /* and against it that the carver doubts it */
#define WORSE (16 * BIT)      /* what chains may cost more than the first end */
#define VISITS 8              /* chains that go over one cluster */
#define RUNS_MAX 64
#define NODES_MAX ((size_t)1 << 16)
#define TRIALS 300
#define RESERVE_SHARE 8  /* of the work is for the last trials */
#define LIST_WORK 16     /* units for a cluster, */
#define LEARN_WORK 2     /* for a byte of which strings are learnt... */
#define CONTEXT_WORK 16  /* ...or what follows it, */
#define LIKE_WORK 1      /* or which is compared, */
#define JUMP_WORK 4      /* for a cluster that may follow, */
#define FIT_WORK 10      /* for a byte after a joint, */
#define CHANGE_WORK 1024 /* and for what is around it */
#define NONE UINT32_MAX
#define UNKNOWN INT64_MIN

/* A cluster that begins with text. */
struct cluster {
	uint64_t place;
	uint32_t len; /* bytes of text */
	uint32_t visits[2];
	int32_t head, tail; /* bits against it, up to where a text may end in it, and after that */
	int64_t like;       /* bits for it, in all */
	int64_t alone;      /* bits of its first bytes */
	int64_t fits;       /* bits for the joint with the one before; UNKNOWN: not looked at yet */
	bool was_learnt;    /* and was learnt from */
};

/* A chain of clusters: runs of them. */
struct node {
	int64_t cost;
	uint32_t first, last; /* clusters of its last run */
	uint32_t before;      /* the node with what is before that; NONE: nothing */
	uint32_t count;       /* clusters, in all */
	uint32_t runs;
	bool breaks; /* it does not go on with the next cluster */
};

struct texts {
	struct workbench *bench;
	const struct broken *broken;
	uint64_t size;
	struct cluster *clusters; /* by place */
	size_t count, start;      /* which begins the file */
	uint8_t *bytes;           /* of them */
	struct text_model *model;
	struct node *nodes;
	size_t node_count, node_capacity;
	uint32_t *heap; /* of nodes */
	size_t heap_count, heap_capacity;
	unsigned trials;
	uint64_t reserve; /* work for the last trial */
};

static uint8_t *bytes_of(const struct texts *texts, size_t cluster)
{
	return texts->bytes + cluster * texts->size;
}

static int64_t clamp(int64_t value, int64_t least, int64_t most)
{
	return value < least ? least : value > most ? most : value;
}

/* ---- clusters ------------------------------------------------------------------------------ */

static bool is_text(uint8_t byte)
{
	return (byte >= ' ' && byte != 0x7f) || byte == '\n' || byte == '\r' || byte == '\t' ||
	       byte == '\f';
}

/* How many bytes of text there are. */
static size_t text_len(const uint8_t *bytes, size_t len)
{
	bool is_ascii = true;
	size_t i = 0;

	/* Without a branch for each byte while all are. */
	for (unsigned others = 0; i + STEP <= len; i += STEP) {
		for (size_t k = 0; k < STEP; k++)
			others += !is_text(bytes[i + k]);
		if (others)
			break;
	}
	while (i < len && is_text(bytes[i]))
		i++;
	for (size_t k = 0; k < i && k < ASCII_LEAST; k++)
		is_ascii &= bytes[k] < 0x80;
	return i < PLAIN_LEAST || (i < ASCII_LEAST && !is_ascii) ? 0 : i;
}

/* Adds a cluster if it is free, and text. False: it can't be read. */
static bool add_cluster(struct texts *texts, uint64_t place)
{
	const struct clusters *clusters = texts->bench->clusters;
	bool is_start = place == texts->broken->start;
	uint8_t *bytes = bytes_of(texts, texts->count);
	uint64_t left = clusters->end - place;
	size_t len = (size_t)(left < texts->size ? left : texts->size);

	if (!is_start &&
		(!clusters_are_free(clusters, place, len) || clusters_is_start(clusters, place)))
		return true;
	workbench_spend(texts->bench, LIST_WORK);
	if (!workbench_fetch(texts->bench, place, bytes, len))
		return false;
	len = is_start ? len : text_len(bytes, len);
	if (len)
		texts->clusters[texts->count++] =
			(struct cluster){ .place = place, .len = (uint32_t)len, .fits = UNKNOWN };
	return true;
}

/* They were listed from the last one on. */
static void turn_round(struct texts *texts)
{
	uint8_t *swap = xmalloc(texts->size);

	for (size_t i = 0, k = texts->count - 1; i < k; i++, k--) {
		struct cluster cluster = texts->clusters[i];

		texts->clusters[i] = texts->clusters[k];
		texts->clusters[k] = cluster;
		memcpy(swap, bytes_of(texts, i), texts->size);
		memcpy(bytes_of(texts, i), bytes_of(texts, k), texts->size);
		memcpy(bytes_of(texts, k), swap, texts->size);
	}
	free(swap);
}

/* Lists what is around the file's start. */
static bool list_clusters(struct texts *texts)
{
	uint64_t start = texts->broken->start, size = texts->size,
		 end = texts->bench->clusters->end;
	size_t most = BYTES_MAX / size / 2 < AROUND ? (size_t)(BYTES_MAX / size / 2) : AROUND;

	texts->clusters = xcalloc(2 * most + 2, sizeof(*texts->clusters));
	texts->bytes = xmalloc((2 * most + 2) * size);
	for (uint64_t n = 1; n <= FAR && n * size <= start && texts->count < most; n++)
		if (!add_cluster(texts, start - n * size))
			return false;
	if (texts->count)
		turn_round(texts);
	texts->start = texts->count;
	most += texts->count + 1;
	for (uint64_t n = 0; n <= FAR && start + n * size < end && texts->count < most; n++)
		if (!add_cluster(texts, start + n * size))
			return false;
	return texts->count > 1 && texts->clusters[texts->start].place == start;
}

static bool follows(const struct texts *texts, size_t cluster)
{
	return cluster && cluster < texts->count &&
	       texts->clusters[cluster].place == texts->clusters[cluster - 1].place + texts->size;
}

/* ---- what they are like -------------------------------------------------------------------- */

/* Finds what speaks against a cluster. Where it is the text's last one, other content follows in it. */
static void rate(struct texts *texts, size_t number)
{
	struct cluster *cluster = &texts->clusters[number];
	int64_t bits[SIZE_MOST / STEP], best = INT64_MIN;
	size_t len = cluster->len, best_len = len;

	text_model_compare(texts->model, TEXT_LIKE, TEXT_ANY, bytes_of(texts, number), len, STEP,
		cluster->was_learnt, bits);
	for (size_t i = 0, at = STEP;; i++, at += STEP) {
		size_t to = at < len ? at : len;

		if (bits[i] > best) {
			best = bits[i];
			best_len = to;
		}
		cluster->like = bits[i];
		if (to == len)
			break;
	}
	cluster->head = (int32_t)clamp(-best * UNLIKE_TIMES / (int64_t)best_len, 0, UNLIKE_MOST);
	cluster->tail =
		(int32_t)(clamp(-cluster->like * UNLIKE_TIMES / (int64_t)len, 0, UNLIKE_MOST) -
			  cluster->head);
	if (cluster->tail < 0)
		cluster->tail = 0;
	workbench_spend(texts->bench, LIKE_WORK * len);
}

static void learn(struct texts *texts, size_t number, bool is_last)
{
	struct cluster *cluster = &texts->clusters[number];

	cluster->was_learnt = true;
	text_model_learn(texts->model, TEXT_LIKE, bytes_of(texts, number), cluster->len);
	workbench_spend(texts->bench, LEARN_WORK * (uint64_t)cluster->len);
	if (!is_last)
		return;
	text_model_learn_contexts(texts->model, bytes_of(texts, number), cluster->len);
	workbench_spend(texts->bench, CONTEXT_WORK * (uint64_t)cluster->len);
}

/* A cluster, by how much it is like the text, or by what a jump to it costs. */
struct rank {
	int64_t bits;
	size_t cluster;
};

static int compare_ranks(const void *a, const void *b)
{
	const struct rank *left = a, *right = b;

	if (left->bits != right->bits)
		return left->bits < right->bits ? 1 : -1;
	return left->cluster < right->cluster ? -1 : left->cluster > right->cluster;
}

/* Learns from the clusters that are most like what was learnt. */
static void learn_like(struct texts *texts, bool is_last)
{
	struct rank *ranks = xcalloc(texts->count, sizeof(*ranks));
	size_t count = 0, learnt = 0;

	for (size_t i = 0; i < texts->count; i++) {
		struct cluster *cluster = &texts->clusters[i];

		cluster->was_learnt = false;
		if (i != texts->start && cluster->len == texts->size && cluster->like > 0)
			ranks[count++] = (struct rank){ cluster->like, i };
	}
	qsort(ranks, count, sizeof(*ranks), compare_ranks);
	text_model_forget(texts->model, TEXT_LIKE);
	learn(texts, texts->start, is_last);
	for (size_t i = 0; i < count && learnt < LIKE_MAX; i++, learnt += texts->size)
		learn(texts, ranks[i].cluster, is_last);
	free(ranks);
}

/* False: no work is left. */
static bool learn_all(struct texts *texts)
{
	struct workbench *bench = texts->bench;

	for (size_t i = 0; i < texts->count && workbench_goes_on(bench); i++) {
		size_t len = texts->clusters[i].len < ANY_LEN ? texts->clusters[i].len : ANY_LEN;

		text_model_learn(texts->model, TEXT_ANY, bytes_of(texts, i), len);
		workbench_spend(bench, LEARN_WORK * len);
	}
	learn(texts, texts->start, false);
	for (unsigned round = 0; round < ROUNDS && workbench_goes_on(bench); round++) {
		if (round)
			learn_like(texts, round + 1 == ROUNDS);
		for (size_t i = 0; i < texts->count && workbench_goes_on(bench); i++)
			rate(texts, i);
	}
	for (size_t i = 0; i < texts->count; i++) {
		size_t len =
			texts->clusters[i].len < TEXT_AFTER ? texts->clusters[i].len : TEXT_AFTER;

		texts->clusters[i].alone = text_model_alone(texts->model, bytes_of(texts, i), len);
	}
	return workbench_goes_on(bench);
}

/* Bits for a joint; or any fewer than `least`. */
static int64_t fit(const struct texts *texts, size_t left, size_t right, int64_t least)
{
	const struct cluster *cluster = &texts->clusters[right];
	size_t len = cluster->len < TEXT_AFTER ? cluster->len : TEXT_AFTER, count = 0;
	int64_t bits = cluster->alone -
		       text_model_after(texts->model, bytes_of(texts, left) + texts->size,
			       bytes_of(texts, right), len, cluster->alone - least, &count);

	workbench_spend(texts->bench, FIT_WORK * count);
	return clamp(bits, -UNFIT_MOST, FIT_MOST);
}

/* Bits for the joint of a cluster with the one before it. */
static int64_t fit_before(const struct texts *texts, size_t number)
{
	struct cluster *cluster = &texts->clusters[number];

	if (cluster->fits == UNKNOWN)
		cluster->fits = fit(texts, number - 1, number, -UNFIT_MOST);
	return cluster->fits;
}

/* ---- chains -------------------------------------------------------------------------------- */

static bool is_before(const struct texts *texts, uint32_t a, uint32_t b)
{
	const struct node *left = &texts->nodes[a], *right = &texts->nodes[b];

	return left->cost != right->cost ? left->cost < right->cost : a < b;
}

static void push(struct texts *texts, struct node node)
{
	size_t at = texts->heap_count;

	if (texts->node_count == NODES_MAX)
		return;
	texts->nodes = xgrow(
		texts->nodes, &texts->node_capacity, texts->node_count, sizeof(*texts->nodes));
	texts->heap =
		xgrow(texts->heap, &texts->heap_capacity, texts->heap_count, sizeof(*texts->heap));
	texts->nodes[texts->node_count] = node;
	texts->heap[texts->heap_count++] = (uint32_t)texts->node_count++;
	while (at && is_before(texts, texts->heap[at], texts->heap[(at - 1) / 2])) {
		uint32_t swap = texts->heap[at];

		texts->heap[at] = texts->heap[(at - 1) / 2];
		texts->heap[(at - 1) / 2] = swap;
		at = (at - 1) / 2;
	}
}

/* The node that costs least. */
static uint32_t pop(struct texts *texts)
{
	uint32_t top = texts->heap[0], *heap = texts->heap;
	size_t at = 0, child;

	heap[0] = heap[--texts->heap_count];
	while ((child = 2 * at + 1) < texts->heap_count) {
		uint32_t swap = heap[at];

		child += child + 1 < texts->heap_count &&
			 is_before(texts, heap[child + 1], heap[child]);
		if (!is_before(texts, heap[child], swap))
			break;
		heap[at] = heap[child];
		heap[child] = swap;
		at = child;
	}
	return top;
}

/* Whether a chain has the cluster. */
static bool has(const struct texts *texts, const struct node *node, uint32_t cluster)
{
	for (;; node = &texts->nodes[node->before]) {
		if (cluster >= node->first && cluster <= node->last)
			return true;
		if (node->before == NONE)
			return false;
	}
}

static void lay_out(const struct texts *texts, const struct node *node, struct extents *extents)
{
	struct range runs[RUNS_MAX];
	size_t count = node->runs;
	uint64_t end = texts->bench->clusters->end;

	for (size_t i = count; i-- > 0;
		node = node->before == NONE ? node : &texts->nodes[node->before]) {
		uint64_t place = texts->clusters[node->first].place;
		uint64_t len = (node->last - node->first + 1) * texts->size;

		runs[i] = (struct range){ place, len < end - place ? len : end - place };
	}
	extents_set(extents, runs, count);
}

/* What it costs that the content changes at a joint: that it is not like the text, or not like what is before it. */
static int64_t change_cost(const struct texts *texts, uint32_t left, uint32_t right)
{
	const struct cluster *cluster = &texts->clusters[right];
	int64_t cost = texts->clusters[left].tail + cluster->head, change;
	size_t len = texts->size < TEXT_CHANGE_LEN ? (size_t)texts->size : TEXT_CHANGE_LEN;

	if (!cost)
		return 0;
	len = cluster->len < len ? cluster->len : len;
	workbench_spend(texts->bench, CHANGE_WORK);
	change =
		text_model_change(bytes_of(texts, left) + texts->size, bytes_of(texts, right), len);
	change = clamp((change - CHANGE_LEAST) * CHANGE_TIMES * BIT / 100, 0, UNLIKE_MOST);
	return cost < change ? cost : change;
}

/* What it costs to go on with the next cluster; of that *fits: bits for it. */
static int64_t next_cost(const struct texts *texts, uint32_t last, int64_t *fits)
{
	*fits = 0;
	if (texts->clusters[last].len < texts->size || !follows(texts, last + 1))
		return INT64_MAX;
	*fits = fit_before(texts, last + 1);
	return change_cost(texts, last, last + 1) + (*fits < 0 ? -*fits : 0);
}

static int64_t distance_cost(const struct texts *texts, uint64_t after, uint64_t place)
{
	uint64_t distance = (place < after ? after - place : place - after) / texts->size;

	return fine_log(distance + NEAR) - fine_log(NEAR) + (place < after ? BACK : 0);
}

/* Learns from the last clusters of a chain. */
static void learn_chain(struct texts *texts, const struct node *node)
{
	size_t learnt = 0;

	text_model_forget(texts->model, TEXT_PART);
	for (;; node = &texts->nodes[node->before]) {
		for (uint32_t i = node->last + 1; i-- > node->first && learnt < PART_MAX;
			learnt += texts->size)
			text_model_learn(texts->model, TEXT_PART, bytes_of(texts, i),
				texts->clusters[i].len);
		if (node->before == NONE)
			break;
	}
	workbench_spend(texts->bench, LEARN_WORK * learnt);
}

/* How much the steps' clusters are like the chain, rather than like others that are like the text. */
static void compare_steps(
	struct texts *texts, const struct node *node, struct rank *ranks, size_t count)
{
	int64_t likes[TAKEN], best = INT64_MIN;

	learn_chain(texts, node);
	for (size_t i = 0; i < count; i++) {
		size_t number = ranks[i].cluster;
		size_t len = texts->clusters[number].len;

		len = len < PART_LEN ? len : PART_LEN;
		text_model_compare(texts->model, TEXT_PART, TEXT_LIKE, bytes_of(texts, number), len,
			SIZE_MAX, false, &likes[i]);
		likes[i] = likes[i] * PART_TIMES / (int64_t)len;
		workbench_spend(texts->bench, LIKE_WORK * len);
		best = likes[i] > best ? likes[i] : best;
	}
	for (size_t i = 0; i < count; i++)
		ranks[i].bits += clamp(best - likes[i], 0, PART_MOST);
}

/* What a jump costs to a cluster that is so far away, but for how its content changes; or anything more than `most`. */
static int64_t jump_cost(
	struct texts *texts, uint32_t left, uint32_t right, int64_t distance, int64_t most)
{
	int64_t cost = distance + FIT_USUAL;
	int64_t bits = fit(texts, left, right, cost - most);

	cost -= bits < FIT_USUAL ? bits : FIT_USUAL;
	/* It may rather go on from the one before. */
	if (cost <= most && follows(texts, right) &&
		texts->clusters[right - 1].len == texts->size) {
		int64_t before = fit_before(texts, right);

		cost += before > 0 ? LEAVE + before : 0;
	}
	return cost;
}

/* Adds a step to those that cost least, `most` of them, if it is one. What costs the same stays in its order. */
static void add_step(struct rank *ranks, size_t *count, size_t most, struct rank step)
{
	size_t at = *count;

	if (*count < most)
		++*count;
	else if (ranks[--at].bits <= step.bits)
		return;
	for (; at && ranks[at - 1].bits > step.bits; at--)
		ranks[at] = ranks[at - 1];
	ranks[at] = step;
}

static int64_t most_of(const struct rank *ranks, size_t count, size_t most)
{
	return count < most ? LOOSE : ranks[most - 1].bits;
}

/* Lists the steps from where a chain breaks off that cost least, LISTED at most, but for how their content changes. */
static size_t list_steps(struct texts *texts, const struct node *node, struct rank *ranks)
{
	uint64_t after = texts->clusters[node->last].place + texts->size;
	uint32_t low = node->last, high = node->last + 1;
	size_t count = 0;

	/* From near to far. */
	while (workbench_goes_on(texts->bench)) {
		int64_t distance[2] = { INT64_MAX, INT64_MAX };
		int64_t most = most_of(ranks, count, LISTED), cost;
		bool is_back;
		uint32_t i;

		if (high < texts->count)
			distance[0] = distance_cost(texts, after, texts->clusters[high].place);
		if (low < texts->count)
			distance[1] = distance_cost(texts, after, texts->clusters[low].place);
		is_back = distance[1] < distance[0];
		if (distance[is_back] > most)
			break;
		i = is_back ? low-- : high++;
		workbench_spend(texts->bench, JUMP_WORK);
		if (texts->clusters[i].place == after || i == texts->start || has(texts, node, i))
			continue;
		cost = jump_cost(texts, node->last, i, distance[is_back], most);
		if (cost <= most)
			add_step(ranks, &count, LISTED, (struct rank){ cost, i });
	}
	return count;
}

/* The steps that cost least in all, TAKEN at most. */
static size_t choose_steps(struct texts *texts, const struct node *node, struct rank *chosen)
{
	struct rank ranks[LISTED];
	size_t listed = list_steps(texts, node, ranks), count = 0;

	for (size_t i = 0; i < listed && workbench_goes_on(texts->bench); i++) {
		int64_t most = most_of(chosen, count, TAKEN);
		struct rank step = ranks[i];

		if (step.bits > most)
			break;
		step.bits += change_cost(texts, node->last, (uint32_t)step.cluster);
		if (step.bits <= most)
			add_step(chosen, &count, TAKEN, step);
	}
	return count;
}

/* Goes on from where a chain breaks off. */
static void jump(struct texts *texts, uint32_t number)
{
	struct node node = texts->nodes[number];
	struct rank ranks[TAKEN];
	size_t count;

	if (texts->clusters[node.last].len < texts->size || node.runs == RUNS_MAX)
		return;
	count = choose_steps(texts, &node, ranks);
	if (count > 1)
		compare_steps(texts, &node, ranks, count);
	for (size_t i = 0; i < count; i++) {
		uint32_t cluster = (uint32_t)ranks[i].cluster;

		push(texts, (struct node){ .cost = node.cost + ranks[i].bits,
				    .first = cluster,
				    .last = cluster,
				    .before = number,
				    .count = node.count + 1,
				    .runs = node.runs + 1 });
	}
}

/* Goes on with the next cluster, or not. */
static void go_on(struct texts *texts, uint32_t number)
{
	struct node node = texts->nodes[number];
	int64_t fits, cost = next_cost(texts, node.last, &fits);

	if (cost < LOOSE && !has(texts, &node, node.last + 1)) {
		struct node next = node;

		next.cost += cost;
		next.last++;
		next.count++;
		push(texts, next);
	}
	node.cost += JUMP + (cost <= GOES_ON && fits > 0 ? LEAVE + fits : 0);
	node.breaks = true;
	push(texts, node);
}

enum trial { TRIAL_GOOD, TRIAL_DOUBTFUL, TRIAL_OPEN, TRIAL_BAD };

/* Asks the carver. */
static enum trial try(struct texts *texts, uint32_t number)
{
	struct workbench *bench = texts->bench;
	const struct node *node = &texts->nodes[number];
	uint64_t before = (node->count - 1) * texts->size;
	struct extents extents = { 0 };
	struct outcome outcome;
	enum trial trial = TRIAL_OPEN;

	lay_out(texts, node, &extents);
	texts->trials++;
	if (workbench_try(bench, &extents, &outcome)) {
		bench->reached = outcome.length;
		trial = TRIAL_GOOD;
		outcome_free(&outcome);
	} else if (bench->verdict == CARVE_UNVERIFIED) {
		trial = TRIAL_DOUBTFUL;
	}
	extents_free(&extents);
	return bench->reached < before || (trial <= TRIAL_DOUBTFUL && bench->reached == before)
		       ? TRIAL_BAD
		       : trial;
}

/* A chain in which the carver finds the file whole, or at least nothing wrong. */
struct ending {
	uint32_t node; /* NONE: there is none yet */
	int64_t score; /* what it costs, less what speaks for its jumps and its length */
	bool is_doubtful;
};

/* Compares a chain with the best one so far. Of one that has fewer jumps something would speak for those that it lacks. */
static void note_ending(
	const struct texts *texts, uint32_t number, bool is_doubtful, struct ending *best)
{
	const struct node *node = &texts->nodes[number];
	uint64_t used = texts->bench->reached - (node->count - 1) * texts->size;
	int64_t score = node->cost - (int64_t)(node->runs - 1) * FOR_JUMP -
			FOR_TWICE * fine_log(node->count) + fine_log(texts->size) -
			fine_log(used < texts->size ? used : texts->size) +
			(is_doubtful ? DOUBTFUL : 0);

	if (node->runs > 1 && (best->node == NONE || score < best->score))
		*best = (struct ending){ number, score, is_doubtful };
}

/* Tries what is cheapest, until all that is left costs much more than the best. */
static struct ending search(struct texts *texts)
{
	struct workbench *bench = texts->bench;
	struct ending best = { .node = NONE };
	int64_t most = INT64_MAX;

	push(texts, (struct node){ .first = (uint32_t)texts->start,
			    .last = (uint32_t)texts->start,
			    .before = NONE,
			    .count = 1,
			    .runs = 1 });
	while (texts->heap_count && texts->trials < TRIALS && workbench_goes_on(bench)) {
		uint32_t number = pop(texts);
		const struct node *node = &texts->nodes[number];
		struct cluster *cluster = &texts->clusters[node->last];
		enum trial trial;

		if (node->cost > most)
			break;
		if (cluster->visits[node->breaks]++ >= VISITS)
			continue;
		if (!node->breaks) {
			go_on(texts, number);
			continue;
		}
		trial = try(texts, number);
		if (trial <= TRIAL_DOUBTFUL) {
			if (best.node == NONE)
				most = node->cost + WORSE;
			note_ending(texts, number, trial == TRIAL_DOUBTFUL, &best);
		}
		if (trial == TRIAL_OPEN || trial == TRIAL_DOUBTFUL)
			jump(texts, number);
	}
	return best;
}

/* Takes the best chain. */
static bool take(struct texts *texts, const struct ending *best, struct extents *extents,
	struct outcome *outcome, struct assembly *assembly)
{
	struct workbench *bench = texts->bench;
	uint32_t bits;
	bool good;

	if (best->node == NONE)
		return false;
	bench->work_left += texts->reserve;
	bench->exhausted = false;
	lay_out(texts, &texts->nodes[best->node], extents);
	bench->takes_unverified = best->is_doubtful;
	good = workbench_try(bench, extents, outcome);
	if (good && !workbench_prove(bench, extents, outcome, &bits, NULL)) {
		outcome_free(outcome);
		good = false;
	}
	bench->takes_unverified = false;
	if (good)
		assembly->evidence = bits;
	return good;
}

bool find_text_chain(struct workbench *bench, const struct broken *broken, struct extents *extents,
	struct outcome *outcome, struct assembly *assembly)
{
	struct texts texts = { .bench = bench, .broken = broken, .size = bench->clusters->size };
	bool found = false;

	if (broken->is_weak || texts.size < SIZE_LEAST || texts.size > SIZE_MOST ||
		broken->start % texts.size != bench->clusters->origin)
		return false;
	texts.reserve = bench->work_left / RESERVE_SHARE;
	bench->work_left -= texts.reserve;
	texts.model = text_model_new();
	if (list_clusters(&texts) && learn_all(&texts)) {
		struct ending best = search(&texts);

		found = take(&texts, &best, extents, outcome, assembly);
	}
	if (!found)
		extents_clear(extents);
	text_model_free(texts.model);
	free(texts.clusters);
	free(texts.bytes);
	free(texts.nodes);
	free(texts.heap);
	return found;
}
