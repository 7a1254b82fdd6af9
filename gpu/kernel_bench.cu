/*
 * Kernels on text that is on the device already, beside the cost of reading device memory and of
 * copying to it alone. The hits of a kernel's last round are tallied, so that the caller can compare
 * them.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "scan/gpu_bench.h"
#include "base/clock.h"
#include "gpu/kernel.h"
#include "gpu/probe.cuh"
#include "gpu/tally.cuh"
#include "gpu/transfer.cuh"

extern "C" {
#include "base/memory.h"
#include "patterns/prefix.h"
}

#define WARM_UP 2
#define LONG_MS 100   /* a launch that takes longer warms the device up alone */
#define ENOUGH_MS 300 /* no further rounds after this */
#define ONCE_MS 500 /* a launch that takes longer is the measurement: what is cold matters little */
#define KEYS_MAX (1u << 30)
#define READ_THREADS 512
#define READ_LOADS 4
#define READ_TILE \
	(READ_THREADS * READ_LOADS * sizeof(uint4)) /* bytes that a block reads at a time */
#define FETCHED (1u << 20)                          /* hits fetched at a time */

static_assert(GPU_BENCH_TEXT_PAD >= GPU_TEXT_PAD, "kernels read past the text, with zero copy too");
static_assert((int)GPU_FOUND_ALL == GPU_FORM_ALL && (int)GPU_FOUND_LONGEST == GPU_FORM_LONGEST &&
		      (int)GPU_FOUND_COUNT == GPU_FORM_COUNT,
	"scan/gpu_bench.h has the same values");

struct gpu_bench {
	uint8_t *host, *text;
	size_t text_len;
	struct gpu_hits hits;
	uint32_t *
		sink; /* device memory: the result of a read, so that the compiler keeps the read */
	cudaEvent_t start, end;
	bool locked; /* the host's text, to be mapped as well; it takes long and stays so */
	struct gpu_transfer_back back;
};

/* ---- opening ---- */

static cudaError_t lock_text(struct gpu_bench *bench)
{
	cudaError_t failed =
		bench->locked ? cudaSuccess
			      : cudaHostRegister(bench->host, bench->text_len + GPU_BENCH_TEXT_PAD,
					cudaHostRegisterMapped);
	bench->locked = !failed;
	return failed;
}

static void unlock_text(struct gpu_bench *bench)
{
	if (bench->locked)
		cudaHostUnregister(bench->host);
	bench->locked = false;
}

static void bench_close(struct gpu_bench *bench)
{
	if (!bench)
		return;
	unlock_text(bench);
	cudaFreeHost(bench->back.bytes);
	cudaFree(bench->text);
	cudaFree(bench->hits.keys);
	cudaFree(bench->hits.count);
	cudaFree(bench->sink);
	if (bench->start)
		cudaEventDestroy(bench->start);
	if (bench->end)
		cudaEventDestroy(bench->end);
	(void)cudaGetLastError();
	free(bench);
}

static cudaError_t allocate(struct gpu_bench *bench)
{
	bench->hits.capacity = bench->text_len < KEYS_MAX / 4 ? 4 * bench->text_len : KEYS_MAX;
	cudaError_t failed = cudaMalloc((void **)&bench->text, bench->text_len + GPU_TEXT_PAD);
	if (!failed)
		failed = cudaMalloc((void **)&bench->hits.keys, bench->hits.capacity * 8ul);
	while (failed == cudaErrorMemoryAllocation && bench->hits.capacity > KEYS_MAX >> 8) {
		(void)cudaGetLastError();
		bench->hits.capacity /= 2;
		failed = cudaMalloc((void **)&bench->hits.keys, bench->hits.capacity * 8ul);
	}
	if (!failed)
		failed = cudaMalloc((void **)&bench->hits.count, sizeof(*bench->hits.count));
	if (!failed)
		failed = cudaMalloc((void **)&bench->sink, sizeof(*bench->sink));
	if (!failed)
		failed = cudaEventCreate(&bench->start);
	if (!failed)
		failed = cudaEventCreate(&bench->end);
	if (!failed)
		failed = cudaMemset(bench->text + bench->text_len, 0, GPU_TEXT_PAD);
	if (!failed)
		failed = cudaMemcpy(
			bench->text, bench->host, bench->text_len, cudaMemcpyHostToDevice);
	return failed;
}

