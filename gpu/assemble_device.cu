/*
 * The device of src/assemble/search_device.h: one or several GPUs. Each has lanes, a stream with room for what is
 * asked, as many threads ask at a time. The first bytes of clusters are in slabs, allocated as they come, on
 * one GPU after the other; what no GPU has room for the caller looks at itself.
 */
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "carvers/coded.h"
#include "gpu/assemble_kernels.cuh"
#include "gpu/device.cuh"
#include "gpu/text_store.cuh"
#include "gpu/probe.cuh"

extern "C" {
#include "assemble/crc_algebra.h"
#include "base/log.h"
#include "base/memory.h"
#include "base/ranges.h"
}

#define SLAB_LEN ((uint64_t)1 << 30)
#define SLABS_MAX 4096
#define STAGE_LEN ((size_t)64 << 20)
#define STAGES 2            /* one is filled while the other is copied */
#define LANES SEARCHES_MAX  /* of a GPU */
#define BITS_MAX (1u << 23) /* clusters that a lane answers for at once: a slab's, or more */
#define JOBS_MAX 256        /* and parts of slabs */

struct lane {
	int id; /* of the GPU */
	pthread_mutex_t lock;
	cudaStream_t stream;
	cudaEvent_t done;
	uint8_t *room; /* on the GPU */
	size_t room_len;
	uint64_t *bits;      /* pinned; NULL: not used yet */
	struct asked *asked; /* the same */
};

struct gpu {
	struct lane lanes[LANES];
	size_t shared_len; /* that a block can have */
	cudaStream_t copying;
	cudaEvent_t copied[STAGES];
};

struct slab {
	unsigned gpu;
	uint8_t *heads;
};

struct search_device {
	struct gpu gpus[GPU_DEVICES_MAX];
	unsigned count;
	uint8_t *stages[STAGES];    /* pinned */
	struct gpu *copies[STAGES]; /* to it, or NULL */
	unsigned stage;             /* the next one */
	struct slab slabs[SLABS_MAX];
	size_t head_len;
	uint64_t kept; /* clusters */
};

/* ---- memory -------------------------------------------------------------------------------- */

/* Makes the GPU current, with len bytes of room. */
static cudaError_t take_room(struct lane *lane, size_t len)
{
	cudaError_t failed = cudaSetDevice(lane->id);
	if (failed || len <= lane->room_len)
		return failed;
	cudaFree(lane->room);
	lane->room = NULL;
	lane->room_len = 0;
	failed = cudaMalloc((void **)&lane->room, len);
	if (!failed)
		lane->room_len = len;
	return failed;
}

/* Parts of a lane's room, aligned. */
struct parts {
	uint8_t *at;
	cudaStream_t stream;
	cudaError_t failed;
};

static size_t aligned(size_t len)
{
	return (len + 255) & ~(size_t)255;
}

template <typename T> static T *add_part(struct parts *parts, const T *from, size_t count)
{
	T *part = (T *)parts->at;
	parts->at += aligned(count * sizeof(T));
	if (from && count && !parts->failed)
		parts->failed = cudaMemcpyAsync(
			part, from, count * sizeof(T), cudaMemcpyHostToDevice, parts->stream);
	return part;
}

static int fail(cudaError_t failed, const char *doing)
{
	struct error error = {};
	int status = gpu_failed(&error, failed, doing);
	log_warn("files in pieces are searched on without the GPU: %s", error.text);
	return status;
}

/* ---- opening ------------------------------------------------------------------------------- */

static void close_lane(struct lane *lane)
{
	cudaFree(lane->room);
	cudaFreeHost(lane->bits);
	cudaFreeHost(lane->asked);
	if (lane->done)
		cudaEventDestroy(lane->done);
	if (lane->stream)
		cudaStreamDestroy(lane->stream);
	pthread_mutex_destroy(&lane->lock);
}

