/*
 * A warp's queue of candidates in shared memory. Candidates are rare, and confirming each where
 * it is found would keep 31 lanes waiting for one. So positions are collected, and confirmed 32 at
 * a time, one a lane.
 */
#ifndef BURIN_GPU_QUEUE_CUH
#define BURIN_GPU_QUEUE_CUH

#include "gpu/device.cuh"

#define QUEUE_LEN 64 /* positions; drained from 32 on, and 32 may be added at a time */
#define ALL_LANES 0xffffffffu

struct queue {
	uint32_t *items;
	uint32_t count;              /* the same in all lanes */
	const struct gpu_hits *hits; /* takes the confirmed ones, staged */
};

/* Confirms candidates, CONFIRM(position), until at most `rest` remain. */
template <typename CONFIRM>
static __device__ __forceinline__ void queue_drain(
	struct queue *queue, uint32_t rest, uint32_t lane, CONFIRM confirm)
{
	while (queue->count > rest) {
		__syncwarp();
		uint32_t taken = min(queue->count, 32u);
		queue->count -= taken;
		if (lane < taken)
			confirm(queue->items[queue->count + lane]);
		hits_flush(queue->hits, 1, lane);
	}
}

/* Adds at + stride * i for each bit i that is set in the lane's found. All lanes must call it. */
template <typename CONFIRM>
static __device__ __forceinline__ void queue_add(struct queue *queue, uint32_t found, uint32_t at,
	uint32_t stride, uint32_t lane, CONFIRM confirm)
{
	for (;;) {
		unsigned having = __ballot_sync(ALL_LANES, found != 0);
		if (!having)
			break;
		if (found) {
			queue->items[queue->count + __popc(having & ((1u << lane) - 1))] =
				at + stride * (__ffs(found) - 1);
			found &= found - 1;
		}
		queue->count += __popc(having);
		queue_drain(queue, 31, lane, confirm);
	}
}

#endif
