/* Which GPUs this machine has and whether they can be used. CUDA's sticky error is always cleared,
 * so that a failed probe leaves no trace. */
#include <errno.h>
#include <stdio.h>

#include "gpu/probe.cuh"

#define MEMORY_MIN (512ul << 20)
#define CAPABILITY_MIN 75

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
		snprintf(reason, len, "CUDA reports: %s", cudaGetErrorString(error));
	return -ENODEV;
}

static int check_device(int id, char *reason, size_t len)
{
	cudaDeviceProp device;
	cudaError_t error = cudaGetDeviceProperties(&device, id);
	if (error)
		return no_devices(error, reason, len);
	if (device.major * 10 + device.minor < CAPABILITY_MIN) {
		snprintf(reason, len, "GPU %d (%.100s) has compute capability %d.%d; 7.5 is needed",
			id, device.name, device.major, device.minor);
		return -ENOTSUP;
	}
	if (device.totalGlobalMem < MEMORY_MIN) {
		snprintf(reason, len,
			"GPU %d (%.100s) has too little memory: %zu MiB; %zu MiB are needed", id,
			device.name, (size_t)(device.totalGlobalMem >> 20),
			(size_t)(MEMORY_MIN >> 20));
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

static int add_device(
	int ids[GPU_DEVICES_MAX], unsigned used, unsigned id, int present, char *reason, size_t len)
{
	if (id >= (unsigned)present) {
		snprintf(reason, len, "--gpus names GPU %u, and this machine has 0 to %d", id,
			present - 1);
		return -ENODEV;
	}
	ids[used] = (int)id;
	return check_device((int)id, reason, len);
}

int gpu_devices(int ids[GPU_DEVICES_MAX], const char *text, char *reason, size_t len)
{
	struct gpu_wanted wanted;
	struct error mistake;
	int present = 0, status = gpu_wanted_parse(&wanted, text, &mistake);
	if (status) {
		snprintf(reason, len, "%s", mistake.text);
		return status;
	}
	cudaError_t error = cudaGetDeviceCount(&present);
	if (error || present == 0)
		return no_devices(error, reason, len);
	unsigned count = wanted.count;
	if (wanted.all)
		count = present < GPU_DEVICES_MAX ? present : GPU_DEVICES_MAX;
	if (!wanted.listed && count > (unsigned)present) {
		snprintf(reason, len, "--gpus asks for %u GPUs, and this machine has %d", count,
			present);
		return -ENODEV;
	}
	for (unsigned i = 0; i < count && !status; i++)
		status =
			add_device(ids, i, wanted.listed ? wanted.ids[i] : i, present, reason, len);
	return status ? status : (int)count;
}

int gpu_failed(struct error *error, cudaError_t failed, const char *doing)
{
	(void)cudaGetLastError();
	if (failed == cudaErrorMemoryAllocation)
		return error_set(error, EXIT_NO_ENGINE, ENOMEM,
			"the GPU has too little free memory (%s); use a smaller --chunk-size or "
			"another engine",
			doing);
	return error_set(error, EXIT_NO_ENGINE, EIO, "the GPU failed (%s): %s", doing,
		cudaGetErrorString(failed));
}