static int bench_open(struct gpu_bench **result, const char *devices, uint8_t *text,
	size_t text_len, struct error *error)
{
	int ids[GPU_DEVICES_MAX];
	char reason[256];
	int count = gpu_devices(ids, devices, reason, sizeof(reason));
	if (count < 0)
		return error_set(error, EXIT_NO_ENGINE, -count, "%s", reason);
	struct gpu_bench *bench = (struct gpu_bench *)xcalloc(1, sizeof(*bench));
	bench->host = text;
	bench->text_len = text_len;
	cudaError_t failed = cudaSetDevice(ids[0]);
	if (!failed)
		failed = allocate(bench);
	if (failed) {
		bench_close(bench);
		return gpu_failed(error, failed, "taking memory for the text");
	}
	*result = bench;
	return 0;
}

/* ---- time ---- */

/* The milliseconds of one launch. */
static cudaError_t time_launch(
	struct gpu_bench *bench, cudaError_t (*launch)(void *), void *argument, float *milliseconds)
{
	cudaError_t failed = cudaEventRecord(bench->start);
	if (!failed)
		failed = launch(argument);
	if (!failed)
		failed = cudaEventRecord(bench->end);
	if (!failed)
		failed = cudaEventSynchronize(bench->end);
	return failed ? failed : cudaEventElapsedTime(milliseconds, bench->start, bench->end);
}

/* Fills in the seconds of *rounds launches, after some that don't count. Long ones are launched less
 * often: *rounds is then less. */
static cudaError_t time_launches(struct gpu_bench *bench, cudaError_t (*launch)(void *),
	void *argument, double *seconds, unsigned *rounds)
{
	float milliseconds = 0;
	unsigned done = 0;
	double spent = 0;
	cudaError_t failed = time_launch(bench, launch, argument, &milliseconds);
	if (!failed && milliseconds > ONCE_MS) {
		seconds[0] = milliseconds / 1e3;
		*rounds = 1;
		return cudaSuccess;
	}
	for (unsigned i = 1; !failed && i < WARM_UP && milliseconds < LONG_MS; i++)
		failed = time_launch(bench, launch, argument, &milliseconds);
	for (; !failed && done < *rounds && (done == 0 || spent < ENOUGH_MS); done++) {
		failed = time_launch(bench, launch, argument, &milliseconds);
		spent += milliseconds;
		seconds[done] = milliseconds / 1e3;
	}
	*rounds = done;
	return failed;
}

/* ---- ceilings ---- */

static __global__ void __launch_bounds__(READ_THREADS)
	read_kernel(const uint4 *text, size_t tiles, uint32_t *sink)
{
	uint32_t sum = 0;
	for (size_t tile = blockIdx.x; tile < tiles; tile += gridDim.x) {
		const uint4 *from = text + tile * READ_THREADS * READ_LOADS + threadIdx.x;
		uint4 words[READ_LOADS];
#pragma unroll
		for (int j = 0; j < READ_LOADS; j++)
			words[j] = __ldcs(from + j * READ_THREADS);
#pragma unroll
		for (int j = 0; j < READ_LOADS; j++)
			sum ^= words[j].x ^ words[j].y ^ words[j].z ^ words[j].w;
	}
	if (sum == 0x12345678)
		*sink = sum;
}

static cudaError_t launch_read(void *argument)
{
	struct gpu_bench *bench = (struct gpu_bench *)argument;
	size_t tiles = bench->text_len / READ_TILE;
	int device, processors;
	cudaError_t failed = cudaGetDevice(&device);
	if (!failed)
		failed =
			cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, device);
	if (failed || !tiles)
		return failed;
	size_t blocks = tiles < processors * 16ul ? tiles : processors * 16ul;
	read_kernel<<<blocks, READ_THREADS>>>((const uint4 *)bench->text, tiles, bench->sink);
	return cudaGetLastError();
}

static int bench_read(
	struct gpu_bench *bench, double *seconds, unsigned rounds, size_t *len, struct error *error)
{
	cudaError_t failed = time_launches(bench, launch_read, bench, seconds, &rounds);
	*len = bench->text_len / READ_TILE * READ_TILE;
	return failed ? gpu_failed(error, failed, "reading device memory") : 0;
}

