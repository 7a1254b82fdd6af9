/*
 * Aho-Corasick on the device. The plain form is ac_search in ac.h: a state, one lookup for every
 * byte, one comparison with the accepting states.
 *
 * ac-plain is that form with one thread for every KiB: each thread reads its own bytes one by one,
 * so that the 32 of a warp touch 32 cache lines at once, and the table is read through the
 * first-level cache. It is for comparison.
 *
 * ac follows the best form of Zha and Sahni (IEEE Transactions on Computers 62(6), 2013), and adds
 * to it:
 *  - The threads of a block fetch a tile of the text together, 16 bytes each and side by side, and
 *    put it into shared memory; each thread then reads its own stretch from there. (Their
 *    deficiency D1.) The next tile is fetched into registers while this one is searched.
 *  - A stretch is an odd number of words long, 15 or 7, so that the threads of a warp, each at the
 *    same place in its stretch, find their words in 32 different banks.
 *  - They let every thread read longest - 1 bytes before its stretch. Here a thread continues
 *    past its stretch instead, as long as its state is deeper than the bytes it has read there: on
 *    most data not at all. So patterns of 4,096 bytes cost nothing.
 *  - They write a state for every byte of the text. Accepting states are rare, and are numbered
 *    after all others, so one comparison finds them; only hits are written.
 *  - The table is in shared memory, with a column for every byte value if it fits so, else with one
 *    for every class of bytes. Of a larger one the rows next to the root are there, where an
 *    automaton mostly is, and the rest comes through the caches.
 */
#include "gpu/ac.h"
#include "gpu/automaton.cuh"
#include "gpu/kernel.h"
#include "gpu/kernel.h"

#define THREADS 1024
#define STATIC_LEN (256 + THREADS / 32 * sizeof(struct gpu_stage)) /* classes and stages */
#define SHARED_MIN (96u << 10) /* with less there is no room for tile and table */
#define PLAIN_STRETCH 1024
#define PLAIN_THREADS 128
#define PLAIN_TABLE_MAX (256u << 20)

/*
 * How a block divides a tile. With the table in shared memory its banks are the limit, and one
 * stretch a thread is enough. With rows in the caches latency is, so a thread walks two stretches
 * side by side.
 */
template <bool ALL_HOT> struct layout {
	static constexpr uint32_t streams = ALL_HOT ? 1 : 2;
	static constexpr uint32_t words = ALL_HOT ? 15 : 7; /* of a stretch: odd */
	static constexpr uint32_t stretch = words * 4;
	static constexpr uint32_t tile = THREADS * streams * stretch;
	static constexpr uint32_t pieces = tile / 16;
	static constexpr uint32_t thread_pieces = (pieces + THREADS - 1) / THREADS;
	static_assert(words % 2 == 1 && tile % 16 == 0, "no bank conflicts, whole pieces");
};

/* The tables on a device. */
struct ac_loaded {
	struct ac_tables tables;
	uint32_t hot; /* rows that a block keeps in shared memory */
	bool direct, wide;
	bool plain;        /* too little shared memory for tiles, or not wanted */
	uint32_t rows_len; /* bytes of them */
};

template <uint32_t PIECES, uint32_t COUNT>
static __device__ __forceinline__ void fetch_tile(
	uint32_t pieces[COUNT][4], const struct gpu_text *text, uint32_t at)
{
#pragma unroll
	for (uint32_t i = 0; i < COUNT; i++) {
		uint32_t piece = threadIdx.x + i * THREADS;
		uint64_t offset = (uint64_t)at + piece * 16;
		if (piece < PIECES && offset < text->len)
			text_load(pieces[i], text->bytes + offset);
	}
}

template <uint32_t PIECES, uint32_t COUNT>
static __device__ __forceinline__ void store_tile(uint4 *tile, const uint32_t pieces[COUNT][4])
{
#pragma unroll
	for (uint32_t i = 0; i < COUNT; i++) {
		uint32_t piece = threadIdx.x + i * THREADS;
		if (piece < PIECES)
			tile[piece] =
				make_uint4(pieces[i][0], pieces[i][1], pieces[i][2], pieces[i][3]);
	}
}

/* Walks the four bytes of a word once more, from the state before them, and reports. Kept out of the
 * hot loop. */
