/*
 * The kernels of Tran, Lee and Choi, "Cache Locality-Centric Parallel String Matching on Many-Core
 * Accelerator Chips" (2015).
 *
 * The plain form is their Pseudocode 1, an Aho-Corasick automaton as a table: a lookup for the next
 * state and one in the column M, which says whether a pattern ends here (stt_search in stt.h). With
 * tens of thousands of patterns the table is larger than any cache, and each lookup goes to memory.
 * Their idea: deal the patterns to several small tables (Algorithms 1 and 2, stt_deal.c) and search
 * the whole text once for each, all searches at the same time, each on a CUDA stream of its own.
 * The text is then read several times, but in order, which costs less than lookups all over the
 * memory. A table has 257 columns of 4 bytes and is a texture of two dimensions, as in
 * Pseudocode 2.
 *
 *  - stt-p1 (their P-1) leaves the text in global memory: a thread reads its chunk byte by byte
 *    through the caches.
 *  - stt-p2 (P-2) copies a data block to shared memory first: the threads of a block fetch words
 *    side by side, and each then reads its own chunk there. Chunks are a power of two long, so the
 *    32 threads of a warp, each at the same byte of its chunk, would use the same few banks; the
 *    diagonal scheme rotates each chunk's words, so that they use all 32 (stt_place). Without it
 *    (no_diagonal) words stay in order.
 *
 * Every thread reads X - 1 bytes beyond its own, X being the longest pattern's length. So patterns
 * are cut to keywords of 64 bytes; where a cut one is found, the whole pattern is compared.
 *
 * One thread has for its own the keywords that begin in its chunk: output is given for those alone.
 * As published, a number is written instead where a pattern ends, into the one array over the text
 * that all streams share (d_output of Pseudocode 2). The paper does not say what happens where two
 * threads write for the same place, as they do wherever chunks overlap, or two tables; here the number of
 * the longest keyword is kept (stt_output), so that nothing is lost.
 *
 * What differs from the paper:
 *  - A texture has 65,536 rows at most. States beyond that are to the right of the first ones.
 *  - Today a warp uses 32 banks at once, as on their K20; a data block has 8 KiB as there, and
 *    256 threads, or 512 with many patterns, so that a chunk has 32 or 16 bytes (tuning->threads and
 *    block_len change that). The bytes that threads read past the data block are in shared memory as
 *    well.
 *  - How long a chunk is in P-1 they don't say. It is 256 bytes here (tuning->chunk_len).
 *  - Their array must be zero beforehand; that is part of the launch here.
 */
#include "gpu/automaton.cuh"
#include "gpu/kernel.h"
#include "gpu/papers/stt.h"
#include "gpu/kernel.h"

#define P1_THREADS 128 /* their Figure 20: the best, whatever the number of patterns */

/* Their section 5.2.2: 8 KiB are the best data block, with 256 threads for 100 and 5,000 patterns
 * and 512 for 50,000 (Figure 21). Where between these the change is, they don't say; here it is where
 * their threshold changes. */
#define P2_FEW_THREADS 256

/* The tables on a device. */
struct stt_loaded_part {
	struct stt_part part;
	cudaArray_t array;
	cudaStream_t stream;
	cudaEvent_t searched;
};

struct stt_loaded {
	struct stt_loaded_part parts[GPU_PARTS_MAX];
	struct stt_tables host;   /* its numbers; nothing that it points to */
	uint32_t part_count;      /* loaded so far */
	struct automaton matches; /* of host, on the device */
	cudaEvent_t ready;        /* the text has arrived, and nothing writes to the output */
};

/* What a launch is about, but for the part. */
struct stt_job {
	struct gpu_text text;
	struct gpu_hits hits;
	uint32_t begin, end; /* of the bytes that threads have for their own */
	uint32_t longest;
	uint32_t chunk_len; /* bytes of a thread; stt-p2: 4 << shift */
	uint32_t shift;
	bool diagonal;
};

/* ---- the kernels ---- */

/* A block's shared memory, as much as the launch asked for: the stages of its warps, if hits are
 * wanted, and then the data block of stt-p2. */
extern __shared__ uint64_t block_memory[];

static __host__ __device__ __forceinline__ uint32_t stages_len(bool form, uint32_t threads)
{
	return form ? 0 : threads / 32 * (uint32_t)sizeof(struct gpu_stage);
}

