/*
 * Which clusters may go on with coded data that breaks off (carvers/coded.h): a lane decodes the first bytes
 * of one, block by block, until they are refused or end.
 *
 * Nearly all are refused, after a hundred bytes on average, some after five times as many. A warp has
 * clusters for a while, and lanes that are done take the next of them together, once there are enough of
 * those lanes: so few wait for the last one. The description with its tables is in shared memory.
 */
#include "gpu/assemble_kernels.cuh"

#include "carvers/coded.h"

#define THREADS 128
#define WARPS 8192    /* enough for all multiprocessors... */
#define SHARE_MAX 256 /* ...with at most this many clusters each */
#define IDLE_MAX 8    /* lanes that wait */
#define STEPS 4       /* of a lane, before it is looked whether others wait */

static_assert(sizeof(struct carve_coded) % sizeof(uint32_t) == 0, "it is copied by words");

/* Clusters of a warp. */
static __host__ __device__ uint32_t share_of(uint32_t count)
{
	uint32_t share = (count / WARPS + 32) / 32 * 32;
	return share < SHARE_MAX ? share : SHARE_MAX;
}

static __host__ __device__ uint32_t blocks_of(uint32_t count)
{
	uint32_t block_share = share_of(count) * (THREADS / 32);
	return (count + block_share - 1) / block_share;
}

/* A row of blocks has a job; those that it has too many of have nothing to do. */
static __global__ void __launch_bounds__(THREADS)
	coded_kernel(const struct coded_job *jobs, uint32_t head_len)
{
	__shared__ struct carve_coded coded;
	const struct carve_coded *description = jobs[blockIdx.y].coded;
	const uint8_t *heads = jobs[blockIdx.y].heads;
	uint32_t *bits = jobs[blockIdx.y].bits, count = jobs[blockIdx.y].count;
	uint32_t share = share_of(count);
	if (blockIdx.x >= blocks_of(count))
		return;
	for (uint32_t i = threadIdx.x; i < sizeof(coded) / sizeof(uint32_t); i += THREADS)
		((uint32_t *)&coded)[i] = ((const uint32_t *)description)[i];
	__syncthreads();
	uint32_t lane = threadIdx.x & 31, warp = (blockIdx.x * THREADS + threadIdx.x) / 32;
	uint32_t next = warp * share, to = min(count, next + share), own = 0;
	bool is_busy = false;
	struct coded_run run;
	while (true) {
		uint32_t idle = __ballot_sync(0xffffffff, !is_busy);
		if (next >= to && idle == 0xffffffff)
			return;
		if (next < to && __popc(idle) >= IDLE_MAX) {
			uint32_t mine = next + __popc(idle & ((1u << lane) - 1));
			if (!is_busy && mine < to) {
				own = mine;
				is_busy = true;
				coded_begin(
					&run, &coded, heads + (uint64_t)own * head_len, head_len);
			}
			next += __popc(idle);
		}
		if (!is_busy)
			continue;
		enum coded_answer answer = CODED_NEXT;
		for (int i = 0; i < STEPS && answer == CODED_NEXT; i++)
			answer = coded_go_on(&run, &coded, coded.tables);
		is_busy = answer == CODED_NEXT;
		if (answer == CODED_MAY_FOLLOW)
			atomicOr(&bits[own / 32], 1u << own % 32);
	}
}

uint32_t coded_blocks(uint32_t count)
{
	return blocks_of(count);
}

cudaError_t coded_launch(const struct coded_job *jobs, uint32_t job_count, uint32_t blocks,
	uint32_t head_len, cudaStream_t stream)
{
	coded_kernel<<<dim3(blocks, job_count), THREADS, 0, stream>>>(jobs, head_len);
	return cudaGetLastError();
}