static void device_close(struct search_device *device)
{
	if (!device)
		return;
	for (unsigned i = 0; i < SLABS_MAX && device->slabs[i].heads; i++)
		cudaFree(device->slabs[i].heads);
	for (unsigned i = 0; i < STAGES; i++)
		cudaFreeHost(device->stages[i]);
	for (unsigned i = 0; i < device->count; i++) {
		struct gpu *gpu = &device->gpus[i];
		for (unsigned k = 0; k < LANES; k++)
			close_lane(&gpu->lanes[k]);
		for (unsigned k = 0; k < STAGES; k++)
			if (gpu->copied[k])
				cudaEventDestroy(gpu->copied[k]);
		if (gpu->copying)
			cudaStreamDestroy(gpu->copying);
	}
	(void)cudaGetLastError();
	free(device);
}

static cudaError_t open_lane(struct lane *lane)
{
	cudaError_t failed = cudaStreamCreateWithFlags(&lane->stream, cudaStreamNonBlocking);
	if (!failed)
		failed = cudaEventCreateWithFlags(
			&lane->done, cudaEventDisableTiming | cudaEventBlockingSync);
	return failed;
}

static cudaError_t open_gpu(struct gpu *gpu, int id)
{
	cudaError_t failed = cudaSetDevice(id);
	for (unsigned k = 0; k < LANES && !failed; k++)
		failed = open_lane(&gpu->lanes[k]);
	if (!failed)
		failed = cudaStreamCreateWithFlags(&gpu->copying, cudaStreamNonBlocking);
	for (unsigned k = 0; k < STAGES && !failed; k++)
		failed = cudaEventCreateWithFlags(
			&gpu->copied[k], cudaEventDisableTiming | cudaEventBlockingSync);
	if (!failed)
		gpu->shared_len = device_shared_len();
	return failed;
}

static int device_open(struct search_device **result, const char *devices, struct error *error)
{
	int ids[GPU_DEVICES_MAX];
	char reason[256];
	int count = gpu_devices(ids, devices, reason, sizeof(reason));
	if (count < 0)
		return error_set(error, EXIT_NO_ENGINE, -count, "%s", reason);
	struct search_device *device = (struct search_device *)xcalloc(1, sizeof(*device));
	cudaError_t failed = cudaSuccess;
	device->count = (unsigned)count;
	for (int i = 0; i < count; i++) {
		for (unsigned k = 0; k < LANES; k++) {
			device->gpus[i].lanes[k].id = ids[i];
			pthread_mutex_init(&device->gpus[i].lanes[k].lock, NULL);
		}
		if (!failed)
			failed = open_gpu(&device->gpus[i], ids[i]);
	}
	if (failed) {
		device_close(device);
		return gpu_failed(error, failed, "opening it");
	}
	*result = device;
	return 0;
}

/* Locks a lane that is idle, or waits for one. */
static struct lane *lock_lane(struct gpu *gpu)
{
	for (unsigned i = 0; i < LANES; i++)
		if (!pthread_mutex_trylock(&gpu->lanes[i].lock))
			return &gpu->lanes[i];
	struct lane *lane = &gpu->lanes[pthread_self() / 4096 % LANES];
	pthread_mutex_lock(&lane->lock);
	return lane;
}

/* ---- breaks -------------------------------------------------------------------------------- */

static uint32_t larger(size_t a, size_t b)
{
	return (uint32_t)(a > b ? a : b);
}

static int compare_hits(const void *a, const void *b)
{
	const struct crc_hit *left = (const struct crc_hit *)a, *right = (const struct crc_hit *)b;
	if (left->displacement != right->displacement)
		return left->displacement < right->displacement ? -1 : 1;
	if (left->second != right->second)
		return left->second < right->second ? -1 : 1;
	return left->first < right->first ? -1 : left->first > right->first;
}

/* 1 / x^i for each step-th displacement i. */
static uint32_t *make_powers(size_t count, uint32_t step)
{
	uint32_t *powers = (uint32_t *)xcalloc(count, sizeof(*powers));
	uint32_t power = 1u << 31, factor = 1u << 31;
	for (uint32_t i = 0; i < step; i++)
		factor = crc_over_x(factor);
	for (size_t i = 0; i < count; i++, power = crc_multiply(power, factor))
		powers[i] = power;
	return powers;
}

/* Waits for what is on the stream, and fetches the hits that it found, both in the GPU's memory: none if there are more
 * than room for them. */
