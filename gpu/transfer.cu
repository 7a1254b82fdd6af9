/*
 * Strategies A and B of Zha and Sahni (IEEE Transactions on Computers 62(6), 2013, section 4, Figs.
 * 4 and 5), to be measured beside their theorems (src/bench/papers/theory.h), and the hybrid that they
 * mention: A's order of starting, in which nothing waits but for what it needs, with as many buffers as
 * one likes in turn, as B has two. The engine (scan_cuda.cu) differs: it ships hits, not an array as
 * long as the text.
 *
 * Copies have a stream for each direction, or one stream for both where one I/O channel is to be
 * measured: then they exclude each other, in the order in which they were started. Kernels have a
 * third stream. Within a segment the steps wait for each other by events, in place of the paper's
 * one stream a segment.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "gpu/kernel.h"
#include "gpu/probe.cuh"
#include "gpu/tally.cuh"
#include "gpu/transfer.cuh"

extern "C" {
#include "base/memory.h"
}

#define KEYS_MAX (64u << 20)
#define ALONE_ROUNDS 9 /* of each step of a segment alone, but for long ones */
#define ALONE_SECONDS 0.05
#define WARM_SECONDS 0.02

struct transfer {
	struct gpu_bench_transfer *result;
	const struct pattern_set *set;
	const struct gpu_kernel *kernel;
	void *tables;
	uint8_t *host; /* text, page-locked */
	size_t len;
	size_t segment_len, overlap;
	unsigned segments;        /* as many as there is text for */
	unsigned buffers;         /* a segment has buffer number % buffers */
	uint8_t *in, *out;        /* device memory, `buffers` times the rooms */
	uint8_t *back;            /* page-locked: every segment's array */
	size_t in_room, out_room; /* bytes of a segment */
	cudaStream_t writing, processing, reading;
	cudaEvent_t *written, *processed, *read; /* of each segment */
	struct gpu_hits hits;
};

/* ---- the steps of a segment ---- */

static struct gpu_text segment_text(const struct transfer *t, unsigned i)
{
	size_t at = i * t->segment_len;
	size_t own = t->len - at < t->segment_len ? t->len - at : t->segment_len;
	size_t rest = t->len - at - own;
	size_t all = own + (rest < t->overlap ? rest : t->overlap);
	return { t->in + i % t->buffers * t->in_room, 0, (uint32_t)own, (uint32_t)all };
}

static cudaError_t write_segment(const struct transfer *t, unsigned i)
{
	struct gpu_text text = segment_text(t, i);
	return cudaMemcpyAsync((void *)text.bytes, t->host + i * t->segment_len, text.len,
		cudaMemcpyHostToDevice, t->writing);
}

static cudaError_t process_segment(const struct transfer *t, unsigned i)
{
	struct gpu_text text = segment_text(t, i);
	return t->kernel->form->launch(
		t->tables, &text, t->out + i % t->buffers * t->out_room, t->processing);
}

static cudaError_t read_segment(const struct transfer *t, unsigned i)
{
	struct gpu_text text = segment_text(t, i);
	return cudaMemcpyAsync(t->back + i * t->out_room, t->out + i % t->buffers * t->out_room,
		t->kernel->form->len(t->tables, &text), cudaMemcpyDeviceToHost, t->reading);
}

/* ---- the strategies ---- */

/* Each step of a segment waits for the one before, by an event. */
static cudaError_t start_write(const struct transfer *t, unsigned i)
{
	cudaError_t failed = write_segment(t, i);
	return failed ? failed : cudaEventRecord(t->written[i], t->writing);
}

static cudaError_t start_process(const struct transfer *t, unsigned i)
{
	cudaError_t failed = cudaStreamWaitEvent(t->processing, t->written[i], 0);
	if (!failed)
		failed = process_segment(t, i);
	return failed ? failed : cudaEventRecord(t->processed[i], t->processing);
}

static cudaError_t start_read(const struct transfer *t, unsigned i)
{
	cudaError_t failed = cudaStreamWaitEvent(t->reading, t->processed[i], 0);
	if (!failed)
		failed = read_segment(t, i);
	return failed ? failed : cudaEventRecord(t->read[i], t->reading);
}

