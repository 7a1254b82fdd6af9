/*
 * Whole photographs, as Weissenberger and Schmidt decode them ("Massively parallel Huffman decoding on GPUs",
 * ICPP 2018, and "Accelerating JPEG decompression on GPUs", HiPC 2021): a scan's data is cut into
 * subsequences, one a thread. Each is decoded from its first bit as if a block of the first component began
 * there. Codes synchronise themselves: soon after a wrong start most symbols are the right ones. What is left
 * wrong, above all which block of the MCU it is, is corrected by decoding a subsequence again from where the
 * one before really ended, until nothing changes.
 *
 * Nothing is computed of the picture. Each subsequence keeps the number of its blocks, and the change, least
 * and greatest value of each component's prediction. With them one pass over the subsequences decides whether
 * all of the scan is valid, as the carver does (carvers/pictures/jpeg/jpeg_huffman.c).
 *
 *	tile_kernel    with the search: where a marker is in each tile of the text, and how much stuffing
 *	move_kernel    a photograph's data, without stuffing, from one or two texts
 *	decode_kernel  four times: within a block of threads until nothing changes, then from where the block
 *	               before ended
 *	judge_kernel   one block a photograph
 *
 * Whatever is unusual (runs of zeros, bytes between the data and the marker, more rounds) is left to the
 * carver: the answer "valid" implies that the carver finds the same.
 */
#include <stdlib.h>
#include <string.h>

#include "gpu/photos.cuh"

extern "C" {
#include "base/log.h"
#include "base/memory.h"
}

#define BATCHES 4
#define PASSES 4
#define PHOTOS_MAX 256u
/* Bytes of a batch, at most, however large chunks are: the carver decodes what is more. */
#define MOVED_MAX (128u << 20)
#define LEN_MIN 16384u /* smaller photographs cost the carver less than asking */
#define JUDGE_THREADS 128
#define MOVE_BYTES (PHOTO_TILE / PHOTO_SUBS) /* of a thread */
/* The carver wants no 16 zeros after certain blocks. Of 16 in a row one of three threads has 6. */
#define ZEROS_MAX 6

/* What kernels work on, all on the device. */
struct photo_work {
	const struct photo *photos;
	const struct photo_run *runs;
	const struct photo_piece *pieces;
	const struct carve_coded *coded;
	uint8_t *moved;
	uint32_t *places;         /* of each subsequence's end */
	struct photo_part *parts; /* likewise */
	uint32_t *starts;         /* of each run: the place it was decoded from */
	uint32_t *ends[2];        /* likewise: where it ended, before and after a pass */
	uint8_t *zeros;           /* of each photograph: it has some in a row */
	uint8_t *answers;         /* likewise: all of it is valid */
};

struct coded_batch {
	struct photo_decoder *decoder;
	struct coded_scan *scans;
	bool busy;
	cudaError_t failed;
	cudaStream_t stream;
	cudaEvent_t moved;
	struct photo_plan plan; /* its arrays are pinned */
	struct carve_coded *coded;
	uint8_t *answers;
	uint32_t scan_of[PHOTOS_MAX]; /* of each photograph */
	uint64_t end_of[PHOTOS_MAX];
	struct photo_work work;
};

struct photo_decoder {
	struct coded_batch batches[BATCHES];
	unsigned next;
	bool warned;
};

/* ---- kernels ------------------------------------------------------------------------------- */

