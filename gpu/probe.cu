/* Which GPUs there are and whether they will do. The sticky error is always cleared, so that a
 * failed look harms nobody. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cuda_runtime.h>

#include "gpu/probe.cuh"

#define LEAST_MEMORY (512ul << 20)
#define LEAST_CAPABILITY 75

static int no_devices(cudaError_t error, char *reason, size_t len)
{
	int driver = 0, runtime = 0;
	(void)cudaGetLastError();
	(void)cudaDriverGetVersion(&driver);
	(void)cudaRuntimeGetVersion(&runtime);
	if (driver == 0)
		snprintf(reason, len, "no NVIDIA driver is installed");
	else if (error == cudaErrorInsufficientDriver)
		snprintf(reason, len,
			"the NVIDIA driver is too old: it supports CUDA %d.%d, this build needs "
			"%d.%d",
			driver / 1000, driver % 1000 / 10, runtime / 1000, runtime % 1000 / 10);
	else if (error == cudaSuccess || error == cudaErrorNoDevice)
		snprintf(reason, len, "there is no CUDA device");
	else
		snprintf(reason, len, "CUDA says: %s", cudaGetErrorString(error));
	return -ENODEV;
}

static int check_device(int id, char *reason, size_t len)
{
	cudaDeviceProp device;
	cudaError_t error = cudaGetDeviceProperties(&device, id);
	if (error)
		return no_devices(error, reason, len);
	if (device.major * 10 + device.minor < LEAST_CAPABILITY) {
		snprintf(reason, len,
			"GPU %d (%.100s) is of compute capability %d.%d, and 7.5 is the least that "
			"works",
			id, device.name, device.major, device.minor);
		return -ENOTSUP;
	}
	if (device.totalGlobalMem < LEAST_MEMORY) {
		snprintf(reason, len, "GPU %d (%.100s) has too little memory: %zu MiB of %zu MiB",
			id, device.name, (size_t)(device.totalGlobalMem >> 20),
			(size_t)(LEAST_MEMORY >> 20));
		return -ENOMEM;
	}
	return 0;
}

int gpu_probe(char *reason, size_t len)
{
	int count = 0;
	cudaError_t error = cudaGetDeviceCount(&count);
	if (error || count == 0)
		return no_devices(error, reason, len);
	return check_device(0, reason, len);
}

/* Adds a device of a list. */
static int add_device(
	int ids[GPU_DEVICES_MAX], int used, long id, int present, char *reason, size_t len)
{
	if (id < 0 || id >= present) {
		snprintf(reason, len, "there is no GPU %ld: this machine has 0 to %d", id,
			present - 1);
		return -ENODEV;
	}
	for (int i = 0; i < used; i++)
		if (ids[i] == id) {
			snprintf(reason, len, "GPU %ld is named twice", id);
			return -EINVAL;
		}
	ids[used] = (int)id;
	return check_device((int)id, reason, len);
}

/* "0,3": these devices; a comma makes a list of it, be it at the end. */
static int read_list(
	int ids[GPU_DEVICES_MAX], const char *wanted, int present, char *reason, size_t len)
{
	int used = 0;
	for (const char *at = wanted; *at;) {
		char *end;
		long id = strtol(at, &end, 10);
		if (end == at || (*end && *end != ',') || used == GPU_DEVICES_MAX) {
			snprintf(reason, len, "'%.100s' is no list of GPUs: write it like 0,2",
				wanted);
			return -EINVAL;
		}
		int status = add_device(ids, used, id, present, reason, len);
		if (status)
			return status;
		used++;
		at = *end ? end + 1 : end;
	}
	return used;
}

int gpu_devices(int ids[GPU_DEVICES_MAX], const char *wanted, char *reason, size_t len)
{
	int present = 0;
	cudaError_t error = cudaGetDeviceCount(&present);
	if (error || present == 0)
		return no_devices(error, reason, len);
	if (wanted && strchr(wanted, ','))
		return read_list(ids, wanted, present, reason, len);
	long count = 1;
	if (wanted && !strcmp(wanted, "all")) {
		count = present;
	} else if (wanted) {
		char *end;
		count = strtol(wanted, &end, 10);
		if (end == wanted || *end || count < 1) {
			snprintf(reason, len,
				"'%.100s' is no number of GPUs: write 2, all, or a list like 0,2",
				wanted);
			return -EINVAL;
		}
	}
	if (count > present) {
		snprintf(reason, len, "%ld GPUs were asked for and %d are there", count, present);
		return -ENODEV;
	}
	if (count > GPU_DEVICES_MAX)
		count = GPU_DEVICES_MAX;
	for (int i = 0; i < count; i++) {
		int status = add_device(ids, i, i, present, reason, len);
		if (status)
			return status;
	}
	return (int)count;
}
