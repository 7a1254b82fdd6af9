/*
 * PFAC, after Cheng-Hung Lin, Chen-Hsiung Liu, Lung-Sheng Chien and Shih-Chieh Chang, "Accelerating
 * Pattern Matching Using a Novel Parallel Algorithm on GPU". The plain form is pfac_search in
 * pfac.h, their Figure 7: the failure transitions of the Aho-Corasick machine are left out, and
 * with them the initial state's loop to itself. Each byte of the text has a thread, which searches for
 * patterns that start there, and ends when it finds no transition, mostly at once. So nothing is
 * found twice, segments have no boundaries, and a final state belongs to one pattern.
 *
 * The stages, each on top of the one before, with the paper's sections:
 *
 * pfac0  Figure 7 as printed: a thread a byte, and text, PFAC_table and output_table in global
 *        memory; output_table is read after every transition. In the paper's form a match is
 *        written where it is found, over the shorter one; so the array is cleared first.
 * pfac1  4.1: a block of 256 threads has 1,024 bytes for its own. They are moved to shared memory
 *        with the 512 after them, 384 integers side by side, and each thread searches the
 *        substrings at tid, tid + 256, tid + 512 and tid + 768. Patterns longer than the 512 bytes
 *        continue in global memory; the paper has none.
 * pfac2  4.2: the initial state's row in shared memory as well, where every thread begins.
 * pfac3  4.2: PFAC_table through texture.
 * pfac4  4.2 and 4.3: where states and matches have room in 16 bits each, an entry holds the next
 *        state and its match, and output_table is not needed any more. Where they have not (more
 *        than 65,535 states, or the tuning asks for it), entries stay as they were, and
 *        output_table, in texture too, is read for final states alone: these have the lowest
 *        numbers.
 * pfac5  4.5: the matches of a thread's four substrings stay in registers and are written at the
 *        end, none left out, side by side by the threads of a warp: nothing has to be cleared. With
 *        compacted hits: those of a warp are staged in shared memory and written together.
 *
 * What is different from the paper:
 *  - Its match array keeps the longest pattern that starts at a byte. That is the form here; hits,
 *    which are what the carver uses, are reported at each final state on the way, so that of AB and
 *    ABG both are.
 *  - Figure 7 reads output_table for state -1 too; here a thread ends before.
 *  - tex2D is tex1Dfetch on the same table: a texture of two dimensions is limited to rows of 256 and
 *    65,000 rows; one over linear memory to 2^27 entries, 2^19 states. There are never more: larger
 *    sets are searched by windows of their patterns, which are confirmed.
 *  - A grid may have 2^31 - 1 blocks in a row today, so that blockIdx.y is not needed. A thread
 *    searches its substrings one after the other, as in Figure 10.
 *  - 4.4 (no bank conflicts where four threads read bytes of one word) is how every GPU since Fermi
 *    is; 4.6 (page-locked memory) is the engine's.
 */
#include "gpu/automaton.cuh"
#include "gpu/kernel.h"
#include "gpu/papers/pfac.h"
#include "gpu/kernel.h"

#define THREADS 256u       /* section 4.1 and 6.1: a block */
#define SUBSTRINGS 4u      /* Figure 10: of a thread, from pfac1 on */
#define OVERLAP_WORDS 128u /* Figure 9: after the block's own 256 */

/* The tables on a device. */
struct pfac_loaded {
	struct pfac_tables tables;
	cudaTextureObject_t entries, outputs;
};

/* What a stage does. */
template <int STAGE> struct stage {
	static constexpr bool near_text = STAGE >= 1, first_row = STAGE >= 2, textured = STAGE >= 3,
			      reordered = STAGE >= 4, coalesced = STAGE >= 5;
	static constexpr uint32_t substrings = near_text ? SUBSTRINGS : 1;
	static constexpr uint32_t block_len = THREADS * substrings; /* bytes of text */
	static constexpr uint32_t words = near_text ? THREADS + OVERLAP_WORDS : 1;
};

/* Figure 9. The block's bytes begin at a multiple of 16, and what is read past the text lies
 * within GPU_TEXT_PAD. */
static __device__ __forceinline__ void fetch_text(uint32_t *near, const uint8_t *bytes)
{
	const uint32_t *words = (const uint32_t *)bytes;
	near[threadIdx.x] = words[threadIdx.x];
	if (threadIdx.x < OVERLAP_WORDS)
		near[threadIdx.x + THREADS] = words[threadIdx.x + THREADS];
}

