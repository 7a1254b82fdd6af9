/*
 * Two models of the first order, of how often each byte follows each: one of what is the file's own
 * without doubt, one of what is around it. Bytes that the first describes in fewer bits are likely the
 * file's. All is counted in integers, so that every machine decides alike.
 */
#include "assemble/affinity.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "assemble/fine_log.h"
#include "base/memory.h"

#define SAMPLES 32      /* places in the image that are learnt from... */
#define SAMPLE_LEN 2048 /* ...bytes of each */
#define FRACTION FINE_LOG_BIT
#define ALIEN_SHARE 1    /* a bit for each byte: so much worse looks what is not the file's */
#define LEARN_FIRST 4096 /* bytes of a file from which its content is known */
#define LEARN_MAX ((uint64_t)256 << 10) /* bytes of a file that are learnt at once: its last ones */
#define SAME_MAX ((uint64_t)1 << 20)    /* bytes at a file's end in which a change is looked for */
#define LOOK_LEN 512                    /* bytes of a cluster that are looked at */
#define LOOK_WORK 64                    /* units that this takes */
#define LOOKS 8192
#define ZEROS_SHARE 8 /* of the other bytes */
#define ESCAPE 4      /* weight of what single bytes say, where pairs are rare */

struct model {
	uint32_t pairs[256][256], before[256], single[256], total;
};

/* What is learnt from the image: the same each time, so it is kept. */
struct affinity_samples {
	pthread_mutex_t lock; /* while they are taken */
	_Atomic bool are_taken;
	struct model others;
	int32_t costs[256][256]; /* by them */
};

struct affinity {
	struct model own, *others; /* NULL: the samples' */
	const struct affinity_samples *samples;
	int16_t gains[256][256]; /* FRACTIONs of bits by which `own` describes a pair shorter */
	bool is_ready;           /* they are computed */
	struct {                 /* clusters that were looked at, a slot for several; 0: none was */
		uint64_t offset;
		bool is_unlikely;
	} looks[LOOKS];
	uint8_t bytes[65536];
};

/* ---- models -------------------------------------------------------------------------------- */

static void learn(struct model *model, const uint8_t *bytes, size_t len)
{
	for (size_t i = 0; i < len; i++) {
		model->single[bytes[i]]++;
		if (i) {
			model->pairs[bytes[i - 1]][bytes[i]]++;
			model->before[bytes[i - 1]]++;
		}
	}
	model->total += (uint32_t)len;
}

/* What a model's costs have in common. Most pairs are never seen, so that only what is said here counts. */
struct common {
	uint64_t total;
	/* Logarithms of the weight of each byte after one that it was not seen after. */
	int32_t unseen[256];
};

static void find_common(const struct model *model, struct common *common)
{
	common->total = (uint64_t)model->total + 256;
	for (unsigned b = 0; b < 256; b++)
		common->unseen[b] = (int32_t)fine_log(ESCAPE * ((uint64_t)model->single[b] + 1));
}

/* Bits, in FRACTIONs, of each byte after another one. */
static void find_costs(
	const struct model *model, const struct common *common, uint8_t before, int32_t costs[256])
{
	const uint32_t *pairs = model->pairs[before];
	int32_t all = (int32_t)fine_log((model->before[before] + ESCAPE) * common->total);

	for (unsigned b = 0; b < 256; b++)
		costs[b] = all - common->unseen[b];
	if (!model->before[before])
		return;
	for (unsigned four = 0; four < 256; four += 4) {
		if (!(pairs[four] | pairs[four + 1] | pairs[four + 2] | pairs[four + 3]))
			continue;
		for (unsigned b = four; b < four + 4; b++)
			if (pairs[b])
				costs[b] = all - (int32_t)fine_log(
							 pairs[b] * common->total +
							 ESCAPE * ((uint64_t)model->single[b] + 1));
	}
}

/* ---- a file -------------------------------------------------------------------------------- */

