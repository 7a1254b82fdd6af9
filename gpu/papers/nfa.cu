/*
 * Aho-Corasick after Kouzinopoulos, Assael, Pyrgiotis and Margaritis, "A Hybrid Parallel
 * Implementation of the Aho-Corasick and Wu-Manber Algorithms Using NVIDIA CUDA and MPI Evaluated
 * on a Biological Sequence Database".
 *
 * The plain form, on the CPU (algorithm 3): nfa_search in nfa.h over the whole text, which is the
 * engine `nfa`. The automaton is not made deterministic: where the goto function has no transition,
 * the supply function is followed to the longest suffix that is a state, and the same byte is tried
 * again, two lookups for each such step. For a set of patterns of one length m, a match is a state
 * of depth m; here keywords have several lengths (patterns/keywords.h), so state_final has the number
 * of patterns that end in a state, not whether one does.
 *
 * On the device (section 4.2.1) the text is divided among numBlocks x blockDim threads in equal parts,
 * each of which reads m - 1 bytes more than its part and begins in state 0. A match belongs to the
 * thread in whose part it starts. With patterns of one length nothing else is needed; here the
 * matches that end past the part are checked one by one, and those that began there are left to the
 * next thread.
 *
 * nfa-u (GPU-U, algorithm 6): text, state_transition, state_supply, state_final and the numbers of
 * matches, out, in global memory, a byte at a time. The 32 threads of a warp touch 32 different
 * segments with each byte, which then gave 1/128 of the bandwidth; today these segments wait in the
 * first-level cache for the bytes that follow, as long as they fit there.
 *
 * nfa-cr (GPU-CR): the threads of a block fetch S_memsize bytes together, byte by byte and side by
 * side, into shared memory, with the m - 1 that follow, and each takes its part from there. A block
 * advances through the text by numBlocks x S_memsize. Of 16 KiB a multiprocessor their
 * S_memsize took 16,128 bytes, so that one block was all that it could hold. The size is kept: it
 * leaves room for eight blocks of 256 threads today, which is as many threads as fit. Parts of 63
 * bytes are not a multiple of a word; of a warp's threads, at the same byte of their parts, at most
 * two meet in one of 32 banks.
 *
 * nfa-r16 (GPU-R16): the threads fetch words of 16 bytes (uint4), which are taken apart and stored
 * byte by byte. Fetches are now whole 512 bytes for each warp. Their stores collided in four ways,
 * and storing in turns (section 4.2.2, `round_robin` here) was slower; today's compiler makes one
 * store of the 16, which has no more conflicts than 512 bytes must have.
 *
 * nfa-cw (GPU-CW, algorithm 8): until here each byte of text adds to out[tid] in global memory; now
 * the number stays in a register and is written at the end, side by side. This stage differs from
 * the one before in the counting form alone: hits are written the same way by all.
 *
 * nfa-tc (algorithm 8 as printed): nfa-cw with state_transition, state_supply and state_final read
 * through texture. Their section 6 says that the tables of large sets were larger than textures could
 * be, and their figure 4 has no such stage of AC; a linear texture of today has room for 524,288
 * states.
 *
 * What else is different. They had cudaMallocPitch align the rows of state_transition: 256 states
 * of 4 bytes are aligned as they are. numBlocks was theirs to find; here it is as many as the
 * device runs at a time, as they advise (section 4.2.1). blockDim they don't say.
 */
#include "gpu/papers/nfa.h"
#include "gpu/papers/subchunk.cuh"
#include "gpu/kernel.h"

template <bool TEXTURED> struct nfa_algorithm {
	struct nfa_tables tables;
	struct nfa_textures textures;
	uint32_t longest;

	const struct found *found() const
	{
		return &tables.automaton.found;
	}

	static const struct found *found_of(const struct gpu_program *program)
	{
		return &nfa_tables(program)->automaton.found;
	}

	template <int STAGE>
	__device__ __forceinline__ void search(const struct subchunk *own,
		const struct gpu_text *text, const struct subchunk_output *output) const
	{
		struct nfa_view view = { &tables, TEXTURED, &textures };
		nfa_search(&view, own, text, output);
	}

	void unload()
	{
		subchunk_destroy(textures.transition);
		subchunk_destroy(textures.supply);
		subchunk_destroy(textures.finals);
		cudaFree((void *)tables.transition);
		cudaFree((void *)tables.supply);
		cudaFree((void *)tables.finals);
		automaton_unload(&tables.automaton);
	}

	/* The struct is all 0; on error it may be unloaded. */
	cudaError_t load(const struct gpu_program *program, bool)
	{
		const struct nfa_tables *host = nfa_tables(program);
		size_t states = host->automaton.state_count;
		longest = tables.longest = host->longest;
		tables.round_robin = host->round_robin;
		cudaError_t error = subchunk_load(&tables.transition, &textures.transition,
			host->transition, states * 256, TEXTURED);
		if (!error)
			error = subchunk_load(
				&tables.supply, &textures.supply, host->supply, states, TEXTURED);
		if (!error)
			error = subchunk_load(
				&tables.finals, &textures.finals, host->finals, states, TEXTURED);
		struct automaton copy;
		if (!error && !(error = automaton_load(&copy, &host->automaton)))
			tables.automaton = copy;
		return error;
	}
};

#define NFA_ROW(name, stage, textured) \
	{ \
		name, textured ? nfa_compile_textured : nfa_compile, nfa_free, NULL, nfa_describe, \
			subchunk_row<stage, nfa_algorithm<textured>>::load, \
			subchunk_row<stage, nfa_algorithm<textured>>::unload, \
			subchunk_row<stage, nfa_algorithm<textured>>::launch, \
			&subchunk_row<stage, nfa_algorithm<textured>>::form \
	}

const struct gpu_kernel gpu_nfa_u = NFA_ROW("nfa-u", SUBCHUNK_U, false);
const struct gpu_kernel gpu_nfa_cr = NFA_ROW("nfa-cr", SUBCHUNK_CR, false);
const struct gpu_kernel gpu_nfa_r16 = NFA_ROW("nfa-r16", SUBCHUNK_R16, false);
const struct gpu_kernel gpu_nfa_cw = NFA_ROW("nfa-cw", SUBCHUNK_CW, false);
const struct gpu_kernel gpu_nfa_tc = NFA_ROW("nfa-tc", SUBCHUNK_CW, true);