static __device__ __forceinline__ void report_word(const struct ac_tables *tables,
	const struct ac_view *view, uint32_t state, uint32_t word, uint32_t at, uint32_t own_end,
	const struct gpu_text *text, const struct gpu_hits *hits)
{
#pragma unroll 1
	for (uint32_t j = 0; j < 4; j++) {
		state = ac_next(tables, view, state, (uint8_t)(word >> 8 * j));
		if (state >= tables->automaton.accepting)
			automaton_report(
				&tables->automaton, state, at + j + 1, own_end, text, hits);
	}
}

/* The stretches of a thread, out of shared memory. Stream k has the stretches k * THREADS ... of
 * the tile that begins at `at`. */
template <bool ALL_HOT>
static __device__ __forceinline__ void search_stretches(const struct ac_tables *tables,
	const struct ac_view *view, const uint4 *tile, uint32_t at, const struct gpu_text *text,
	const struct gpu_hits *hits)
{
	using layout = layout<ALL_HOT>;
	uint32_t states[layout::streams] = { 0 };
	for (uint32_t i = 0; i < layout::words; i++) {
		uint32_t words[layout::streams], before[layout::streams];
		uint32_t highest[layout::streams] = { 0 };
#pragma unroll
		for (uint32_t k = 0; k < layout::streams; k++) {
			words[k] = ((const uint32_t *)
					tile)[(k * THREADS + threadIdx.x) * layout::words + i];
			before[k] = states[k];
		}
#pragma unroll
		for (uint32_t j = 0; j < 4; j++)
#pragma unroll
			for (uint32_t k = 0; k < layout::streams; k++) {
				states[k] = ac_next(
					tables, view, states[k], (uint8_t)(words[k] >> 8 * j));
				highest[k] = max(highest[k], states[k]);
			}
#pragma unroll
		for (uint32_t k = 0; k < layout::streams; k++) {
			if (highest[k] < tables->automaton.accepting)
				continue;
			uint32_t own = at + (k * THREADS + threadIdx.x) * layout::stretch;
			report_word(tables, view, before[k], words[k], own + 4 * i,
				own + layout::stretch, text, hits);
		}
	}
#pragma unroll
	for (uint32_t k = 0; k < layout::streams; k++)
		ac_finish(tables, view, states[k],
			at + (k * THREADS + threadIdx.x + 1) * layout::stretch,
			(const uint8_t *)tile, at, at + layout::tile, text, hits);
}

template <bool WIDE, bool DIRECT, bool ALL_HOT>
static __global__ void __launch_bounds__(THREADS, 1)
	ac_kernel(const __grid_constant__ struct ac_tables tables,
		const __grid_constant__ struct gpu_text text,
		const __grid_constant__ struct gpu_hits called_hits, uint32_t hot,
		uint32_t rows_len, uint32_t begin, uint32_t end)
{
	using layout = layout<ALL_HOT>;
	extern __shared__ uint4 shared[];
	uint4 *rows = shared + layout::pieces;
	__shared__ uint8_t classes[256];
	__shared__ struct gpu_stage stages[THREADS / 32];
	uint32_t lane = threadIdx.x & 31;
	struct gpu_hits hits = hits_with_stage(&called_hits, stages + threadIdx.x / 32, lane);
	const uint32_t *source = WIDE ? tables.next32 : (const uint32_t *)tables.next16;
	for (uint32_t i = threadIdx.x; i < rows_len / 4; i += THREADS)
		((uint32_t *)rows)[i] = source[i];
	if (threadIdx.x < 256)
		classes[threadIdx.x] = tables.classes[threadIdx.x];
	struct ac_view view = { rows, classes, hot, ALL_HOT, WIDE, DIRECT };

	uint32_t pieces[layout::thread_pieces][4] = { 0 };
	uint64_t step = (uint64_t)gridDim.x * layout::tile;
	uint64_t at = begin + (uint64_t)blockIdx.x * layout::tile;
	if (at < end)
		fetch_tile<layout::pieces, layout::thread_pieces>(pieces, &text, at);
	for (; at < end; at += step) {
		__syncthreads();
		store_tile<layout::pieces, layout::thread_pieces>(shared, pieces);
		__syncthreads();
		if (at + step < end)
			fetch_tile<layout::pieces, layout::thread_pieces>(pieces, &text, at + step);
		if (at + layout::tile <= end) {
			search_stretches<ALL_HOT>(&tables, &view, shared, at, &text, &hits);
			hits_flush(&hits, GPU_STAGE_LEN / 2, lane);
			continue;
		}
		for (uint64_t own = at + threadIdx.x * layout::stretch; own < end;
			own += THREADS * layout::stretch)
			ac_search(&tables, &view, own,
				own + layout::stretch < end ? own + layout::stretch : end, &text,
				&hits);
	}
	hits_flush(&hits, 1, lane);
}