/* Reads bytes of the evidence, sizeof(bytes) at most, and returns how many there are. */
static size_t fetch(
	struct affinity *affinity, struct workbench *bench, uint64_t offset, uint64_t length)
{
	uint64_t left = offset < bench->clusters->end ? bench->clusters->end - offset : 0;
	size_t len = length < sizeof(affinity->bytes) ? (size_t)length : sizeof(affinity->bytes);

	if (len > left)
		len = (size_t)left;
	if (len)
		view_read_image(bench->view, bench->evidence, offset, affinity->bytes, len);
	bench->stopped |= image_was_cut(bench->evidence);
	return len;
}

/* Of others, to be learnt from. */
static struct model *own_others(struct affinity *affinity)
{
	if (!affinity->others) {
		affinity->others = xmalloc(sizeof(*affinity->others));
		*affinity->others = affinity->samples->others;
	}
	return affinity->others;
}

void affinity_learn(struct affinity *affinity, struct workbench *bench, uint64_t offset,
	uint64_t length, bool is_own)
{
	size_t len;

	for (uint64_t done = 0; done < length; done += len) {
		len = fetch(affinity, bench, offset + done, length - done);
		if (!len)
			return;
		learn(is_own ? &affinity->own : own_others(affinity), affinity->bytes, len);
		affinity->is_ready = false;
	}
}

struct affinity_samples *affinity_samples_new(void)
{
	struct affinity_samples *samples = xcalloc(1, sizeof(*samples));

	fine_log_get_ready();
	pthread_mutex_init(&samples->lock, NULL);
	return samples;
}

void affinity_samples_free(struct affinity_samples *samples)
{
	if (!samples)
		return;
	pthread_mutex_destroy(&samples->lock);
	free(samples);
}

/* If the image became unreadable they mean nothing, nor does what is learnt then. */
static void take_samples(
	struct affinity_samples *samples, struct affinity *affinity, struct workbench *bench)
{
	struct common common;

	pthread_mutex_lock(&samples->lock);
	for (uint64_t i = 0; i < SAMPLES && !samples->are_taken; i++)
		learn(&samples->others, affinity->bytes,
			fetch(affinity, bench, bench->clusters->end / SAMPLES * i, SAMPLE_LEN));
	find_common(&samples->others, &common);
	for (unsigned a = 0; a < 256 && !samples->are_taken; a++)
		find_costs(&samples->others, &common, (uint8_t)a, samples->costs[a]);
	samples->are_taken = true;
	pthread_mutex_unlock(&samples->lock);
}

struct affinity *affinity_new(struct workbench *bench)
{
	struct affinity *affinity = xmalloc(sizeof(*affinity));

	memset(&affinity->own, 0, sizeof(affinity->own));
	affinity->others = NULL;
	affinity->is_ready = false;
	affinity->samples = bench->samples;
	if (!bench->samples->are_taken)
		take_samples(bench->samples, affinity, bench);
	return affinity;
}

/* Zeros after zeros that are most of what was learnt fill some room: they do not say what the rest is like. */
static void limit_zeros(struct model *model)
{
	uint32_t zeros = model->pairs[0][0], rest = model->total - zeros;
	uint32_t over = zeros > rest ? zeros - rest / ZEROS_SHARE : 0;

	model->pairs[0][0] -= over;
	model->before[0] -= over;
	model->single[0] -= over;
	model->total -= over;
}

static void get_ready(struct affinity *affinity)
{
	struct common own_common, others_common;
	int32_t own[256], costs[256];
	const int32_t *others = costs;

	affinity->is_ready = true;
	memset(affinity->looks, 0, sizeof(affinity->looks));
	limit_zeros(&affinity->own);
	find_common(&affinity->own, &own_common);
	if (affinity->others)
		find_common(affinity->others, &others_common);
	for (unsigned a = 0; a < 256; a++) {
		find_costs(&affinity->own, &own_common, (uint8_t)a, own);
		if (affinity->others)
			find_costs(affinity->others, &others_common, (uint8_t)a, costs);
		else
			others = affinity->samples->costs[a];
		for (unsigned b = 0; b < 256; b++)
			affinity->gains[a][b] = (int16_t)(others[b] - own[b]);
	}
}