static __global__ void __launch_bounds__(PHOTO_SUBS)
	tile_kernel(const uint8_t *text, uint32_t len, uint32_t text_len, struct photo_tile *tiles)
{
	__shared__ uint32_t marker, stuffed;
	uint32_t tile = blockIdx.x * PHOTO_TILE, from = tile + threadIdx.x * MOVE_BYTES;
	uint32_t to = from + MOVE_BYTES, found = PHOTO_NO_MARKER, count = 0;
	to = to < len ? to : len;
	if (threadIdx.x == 0) {
		marker = PHOTO_NO_MARKER;
		stuffed = 0;
	}
	__syncthreads();
	for (uint32_t at = from; at < to && found == PHOTO_NO_MARKER; at++)
		if (text[at] == 0xff && at + 1 < text_len && text[at + 1])
			found = at - tile;
	if (found != PHOTO_NO_MARKER)
		atomicMin(&marker, found);
	__syncthreads();
	for (uint32_t at = from; at < to && at - tile < marker; at++)
		count += at > tile && text[at] == 0 && text[at - 1] == 0xff;
	if (count)
		atomicAdd(&stuffed, count);
	__syncthreads();
	if (threadIdx.x == 0)
		tiles[blockIdx.x] = { (uint16_t)marker, (uint16_t)stuffed };
}

/* The sum of what the threads before this one gave. */
static __device__ uint32_t sum_before(uint32_t number, uint32_t *warps)
{
	uint32_t lane = threadIdx.x & 31, sum = number, before = 0;
	for (int i = 1; i < 32; i *= 2) {
		uint32_t other = __shfl_up_sync(~0u, sum, i);
		sum += lane >= i ? other : 0;
	}
	if (lane == 31)
		warps[threadIdx.x / 32] = sum;
	__syncthreads();
	for (uint32_t i = 0; i < threadIdx.x / 32; i++)
		before += warps[i];
	return before + sum - number;
}

/* Each block moves a piece: within shared memory to its place, and from there on. */
static __global__ void __launch_bounds__(PHOTO_SUBS) move_kernel(struct photo_work work)
{
	__shared__ uint8_t kept[PHOTO_TILE];
	__shared__ uint32_t warps[PHOTO_SUBS / 32], kept_len;
	struct photo_piece piece = work.pieces[blockIdx.x];
	uint32_t from = threadIdx.x * MOVE_BYTES, to = from + MOVE_BYTES, count = 0, at;
	uint8_t before = 0;
	to = to < piece.len ? to : piece.len;
	if (from < to)
		before = from ? piece.from[from - 1] : piece.after_ff ? 0xff : 0;
	for (uint32_t i = from, zeros = 0, last = before; i < to; i++) {
		uint8_t byte = piece.from[i];
		count += byte || last != 0xff;
		zeros = byte ? 0 : zeros + 1;
		if (zeros == ZEROS_MAX)
			work.zeros[piece.photo] = 1;
		last = byte;
	}
	at = sum_before(count, warps);
	for (uint32_t i = from; i < to; i++) {
		uint8_t byte = piece.from[i];
		if (byte || before != 0xff)
			kept[at++] = byte;
		before = byte;
	}
	if (threadIdx.x == PHOTO_SUBS - 1)
		kept_len = at;
	__syncthreads();
	for (uint32_t i = threadIdx.x; i < kept_len; i += PHOTO_SUBS)
		work.moved[piece.to + i] = kept[i];
}

static __device__ void copy_tables(struct coded_table *tables, const struct carve_coded *coded)
{
	const uint32_t *from = (const uint32_t *)coded->tables;
	for (uint32_t i = threadIdx.x; i < sizeof(coded->tables) / 4; i += blockDim.x)
		((uint32_t *)tables)[i] = from[i];
}

