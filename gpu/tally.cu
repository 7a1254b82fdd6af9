/* The order-free sums of scan/hit_tally.h over hits in device memory: there may be hundreds of
 * millions, and none has to be fetched. */
#include "gpu/tally.cuh"

#define THREADS 256
#define BLOCKS_MAX 4096

struct sums {
	unsigned long long count[2], sum[2]; /* of the part, of all */
};

static __global__ void __launch_bounds__(THREADS) tally_kernel(
	const uint64_t *keys, size_t count, uint64_t offset, uint64_t part_len, struct sums *sums)
{
	struct hit_tally mine[2] = { { 0, 0 }, { 0, 0 } };
	size_t step = (size_t)gridDim.x * THREADS;
	for (size_t i = (size_t)blockIdx.x * THREADS + threadIdx.x; i < count; i += step) {
		uint64_t at = offset + (keys[i] >> 32);
		hit_tally_add(&mine[1], at, (uint32_t)keys[i]);
		if (at < part_len)
			hit_tally_add(&mine[0], at, (uint32_t)keys[i]);
	}
	for (int i = 0; i < 2; i++) {
		atomicAdd(&sums->count[i], (unsigned long long)mine[i].count);
		atomicAdd(&sums->sum[i], (unsigned long long)mine[i].sum);
	}
}

cudaError_t gpu_tally(
	const uint64_t *keys, size_t count, uint64_t offset, struct hit_tallies *result)
{
	struct sums *device = NULL, sums;
	cudaError_t failed = cudaMalloc((void **)&device, sizeof(*device));
	if (!failed)
		failed = cudaMemset(device, 0, sizeof(*device));
	if (!failed) {
		size_t blocks = (count + THREADS - 1) / THREADS;
		blocks = blocks > BLOCKS_MAX ? BLOCKS_MAX : blocks ? blocks : 1;
		tally_kernel<<<blocks, THREADS>>>(keys, count, offset, result->part_len, device);
		failed = cudaGetLastError();
	}
	if (!failed)
		failed = cudaMemcpy(&sums, device, sizeof(sums), cudaMemcpyDeviceToHost);
	cudaFree(device);
	if (failed)
		return failed;
	result->part.count += sums.count[0];
	result->part.sum += sums.sum[0];
	result->all.count += sums.count[1];
	result->all.sum += sums.sum[1];
	return cudaSuccess;
}