template <bool WIDE, bool DIRECT>
static __global__ void __launch_bounds__(PLAIN_THREADS)
	plain_kernel(const __grid_constant__ struct ac_tables tables,
		const __grid_constant__ struct gpu_text text,
		const __grid_constant__ struct gpu_hits hits, uint32_t begin, uint32_t end)
{
	struct ac_view view = { NULL, tables.classes, 0, false, WIDE, DIRECT };
	uint64_t own = begin + ((uint64_t)blockIdx.x * PLAIN_THREADS + threadIdx.x) * PLAIN_STRETCH;
	if (own < end)
		ac_search(&tables, &view, own,
			own + PLAIN_STRETCH < end ? own + PLAIN_STRETCH : end, &text, &hits);
}

/* ---- the rows ---- */

static uint32_t state_len(const struct ac_tables *tables)
{
	return tables->next32 ? sizeof(uint32_t) : sizeof(uint16_t);
}

/* The transitions with a column for every byte value; NULL when memory is short. */
static void *spread_columns(const struct ac_tables *host)
{
	size_t unit = state_len(host);
	uint8_t *spread = (uint8_t *)malloc(host->automaton.state_count * 256 * unit);
	const uint8_t *source =
		host->next32 ? (const uint8_t *)host->next32 : (const uint8_t *)host->next16;
	for (size_t state = 0; spread && state < host->automaton.state_count; state++)
		for (size_t byte = 0; byte < 256; byte++)
			memcpy(spread + (state * 256 + byte) * unit,
				source + (state * host->columns + host->classes[byte]) * unit,
				unit);
	return spread;
}

static void unload(void *tables)
{
	struct ac_loaded *loaded = (struct ac_loaded *)tables;
	if (!loaded)
		return;
	cudaFree((void *)loaded->tables.next16);
	cudaFree((void *)loaded->tables.next32);
	cudaFree((void *)loaded->tables.classes);
	cudaFree((void *)loaded->tables.depths);
	automaton_unload(&loaded->tables.automaton);
	free(loaded);
}

static cudaError_t load_transitions(struct ac_loaded *loaded, const struct ac_tables *host)
{
	size_t columns = loaded->direct ? 256 : host->columns;
	size_t len = host->automaton.state_count * columns * state_len(host);
	void *spread = loaded->direct ? spread_columns(host) : NULL;
	if (loaded->direct && !spread)
		return cudaErrorMemoryAllocation;
	cudaError_t error = loaded->wide ? device_copy(&loaded->tables.next32,
						   spread ? (uint32_t *)spread : host->next32, len)
					 : device_copy(&loaded->tables.next16,
						   spread ? (uint16_t *)spread : host->next16, len);
	free(spread);
	return error;
}

/* Copies everything; direct: with a column for every byte value. */
static cudaError_t load_tables(struct ac_loaded **result, const struct ac_tables *host, bool direct)
{
	*result = NULL;
	struct ac_loaded *loaded = (struct ac_loaded *)calloc(1, sizeof(*loaded));
	if (!loaded)
		return cudaErrorMemoryAllocation;
	loaded->tables.columns = host->columns;
	loaded->wide = host->next32 != NULL;
	loaded->direct = direct;
	cudaError_t error = automaton_load(&loaded->tables.automaton, &host->automaton);
	if (!error)
		error = load_transitions(loaded, host);
	if (!error)
		error = device_copy(&loaded->tables.classes, host->classes, 256);
	if (!error)
		error = device_copy(&loaded->tables.depths, host->depths,
			host->automaton.state_count * sizeof(*host->depths));
	if (error)
		unload(loaded);
	else
		*result = loaded;
	return error;
}

using kernel_function = void (*)(
	struct ac_tables, struct gpu_text, struct gpu_hits, uint32_t, uint32_t, uint32_t, uint32_t);

static bool is_all_hot(const struct ac_loaded *loaded)
{
	return loaded->hot == loaded->tables.automaton.state_count;
}