int64_t affinity_bits(
	struct affinity *affinity, struct workbench *bench, uint64_t offset, uint64_t length)
{
	size_t len = fetch(affinity, bench, offset, length);
	const uint8_t *bytes = affinity->bytes;
	int64_t sum = 0;

	if (!affinity->is_ready)
		get_ready(affinity);
	for (size_t i = 1; i < len; i++)
		sum += affinity->gains[bytes[i - 1]][bytes[i]];
	return sum / FRACTION;
}

bool affinity_is_unlikely(struct affinity *affinity, struct workbench *bench, uint64_t offset)
{
	uint64_t slot = offset / bench->clusters->size % LOOKS;

	if (!affinity->is_ready)
		get_ready(affinity);
	if (!offset || affinity->looks[slot].offset != offset) {
		affinity->looks[slot].offset = offset;
		affinity->looks[slot].is_unlikely =
			affinity_bits(affinity, bench, offset, LOOK_LEN) < -(int64_t)LOOK_LEN;
		workbench_spend(bench, LOOK_WORK);
	}
	return affinity->looks[slot].is_unlikely;
}

enum answer affinity_ask(const struct affinity *affinity, const struct workbench *bench,
	uint64_t offset, struct view *view)
{
	uint8_t bytes[LOOK_LEN];
	int64_t sum = 0;

	if (!affinity->is_ready || offset > bench->clusters->end ||
		bench->clusters->end - offset < LOOK_LEN)
		return ANSWER_NONE;
	view_read_image(view, bench->evidence, offset, bytes, LOOK_LEN);
	if (image_was_cut(bench->evidence))
		return ANSWER_NONE;
	for (size_t i = 1; i < LOOK_LEN; i++)
		sum += affinity->gains[bytes[i - 1]][bytes[i]];
	return sum / FRACTION < -(int64_t)LOOK_LEN ? ANSWER_YES : ANSWER_NO;
}

void affinity_learn_file(struct affinity *affinity, struct workbench *bench,
	const struct extents *extents, uint64_t from, uint64_t to)
{
	uint64_t at = 0; /* where the run begins */

	if (from + LEARN_MAX < to)
		from = to - LEARN_MAX;
	for (size_t i = 0; i < extents->count && at < to; i++) {
		const struct range *run = &extents->runs[i];
		uint64_t begin = from > at ? from - at : 0, end = to - at;

		if (end > run->length)
			end = run->length;
		if (begin < end)
			affinity_learn(affinity, bench, run->offset + begin, end - begin, true);
		at += run->length;
	}
}

/* Whether a cluster looks like the content of others. */
static bool is_alien(struct affinity *affinity, struct workbench *bench,
	const struct extents *extents, uint64_t at)
{
	uint64_t size = bench->clusters->size, offset = extents_place(extents, at);

	return offset != UINT64_MAX &&
	       affinity_bits(affinity, bench, offset, size) < -(int64_t)size / ALIEN_SHARE;
}

uint64_t affinity_same(
	struct workbench *bench, const struct extents *extents, uint64_t from, uint64_t length)
{
	struct affinity *affinity;
	uint64_t size = bench->clusters->size, learnt = 0;
	uint64_t at = size > LEARN_FIRST ? size : LEARN_FIRST;

	if (from + SAME_MAX < length)
		from += (length - from - SAME_MAX) / size * size;
	if (at < from)
		at = from;
	if (at >= length)
		return length;
	affinity = affinity_new(bench);
	for (; at < length; at += size) {
		if (at >= 2 * learnt) { /* seldom, as making ready takes long */
			affinity_learn_file(affinity, bench, extents, learnt, at);
			learnt = at;
		}
		if (is_alien(affinity, bench, extents, at))
			break;
	}
	affinity_free(affinity);
	return at < length ? at : length;
}

void affinity_free(struct affinity *affinity)
{
	if (affinity)
		free(affinity->others);
	free(affinity);
}
