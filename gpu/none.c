/* The GPU engine of a build without CUDA: it is listed, and says why it is not usable. */
#include <errno.h>
#include <stdio.h>

#include "assemble/search_device.h"
#include "scan/gpu_bench.h"
#include "scan/gpu_kernels.h"
#include "scan/kept_text.h"
#include "scan/scan.h"

const bool gpu_kernels_built = false;
const struct gpu_bench_tool *const gpu_bench_tool = NULL;
const struct search_tool *const search_gpu = NULL;

struct kept_text *kept_text_new(const char *devices, uint64_t len)
{
	(void)devices;
	(void)len;
	return NULL;
}

void kept_text_free(struct kept_text *kept)
{
	(void)kept;
}

static int gpu_probe(char *reason, size_t len)
{
	snprintf(reason, len, "built without CUDA");
	return -ENOTSUP;
}

static int gpu_open(struct scan **scan, const struct pattern_set *set,
	const struct scan_options *options, struct error *error)
{
	(void)scan;
	(void)set;
	(void)options;
	return error_set(error, EXIT_NO_ENGINE, ENOTSUP,
		"the engine 'gpu' is not usable: this burin was built without CUDA");
}

/* It cannot be opened, so nothing is submitted to it. */
const struct scan_engine gpu_engine = {
	.name = "gpu",
	.summary = "CUDA, on NVIDIA GPUs",
	.probe = gpu_probe,
	.open = gpu_open,
};
