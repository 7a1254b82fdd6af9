/*
 * The device of src/assemble/search_device.h: one or several GPUs. Each has a stream, room for what it is
 * asked, and a lock, as many threads ask. The first bytes of clusters are in slabs, allocated as they come, on
 * one GPU after the other; what no GPU has room for the caller looks at itself.
 */
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "carvers/coded.h"
#include "gpu/assemble_kernels.cuh"
#include "gpu/device.cuh"
#include "gpu/probe.cuh"

extern "C" {
#include "assemble/crc_algebra.h"
#include "base/log.h"
#include "base/memory.h"
}

#define SLAB_CLUSTERS ((uint64_t)1 << 21)  /* 1 GiB */
#define STAGE_CLUSTERS ((size_t)128 << 10) /* 64 MiB */
#define SLABS_MAX 4096
#define MEMORY_LEFT ((size_t)1 << 30) /* bytes of a GPU that slabs leave */

struct gpu {
	int id;
	pthread_mutex_t lock;
	cudaStream_t stream;
	uint8_t *room; /* on the GPU */
	size_t room_len;
	size_t shared_len; /* that a block can have */
};

struct slab {
	unsigned gpu;
	uint8_t *heads;
};

struct search_device {
	struct gpu gpus[GPU_DEVICES_MAX];
	unsigned count;
	uint8_t *stage; /* pinned */
	struct slab slabs[SLABS_MAX];
	uint64_t kept; /* clusters */
};

/* ---- memory -------------------------------------------------------------------------------- */

/* Makes the GPU current, with len bytes of room. */
static cudaError_t take_room(struct gpu *gpu, size_t len)
{
	cudaError_t failed = cudaSetDevice(gpu->id);
	if (failed || len <= gpu->room_len)
		return failed;
	cudaFree(gpu->room);
	gpu->room = NULL;
	gpu->room_len = 0;
	failed = cudaMalloc((void **)&gpu->room, len);
	if (!failed)
		gpu->room_len = len;
	return failed;
}

/* Parts of a GPU's room, aligned. */
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

static void device_close(struct search_device *device)
{
	if (!device)
		return;
	for (uint64_t i = 0; i * SLAB_CLUSTERS < device->kept; i++)
		cudaFree(device->slabs[i].heads);
	cudaFreeHost(device->stage);
	for (unsigned i = 0; i < device->count; i++) {
		cudaFree(device->gpus[i].room);
		if (device->gpus[i].stream)
			cudaStreamDestroy(device->gpus[i].stream);
		pthread_mutex_destroy(&device->gpus[i].lock);
	}
	(void)cudaGetLastError();
	free(device);
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
		struct gpu *gpu = &device->gpus[i];
		gpu->id = ids[i];
		pthread_mutex_init(&gpu->lock, NULL);
		if (!failed)
			failed = cudaSetDevice(gpu->id);
		if (!failed)
			failed = cudaStreamCreateWithFlags(&gpu->stream, cudaStreamNonBlocking);
		gpu->shared_len = device_shared_len();
	}
	if (failed) {
		device_close(device);
		return gpu_failed(error, failed, "opening it");
	}
	*result = device;
	return 0;
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

static cudaError_t search_breaks(struct gpu *gpu, const struct crc_search *search,
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
		take_room(gpu, words * sizeof(uint32_t) + sizeof(struct crc_hits) + 8 * 256);
	struct parts parts = { gpu->room, gpu->stream, failed };
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
		failed = breaks_launch(&job, gpu->stream);
	if (!failed)
		failed = cudaMemcpyAsync(
			&count, job.hit_count, sizeof(count), cudaMemcpyDeviceToHost, gpu->stream);
	if (!failed)
		failed = cudaStreamSynchronize(gpu->stream);
	hits->count = count;
	if (!failed && count && count <= CRC_HITS_MAX)
		failed = cudaMemcpy(hits->items, job.hits, count * sizeof(*hits->items),
			cudaMemcpyDeviceToHost);
	return failed;
}

/* Locks a GPU that is idle, or waits for the first one. */
static struct gpu *lock_any(struct search_device *device)
{
	for (unsigned i = 0; i < device->count; i++)
		if (!pthread_mutex_trylock(&device->gpus[i].lock))
			return &device->gpus[i];
	pthread_mutex_lock(&device->gpus[0].lock);
	return &device->gpus[0];
}