static __global__ void __launch_bounds__(PHOTO_SUBS) decode_kernel(struct photo_work work, int pass)
{
	__shared__ struct coded_table tables[CODED_TABLES];
	__shared__ uint32_t ends[PHOTO_SUBS];
	uint32_t number = blockIdx.x, t = threadIdx.x;
	struct photo_run run = work.runs[number];
	struct photo photo = work.photos[run.photo];
	const struct carve_coded *coded = &work.coded[run.photo];
	uint32_t *before = work.ends[(pass + 1) & 1], *after = work.ends[pass & 1];
	uint32_t first = run.first && pass ? before[number - 1] : 0;
	if (pass && (!run.first || first == work.starts[number])) {
		if (t == 0)
			after[number] = before[number];
		return;
	}
	copy_tables(tables, coded);
	uint32_t sub = run.first + t, used = 0, end = 0;
	bool active = sub < photo.subs, decoded = false, redo = active;
	struct photo_part part;
	if (active && pass) {
		end = work.places[photo.first_sub + sub];
		used = t ? work.places[photo.first_sub + sub - 1] : first;
		redo = t == 0;
	}
	ends[t] = end;
	__syncthreads();
	while (__syncthreads_or(redo)) {
		if (redo) {
			end = used;
			photo_decode_sub(&photo, coded, tables, work.moved, sub, &end, &part);
			ends[t] = end;
			decoded = true;
		}
		__syncthreads();
		redo = active && t && ends[t - 1] != used;
		used = redo ? ends[t - 1] : used;
	}
	if (decoded) {
		work.places[photo.first_sub + sub] = end;
		work.parts[photo.first_sub + sub] = part;
	}
	if (t == 0) {
		uint32_t left = photo.subs - run.first;
		after[number] = ends[(left < PHOTO_SUBS ? left : PHOTO_SUBS) - 1];
		work.starts[number] = first;
	}
}

/* From the stretches of all threads on: the one with the last block, and in it the subsequence. */
static __device__ bool judge(const struct photo_work *work, const struct photo *photo,
	const struct carve_coded *coded, const struct photo_part *stretches, uint32_t each)
{
	const struct photo_part *parts = work->parts + photo->first_sub;
	struct photo_part before = {};
	uint32_t sub = 0;
	for (int i = 0; i < JUDGE_THREADS && before.blocks + stretches[i].blocks < photo->blocks;
		i++, sub += each)
		photo_add(&before, &stretches[i]);
	while (sub < photo->subs && before.blocks + parts[sub].blocks < photo->blocks)
		photo_add(&before, &parts[sub++]);
	return sub < photo->subs &&
	       photo_ends(photo, coded, work->moved, sub,
		       sub ? work->places[photo->first_sub + sub - 1] : 0, &before);
}

static __global__ void __launch_bounds__(JUDGE_THREADS) judge_kernel(struct photo_work work)
{
	__shared__ struct photo_part stretches[JUDGE_THREADS];
	struct photo photo = work.photos[blockIdx.x];
	const uint32_t *ends = work.ends[(PASSES - 1) & 1];
	uint32_t each = (photo.subs + JUDGE_THREADS - 1) / JUDGE_THREADS;
	uint32_t from = threadIdx.x * each, to = from + each;
	struct photo_part part = {};
	bool open = false;
	to = to < photo.subs ? to : photo.subs;
	for (uint32_t i = from; i < to; i++)
		photo_add(&part, &work.parts[photo.first_sub + i]);
	stretches[threadIdx.x] = part;
	for (uint32_t i = 1 + threadIdx.x; i < photo.runs; i += JUDGE_THREADS)
		open |= work.starts[photo.first_run + i] != ends[photo.first_run + i - 1];
	if (__syncthreads_or(open) || threadIdx.x)
		return;
	work.answers[blockIdx.x] = !work.zeros[blockIdx.x] &&
				   judge(&work, &photo, &work.coded[blockIdx.x], stretches, each);
}

/* ---- memory -------------------------------------------------------------------------------- */

template <typename T> static cudaError_t take(T **memory, size_t count)
{
	return cudaMalloc((void **)memory, count * sizeof(T));
}

template <typename T> static cudaError_t take_pinned(T **memory, size_t count)
{
	return cudaHostAlloc((void **)memory, count * sizeof(T), cudaHostAllocDefault);
}

static void close_batch(struct coded_batch *batch)
{
	struct photo_work *work = &batch->work;
	if (batch->stream)
		cudaStreamDestroy(batch->stream);
	if (batch->moved)
		cudaEventDestroy(batch->moved);
	void *pinned[] = { batch->plan.photos, batch->plan.runs, batch->plan.pieces, batch->coded,
		batch->answers };
	for (void *memory : pinned)
		cudaFreeHost(memory);
	const void *device[] = { work->photos, work->runs, work->pieces, work->coded, work->moved,
		work->places, work->parts, work->starts, work->ends[0], work->ends[1], work->zeros,
		work->answers };
	for (const void *memory : device)
		cudaFree((void *)memory);
}