template <typename Hit>
static cudaError_t fetch_hits(const struct lane *lane, const uint32_t *found, const Hit *hits,
	Hit *to, uint32_t room, uint32_t *count)
{
	cudaError_t failed =
		cudaMemcpyAsync(count, found, sizeof(*count), cudaMemcpyDeviceToHost, lane->stream);
	if (!failed)
		failed = cudaStreamSynchronize(lane->stream);
	if (!failed && *count && *count <= room)
		failed = cudaMemcpyAsync(
			to, hits, *count * sizeof(*to), cudaMemcpyDeviceToHost, lane->stream);
	return failed ? failed : cudaStreamSynchronize(lane->stream);
}

static cudaError_t search_breaks(struct lane *lane, const struct crc_search *search,
	const uint32_t *powers, size_t power_count, struct crc_hits *hits)
{
	bool two = !search->ends;
	size_t rest = two ? search->rest_to : 0, ends = two ? 0 : search->count;
	size_t sums = search->count + larger(search->known_count, rest);
	struct breaks_job job = { (uint32_t)search->count, (uint32_t)search->known_count,
		(uint32_t)search->sums_from, (uint32_t)search->sums_to, (uint32_t)sums,
		(uint32_t)search->rest_from, (uint32_t)search->rest_to };
	size_t words = search->known_count + rest + ends + sums + power_count;
	cudaError_t failed =
		take_room(lane, words * sizeof(uint32_t) + sizeof(struct crc_hits) + 8 * 256);
	struct parts parts = { lane->room, lane->stream, failed };
	uint32_t count = 0;
	job.known = add_part(&parts, search->known, search->known_count);
	job.rest = add_part(&parts, search->rest, rest);
	job.sums = add_part(&parts, search->sums, sums);
	job.ends = add_part(&parts, search->ends, ends);
	job.ends = two ? NULL : job.ends;
	job.powers = add_part(&parts, powers, power_count);
	job.hits = add_part(&parts, (const struct crc_hit *)NULL, CRC_HITS_MAX);
	job.hit_count = add_part(&parts, &count, 1);
	failed = parts.failed;
	if (!failed)
		failed = breaks_launch(&job, lane->stream);
	if (!failed)
		failed = fetch_hits(
			lane, job.hit_count, job.hits, hits->items, CRC_HITS_MAX, &count);
	hits->count = count;
	return failed;
}

/* A lane of any GPU: of one that is idle, if there is one. */
static struct lane *lock_any(struct search_device *device)
{
	for (unsigned i = 0; i < device->count; i++)
		if (!pthread_mutex_trylock(&device->gpus[i].lanes[0].lock))
			return &device->gpus[i].lanes[0];
	return lock_lane(&device->gpus[pthread_self() / 4096 % device->count]);
}

static int find_breaks(
	struct search_device *device, const struct crc_search *search, struct crc_hits *hits)
{
	uint32_t step = breaks_step(!search->ends);
	size_t power_count = (search->count + step - 1) / step;
	uint32_t *powers;
	if (breaks_shared_len(search) > device->gpus[0].shared_len)
		return search_cpu.find_breaks(NULL, search, hits);
	powers = make_powers(power_count, step);
	struct lane *lane = lock_any(device);
	cudaError_t failed = search_breaks(lane, search, powers, power_count, hits);
	pthread_mutex_unlock(&lane->lock);
	free(powers);
	if (failed)
		return fail(failed, "searching for breaks");
	if (hits->count <= CRC_HITS_MAX)
		qsort(hits->items, hits->count, sizeof(*hits->items), compare_hits);
	return 0;
}

/* ---- heads --------------------------------------------------------------------------------- */

static uint64_t room(struct search_device *device)
{
	uint64_t room = 0;
	for (unsigned i = 0; i < device->count; i++) {
		size_t left = 0, all = 0;
		if (!cudaSetDevice(device->gpus[i].lanes[0].id) && !cudaMemGetInfo(&left, &all) &&
			left > KEPT_MEMORY_LEFT)
			room += (left - KEPT_MEMORY_LEFT) / SLAB_LEN * SLAB_LEN;
	}
	(void)cudaGetLastError();
	return room < SLABS_MAX * SLAB_LEN ? room : SLABS_MAX * SLAB_LEN;
}

/* Of a slab. */
static uint64_t slab_clusters(const struct search_device *device)
{
	return SLAB_LEN / device->head_len;
}