/* One thread's search. matches: the array, or NULL for hits. */
template <bool FORM>
static __device__ __forceinline__ void search(const struct stt_part *part,
	const struct stt_job *job, const struct stt_view *view, uint64_t own, uint32_t *matches)
{
	struct gpu_stage *stages = (struct gpu_stage *)block_memory;
	uint32_t lane = threadIdx.x % 32;
	struct gpu_hits hits = job->hits;
	if (!FORM)
		hits = hits_with_stage(&job->hits, stages + threadIdx.x / 32, lane);
	struct stt_out out = { &hits, FORM ? matches : NULL };
	uint64_t end = own + job->chunk_len;
	if (own < job->end)
		stt_search(part, job->longest, view, (uint32_t)own,
			end < job->end ? (uint32_t)end : job->end, &job->text, &out);
	if (!FORM)
		hits_flush(&hits, 1, lane);
}

template <bool FORM>
static __global__ void __launch_bounds__(STT_THREADS_MAX)
	p1_kernel(const __grid_constant__ struct stt_part part,
		const __grid_constant__ struct stt_job job, uint32_t *matches)
{
	struct stt_view view = { job.text.bytes, 0, false, false, 0 };
	uint64_t thread = (uint64_t)blockIdx.x * blockDim.x + threadIdx.x;
	search<FORM>(&part, &job, &view, job.begin + thread * job.chunk_len, matches);
}

template <bool FORM>
static __global__ void __launch_bounds__(STT_THREADS_MAX)
	p2_kernel(const __grid_constant__ struct stt_part part,
		const __grid_constant__ struct stt_job job, uint32_t *matches)
{
	uint32_t *block = (uint32_t *)((uint8_t *)block_memory + stages_len(FORM, blockDim.x));
	uint64_t first = job.begin + (uint64_t)blockIdx.x * blockDim.x * job.chunk_len;
	uint32_t wanted = (blockDim.x << job.shift) + (job.longest - 1 + 3) / 4;
	for (uint32_t i = threadIdx.x; i < wanted; i += blockDim.x)
		if (first + 4 * i < job.text.len)
			block[stt_place(i, job.shift, job.diagonal)] =
				__ldg((const uint32_t *)(job.text.bytes + first) + i);
	__syncthreads();
	struct stt_view view = { (const uint8_t *)block, (uint32_t)first, true, job.diagonal,
		job.shift };
	search<FORM>(&part, &job, &view, first + threadIdx.x * job.chunk_len, matches);
}

/* A thread a byte: the hits of the number that was written for it. */
static __global__ void __launch_bounds__(256)
	expand_kernel(const __grid_constant__ struct automaton numbered,
		const __grid_constant__ struct stt_job job, const uint32_t *matches)
{
	uint64_t at = (uint64_t)blockIdx.x * blockDim.x + threadIdx.x;
	if (at < job.text.len && matches[at])
		automaton_report(
			&numbered, matches[at], (uint32_t)at + 1, job.end, &job.text, &job.hits);
}

/* ---- loading ---- */

static void unload(void *tables)
{
	struct stt_loaded *loaded = (struct stt_loaded *)tables;
	if (!loaded)
		return;
	for (uint32_t i = 0; i < loaded->part_count; i++) {
		struct stt_loaded_part *own = &loaded->parts[i];
		if (own->part.texture)
			cudaDestroyTextureObject(own->part.texture);
		if (own->array)
			cudaFreeArray(own->array);
		if (own->stream)
			cudaStreamDestroy(own->stream);
		if (own->searched)
			cudaEventDestroy(own->searched);
		automaton_unload(&own->part.automaton);
	}
	automaton_unload(&loaded->matches);
	if (loaded->ready)
		cudaEventDestroy(loaded->ready);
	free(loaded);
}