static cudaError_t copy_all(
	struct gpu_bench *bench, const struct gpu_bench_copy *copy, cudaStream_t streams[2])
{
	size_t len = copy->len ? copy->len : bench->text_len;
	cudaError_t failed = cudaSuccess;
	for (size_t at = 0, i = 0; !failed && at < len; at += copy->chunk_len, i++) {
		size_t part = len - at < copy->chunk_len ? len - at : copy->chunk_len;
		/* Back come the same bytes: both sides hold the text. */
		failed = copy->to_host ? cudaMemcpyAsync(bench->host + at, bench->text + at, part,
						 cudaMemcpyDeviceToHost, streams[i % 2])
				       : cudaMemcpyAsync(bench->text + at, bench->host + at, part,
						 cudaMemcpyHostToDevice, streams[i % 2]);
	}
	return failed ? failed : cudaDeviceSynchronize();
}

static int bench_copy(
	struct gpu_bench *bench, const struct gpu_bench_copy *copy, struct error *error)
{
	cudaStream_t streams[2] = { NULL, NULL };
	cudaError_t failed = cudaSuccess;
	if (copy->pageable)
		unlock_text(bench);
	else
		failed = lock_text(bench);
	if (failed)
		return gpu_failed(error, failed, "pinning the text");
	for (int i = 0; i < 2 && !failed; i++)
		failed = cudaStreamCreateWithFlags(&streams[i], cudaStreamNonBlocking);
	for (unsigned i = 0; !failed && i < copy->rounds + 1; i++) {
		double from = clock_seconds();
		failed = copy_all(bench, copy, streams);
		if (i)
			copy->seconds[i - 1] = clock_seconds() - from;
	}
	for (int i = 0; i < 2; i++)
		if (streams[i])
			cudaStreamDestroy(streams[i]);
	return failed ? gpu_failed(error, failed, "copying to the device") : 0;
}

/* ---- kernels ---- */

struct launch {
	struct gpu_bench *bench;
	const struct gpu_kernel *kernel;
	void *tables;
	struct gpu_text text;
	void *array; /* of the paper's form, device memory; NULL: the hits are wanted */
};

static cudaError_t launch_kernel(void *argument)
{
	struct launch *launch = (struct launch *)argument;
	struct gpu_hits *hits = &launch->bench->hits;
	if (launch->array)
		return launch->kernel->form->launch(
			launch->tables, &launch->text, launch->array, 0);
	cudaError_t failed = cudaMemsetAsync(hits->count, 0, sizeof(*hits->count), 0);
	if (failed)
		return failed;
	return launch->kernel->launch(launch->tables, &launch->text, hits, 0);
}

/* Fetches the hits, since for a regex the kernel has only searched for what its matches begin
 * with. */
static cudaError_t tally_fetched(struct gpu_bench *bench, const struct pattern_set *set,
	size_t count, struct hit_tallies *hits)
{
	uint64_t *keys = (uint64_t *)xmalloc(FETCHED * sizeof(*keys));
	cudaError_t failed = cudaSuccess;
	for (size_t at = 0; !failed && at < count; at += FETCHED) {
		size_t some = count - at < FETCHED ? count - at : FETCHED;
		failed = cudaMemcpy(
			keys, bench->hits.keys + at, some * sizeof(*keys), cudaMemcpyDeviceToHost);
		for (size_t i = 0; !failed && i < some; i++) {
			size_t start = keys[i] >> 32;
			uint32_t number = (uint32_t)keys[i];
			const struct pattern *pattern = &set->patterns[number];
			if (!pattern->regex || pattern_match_len(pattern, bench->host + start,
						       bench->text_len - start) > 0)
				hit_tallies_add(hits, start, number);
		}
	}
	free(keys);
	return failed;
}

static bool has_regex(const struct pattern_set *set)
{
	for (uint32_t i = 0; i < set->count; i++)
		if (set->patterns[i].regex)
			return true;
	return false;
}

static cudaError_t tally(
	struct gpu_bench *bench, const struct pattern_set *set, struct gpu_bench_kernel *result)
{
	unsigned long long count = 0;
	cudaError_t failed =
		cudaMemcpy(&count, bench->hits.count, sizeof(count), cudaMemcpyDeviceToHost);
	bool counted = result->found == GPU_FOUND_COUNT;
	result->overflow = !counted && count > bench->hits.capacity;
	result->hits.all = result->hits.part = (struct hit_tally){ counted ? count : 0, 0 };
	if (failed || counted || result->overflow)
		return failed;
	return has_regex(set) ? tally_fetched(bench, set, count, &result->hits)
			      : gpu_tally(bench->hits.keys, count, 0, &result->hits);
}

