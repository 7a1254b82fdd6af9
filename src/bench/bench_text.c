/* Rows on text in memory: kernels on the device, engines by their contract. */
#include "bench/bench_state.h"

#include <errno.h>
#include <string.h>

#include "base/log.h"
#include "bench/memory_speed.h"
#include "bench/bench_search.h"
#include "scan/gpu_bench.h"
#include "scan/gpu_kernels.h"

#define ROUND_SECONDS 0.1 /* a round searches the text as often as takes this long */
#define PASSES_MAX 1000

/* ---- the right hits ------------------------------------------------------------------------- */

static int open_search(struct bench *bench, struct bench_search **search,
	const struct scan_engine *engine, const char *kernel, struct error *error)
{
	const struct bench_options *options = bench->options;
	struct bench_search_options wanted = {
		.engine = engine,
		.kernel = kernel,
		.set = options->set,
		.text = &bench->text,
		.chunk_len = (size_t)options->chunk_size,
		.pool = bench->pool,
		.gpu = &options->gpu,
	};

	return bench_search_open(search, &wanted, error);
}

/* The engine's hits in the first len bytes. */
static int find(struct bench *bench, const struct scan_engine *engine, size_t len,
	struct hit_tallies *hits, struct error *error)
{
	struct bench_search *search;
	uint64_t count;
	int status = open_search(bench, &search, engine, NULL, error);

	if (status)
		return status;
	*hits = (struct hit_tallies){ .part_len = bench->result->part_len };
	if (bench_search_run(search, len, 1, hits, &count, error) < 0)
		status = -EIO;
	bench_search_close(search);
	return status;
}

int bench_expect(struct bench *bench, struct error *error)
{
	const struct scan_engine *reference = scan_engine_find("reference");
	struct hit_tallies part;
	int status = find(bench, reference, (size_t)bench->result->part_len, &part, error);

	if (!status)
		status = find(bench, bench->base, bench->text.len, &bench->right, error);
	if (!status && !hit_tally_equal(part.part, bench->right.part))
		log_error("the engine %s differs from reference in the first %llu bytes",
			bench->base->name, (unsigned long long)part.part_len);
	bench->right.part = part.part;
	return status;
}

/* ---- resident ------------------------------------------------------------------------------ */

static const char *const not_built = "this burin was built without CUDA";

static void note(struct bench_ceiling *ceiling, const char *why)
{
	snprintf(ceiling->why, sizeof(ceiling->why), "%s", why);
}

static int open_gpu(struct bench *bench, struct error *error)
{
	if (bench->gpu)
		return 0;
	if (!gpu_bench_tool)
		return error_set(error, EXIT_NO_ENGINE, ENOTSUP, "%s", not_built);
	if (bench->text.len > GPU_BENCH_TEXT_MAX)
		return error_set(error, EXIT_USAGE, EINVAL,
			"a text of 4 GiB or more does not go to the device in one piece: choose a "
			"smaller --size");
	return gpu_bench_tool->open(&bench->gpu, bench->options->gpu.devices, bench->text.bytes,
		bench->text.len, error);
}

static void device_read(struct bench *bench)
{
	struct error error = { 0 };
	size_t len;

	if (gpu_bench_tool->read(bench->gpu, bench->seconds, bench->options->rounds, &len, &error))
		note(&bench->result->ceilings[BENCH_DEVICE_READ], error.text);
	else
		bench_set_ceiling(bench, BENCH_DEVICE_READ, len, bench->options->rounds);
}

static void device_copy(struct bench *bench)
{
	const struct bench_options *options = bench->options;
	struct gpu_bench_copy copy = { .chunk_len = (size_t)options->chunk_size,
		.seconds = bench->seconds,
		.rounds = options->rounds };
	struct error error = { 0 };
	int status = open_gpu(bench, &error);

	if (!status)
		status = gpu_bench_tool->copy(bench->gpu, &copy, &error);
	if (status)
		note(&bench->result->ceilings[BENCH_DEVICE_COPY], error.text);
	else
		bench_set_ceiling(bench, BENCH_DEVICE_COPY, bench->text.len, options->rounds);
}

static void run_kernel(struct bench *bench, struct bench_row *row)
{
	struct gpu_bench_kernel run = {
		.tuning = &bench->options->gpu.tuning,
		.zero_copy = bench->options->zero_copy,
		.seconds = bench->seconds,
		.rounds = bench->options->rounds,
		.hits = { .part_len = bench->result->part_len },
	};
	struct error error = { 0 };
	int status =
		gpu_bench_tool->run(bench->gpu, row->kernel, bench->options->set, &run, &error);

	if (status || run.overflow) {
		bench_row_failed(row, status ? error.text
					     : "more hits than there is room for on the device, so "
					       "that they can't be compared");
		return;
	}
	snprintf(row->how, sizeof(row->how), "%s", run.how);
	row->bytes = bench->text.len;
	row->compile = run.compile;
	row->seconds = bench_stats_of(bench->seconds, run.rounds);
	bench_judge(row, &run.hits, &bench->right);
}