static cudaError_t open_batch(struct coded_batch *batch, uint32_t moved_max)
{
	struct photo_plan *plan = &batch->plan;
	struct photo_work *work = &batch->work;
	uint32_t subs = moved_max * 8 / PHOTO_SUB_BITS + PHOTOS_MAX;
	plan->moved_max = moved_max;
	plan->len_min = LEN_MIN;
	plan->photos_max = PHOTOS_MAX;
	plan->runs_max = subs / PHOTO_SUBS + PHOTOS_MAX;
	plan->pieces_max = moved_max / PHOTO_TILE * 2 + 2 * PHOTOS_MAX;
	cudaError_t failed[] = {
		cudaStreamCreateWithFlags(&batch->stream, cudaStreamNonBlocking),
		cudaEventCreateWithFlags(&batch->moved, cudaEventDisableTiming),
		take_pinned(&plan->photos, PHOTOS_MAX),
		take_pinned(&plan->runs, plan->runs_max),
		take_pinned(&plan->pieces, plan->pieces_max),
		take_pinned(&batch->coded, PHOTOS_MAX),
		take_pinned(&batch->answers, PHOTOS_MAX),
		take((struct photo **)&work->photos, PHOTOS_MAX),
		take((struct photo_run **)&work->runs, plan->runs_max),
		take((struct photo_piece **)&work->pieces, plan->pieces_max),
		take((struct carve_coded **)&work->coded, PHOTOS_MAX),
		take(&work->moved, moved_max),
		take(&work->places, subs),
		take(&work->parts, subs),
		take(&work->starts, plan->runs_max),
		take(&work->ends[0], plan->runs_max),
		take(&work->ends[1], plan->runs_max),
		take(&work->zeros, PHOTOS_MAX),
		take(&work->answers, PHOTOS_MAX),
	};
	for (cudaError_t one : failed)
		if (one)
			return one;
	return cudaSuccess;
}

void photo_decoder_close(struct photo_decoder *decoder)
{
	if (!decoder)
		return;
	for (struct coded_batch &batch : decoder->batches)
		close_batch(&batch);
	free(decoder);
}

cudaError_t photo_decoder_open(struct photo_decoder **result, size_t text_capacity)
{
	struct photo_decoder *decoder = (struct photo_decoder *)xcalloc(1, sizeof(*decoder));
	static_assert(MOVED_MAX <= UINT32_MAX / 8, "bits are counted in 32 bits");
	uint32_t moved_max =
		text_capacity < MOVED_MAX / 2 - PHOTO_TILE
			? (uint32_t)(2 * text_capacity + PHOTO_TILE) & ~(PHOTO_TILE - 1)
			: MOVED_MAX;
	for (struct coded_batch &batch : decoder->batches) {
		cudaError_t failed = open_batch(&batch, moved_max);
		batch.decoder = decoder;
		if (!failed)
			continue;
		photo_decoder_close(decoder);
		return failed;
	}
	*result = decoder;
	return cudaSuccess;
}

/* ---- batches ------------------------------------------------------------------------------- */

cudaError_t photo_tiles_launch(const uint8_t *text, uint32_t len, uint32_t text_len,
	struct photo_tile *tiles, cudaStream_t stream)
{
	uint32_t count = (len + PHOTO_TILE - 1) / PHOTO_TILE;
	if (count)
		tile_kernel<<<count, PHOTO_SUBS, 0, stream>>>(text, len, text_len, tiles);
	return cudaGetLastError();
}

template <typename T>
static void send(struct coded_batch *batch, const T *to, const T *from, size_t count)
{
	if (!batch->failed)
		batch->failed = cudaMemcpyAsync(
			(void *)to, from, count * sizeof(T), cudaMemcpyHostToDevice, batch->stream);
}

