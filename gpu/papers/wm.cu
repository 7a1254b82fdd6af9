/*
 * Wu-Manber after Kouzinopoulos, Assael, Pyrgiotis and Margaritis (the title is in nfa.cu).
 *
 * The plain form, on the CPU (algorithm 5): wm_search in wm.h over the whole text, which is the
 * engine `wm`. A window of m bytes is held against the text; the hash of its last B bytes is looked
 * up in SHIFT: how far the window can move because no pattern has these bytes nearer to its end. At 0
 * the patterns in HASH, whose last B bytes have that hash, are tried; those whose PREFIX is the hash
 * of the window's first B' bytes are compared with the text, and the window moves by one. B
 * is 3 and B' 2; hashes are made by shifting two bits to the left and adding (h1 of the B bytes, h2
 * of the B'). As printed, h1 takes t[i-B] to t[i], which are B + 1 bytes; it is meant to be B.
 *
 * Wu and Manber's m is the length of the shortest pattern, and SHIFT, HASH and PREFIX see the first
 * m bytes of longer ones only. The paper has patterns of one length. Here m is that of the shortest
 * keyword (patterns/keywords.h) of at least B bytes; where a window fits, the whole keyword is
 * compared. Keywords of one or two bytes have no block of B: a companion pass over the thread's own
 * part of the text, in the same launch, compares them at each byte. A set with one keyword of
 * three bytes has m = 3 and no shift beyond 1: the algorithm needs long patterns.
 *
 * On the device (section 4.2.1) the text is divided as in nfa.cu. A thread has the windows that
 * start in its part, so that a match belongs to where it starts and none is found twice; windows
 * are counted here by their starts, in the paper by their ends.
 *
 * wm-u (GPU-U, algorithm 7): text, SHIFT, HASH, PREFIX, the patterns and the numbers of matches,
 * out, in global memory.
 *
 * wm-tc (GPU-TC): SHIFT, HASH, PREFIX and the patterns through texture, which then had the only
 * caches; all the same it took 467.7 s instead of 462.5. Texture references are texture objects
 * now, linear and of one dimension for each table, fetched by tex1Dfetch; they use the same
 * first-level cache through which global memory is read, with a longer latency, so that nothing is
 * gained.
 *
 * wm-cr, wm-r16 and wm-cw (algorithm 9): the text through shared memory, fetched byte by byte, then
 * by 16 bytes, and last the numbers of matches held back, as described in nfa.cu. Here out[tid] is
 * only written to at a match, so that the last stage has less to gain.
 *
 * What else is different. Their HASH and PREFIX are arrays of two dimensions with a column for
 * every hash, 5,376 x d entries each; here HASH has the lists of members one after the other, and where
 * each begins, and PREFIX one number a pattern, as algorithm 4 has it. The lists are as long
 * as theirs, and so are the steps through them. SHIFT is their size, 256 x (1 + 4 + 16), of which
 * h1 uses 5,356. The last S_memsize of a text is compared like all text: there, a keyword that
 * ends past the text is left out. S_memsize, blockDim and numBlocks as in nfa.cu.
 */
#include "gpu/papers/wm.h"
#include "gpu/papers/subchunk.cuh"
#include "gpu/kernel.h"

struct wm_algorithm {
	struct wm_tables tables;
	struct wm_textures textures;
	uint32_t longest;

	const struct found *found() const
	{
		return &tables.found;
	}

	static const struct found *found_of(const struct gpu_program *program)
	{
		return &wm_tables(program)->found;
	}

	template <int STAGE>
	__device__ __forceinline__ void search(const struct subchunk *own,
		const struct gpu_text *text, const struct subchunk_output *output) const
	{
		struct wm_view view = { &tables, STAGE >= SUBCHUNK_TC, &textures };
		wm_search(&view, own, text, output);
	}

	void unload()
	{
		subchunk_destroy(textures.shift);
		subchunk_destroy(textures.first);
		subchunk_destroy(textures.members);
		subchunk_destroy(textures.prefix);
		subchunk_destroy(textures.bytes);
		cudaFree((void *)tables.shift);
		cudaFree((void *)tables.first);
		cudaFree((void *)tables.members);
		cudaFree((void *)tables.prefix);
		cudaFree((void *)tables.bytes);
		cudaFree((void *)tables.singles);
		cudaFree((void *)tables.pairs);
		found_unload(&tables.found);
	}

	cudaError_t load_window(const struct wm_tables *host, bool textured)
	{
		size_t keywords = host->found.keyword_count;
		cudaError_t error = subchunk_load(
			&tables.shift, &textures.shift, host->shift, WM_HASHES, textured);
		if (!error)
			error = subchunk_load(&tables.first, &textures.first, host->first,
				WM_HASHES + 1, textured);
		if (!error)
			error = subchunk_load(&tables.members, &textures.members, host->members,
				host->member_count, textured);
		if (!error)
			error = subchunk_load(
				&tables.prefix, &textures.prefix, host->prefix, keywords, textured);
		if (!error)
			error = subchunk_load(&tables.bytes, &textures.bytes, host->bytes,
				keywords * host->longest, textured);
		return error;
	}

	/* The struct is all 0; on error it may be unloaded. */
	cudaError_t load(const struct gpu_program *program, bool textured)
	{
		const struct wm_tables *host = wm_tables(program);
		cudaError_t error = cudaSuccess;
		tables.m = host->m;
		longest = tables.longest = host->longest;
		tables.member_count = host->member_count;
		tables.round_robin = host->round_robin;
		if (host->m)
			error = load_window(host, textured);
		if (!error && host->singles)
			error = device_copy(&tables.singles, host->singles, 256 * 4);
		if (!error && host->pairs)
			error = device_copy(&tables.pairs, host->pairs, 65536 * 4);
		struct found copy;
		if (!error && !(error = found_load(&copy, &host->found)))
			tables.found = copy;
		return error;
	}
};

#define WM_ROW(name, stage) \
	{ \
		name, wm_compile, wm_free, NULL, wm_describe, \
			subchunk_row<stage, wm_algorithm>::load, \
			subchunk_row<stage, wm_algorithm>::unload, \
			subchunk_row<stage, wm_algorithm>::launch, \
			&subchunk_row<stage, wm_algorithm>::form \
	}

const struct gpu_kernel gpu_wm_u = WM_ROW("wm-u", SUBCHUNK_U);
const struct gpu_kernel gpu_wm_tc = WM_ROW("wm-tc", SUBCHUNK_TC);
const struct gpu_kernel gpu_wm_cr = WM_ROW("wm-cr", SUBCHUNK_CR);
const struct gpu_kernel gpu_wm_r16 = WM_ROW("wm-r16", SUBCHUNK_R16);
const struct gpu_kernel gpu_wm_cw = WM_ROW("wm-cw", SUBCHUNK_CW);