/* FORM: fills the array, a match for each byte from begin to end; otherwise adds to the hits. */
template <int STAGE, bool MERGED, bool FORM>
static __global__ void __launch_bounds__(THREADS)
	pfac_kernel(const __grid_constant__ struct pfac_loaded loaded,
		const __grid_constant__ struct gpu_text text,
		const __grid_constant__ struct gpu_hits called_hits, uint32_t *array,
		uint32_t begin, uint32_t end)
{
	using stage = stage<STAGE>;
	constexpr bool staged = stage::coalesced && !FORM;
	const struct pfac_tables *tables = &loaded.tables;
	__shared__ uint32_t near[stage::words], first[stage::first_row ? 256 : 1];
	__shared__ struct gpu_stage stages[staged ? THREADS / 32 : 1];
	uint32_t lane = threadIdx.x & 31;
	struct gpu_hits hits = called_hits;
	if (staged)
		hits = hits_with_stage(&called_hits, stages + threadIdx.x / 32, lane);

	uint64_t own = begin + (uint64_t)blockIdx.x * stage::block_len;
	struct pfac_view view = { stage::near_text ? (const uint8_t *)near : NULL, (uint32_t)own,
		stage::words * 4, stage::first_row ? first : NULL, MERGED, stage::reordered,
		stage::textured, loaded.entries, loaded.outputs };
	if (stage::near_text)
		fetch_text(near, text.bytes + own);
	if (stage::first_row)
		first[threadIdx.x] = pfac_entry(tables, &view, tables->initial, threadIdx.x);
	if (stage::near_text)
		__syncthreads();

	uint32_t matches[stage::substrings] = { 0 };
#pragma unroll
	for (uint32_t j = 0; j < stage::substrings; j++) {
		uint64_t start = own + j * THREADS + threadIdx.x;
		if (start < end)
			pfac_search(tables, &view, (uint32_t)start, &text, FORM ? NULL : &hits,
				!FORM              ? NULL
				: stage::coalesced ? &matches[j]
						   : &array[start - begin]);
		if (staged)
			hits_flush(&hits, GPU_STAGE_LEN / 2, lane);
	}
	if (staged)
		hits_flush(&hits, 1, lane);
#pragma unroll
	for (uint32_t j = 0; FORM && stage::coalesced && j < stage::substrings; j++) {
		uint64_t start = own + j * THREADS + threadIdx.x;
		if (start < end)
			array[start - begin] = matches[j];
	}
}

static __global__ void __launch_bounds__(THREADS) expand_kernel(
	const __grid_constant__ struct pfac_tables tables,
	const __grid_constant__ struct gpu_text text, const __grid_constant__ struct gpu_hits hits,
	const uint32_t *array, uint32_t begin, uint32_t end)
{
	uint64_t start = begin + (uint64_t)blockIdx.x * THREADS + threadIdx.x;
	if (start < end && array[start - begin])
		found_report(&tables.found, tables.found.keywords[array[start - begin] - 1], start,
			&text, &hits);
}

/* ---- the tables ---- */

static void unload(void *tables)
{
	struct pfac_loaded *loaded = (struct pfac_loaded *)tables;
	if (!loaded)
		return;
	if (loaded->entries)
		cudaDestroyTextureObject(loaded->entries);
	if (loaded->outputs)
		cudaDestroyTextureObject(loaded->outputs);
	cudaFree((void *)loaded->tables.entries);
	cudaFree((void *)loaded->tables.outputs);
	found_unload(&loaded->tables.found);
	free(loaded);
}

static cudaError_t make_texture(cudaTextureObject_t *texture, const uint32_t *array, size_t count)
{
	struct cudaResourceDesc resource = {};
	struct cudaTextureDesc how = {};
	resource.resType = cudaResourceTypeLinear;
	resource.res.linear.devPtr = (void *)array;
	resource.res.linear.desc = cudaCreateChannelDesc<unsigned>();
	resource.res.linear.sizeInBytes = count * sizeof(*array);
	how.readMode = cudaReadModeElementType;
	return cudaCreateTextureObject(texture, &resource, &how, NULL);
}

static cudaError_t load_arrays(struct pfac_loaded *loaded, const struct pfac_tables *host)
{
	size_t entries = (size_t)host->state_count * 256;
	cudaError_t error = device_copy(
		&loaded->tables.entries, host->entries, entries * sizeof(*host->entries));
	if (!error)
		error = device_copy(&loaded->tables.outputs, host->outputs,
			host->state_count * sizeof(*host->outputs));
	if (!error)
		error = make_texture(&loaded->entries, loaded->tables.entries, entries);
	if (!error)
		error = make_texture(&loaded->outputs, loaded->tables.outputs, host->state_count);
	return error;
}