/* Fig. 4. */
static cudaError_t strategy_a(const struct transfer *t)
{
	cudaError_t failed = cudaSuccess;
	for (unsigned i = 0; !failed && i < t->segments; i++)
		failed = start_write(t, i);
	for (unsigned i = 0; !failed && i < t->segments; i++)
		failed = start_process(t, i);
	for (unsigned i = 0; !failed && i < t->segments; i++)
		failed = start_read(t, i);
	return failed ? failed : cudaDeviceSynchronize();
}

/* A segment is written into the buffers of the one `buffers` before it, once that has been read. What
 * it waits for has been started before it: with one channel its read is before this write in their one
 * stream. */
static cudaError_t strategy_hybrid(const struct transfer *t)
{
	unsigned ahead = t->buffers - 1; /* writes that run before the reads of their segments */
	cudaError_t failed = cudaSuccess;
	for (unsigned i = 0; !failed && i < t->segments; i++) {
		if (i >= t->buffers)
			failed = cudaStreamWaitEvent(t->writing, t->read[i - t->buffers], 0);
		if (!failed)
			failed = start_write(t, i);
		if (!failed)
			failed = start_process(t, i);
		if (!failed && i >= ahead)
			failed = start_read(t, i - ahead);
	}
	unsigned rest = t->segments < ahead ? t->segments : ahead;
	for (unsigned i = t->segments - rest; !failed && i < t->segments; i++)
		failed = start_read(t, i);
	return failed ? failed : cudaDeviceSynchronize();
}

/* Fig. 5: buffers IN0 and IN1, OUT0 and OUT1 are a segment's number % 2. */
static cudaError_t strategy_b(const struct transfer *t)
{
	unsigned s = t->segments;
	cudaError_t failed = write_segment(t, 0);
	if (!failed)
		failed = cudaDeviceSynchronize();
	for (unsigned i = 1; !failed && i < s; i++) {
		failed = write_segment(t, i);
		if (!failed)
			failed = process_segment(t, i - 1);
		if (!failed)
			failed = cudaDeviceSynchronize();
		if (!failed)
			failed = read_segment(t, i - 1);
	}
	if (!failed)
		failed = process_segment(t, s - 1);
	if (!failed)
		failed = cudaDeviceSynchronize();
	if (!failed)
		failed = read_segment(t, s - 1);
	return failed ? failed : cudaDeviceSynchronize();
}

/* ---- measuring ---- */

static double median_of(double seconds[ALONE_ROUNDS], int count)
{
	for (int i = 1; i < count; i++)
		for (int j = i; j > 0 && seconds[j - 1] > seconds[j]; j--) {
			double larger = seconds[j - 1];
			seconds[j - 1] = seconds[j];
			seconds[j] = larger;
		}
	return seconds[count / 2];
}

static cudaError_t time_step(const struct transfer *t,
	cudaError_t (*step)(const struct transfer *, unsigned), double *median)
{
	double seconds[ALONE_ROUNDS], spent = 0, from = clock_seconds();
	int done = 0;
	cudaError_t failed = cudaSuccess;
	do { /* for an idle link reaches its speed only after some 10 ms of work */
		failed = step(t, 0);
		if (!failed)
			failed = cudaDeviceSynchronize();
	} while (!failed && clock_seconds() - from < WARM_SECONDS);
	for (; !failed && done < ALONE_ROUNDS && (done < 3 || spent < ALONE_SECONDS); done++) {
		from = clock_seconds();
		failed = step(t, 0);
		if (!failed)
			failed = cudaDeviceSynchronize();
		spent += seconds[done] = clock_seconds() - from;
	}
	*median = failed ? 0 : median_of(seconds, done);
	return failed;
}

static cudaError_t move_once(const struct transfer *t)
{
	switch (t->result->strategy) {
	case GPU_STRATEGY_A:
		return strategy_a(t);
	case GPU_STRATEGY_B:
		return strategy_b(t);
	default:
		return strategy_hybrid(t);
	}
}

