/* The current text and dictionary. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "bench/papers/papers_state.h"
#include "evidence/image.h"
#include "run/cluster.h"
#include "run/run.h"

size_t papers_len(const struct papers *papers, double mb, double largest)
{
	double share = 1;

	if (papers->options->size && (double)papers->options->size < largest * MB)
		share = (double)papers->options->size / (largest * MB);
	return (size_t)(mb * MB * share) + 1;
}

void papers_forget_set(struct papers *papers)
{
	papers_close_gpu(papers);
	papers->right_count = 0;
	free(papers->lens);
	papers->lens = NULL;
	pattern_set_free(&papers->set);
	memset(&papers->set, 0, sizeof(papers->set));
}

void papers_forget(struct papers *papers)
{
	papers_forget_set(papers);
	bench_text_free(&papers->text);
}

static int read_data(struct papers *papers, struct bench_text *text, struct error *error)
{
	struct image *image;
	int status = image_open(&image, papers->options->data, error);

	if (status)
		return status;
	bench_text_from(text, image, papers->options->seed);
	image_close(image);
	return 0;
}

int papers_make_text(struct papers *papers, void (*maker)(struct bench_text *text, uint64_t seed),
	size_t len, struct error *error)
{
	int status;

	papers_forget(papers);
	status = bench_text_take(&papers->text, len, error);
	if (status)
		return status;
	if (papers->options->data)
		return read_data(papers, &papers->text, error);
	if (maker)
		maker(&papers->text, papers->options->seed);
	return 0;
}

/* The dictionary of the options in place of the made one. */
static void take_set(struct papers *papers)
{
	const struct pattern_set *set = papers->options->set;

	if (!set)
		return;
	pattern_set_free(&papers->set);
	memset(&papers->set, 0, sizeof(papers->set));
	for (uint32_t i = 0; i < set->count; i++) {
		struct pattern pattern;

		if (pattern_parse(&pattern, set->patterns[i].text, NULL) == 0)
			pattern_set_add(&papers->set, &pattern);
	}
}

void papers_close_gpu(struct papers *papers)
{
	if (gpu_bench_tool)
		gpu_bench_tool->close(papers->gpu);
	papers->gpu = NULL;
}

void papers_open_gpu(struct papers *papers)
{
	const char *devices = papers->options->gpu.devices;
	struct papers_result *result = papers->result;
	struct error error = { 0 };
	size_t len = 0;

	if (!gpu_bench_tool)
		error_set(&error, EXIT_NO_ENGINE, ENOTSUP, "this burin was built without CUDA");
	else if (papers->text.len > GPU_BENCH_TEXT_MAX)
		error_set(&error, EXIT_NO_ENGINE, EINVAL, "the text is too long for the device");
	else
		gpu_bench_tool->open(&papers->gpu,
			devices       ? devices
			: the_cluster ? the_cluster->gpus
				      : NULL,
			papers->text.bytes, papers->text.len, &error);
	if (!papers->gpu) {
		snprintf(result->gpu_why, sizeof(result->gpu_why), "%s", error.text);
		return;
	}
	if (gpu_bench_tool->read(
		    papers->gpu, papers->seconds, papers->options->rounds, &len, &error) == 0) {
		double seconds = bench_stats_of(papers->seconds, papers->options->rounds).median;

		/* Short texts stay in a cache: the longest one counts. */
		if (bench_speed(len, seconds) > result->device_read || len > 100000000)
			result->device_read = bench_speed(len, seconds);
	}
}

void papers_take_lens(struct papers *papers)
{
	papers->lens = xcalloc(papers->set.count + 1, sizeof(*papers->lens));
	for (uint32_t i = 0; i < papers->set.count; i++)
		papers->lens[i] = papers->set.patterns[i].len;
}

int papers_search(struct papers *papers, struct error *error)
{
	take_set(papers);
	papers_take_lens(papers);
	if (!papers->set.count)
		return error_set(error, EXIT_USAGE, EINVAL, "there are no patterns to search for");
	papers_open_gpu(papers);
	return papers_stop() ? -EINTR : 0;
}

bool papers_stop(void)
{
	return signals_caught() != 0;
}