/* Allocates the slab that the next clusters go to, unless it is there. */
static bool add_slab(struct search_device *device)
{
	uint64_t number = device->kept / slab_clusters(device);
	if (number < SLABS_MAX && device->slabs[number].heads)
		return true;
	for (unsigned i = 0; number < SLABS_MAX && i < device->count; i++) {
		unsigned gpu = (unsigned)((number + i) % device->count);
		struct slab *slab = &device->slabs[number];
		size_t left = 0, all = 0;
		if (cudaSetDevice(device->gpus[gpu].lanes[0].id) || cudaMemGetInfo(&left, &all) ||
			left < SLAB_LEN + KEPT_MEMORY_LEFT ||
			cudaMalloc((void **)&slab->heads, SLAB_LEN))
			continue;
		slab->gpu = gpu;
		return true;
	}
	(void)cudaGetLastError();
	return false;
}

/* Waits until what a stage had is on the GPU. */
static cudaError_t wait_for_copy(struct search_device *device, unsigned stage)
{
	struct gpu *gpu = device->copies[stage];
	return gpu ? cudaEventSynchronize(gpu->copied[stage]) : cudaSuccess;
}

static uint8_t *stage(struct search_device *device, size_t len, size_t *count)
{
	uint8_t **bytes = &device->stages[device->stage];
	*count = STAGE_LEN / len;
	device->head_len = len;
	if ((!*bytes && cudaMallocHost((void **)bytes, STAGE_LEN)) ||
		wait_for_copy(device, device->stage) || !add_slab(device))
		return NULL;
	return *bytes;
}

static size_t take(struct search_device *device, const struct kept_text *kept, uint64_t offset,
	uint64_t size, size_t len)
{
	size_t count = STAGE_LEN / len;
	device->head_len = len;
	if (!add_slab(device))
		return 0;
	uint64_t at = device->kept % slab_clusters(device);
	const struct slab *slab = &device->slabs[device->kept / slab_clusters(device)];
	struct gpu *gpu = &device->gpus[slab->gpu];
	cudaError_t failed = cudaSetDevice(gpu->lanes[0].id);
	bool is_kept = !failed && kept_text_copy(kept, offset, size, len, count,
					  slab->heads + at * len, gpu->copying, &failed);
	if (!failed && is_kept)
		failed = cudaStreamSynchronize(gpu->copying);
	if (failed)
		(void)fail(failed, "taking what the scan has kept");
	if (failed || !is_kept)
		return 0;
	device->kept += count;
	return count;
}

static int keep(struct search_device *device, size_t count)
{
	const struct slab *slab = &device->slabs[device->kept / slab_clusters(device)];
	uint64_t at = device->kept % slab_clusters(device);
	unsigned number = device->stage;
	struct gpu *gpu = &device->gpus[slab->gpu];
	cudaError_t failed = cudaSetDevice(gpu->lanes[0].id);
	if (!failed)
		failed =
			cudaMemcpyAsync(slab->heads + at * device->head_len, device->stages[number],
				count * device->head_len, cudaMemcpyHostToDevice, gpu->copying);
	if (!failed)
		failed = cudaEventRecord(gpu->copied[number], gpu->copying);
	if (failed)
		return fail(failed, "keeping clusters");
	device->copies[number] = gpu;
	device->stage = (number + 1) % STAGES;
	device->kept += count;
	return 0;
}

/* ---- coded data ---------------------------------------------------------------------------- */

/* What is asked of a GPU at once. */
struct batch {
	struct search_device *device;
	struct gpu *gpu;
	struct lane *lane;
	struct carve_coded *coded; /* the questions', on the GPU */
	struct coded_job *jobs;    /* there, room for JOBS_MAX... */
	uint32_t *bits;            /* ...and for BITS_MAX */
	uint64_t *to[JOBS_MAX];    /* where the jobs' answers go */
	uint32_t count, clusters, blocks;
};

/* What is copied to the GPU, pinned. */
struct asked {
	struct carve_coded coded[CODED_QUESTIONS_MAX];
	struct coded_job jobs[JOBS_MAX];
};

