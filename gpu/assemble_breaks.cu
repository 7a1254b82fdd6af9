/*
 * Breaks with which a CRC agrees: all pairs of a break and a displacement, or of two breaks, are compared.
 *
 * One break. A lane has breaks of its own, in registers as they are at the displacement that its block has come
 * to: a step to the next one divides them by x, three instructions. The sums of a displacement's breaks are
 * those of the next one's, one break further: the breaks of a lane follow one another, so that each sum is
 * loaded from shared memory once and then moves through the lane's registers. Their number is odd, which
 * keeps the lanes' loads in different banks. A pair takes an exclusive or of three numbers, a minimum, and the
 * step.
 *
 * Two breaks. A thread has one second break; the first ones, as they are at the displacement, are made by
 * the block in shared memory, and all threads read the same four at a time. A pair takes an exclusive or and a
 * minimum.
 *
 * A minimum of 0 shows that there is a hit, which is rare: then a lane goes over its pairs once more.
 */
#include "gpu/assemble_kernels.cuh"
#include "gpu/device.cuh"

extern "C" {
#include "assemble/crc_algebra.h"
}

#define OVER_X 0xdb710641u /* CRC_X_TO_MINUS_1 */
#define OWN 7              /* breaks of a lane */
#define WARPS_MAX 8
#define TILE (128 * OWN) /* displacements of a block */
#define WARP_BREAKS (32 * OWN)
#define TWO_TILE 64 /* displacements of a block, two breaks */
#define TWO_THREADS_MAX 256
#define COUNT_MAX (1u << 31)

static_assert(OVER_X == CRC_X_TO_MINUS_1, "the device divides as the processor does");

static __device__ __forceinline__ uint32_t over_x(uint32_t value)
{
	return value << 1 ^ (OVER_X & (uint32_t)((int32_t)value >> 31));
}

static __device__ uint32_t multiply(uint32_t a, uint32_t b)
{
	uint32_t product = 0;
	for (int i = 0; i < 32; i++, a <<= 1) {
		product ^= b & (uint32_t)((int32_t)a >> 31);
		b = b >> 1 ^ (CRC_POLYNOMIAL & -(b & 1));
	}
	return product;
}

static __device__ bool counts(const struct breaks_job *job, uint32_t index)
{
	return index >= job->sums_from && index < job->sums_to;
}

static __device__ void add_hit(
	const struct breaks_job *job, uint32_t displacement, uint32_t second, uint32_t first)
{
	uint32_t at = *(volatile uint32_t *)job->hit_count < COUNT_MAX
			      ? atomicAdd(job->hit_count, 1)
			      : COUNT_MAX;
	if (at < CRC_HITS_MAX)
		job->hits[at] = { displacement, second, first };
}

/* ---- one break ---- */

/* The pairs of a lane, one by one. */
static __device__ __noinline__ void find_one(const struct breaks_job *job, const uint32_t *sums,
	const uint32_t *ends, uint32_t power, uint32_t from, uint32_t count, uint32_t first)
{
	for (uint32_t own = 0; own < OWN && first + own < job->known_count; own++) {
		uint32_t k = first + own, known = multiply(job->known[k], power);
		for (uint32_t i = 0; i < count; i++, known = over_x(known))
			if ((known ^ sums[i + own]) == ends[i] && counts(job, from + i + k))
				add_hit(job, from + i, k, 0);
	}
}

static __global__ void __launch_bounds__(32 * WARPS_MAX)
	one_break_kernel(const __grid_constant__ struct breaks_job job)
{
	__shared__ uint32_t sums[TILE + WARPS_MAX * WARP_BREAKS], ends[TILE];
	uint32_t from = blockIdx.x * TILE, lane = threadIdx.x & 31, warp = threadIdx.x / 32;
	uint32_t block_first = blockIdx.y * (blockDim.x / 32) * WARP_BREAKS;
	uint32_t first = block_first + warp * WARP_BREAKS + lane * OWN;
	uint32_t count = min(TILE, job.count - from), power = job.powers[blockIdx.x];
	for (uint32_t i = threadIdx.x; i < TILE; i += blockDim.x)
		ends[i] = i < count ? job.ends[from + i] : 0;
	for (uint32_t i = threadIdx.x; i < TILE + blockDim.x * OWN; i += blockDim.x) {
		uint64_t index = (uint64_t)from + block_first + i;
		sums[i] = index < job.sums_count ? job.sums[index] : 0;
	}
	__syncthreads();
	if (block_first + warp * WARP_BREAKS >= job.known_count)
		return;
	const uint32_t *own_sums = sums + warp * WARP_BREAKS + lane * OWN;
	uint32_t known[OWN], sum[OWN], least = UINT32_MAX;
#pragma unroll
	for (int own = 0; own < OWN; own++) {
		known[own] =
			first + own < job.known_count ? multiply(job.known[first + own], power) : 0;
		sum[own] = own_sums[own];
	}
	for (uint32_t i = 0; i < TILE; i += OWN) {
#pragma unroll
		for (int j = 0; j < OWN; j++) {
			uint32_t end = ends[i + j];
#pragma unroll
			for (int own = 0; own < OWN; own++) {
				least = min(least, known[own] ^ sum[(own + j) % OWN] ^ end);
				known[own] = over_x(known[own]);
			}
			/* After the last displacement it is not used: one sum too many is there. */
			sum[j] = own_sums[i + j + OWN];
		}
	}
	if (least == 0)
		find_one(&job, own_sums, ends, power, from, count, first);
}