/* Allocates the array of the paper's form. */
static int allocate_form(
	struct launch *launch, struct gpu_bench_kernel *result, struct error *error)
{
	const struct gpu_form *form = launch->kernel->form;
	result->found = (enum gpu_bench_found)form->kind;
	result->form_len = form->len(launch->tables, &launch->text);
	cudaError_t failed = cudaMalloc(&launch->array, result->form_len + 256);
	return failed ? gpu_failed(error, failed, "taking memory for the paper's output") : 0;
}

/* Turns the array into hits. */
static cudaError_t expand_form(struct launch *launch)
{
	struct gpu_hits *hits = &launch->bench->hits;
	cudaError_t failed = cudaMemset(hits->count, 0, sizeof(*hits->count));
	if (!failed)
		failed = launch->kernel->form->expand(
			launch->tables, &launch->text, launch->array, hits, 0);
	return failed;
}

/* Makes the host's text readable by the device. */
static cudaError_t map_text(struct launch *launch)
{
	struct gpu_bench *bench = launch->bench;
	void *mapped = NULL;
	cudaError_t failed = lock_text(bench);
	if (!failed)
		failed = cudaHostGetDevicePointer(&mapped, bench->host, 0);
	launch->text.bytes = (const uint8_t *)mapped;
	return failed;
}

static int measure(struct launch *launch, const struct pattern_set *set,
	struct gpu_bench_kernel *result, struct error *error)
{
	int status = result->form ? allocate_form(launch, result, error) : 0;
	if (status)
		return status;
	cudaError_t failed = result->zero_copy ? map_text(launch) : cudaSuccess;
	if (failed)
		return gpu_failed(error, failed, "mapping the text");
	failed = time_launches(
		launch->bench, launch_kernel, launch, result->seconds, &result->rounds);
	if (!failed && result->form)
		failed = expand_form(launch);
	if (!failed)
		failed = tally(launch->bench, set, result);
	return failed ? gpu_failed(error, failed, "searching") : 0;
}

/* With a compiled program. */
static int run_program(struct gpu_bench *bench, const struct gpu_kernel *kernel,
	const struct gpu_program *program, const struct pattern_set *set,
	struct gpu_bench_kernel *result, struct error *error)
{
	uint32_t len = (uint32_t)(result->len ? result->len : bench->text_len);
	struct launch launch = { bench, kernel, NULL, { bench->text, 0, len, len }, NULL };
	result->found = GPU_FOUND_ALL;
	result->form_len = 0;
	cudaError_t failed = kernel->load(&launch.tables, program);
	if (failed)
		return gpu_failed(error, failed, "loading the pattern tables");
	int status = measure(&launch, set, result, error);
	cudaFree(launch.array);
	kernel->unload(launch.tables);
	return status;
}

static int bench_run(struct gpu_bench *bench, const char *name, const struct pattern_set *set,
	struct gpu_bench_kernel *result, struct error *error)
{
	const struct gpu_kernel *kernel;
	struct gpu_program *program;
	struct prefix_set searched;
	int status = prefix_set_make(&searched, set, error);
	if (status)
		return status;
	double from = clock_seconds();
	status = gpu_kernel_pick(&kernel, &program, name, &searched.set, result->tuning,
		result->how, sizeof(result->how), error);
	result->compile = clock_seconds() - from;
	if (!status) {
		status = result->form ? gpu_form_check(kernel, program, error) : 0;
		if (!status)
			status = run_program(bench, kernel, program, set, result, error);
		kernel->free(program);
	}
	prefix_set_free(&searched, set);
	return status;
}

static int bench_transfer(struct gpu_bench *bench, const struct pattern_set *set,
	struct gpu_bench_transfer *result, struct error *error)
{
	size_t len = result->len ? result->len : bench->text_len;
	cudaError_t failed = lock_text(bench);
	if (failed)
		return gpu_failed(error, failed, "pinning the text");
	return gpu_transfer_run(result, set, bench->host, len, &bench->back, error);
}

static const struct gpu_bench_tool tool = { bench_open, bench_close, bench_read, bench_copy,
	bench_run, bench_transfer };
extern "C" const struct gpu_bench_tool *const gpu_bench_tool = &tool;