static cudaError_t measure(const struct transfer *t)
{
	struct gpu_bench_transfer *result = t->result;
	cudaError_t failed = time_step(t, write_segment, &result->t_w);
	if (!failed)
		failed = time_step(t, process_segment, &result->t_p);
	if (!failed)
		failed = time_step(t, read_segment, &result->t_r);
	for (unsigned i = 0; !failed && i < result->rounds + 1; i++) {
		double from = clock_seconds();
		failed = move_once(t);
		if (i)
			result->seconds[i - 1] = clock_seconds() - from;
	}
	return failed;
}

/* The hits of a segment. */
static cudaError_t tally_hits(const struct transfer *t, unsigned i)
{
	unsigned long long count = 0;
	cudaError_t failed =
		cudaMemcpy(&count, t->hits.count, sizeof(count), cudaMemcpyDeviceToHost);
	if (count > t->hits.capacity)
		count = t->hits.capacity; /* the tally will differ, and show it */
	return failed ? failed
		      : gpu_tally(t->hits.keys, count, i * t->segment_len, &t->result->hits);
}

/* The hits in the arrays that came back: each goes to the device again and is expanded there. */
static cudaError_t tally(const struct transfer *t)
{
	cudaError_t failed = cudaSuccess;
	for (unsigned i = 0; !failed && i < t->segments; i++) {
		struct gpu_text text = segment_text(t, i);
		failed = write_segment(t, i);
		if (!failed)
			failed = cudaMemcpyAsync(t->out, t->back + i * t->out_room,
				t->kernel->form->len(t->tables, &text), cudaMemcpyHostToDevice,
				t->writing);
		if (!failed)
			failed = cudaMemsetAsync(
				t->hits.count, 0, sizeof(*t->hits.count), t->writing);
		if (!failed)
			failed = t->kernel->form->expand(
				t->tables, &text, t->out, &t->hits, t->writing);
		if (!failed)
			failed = cudaDeviceSynchronize();
		if (!failed)
			failed = tally_hits(t, i);
	}
	return failed;
}

/* ---- opening ---- */

static cudaError_t make_streams(struct transfer *t)
{
	cudaError_t failed = cudaStreamCreateWithFlags(&t->writing, cudaStreamNonBlocking);
	if (!failed)
		failed = cudaStreamCreateWithFlags(&t->processing, cudaStreamNonBlocking);
	t->reading = t->writing;
	if (!failed && t->result->two_channels)
		failed = cudaStreamCreateWithFlags(&t->reading, cudaStreamNonBlocking);
	for (unsigned i = 0; !failed && i < t->segments; i++) {
		failed = cudaEventCreateWithFlags(&t->written[i], cudaEventDisableTiming);
		if (!failed)
			failed = cudaEventCreateWithFlags(&t->processed[i], cudaEventDisableTiming);
		if (!failed)
			failed = cudaEventCreateWithFlags(&t->read[i], cudaEventDisableTiming);
	}
	return failed;
}

/* Takes page-locked memory, unless there is enough. */
static cudaError_t take_back(struct transfer *t, struct gpu_transfer_back *back)
{
	size_t len = t->segments * t->out_room;
	cudaError_t failed = cudaSuccess;
	if (back->len < len) {
		cudaFreeHost(back->bytes);
		*back = { NULL, 0 };
		failed = cudaMallocHost((void **)&back->bytes, len);
		back->len = failed ? 0 : len;
	}
	t->back = back->bytes;
	return failed;
}