static bool wants_kernel(const struct bench_options *options, const struct gpu_kernel_info *kernel)
{
	for (size_t i = 0; i < options->kernel_count; i++)
		if (strcmp(options->kernels[i], kernel->name) == 0)
			return true;
	return options->kernel_count == 0 && !kernel->comparison;
}

void bench_resident(struct bench *bench)
{
	struct error error = { 0 };
	int status;

	if (!bench_wants_engine(bench, "gpu"))
		return;
	status = open_gpu(bench, &error);
	if (status)
		note(&bench->result->ceilings[BENCH_DEVICE_READ], error.text);
	else
		device_read(bench);
	for (const struct gpu_kernel_info *kernel = gpu_kernel_list; kernel->name; kernel++) {
		struct bench_row *row;

		if (!wants_kernel(bench->options, kernel) || signals_caught())
			continue;
		row = bench_add_row(bench, BENCH_RESIDENT, BENCH_DEVICE_READ, "gpu", kernel->name);
		if (status)
			bench_row_failed(row, error.text);
		else
			run_kernel(bench, row);
	}
}

/* ---- host ---------------------------------------------------------------------------------- */

static void host_read(struct bench *bench)
{
	double spent = 0;
	unsigned done = 0;

	bench_memory_read(bench->pool, &bench->text);
	for (; bench_wants_round(bench, done, spent); done++)
		spent += bench->seconds[done] = bench_memory_read(bench->pool, &bench->text);
	bench_set_ceiling(bench, BENCH_HOST_READ, bench->text.len, done);
}

/* Rounds that do not tally each hit; their number is compared all the same. */
static int time_search(struct bench *bench, struct bench_row *row, struct bench_search *search,
	struct error *error)
{
	double once, spent = 0;
	unsigned passes = 1, done = 0;
	uint64_t count;

	once = bench_search_run(search, bench->text.len, 1, NULL, &count, error);
	if (once > 0 && once < ROUND_SECONDS)
		passes += (unsigned)(ROUND_SECONDS / once);
	if (passes > PASSES_MAX)
		passes = PASSES_MAX;
	for (; once >= 0 && bench_wants_round(bench, done, spent); done++) {
		double seconds =
			bench_search_run(search, bench->text.len, passes, NULL, &count, error);

		if (seconds < 0)
			return -EIO;
		if (count != passes * bench->right.all.count)
			return error_set(error, EXIT_PROBLEMS, EILSEQ,
				"%llu hits in round %u, not %llu", (unsigned long long)count,
				done + 1, (unsigned long long)(passes * bench->right.all.count));
		spent += bench->seconds[done] = seconds;
	}
	row->bytes = (uint64_t)bench->text.len * passes;
	row->seconds = bench_stats_of(bench->seconds, done);
	return once < 0 ? -EIO : 0;
}

static int run_search(struct bench *bench, struct bench_row *row, const struct scan_engine *engine,
	struct error *error)
{
	struct hit_tallies found = { .part_len = bench->result->part_len };
	struct bench_search *search;
	uint64_t count;
	int status = open_search(bench, &search, engine, row->kernel, error);

	if (status)
		return status;
	snprintf(row->how, sizeof(row->how), "%s", bench_search_kernel(search));
	if (bench_search_run(search, bench->text.len, 1, &found, &count, error) < 0)
		status = -EIO;
	if (!status) {
		bench_judge(row, &found, &bench->right);
		if (row->verdict == BENCH_EQUAL)
			status = time_search(bench, row, search, error);
	}
	bench_search_close(search);
	return status;
}

static void host_row(struct bench *bench, const struct scan_engine *engine, const char *kernel)
{
	bool gpu = strcmp(engine->name, "gpu") == 0;
	struct bench_row *row = bench_add_row(
		bench, BENCH_HOST, gpu ? BENCH_DEVICE_COPY : BENCH_HOST_READ, engine->name, kernel);
	struct error error = { 0 };
	char reason[256];
	int status;

	if (engine->probe(reason, sizeof(reason))) {
		bench_row_failed(row, reason);
		return;
	}
	if (bench_wants_ceiling(bench, row->bound))
		(gpu ? device_copy : host_read)(bench);
	status = run_search(bench, row, engine, &error);
	if (status)
		bench_row_failed(row, error.text);
	if (status == -EILSEQ)
		row->verdict = BENCH_DIFFERENT;
}

void bench_host(struct bench *bench)
{
	const struct scan_engine *engine;

	for (unsigned i = 0; (engine = scan_engine_at(i)); i++) {
		const char *kernel;

		for (size_t n = 0; bench_wants_engine(bench, engine->name) && !signals_caught() &&
				   bench_nth_kernel(bench, engine, n, &kernel);
			n++)
			host_row(bench, engine, kernel);
	}
}