/* Copies a table into an array of two dimensions; see STT_TEXTURE_ROWS. */
static cudaError_t load_array(cudaArray_t *array, const struct stt_part *host)
{
	struct cudaChannelFormatDesc format = cudaCreateChannelDesc<unsigned int>();
	size_t rows = host->automaton.state_count, row_len = STT_COLUMNS * sizeof(*host->rows);
	size_t columns = (rows + STT_TEXTURE_ROWS - 1) / STT_TEXTURE_ROWS * STT_COLUMNS;
	size_t height = rows < STT_TEXTURE_ROWS ? rows : STT_TEXTURE_ROWS;
	cudaError_t error = cudaMallocArray(array, &format, columns, height);
	for (size_t at = 0; at < rows && !error; at += STT_TEXTURE_ROWS)
		error = cudaMemcpy2DToArray(*array, at / STT_TEXTURE_ROWS * row_len, 0,
			host->rows + at * STT_COLUMNS, row_len, row_len,
			rows - at < STT_TEXTURE_ROWS ? rows - at : STT_TEXTURE_ROWS,
			cudaMemcpyHostToDevice);
	return error;
}

static cudaError_t make_texture(unsigned long long *texture, cudaArray_t array)
{
	struct cudaResourceDesc resource = {};
	struct cudaTextureDesc description = {};
	resource.resType = cudaResourceTypeArray;
	resource.res.array.array = array;
	description.addressMode[0] = description.addressMode[1] = cudaAddressModeClamp;
	description.filterMode = cudaFilterModePoint;
	description.readMode = cudaReadModeElementType;
	return cudaCreateTextureObject(texture, &resource, &description, NULL);
}

static cudaError_t load_part(struct stt_loaded_part *own, const struct stt_part *host)
{
	cudaError_t error = automaton_load(&own->part.automaton, &host->automaton);
	if (error) {
		memset(own, 0, sizeof(*own)); /* its pointers are stale */
		return error;
	}
	error = load_array(&own->array, host);
	if (!error)
		error = make_texture(&own->part.texture, own->array);
	if (!error)
		error = cudaStreamCreateWithFlags(&own->stream, cudaStreamNonBlocking);
	if (!error)
		error = cudaEventCreateWithFlags(&own->searched, cudaEventDisableTiming);
	return error;
}

static cudaError_t load(void **tables, const struct gpu_program *program)
{
	const struct stt_tables *host = stt_tables(program);
	struct stt_loaded *loaded = (struct stt_loaded *)calloc(1, sizeof(*loaded));
	*tables = NULL;
	if (!loaded)
		return cudaErrorMemoryAllocation;
	loaded->host = *host;
	cudaError_t error = automaton_load(&loaded->matches, &host->matches);
	if (error)
		memset(&loaded->matches, 0, sizeof(loaded->matches)); /* its pointers are stale */
	else
		error = cudaEventCreateWithFlags(&loaded->ready, cudaEventDisableTiming);
	for (uint32_t i = 0; i < host->part_count && !error; i++) {
		loaded->part_count++;
		error = load_part(&loaded->parts[i], &host->parts[i]);
	}
	if (error)
		unload(loaded);
	else
		*tables = loaded;
	return error;
}

/* ---- launching ---- */

using kernel_function = void (*)(struct stt_part, struct stt_job, uint32_t *);

struct grid {
	kernel_function function;
	uint32_t threads;
	uint32_t chunk_len;  /* bytes of the text that a thread has for its own */
	uint32_t shared_len; /* bytes of a block's shared memory */
};

template <bool FORM> static struct grid p1_grid(const struct stt_tables *host)
{
	uint32_t threads = host->threads ? host->threads : P1_THREADS;
	return { p1_kernel<FORM>, threads, host->chunk_len, stages_len(FORM, threads) };
}

/* Of the chunks beyond the block, all that X - 1 bytes reach into have room. */
template <bool FORM> static struct grid p2_grid(const struct stt_tables *host)
{
	bool many = host->keyword_count > STT_MANY_KEYWORDS;
	uint32_t usual = many ? STT_MANY_THREADS : P2_FEW_THREADS;
	uint32_t threads = host->threads ? host->threads : usual;
	uint32_t chunk = host->block_len / threads;
	uint32_t beyond = (host->longest - 1 + chunk - 1) / chunk;
	return { p2_kernel<FORM>, threads, chunk,
		stages_len(FORM, threads) + (threads + beyond) * chunk };
}

static struct stt_job make_job(
	const struct stt_loaded *loaded, const struct gpu_text *text, const struct gpu_hits *hits)
{
	struct stt_job job = { *text };
	if (hits)
		job.hits = *hits;
	job.longest = loaded->host.longest;
	job.diagonal = !loaded->host.no_diagonal;
	job.begin = text->from & ~15u;
	if (loaded->part_count && text->from < text->to) /* all parts have the same end */
		job.end = found_end(&loaded->parts[0].part.automaton.found, text);
	return job;
}