static cudaError_t allocate(struct transfer *t)
{
	struct gpu_text text = segment_text(t, 0); /* none is longer */
	t->in_room = (text.len + GPU_TEXT_PAD + 255) / 256 * 256;
	t->out_room = (t->kernel->form->len(t->tables, &text) + 511) / 256 * 256;
	t->hits.capacity = t->segment_len < KEYS_MAX ? t->segment_len : KEYS_MAX;
	cudaError_t failed = cudaMalloc((void **)&t->in, t->buffers * t->in_room);
	if (!failed)
		failed = cudaMemset(t->in, 0, t->buffers * t->in_room);
	if (!failed)
		failed = cudaMalloc((void **)&t->out, t->buffers * t->out_room);
	if (!failed)
		failed = cudaMalloc((void **)&t->hits.keys, t->hits.capacity * 8ul);
	if (!failed)
		failed = cudaMalloc((void **)&t->hits.count, sizeof(*t->hits.count));
	t->result->device_len = t->buffers * (t->in_room + t->out_room);
	return failed;
}

static void free_all(struct transfer *t)
{
	if (t->reading != t->writing)
		cudaStreamDestroy(t->reading);
	if (t->writing)
		cudaStreamDestroy(t->writing);
	if (t->processing)
		cudaStreamDestroy(t->processing);
	for (unsigned i = 0; i < t->segments; i++) {
		if (t->written[i])
			cudaEventDestroy(t->written[i]);
		if (t->processed[i])
			cudaEventDestroy(t->processed[i]);
		if (t->read[i])
			cudaEventDestroy(t->read[i]);
	}
	cudaFree(t->in);
	cudaFree(t->out);
	cudaFree(t->hits.keys);
	cudaFree(t->hits.count);
	free(t->written);
	free(t->processed);
	free(t->read);
	(void)cudaGetLastError();
}

/* Into equal segments, as the result asks. */
static void divide(struct transfer *t)
{
	unsigned s = t->result->segments;
	t->segment_len = (t->len + s - 1) / s;
	t->segments = (unsigned)((t->len + t->segment_len - 1) / t->segment_len);
	t->overlap = t->set->longest ? t->set->longest - 1 : 0;
	t->buffers = t->result->strategy == GPU_STRATEGY_A   ? t->segments
		     : t->result->strategy == GPU_STRATEGY_B ? 2
							     : t->result->buffers;
	if (t->buffers > t->segments)
		t->buffers = t->segments;
}

/* With the kernel's tables loaded. */
static cudaError_t run_loaded(struct transfer *t, struct gpu_transfer_back *back)
{
	divide(t);
	t->written = (cudaEvent_t *)xcalloc(t->segments, sizeof(*t->written));
	t->processed = (cudaEvent_t *)xcalloc(t->segments, sizeof(*t->processed));
	t->read = (cudaEvent_t *)xcalloc(t->segments, sizeof(*t->read));
	cudaError_t failed = make_streams(t);
	if (!failed)
		failed = allocate(t);
	if (!failed)
		failed = take_back(t, back);
	if (!failed)
		failed = measure(t);
	if (!failed)
		failed = tally(t);
	free_all(t);
	return failed;
}

int gpu_transfer_run(struct gpu_bench_transfer *result, const struct pattern_set *set,
	uint8_t *text, size_t len, struct gpu_transfer_back *back, struct error *error)
{
	struct transfer transfer = { .result = result, .set = set, .host = text, .len = len };
	struct gpu_program *program;
	char how[128];
	int status = len ? gpu_kernel_pick(&transfer.kernel, &program, result->kernel, set,
				   result->tuning, how, sizeof(how), error)
			 : error_set(error, EXIT_USAGE, EINVAL, "there is no text");
	if (status)
		return status;
	if (transfer.kernel->form && transfer.kernel->form->kind == GPU_FORM_COUNT) {
		transfer.kernel->free(program);
		return error_set(error, EXIT_USAGE, EINVAL,
			"%s has no form of output that shows where matches are", result->kernel);
	}
	status = gpu_form_check(transfer.kernel, program, error);
	if (status) {
		transfer.kernel->free(program);
		return status;
	}
	result->found = (enum gpu_bench_found)transfer.kernel->form->kind;
	cudaError_t failed = transfer.kernel->load(&transfer.tables, program);
	if (!failed) {
		failed = run_loaded(&transfer, back);
		transfer.kernel->unload(transfer.tables);
	}
	transfer.kernel->free(program);
	return failed ? gpu_failed(error, failed, "moving the text through the device") : 0;
}