/* ---- two breaks ---- */

static __global__ void __launch_bounds__(TWO_THREADS_MAX)
	two_breaks_kernel(const __grid_constant__ struct breaks_job job)
{
	extern __shared__ uint4 shared[];
	uint32_t k = blockIdx.y * blockDim.x + threadIdx.x, from = blockIdx.x * TWO_TILE;
	uint32_t to = min(job.count, from + TWO_TILE), power = job.powers[blockIdx.x];
	/* First breaks that some thread of the block has a second one for. */
	uint32_t firsts = min(job.known_count, (blockIdx.y + 1) * blockDim.x);
	uint32_t quads = (firsts + 3) / 4, own_quads = min(quads, ((k | 31) + 4) / 4);
	uint32_t *now = (uint32_t *)shared, *known = now + 4 * quads;
	bool is_second = k >= job.rest_from && k < job.rest_to;
	uint32_t rest = is_second ? multiply(job.rest[k], power) : 0;
	for (uint32_t j = threadIdx.x; j < 4 * quads; j += blockDim.x)
		known[j] = j < firsts ? multiply(job.known[j], power) : 0;
	for (uint32_t i = from; i < to; i++, rest = over_x(rest)) {
		__syncthreads();
		for (uint32_t j = threadIdx.x; j < firsts; j += blockDim.x) {
			now[j] = known[j] ^ job.sums[i + j];
			known[j] = over_x(known[j]);
		}
		__syncthreads();
		if (!is_second)
			continue;
		uint32_t second = rest ^ job.sums[i + k], least = UINT32_MAX;
#pragma unroll 4
		for (uint32_t j = 0; j < own_quads; j++) {
			uint4 four = shared[j];
			least = min(least, min(four.x ^ second, four.y ^ second));
			least = min(least, min(four.z ^ second, four.w ^ second));
		}
		if (least || !counts(&job, i + k))
			continue;
		for (uint32_t j = 0; j < k && j < firsts; j++)
			if (now[j] == second && counts(&job, i + j))
				add_hit(&job, i, k, j);
	}
}

/* ---- launching ---- */

uint32_t breaks_step(bool two)
{
	return two ? TWO_TILE : TILE;
}

static uint32_t parts(uint32_t whole, uint32_t part)
{
	return (whole + part - 1) / part;
}

static size_t two_shared_len(size_t known_count)
{
	return (known_count + 3) / 4 * 4 * 2 * sizeof(uint32_t);
}

size_t breaks_shared_len(const struct crc_search *search)
{
	return search->ends ? 0 : two_shared_len(search->known_count);
}

static cudaError_t launch_one(const struct breaks_job *job, cudaStream_t stream)
{
	uint32_t warps = parts(job->known_count, WARP_BREAKS);
	uint32_t of_block = warps < WARPS_MAX ? warps : WARPS_MAX;
	dim3 grid(parts(job->count, TILE), parts(warps, of_block));
	one_break_kernel<<<grid, 32 * of_block, 0, stream>>>(*job);
	return cudaGetLastError();
}

static cudaError_t launch_two(const struct breaks_job *job, cudaStream_t stream)
{
	uint32_t threads = parts(job->rest_to, 32) * 32;
	threads = threads < TWO_THREADS_MAX ? threads : TWO_THREADS_MAX;
	size_t len = two_shared_len(job->known_count);
	cudaError_t failed = cudaFuncSetAttribute(
		two_breaks_kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)len);
	if (failed)
		return failed;
	dim3 grid(parts(job->count, TWO_TILE), parts(job->rest_to, threads));
	two_breaks_kernel<<<grid, threads, len, stream>>>(*job);
	return cudaGetLastError();
}

cudaError_t breaks_launch(const struct breaks_job *job, cudaStream_t stream)
{
	if (!job->count || !job->known_count)
		return cudaSuccess;
	return job->ends ? launch_one(job, stream) : launch_two(job, stream);
}