static int find_breaks(
	struct search_device *device, const struct crc_search *search, struct crc_hits *hits)
{
	uint32_t step = breaks_step(!search->ends);
	size_t power_count = (search->count + step - 1) / step;
	uint32_t *powers = make_powers(power_count, step);
	struct gpu *gpu = lock_any(device);
	if (breaks_shared_len(search) > gpu->shared_len) {
		pthread_mutex_unlock(&gpu->lock);
		free(powers);
		return search_cpu.find_breaks(NULL, search, hits);
	}
	cudaError_t failed = search_breaks(gpu, search, powers, power_count, hits);
	pthread_mutex_unlock(&gpu->lock);
	free(powers);
	if (failed)
		return fail(failed, "searching for breaks");
	if (hits->count <= CRC_HITS_MAX)
		qsort(hits->items, hits->count, sizeof(*hits->items), compare_hits);
	return 0;
}

/* ---- coded data ---------------------------------------------------------------------------- */

/* Allocates the slab that the next clusters go to. */
static bool add_slab(struct search_device *device)
{
	uint64_t number = device->kept / SLAB_CLUSTERS;
	for (unsigned i = 0; number < SLABS_MAX && i < device->count; i++) {
		unsigned gpu = (unsigned)((number + i) % device->count);
		struct slab *slab = &device->slabs[number];
		size_t left = 0, all = 0, len = SLAB_CLUSTERS * SEARCH_HEAD_LEN;
		if (cudaSetDevice(device->gpus[gpu].id) || cudaMemGetInfo(&left, &all) ||
			left < len + MEMORY_LEFT || cudaMalloc((void **)&slab->heads, len))
			continue;
		slab->gpu = gpu;
		return true;
	}
	(void)cudaGetLastError();
	return false;
}

static uint8_t *stage(struct search_device *device, size_t *count)
{
	*count = STAGE_CLUSTERS;
	if (!device->stage &&
		cudaMallocHost((void **)&device->stage, STAGE_CLUSTERS * SEARCH_HEAD_LEN))
		return NULL;
	if (device->kept % SLAB_CLUSTERS == 0 && !add_slab(device))
		return NULL;
	return device->stage;
}

static int keep(struct search_device *device, size_t count)
{
	const struct slab *slab = &device->slabs[device->kept / SLAB_CLUSTERS];
	uint64_t at = device->kept % SLAB_CLUSTERS;
	cudaError_t failed = cudaSetDevice(device->gpus[slab->gpu].id);
	if (!failed)
		failed = cudaMemcpy(slab->heads + at * SEARCH_HEAD_LEN, device->stage,
			count * SEARCH_HEAD_LEN, cudaMemcpyHostToDevice);
	if (failed)
		return fail(failed, "keeping clusters");
	device->kept += count;
	return 0;
}

static cudaError_t search_coded(struct gpu *gpu, const struct carve_coded *coded,
	const uint8_t *heads, uint32_t count, uint64_t *bits)
{
	cudaError_t failed = take_room(gpu, sizeof(*coded) + 512 + count / 8);
	struct parts parts = { gpu->room, gpu->stream, failed };
	const struct carve_coded *description = add_part(&parts, coded, 1);
	uint32_t *found = add_part(&parts, (const uint32_t *)NULL, count / 32);
	failed = parts.failed;
	if (!failed)
		failed = coded_launch(description, heads, count, found, gpu->stream);
	if (!failed)
		failed = cudaMemcpyAsync(
			bits, found, count / 8, cudaMemcpyDeviceToHost, gpu->stream);
	return failed ? failed : cudaStreamSynchronize(gpu->stream);
}

static int find_coded(struct search_device *device, const struct carve_coded *coded, uint64_t first,
	uint64_t count, uint64_t *bits)
{
	cudaError_t failed = cudaSuccess;
	for (uint64_t done = 0; done < count && !failed;) {
		const struct slab *slab = &device->slabs[(first + done) / SLAB_CLUSTERS];
		uint64_t at = (first + done) % SLAB_CLUSTERS, some = SLAB_CLUSTERS - at;
		struct gpu *gpu = &device->gpus[slab->gpu];
		some = some < count - done ? some : count - done;
		pthread_mutex_lock(&gpu->lock);
		failed = search_coded(gpu, coded, slab->heads + at * SEARCH_HEAD_LEN,
			(uint32_t)some, bits + done / 64);
		pthread_mutex_unlock(&gpu->lock);
		done += some;
	}
	return failed ? fail(failed, "looking at clusters") : 0;
}

static const struct search_tool tool = { "gpu", device_open, device_close, find_breaks, find_coded,
	stage, keep };
extern "C" const struct search_tool *const search_gpu = &tool;