static cudaError_t begin_batch(
	struct batch *batch, const struct coded_question *questions, size_t count)
{
	struct lane *lane = batch->lane;
	cudaError_t failed = take_room(lane, sizeof(struct asked) + BITS_MAX / 8 + 3 * 256);
	struct parts parts = { lane->room, lane->stream, failed };
	if (!parts.failed && !lane->bits)
		parts.failed = cudaMallocHost((void **)&lane->bits, BITS_MAX / 8);
	if (!parts.failed && !lane->asked)
		parts.failed = cudaMallocHost((void **)&lane->asked, sizeof(*lane->asked));
	for (size_t i = 0; i < count && !parts.failed; i++)
		lane->asked->coded[i] = *questions[i].coded;
	batch->coded = add_part(&parts, lane->asked ? lane->asked->coded : NULL, count);
	batch->jobs = add_part(&parts, (const struct coded_job *)NULL, JOBS_MAX);
	batch->bits = add_part(&parts, (const uint32_t *)NULL, BITS_MAX / 32);
	return parts.failed;
}

static cudaError_t answer_batch(struct batch *batch)
{
	struct lane *lane = batch->lane;
	size_t len = batch->clusters / 8;
	if (!batch->count)
		return cudaSuccess;
	cudaError_t failed = cudaMemcpyAsync(batch->jobs, lane->asked->jobs,
		batch->count * sizeof(*batch->jobs), cudaMemcpyHostToDevice, lane->stream);
	if (!failed)
		failed = cudaMemsetAsync(batch->bits, 0, len, lane->stream);
	if (!failed)
		failed = coded_launch(batch->jobs, batch->count, batch->blocks,
			(uint32_t)batch->device->head_len, lane->stream);
	if (!failed)
		failed = cudaMemcpyAsync(
			lane->bits, batch->bits, len, cudaMemcpyDeviceToHost, lane->stream);
	if (!failed)
		failed = cudaEventRecord(lane->done, lane->stream);
	if (!failed)
		failed = cudaEventSynchronize(lane->done);
	const uint64_t *from = lane->bits;
	for (uint32_t i = 0; i < batch->count && !failed; i++) {
		uint32_t words = lane->asked->jobs[i].count / 64;
		memcpy(batch->to[i], from, words * sizeof(*from));
		from += words;
	}
	batch->count = batch->clusters = batch->blocks = 0;
	return failed;
}

/* `count` clusters of a slab, which begin at `at`. */
static cudaError_t add_job(struct batch *batch, size_t question, const struct slab *slab,
	uint64_t at, uint32_t count, uint64_t *to)
{
	cudaError_t failed = cudaSuccess;
	if (batch->count == JOBS_MAX || count > BITS_MAX - batch->clusters)
		failed = answer_batch(batch);
	struct coded_job *job = &batch->lane->asked->jobs[batch->count];
	job->coded = batch->coded + question;
	job->heads = slab->heads + at * batch->device->head_len;
	job->bits = batch->bits + batch->clusters / 32;
	job->count = count;
	batch->to[batch->count++] = to;
	batch->clusters += count;
	batch->blocks = larger(batch->blocks, coded_blocks(count));
	return failed;
}

/* The clusters of a question that the batch's GPU has. */
static cudaError_t add_question(
	struct batch *batch, size_t number, const struct coded_question *question)
{
	const struct search_device *device = batch->device;
	uint64_t per_slab = slab_clusters(device);
	cudaError_t failed = cudaSuccess;
	for (uint64_t done = 0, some; done < question->count && !failed; done += some) {
		uint64_t at = (question->first + done) % per_slab, left = question->count - done;
		const struct slab *slab = &device->slabs[(question->first + done) / per_slab];
		some = per_slab - at < left ? per_slab - at : left;
		if (&device->gpus[slab->gpu] == batch->gpu)
			failed = add_job(batch, number, slab, at, (uint32_t)some,
				question->bits + done / 64);
	}
	return failed;
}

static cudaError_t ask_gpu(struct search_device *device, struct gpu *gpu,
	const struct coded_question *questions, size_t count)
{
	struct batch batch = {};
	batch.device = device;
	batch.gpu = gpu;
	batch.lane = lock_lane(gpu);
	cudaError_t failed = begin_batch(&batch, questions, count);
	for (size_t i = 0; i < count && !failed; i++)
		failed = add_question(&batch, i, &questions[i]);
	if (!failed)
		failed = answer_batch(&batch);
	pthread_mutex_unlock(&batch.lane->lock);
	return failed;
}

