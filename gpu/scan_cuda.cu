/*
 * The gpu engine. This build has its row and the look at the machine; the kernels are not in it
 * yet, and the probe says so.
 */
#include <errno.h>
#include <stdio.h>

#include <cuda_runtime.h>

extern "C" {
#include "scan/scan.h"
}

/* The sticky error is cleared, so that a failed look harms nobody. */
static int no_devices(cudaError_t rc, char *reason, size_t len)
{
	int driver = 0, runtime = 0;

	(void)cudaGetLastError();
	(void)cudaDriverGetVersion(&driver);
	(void)cudaRuntimeGetVersion(&runtime);
	if (driver == 0)
		snprintf(reason, len, "no NVIDIA driver is installed");
	else if (rc == cudaErrorInsufficientDriver)
		snprintf(reason, len,
			"the NVIDIA driver is too old: it supports CUDA %d.%d, this build needs "
			"%d.%d",
			driver / 1000, driver % 1000 / 10, runtime / 1000, runtime % 1000 / 10);
	else if (rc == cudaSuccess || rc == cudaErrorNoDevice)
		snprintf(reason, len, "there is no CUDA device");
	else
		snprintf(reason, len, "CUDA says: %s", cudaGetErrorString(rc));
	return -ENODEV;
}

static int gpu_probe(char *reason, size_t len)
{
	cudaDeviceProp properties;
	int count = 0;
	cudaError_t rc = cudaGetDeviceCount(&count);

	if (rc != cudaSuccess || count == 0)
		return no_devices(rc, reason, len);
	rc = cudaGetDeviceProperties(&properties, 0);
	if (rc != cudaSuccess)
		return no_devices(rc, reason, len);
	snprintf(reason, len, "there is a device (%.100s), but this build has no GPU kernels yet",
		properties.name);
	return -ENOTSUP;
}

static int gpu_open(struct scan **scan, const struct pattern_set *set,
	const struct scan_options *options, struct error *error)
{
	char reason[256];
	int rc = gpu_probe(reason, sizeof(reason));

	(void)scan;
	(void)set;
	(void)options;
	return error_set(error, EXIT_NO_ENGINE, -rc, "the engine 'gpu' is not usable: %s", reason);
}

/* Nothing can be submitted to what cannot be opened. */
extern "C" const struct scan_engine gpu_engine = {
	"gpu",
	"CUDA, on NVIDIA GPUs",
	gpu_probe,
	gpu_open,
	NULL,
	NULL,
	NULL,
	NULL,
};