static uint32_t tile_len(const struct ac_loaded *loaded)
{
	return is_all_hot(loaded) ? layout<true>::tile : layout<false>::tile;
}

static kernel_function pick_function(const struct ac_loaded *loaded)
{
	bool all = is_all_hot(loaded);
	if (loaded->wide)
		return all ? ac_kernel<true, false, true> : ac_kernel<true, false, false>;
	if (loaded->direct)
		return ac_kernel<false, true, true>;
	return all ? ac_kernel<false, false, true> : ac_kernel<false, false, false>;
}

static cudaError_t plain_load(void **result, const struct gpu_program *program)
{
	const struct ac_tables *host = ac_tables(program);
	bool direct =
		(uint64_t)host->automaton.state_count * 256 * state_len(host) <= PLAIN_TABLE_MAX;
	struct ac_loaded *loaded;
	cudaError_t error = load_tables(&loaded, host, direct);
	if (!error)
		loaded->plain = true;
	*result = loaded;
	return error;
}

/* Chooses how many rows a block keeps in shared memory. */
static void choose_rows(struct ac_loaded *loaded, size_t room)
{
	const struct ac_tables *tables = &loaded->tables;
	size_t row = (loaded->direct ? 256 : tables->columns) *
		     (loaded->wide ? sizeof(uint32_t) : sizeof(uint16_t));
	loaded->hot = tables->automaton.state_count * row <= room ? tables->automaton.state_count
								  : room / row;
	loaded->rows_len = (loaded->hot * row + 3) & ~3u;
}

static cudaError_t load(void **result, const struct gpu_program *program)
{
	const struct ac_tables *host = ac_tables(program);
	size_t shared_len = device_shared_len();
	if (shared_len < SHARED_MIN)
		return plain_load(result, program);
	size_t room = shared_len - layout<true>::tile - STATIC_LEN;
	struct ac_loaded *loaded;
	cudaError_t error = load_tables(&loaded, host,
		!host->next32 && host->automaton.state_count * 256 * sizeof(uint16_t) <= room);
	*result = loaded;
	if (error)
		return error;
	choose_rows(loaded, room);
	error = cudaFuncSetAttribute(pick_function(loaded),
		cudaFuncAttributeMaxDynamicSharedMemorySize, tile_len(loaded) + loaded->rows_len);
	if (error) {
		unload(loaded);
		*result = NULL;
	}
	return error;
}

static cudaError_t plain_launch(const void *tables, const struct gpu_text *text,
	const struct gpu_hits *hits, cudaStream_t stream)
{
	const struct ac_loaded *loaded = (const struct ac_loaded *)tables;
	if (text->from >= text->to)
		return cudaSuccess;
	uint32_t begin = text->from & ~15u, end = found_end(&loaded->tables.automaton.found, text);
	uint32_t block_len = PLAIN_STRETCH * PLAIN_THREADS;
	uint32_t blocks = (end - begin + block_len - 1) / block_len;
	auto function =
		loaded->wide
			? (loaded->direct ? plain_kernel<true, true> : plain_kernel<true, false>)
			: (loaded->direct ? plain_kernel<false, true> : plain_kernel<false, false>);
	function<<<blocks, PLAIN_THREADS, 0, stream>>>(loaded->tables, *text, *hits, begin, end);
	return cudaGetLastError();
}

static cudaError_t launch(const void *tables, const struct gpu_text *text,
	const struct gpu_hits *hits, cudaStream_t stream)
{
	const struct ac_loaded *loaded = (const struct ac_loaded *)tables;
	if (loaded->plain)
		return plain_launch(tables, text, hits, stream);
	if (text->from >= text->to)
		return cudaSuccess;
	uint32_t begin = text->from & ~15u, end = found_end(&loaded->tables.automaton.found, text);
	uint32_t tile = tile_len(loaded);
	uint32_t blocks = device_blocks((end - begin + tile - 1) / tile, 1);
	pick_function(loaded)<<<blocks, THREADS, tile + loaded->rows_len, stream>>>(
		loaded->tables, *text, *hits, loaded->hot, loaded->rows_len, begin, end);
	return cudaGetLastError();
}

const struct gpu_kernel gpu_ac = { "ac", ac_compile, ac_free, ac_cost, ac_describe, load, unload,
	launch };

const struct gpu_kernel gpu_ac_plain = { "ac-plain", ac_compile, ac_free, NULL, ac_describe,
	plain_load, unload, plain_launch };