static void start_batch(struct coded_batch *batch)
{
	const struct photo_plan *plan = &batch->plan;
	struct photo_work *work = &batch->work;
	cudaStream_t stream = batch->stream;
	send(batch, work->photos, plan->photos, plan->photo_count);
	send(batch, work->runs, plan->runs, plan->run_count);
	send(batch, work->pieces, plan->pieces, plan->piece_count);
	send(batch, work->coded, batch->coded, plan->photo_count);
	if (!batch->failed)
		batch->failed = cudaMemsetAsync(work->zeros, 0, plan->photo_count, stream);
	if (!batch->failed)
		batch->failed = cudaMemsetAsync(work->answers, 0, plan->photo_count, stream);
	if (batch->failed)
		return;
	move_kernel<<<plan->piece_count, PHOTO_SUBS, 0, stream>>>(*work);
	batch->failed = cudaEventRecord(batch->moved, stream);
	for (int pass = 0; pass < PASSES; pass++)
		decode_kernel<<<plan->run_count, PHOTO_SUBS, 0, stream>>>(*work, pass);
	judge_kernel<<<plan->photo_count, JUDGE_THREADS, 0, stream>>>(*work);
	if (!batch->failed)
		batch->failed = cudaGetLastError();
	if (!batch->failed)
		batch->failed = cudaMemcpyAsync(batch->answers, work->answers, plan->photo_count,
			cudaMemcpyDeviceToHost, stream);
}

static void add_scan(struct coded_batch *batch, const struct photo_text *texts, unsigned text_count,
	uint32_t number)
{
	struct coded_scan *scan = &batch->scans[number];
	uint32_t photo = batch->plan.photo_count;
	uint64_t end;
	enum photo_fit fit =
		photo_plan_add(&batch->plan, texts, text_count, scan->data, scan->coded, &end);
	scan->cut = fit == PHOTO_CUT;
	if (fit != PHOTO_ADDED)
		return;
	batch->scan_of[photo] = number;
	batch->end_of[photo] = end;
	memcpy(&batch->coded[photo], scan->coded, sizeof(*scan->coded));
}

struct coded_batch *photo_begin(struct photo_decoder *decoder, const struct photo_text *texts,
	unsigned text_count, struct coded_scan *scans, size_t count)
{
	struct coded_batch *batch = &decoder->batches[decoder->next % BATCHES];
	if (batch->busy || !text_count)
		return NULL;
	struct photo_plan *plan = &batch->plan;
	batch->scans = scans;
	batch->failed = cudaSuccess;
	plan->photo_count = plan->run_count = plan->piece_count = 0;
	plan->sub_count = plan->moved_len = 0;
	for (uint32_t i = 0; i < count; i++)
		add_scan(batch, texts, text_count, i);
	if (!plan->photo_count)
		return NULL;
	start_batch(batch);
	batch->busy = true;
	decoder->next++;
	return batch;
}

void photo_end(struct coded_batch *batch)
{
	struct photo_decoder *decoder = batch->decoder;
	/* After a failure too: copies that were begun read the plan, which the next batch changes. */
	cudaError_t ended = cudaStreamSynchronize(batch->stream);
	if (!batch->failed)
		batch->failed = ended;
	batch->busy = false;
	for (uint32_t i = 0; i < batch->plan.photo_count && !batch->failed; i++)
		if (batch->answers[i])
			batch->scans[batch->scan_of[i]].end = batch->end_of[i];
	if (!batch->failed || decoder->warned)
		return;
	decoder->warned = true;
	log_warn("photographs are decoded without the GPU: %s", cudaGetErrorString(batch->failed));
	(void)cudaGetLastError();
}

cudaError_t photo_hold_back(struct photo_decoder *decoder, cudaStream_t stream)
{
	cudaError_t failed = cudaSuccess;
	for (struct coded_batch &batch : decoder->batches)
		if (batch.busy && !batch.failed && !failed)
			failed = cudaStreamWaitEvent(stream, batch.moved, 0);
	return failed;
}
