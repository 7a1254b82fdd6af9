/* Loading the tables of gpu/found.h and gpu/automaton.h to a device. On error nothing stays
 * allocated. */
#ifndef BURIN_GPU_AUTOMATON_CUH
#define BURIN_GPU_AUTOMATON_CUH

#include "gpu/automaton.h"
#include "gpu/device.cuh"

static inline void found_unload(struct found *found)
{
	cudaFree((void *)found->records);
	cudaFree((void *)found->keywords);
	confirm_unload(&found->confirm);
}

static inline cudaError_t found_load(struct found *device, const struct found *host)
{
	*device = *host;
	device->records = NULL, device->keywords = NULL;
	cudaError_t error = confirm_load(&device->confirm, &host->confirm);
	if (!error)
		error = device_copy(&device->records, host->records,
			host->record_count * sizeof(*host->records));
	if (!error)
		error = device_copy(&device->keywords, host->keywords,
			host->keyword_count * sizeof(*host->keywords));
	if (error)
		found_unload(device);
	return error;
}

static inline void automaton_unload(struct automaton *automaton)
{
	cudaFree((void *)automaton->outputs);
	found_unload(&automaton->found);
}

static inline cudaError_t automaton_load(struct automaton *device, const struct automaton *host)
{
	*device = *host;
	device->outputs = NULL;
	cudaError_t error = found_load(&device->found, &host->found);
	if (error)
		return error;
	error = device_copy(&device->outputs, host->outputs,
		(host->state_count - host->accepting) * sizeof(*host->outputs));
	if (error)
		automaton_unload(device);
	return error;
}

#endif