static int find_coded(
	struct search_device *device, const struct coded_question *questions, size_t count)
{
	cudaError_t failed = cudaSuccess;
	for (unsigned i = 0; i < STAGES && !failed; i++)
		failed = wait_for_copy(device, i);
	for (unsigned i = 0; i < device->count && !failed; i++)
		failed = ask_gpu(device, &device->gpus[i], questions, count);
	return failed ? fail(failed, "looking at clusters") : 0;
}

/* ---- words --------------------------------------------------------------------------------- */

/* Those stretches of a question that a GPU has. */
struct own_stretches {
	struct words_stretch items[WORD_STRETCHES_MAX];
	uint32_t count;
};

static void find_own(struct own_stretches *own, int id, const struct kept_text *kept,
	const struct word_question *question)
{
	own->count = 0;
	for (uint32_t i = 0; i < question->count; i++) {
		const struct range *stretch = &question->stretches[i];
		int holder = -1;
		const uint8_t *text =
			kept_text_at(kept, stretch->offset, stretch->length + WORD_AFTER, &holder);
		if (text && holder == id)
			own->items[own->count++] = { text, (uint32_t)stretch->length, i };
	}
}

/* Adds the hits in them, or counts more than there is room for. */
static cudaError_t search_own(struct lane *lane, const struct words_table *table,
	const struct own_stretches *own, struct word_answer *answer)
{
	cudaError_t failed = take_room(lane,
		sizeof(*table) + sizeof(*own) + WORD_HITS_MAX * sizeof(struct word_hit) + 4 * 256);
	struct parts parts = { lane->room, lane->stream, failed };
	struct words_job job;
	uint32_t count = 0;
	job.table = add_part(&parts, table, 1);
	job.stretches = add_part(&parts, own->items, own->count);
	job.hits = add_part(&parts, (const struct word_hit *)NULL, WORD_HITS_MAX);
	job.hit_count = add_part(&parts, &count, 1);
	failed = parts.failed;
	if (!failed)
		failed = words_launch(&job, own->count, lane->stream);
	if (!failed)
		failed = fetch_hits(lane, job.hit_count, job.hits, answer->items + answer->count,
			WORD_HITS_MAX - answer->count, &count);
	answer->count =
		count > WORD_HITS_MAX - answer->count ? WORD_HITS_MAX + 1 : answer->count + count;
	return failed;
}

static int compare_word_hits(const void *a, const void *b)
{
	const struct word_hit *left = (const struct word_hit *)a;
	const struct word_hit *right = (const struct word_hit *)b;
	if (left->stretch != right->stretch)
		return left->stretch < right->stretch ? -1 : 1;
	if (left->at != right->at)
		return left->at < right->at ? -1 : 1;
	return left->word < right->word ? -1 : left->word > right->word;
}

static int find_words(struct search_device *device, const struct kept_text *kept,
	const struct word_question *question, struct word_answer *answer)
{
	cudaError_t failed = cudaSuccess;
	struct words_table table;
	answer->answered = answer->count = 0;
	if (!kept || !question->words->count)
		return 0;
	words_table_make(&table, question->words);
	for (unsigned i = 0; i < device->count && !failed && answer->count <= WORD_HITS_MAX; i++) {
		struct gpu *gpu = &device->gpus[i];
		struct own_stretches own;
		find_own(&own, gpu->lanes[0].id, kept, question);
		if (!own.count)
			continue;
		struct lane *lane = lock_lane(gpu);
		failed = search_own(lane, &table, &own, answer);
		pthread_mutex_unlock(&lane->lock);
		for (uint32_t k = 0; k < own.count; k++)
			answer->answered |= (uint64_t)1 << own.items[k].number;
	}
	if (failed)
		return fail(failed, "searching for words");
	if (answer->count > WORD_HITS_MAX)
		answer->answered = answer->count = 0;
	qsort(answer->items, answer->count, sizeof(*answer->items), compare_word_hits);
	return 0;
}

static const struct search_tool tool = { "gpu", device_open, device_close, find_breaks, find_coded,
	find_words, room, stage, keep, take, NULL };
extern "C" const struct search_tool *const search_gpu = &tool;