static cudaError_t load(void **result, const struct gpu_program *program)
{
	const struct pfac_tables *host = pfac_tables(program);
	struct pfac_loaded *loaded = (struct pfac_loaded *)calloc(1, sizeof(*loaded));
	*result = NULL;
	if (!loaded)
		return cudaErrorMemoryAllocation;
	loaded->tables.state_count = host->state_count;
	loaded->tables.initial = host->initial;
	loaded->tables.merged = host->merged;
	cudaError_t error = found_load(&loaded->tables.found, &host->found);
	if (!error)
		error = load_arrays(loaded, host);
	if (error)
		unload(loaded);
	else
		*result = loaded;
	return error;
}

/* ---- the rows ---- */

/* The bytes that threads are for. */
static uint32_t text_begin(const struct gpu_text *text)
{
	return text->from & ~15u;
}

static uint32_t text_end(const struct pfac_loaded *loaded, const struct gpu_text *text)
{
	return text->from < text->to ? found_end(&loaded->tables.found, text) : text_begin(text);
}

template <int STAGE, bool FORM>
static cudaError_t start(const struct pfac_loaded *loaded, const struct gpu_text *text,
	const struct gpu_hits *hits, uint32_t *array, cudaStream_t stream)
{
	uint32_t begin = text_begin(text), end = text_end(loaded, text);
	if (begin == end)
		return cudaSuccess;
	uint32_t block_len = stage<STAGE>::block_len;
	uint32_t blocks = ((uint64_t)end - begin + block_len - 1) / block_len;
	/* Only a stage that knows merged entries is compiled for them. */
	constexpr bool may_merge = stage<STAGE>::reordered;
	auto kernel = may_merge && loaded->tables.merged ? pfac_kernel<STAGE, may_merge, FORM>
							 : pfac_kernel<STAGE, false, FORM>;
	kernel<<<blocks, THREADS, 0, stream>>>(*loaded, *text, *hits, array, begin, end);
	return cudaGetLastError();
}

template <int STAGE>
static cudaError_t launch(const void *tables, const struct gpu_text *text,
	const struct gpu_hits *hits, cudaStream_t stream)
{
	return start<STAGE, false>((const struct pfac_loaded *)tables, text, hits, NULL, stream);
}

static bool form_takes(const struct gpu_program *program)
{
	return found_all_whole(&pfac_tables(program)->found);
}

static size_t form_len(const void *tables, const struct gpu_text *text)
{
	uint32_t end = text_end((const struct pfac_loaded *)tables, text);
	return (size_t)(end - text_begin(text)) * sizeof(uint32_t);
}

template <int STAGE>
static cudaError_t form_launch(
	const void *tables, const struct gpu_text *text, void *array, cudaStream_t stream)
{
	struct gpu_hits none = { NULL, NULL, 0, NULL };
	cudaError_t error = cudaSuccess;
	if (!stage<STAGE>::coalesced)
		error = cudaMemsetAsync(array, 0, form_len(tables, text), stream);
	if (error)
		return error;
	return start<STAGE, true>(
		(const struct pfac_loaded *)tables, text, &none, (uint32_t *)array, stream);
}

static cudaError_t form_expand(const void *tables, const struct gpu_text *text, const void *array,
	const struct gpu_hits *hits, cudaStream_t stream)
{
	const struct pfac_loaded *loaded = (const struct pfac_loaded *)tables;
	uint32_t begin = text_begin(text), end = text_end(loaded, text);
	if (begin == end)
		return cudaSuccess;
	uint32_t blocks = ((uint64_t)end - begin + THREADS - 1) / THREADS;
	expand_kernel<<<blocks, THREADS, 0, stream>>>(
		loaded->tables, *text, *hits, (const uint32_t *)array, begin, end);
	return cudaGetLastError();
}

template <int STAGE>
static const struct gpu_form form = { "the longest match at each byte", GPU_FORM_LONGEST,
	form_takes, form_len, form_launch<STAGE>, form_expand };

const struct gpu_kernel gpu_pfac0 = { "pfac0", pfac_compile, pfac_free, NULL, pfac_describe, load,
	unload, launch<0>, &form<0> };
const struct gpu_kernel gpu_pfac1 = { "pfac1", pfac_compile, pfac_free, NULL, pfac_describe, load,
	unload, launch<1>, &form<1> };
const struct gpu_kernel gpu_pfac2 = { "pfac2", pfac_compile, pfac_free, NULL, pfac_describe, load,
	unload, launch<2>, &form<2> };
const struct gpu_kernel gpu_pfac3 = { "pfac3", pfac_compile, pfac_free, NULL, pfac_describe, load,
	unload, launch<3>, &form<3> };
const struct gpu_kernel gpu_pfac4 = { "pfac4", pfac_compile_merged, pfac_free, NULL, pfac_describe,
	load, unload, launch<4>, &form<4> };
const struct gpu_kernel gpu_pfac5 = { "pfac5", pfac_compile_merged, pfac_free, NULL, pfac_describe,
	load, unload, launch<5>, &form<5> };