/*
 * Every part on its own stream: each waits for the work on the caller's stream, which then waits
 * for all of them. Streams and events are the tables' own, so that nothing is made here; an event
 * that is waited for is the one that was recorded last, and all launches come from one thread of
 * the host, so launches for several of the caller's streams don't mix.
 */
static cudaError_t launch_parts(const struct stt_loaded *loaded, struct grid grid,
	struct stt_job *job, uint32_t *array, cudaStream_t stream)
{
	if (job->begin >= job->end)
		return cudaSuccess;
	uint64_t block_len = (uint64_t)grid.threads * grid.chunk_len;
	uint32_t blocks = ((uint64_t)job->end - job->begin + block_len - 1) / block_len;
	job->chunk_len = grid.chunk_len;
	while (4u << job->shift < grid.chunk_len)
		job->shift++;
	cudaError_t error = cudaEventRecord(loaded->ready, stream);
	for (uint32_t i = 0; i < loaded->part_count && !error; i++) {
		const struct stt_loaded_part *own = &loaded->parts[i];
		error = cudaStreamWaitEvent(own->stream, loaded->ready, 0);
		if (error)
			break;
		grid.function<<<blocks, grid.threads, grid.shared_len, own->stream>>>(
			own->part, *job, array);
		error = cudaGetLastError();
		if (!error)
			error = cudaEventRecord(own->searched, own->stream);
		if (!error)
			error = cudaStreamWaitEvent(stream, own->searched, 0);
	}
	return error;
}

template <struct grid (*GRID)(const struct stt_tables *)>
static cudaError_t launch(const void *tables, const struct gpu_text *text,
	const struct gpu_hits *hits, cudaStream_t stream)
{
	const struct stt_loaded *loaded = (const struct stt_loaded *)tables;
	struct stt_job job = make_job(loaded, text, hits);
	return launch_parts(loaded, GRID(&loaded->host), &job, NULL, stream);
}

/* ---- the paper's form ---- */

static bool form_takes(const struct gpu_program *program)
{
	return found_all_whole(&stt_tables(program)->matches.found);
}

static size_t form_len(const void *tables, const struct gpu_text *text)
{
	(void)tables;
	return sizeof(uint32_t) * (size_t)text->len;
}

template <struct grid (*GRID)(const struct stt_tables *)>
static cudaError_t form_launch(
	const void *tables, const struct gpu_text *text, void *array, cudaStream_t stream)
{
	const struct stt_loaded *loaded = (const struct stt_loaded *)tables;
	struct stt_job job = make_job(loaded, text, NULL);
	cudaError_t error = cudaMemsetAsync(array, 0, form_len(tables, text), stream);
	if (!error)
		error = launch_parts(loaded, GRID(&loaded->host), &job, (uint32_t *)array, stream);
	return error;
}

static cudaError_t form_expand(const void *tables, const struct gpu_text *text, const void *array,
	const struct gpu_hits *hits, cudaStream_t stream)
{
	const struct stt_loaded *loaded = (const struct stt_loaded *)tables;
	struct stt_job job = make_job(loaded, text, hits);
	uint32_t blocks = ((uint64_t)text->len + 255) / 256;
	if (job.begin >= job.end)
		return cudaSuccess;
	expand_kernel<<<blocks, 256, 0, stream>>>(loaded->matches, job, (const uint32_t *)array);
	return cudaGetLastError();
}

static const struct gpu_form p1_form = { "the longest match that ends at each byte", GPU_FORM_ALL,
	form_takes, form_len, form_launch<p1_grid<true>>, form_expand };

static const struct gpu_form p2_form = { "the longest match that ends at each byte", GPU_FORM_ALL,
	form_takes, form_len, form_launch<p2_grid<true>>, form_expand };

const struct gpu_kernel gpu_stt_p1 = { "stt-p1", stt_compile, stt_free, NULL, stt_describe, load,
	unload, launch<p1_grid<false>>, &p1_form };

const struct gpu_kernel gpu_stt_p2 = { "stt-p2", stt_compile, stt_free, NULL, stt_describe, load,
	unload, launch<p2_grid<false>>, &p2_form };
