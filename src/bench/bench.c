#include "bench/bench_state.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/memory.h"
#include "base/pool.h"
#include "evidence/image.h"
#include "scan/gpu_bench.h"

#define ROW_SECONDS 20 /* a row that has taken this long gets no further round */
#define RANDOM_SIZE ((uint64_t)256 << 20)
#define DATA_SIZE ((uint64_t)1 << 30)
#define PART_MAX ((uint64_t)4 << 20)
#define PART_MIN ((uint64_t)64 << 10)
#define PART_WORK ((uint64_t)1 << 30) /* patterns that reference tries at a byte, in all */
#define REGEX_WORK 64                 /* the cost of a regex in units of a plain pattern's */

const char *bench_mode_name(enum bench_mode mode)
{
	static const char *const names[] = { "resident", "host", "end-to-end" };

	return names[mode];
}

const char *bench_bound_name(enum bench_bound bound)
{
	static const char *const names[] = { "device memory read", "copy to the device",
		"host memory read", "file read" };

	return names[bound];
}

/* ---- rows and rounds ----------------------------------------------------------------------- */

struct bench_row *bench_add_row(struct bench *bench, enum bench_mode mode, enum bench_bound bound,
	const char *engine, const char *kernel)
{
	struct bench_result *result = bench->result;
	struct bench_row *row;

	result->rows = xgrow(result->rows, &result->capacity, result->count, sizeof(*result->rows));
	row = &result->rows[result->count++];
	*row = (struct bench_row){
		.mode = mode, .bound = bound, .engine = engine, .kernel = kernel
	};
	log_debug("%s: %s%s%s", bench_mode_name(mode), engine, kernel ? ", " : "",
		kernel ? kernel : "");
	return row;
}

void bench_row_failed(struct bench_row *row, const char *why)
{
	row->verdict = BENCH_NOT_RUN;
	row->seconds = (struct bench_stats){ 0 };
	snprintf(row->why, sizeof(row->why), "%s", why);
}

static bool is_listed(const char **names, size_t count, const char *name)
{
	for (size_t i = 0; i < count; i++)
		if (strcmp(names[i], name) == 0)
			return true;
	return false;
}

/* Unless named, all but reference, which would take ages; kernels belong to the gpu engine. */
bool bench_wants_engine(const struct bench *bench, const char *name)
{
	const struct bench_options *options = bench->options;

	if (options->engine_count)
		return is_listed(options->engines, options->engine_count, name);
	if (options->kernel_count)
		return strcmp(name, "gpu") == 0;
	return strcmp(name, "reference") != 0 && !scan_engine_find(name)->comparison;
}

bool bench_nth_kernel(
	const struct bench *bench, const struct scan_engine *engine, size_t n, const char **kernel)
{
	const struct bench_options *options = bench->options;

	if (!options->kernel_count || strcmp(engine->name, "gpu") != 0) {
		*kernel = NULL;
		return n == 0;
	}
	*kernel = n < options->kernel_count ? options->kernels[n] : NULL;
	return n < options->kernel_count;
}

bool bench_wants_round(const struct bench *bench, unsigned done, double spent)
{
	if (signals_caught())
		return false;
	return done == 0 || (done < bench->options->rounds && spent < ROW_SECONDS);
}

bool bench_wants_ceiling(const struct bench *bench, enum bench_bound bound)
{
	const struct bench_ceiling *ceiling = &bench->result->ceilings[bound];

	return ceiling->speed <= 0 && !*ceiling->why;
}

void bench_set_ceiling(struct bench *bench, enum bench_bound bound, uint64_t bytes, unsigned count)
{
	struct bench_stats stats = bench_stats_of(bench->seconds, count);

	bench->result->ceilings[bound].speed = bench_speed(bytes, stats.median);
}

/* ---- verdicts ------------------------------------------------------------------------------- */

void bench_judge(
	struct bench_row *row, const struct hit_tallies *found, const struct hit_tallies *right)
{
	const char *what = row->mode == BENCH_WHOLE ? "lines about files" : "hits";

	row->found = found->all;
	row->verdict = BENCH_DIFFERENT;
	if (!hit_tally_equal(found->part, right->part))
		snprintf(row->why, sizeof(row->why),
			"not what reference finds in the first %llu bytes: %llu %s there, and %llu "
			"with reference",
			(unsigned long long)right->part_len, (unsigned long long)found->part.count,
			what, (unsigned long long)right->part.count);
	else if (!hit_tally_equal(found->all, right->all))
		snprintf(row->why, sizeof(row->why),
			"not what the CPU engine finds: %llu %s, and %llu there",
			(unsigned long long)found->all.count, what,
			(unsigned long long)right->all.count);
	else
		row->verdict = BENCH_EQUAL;
	if (row->verdict == BENCH_DIFFERENT)
		row->seconds = (struct bench_stats){ 0 };
}

/* ---- the text ------------------------------------------------------------------------------ */

/* As much as reference searches in seconds, not hours. */
static uint64_t part_of(const struct pattern_set *set, uint64_t text_len)
{
	uint64_t work = 1, part;

	for (uint32_t i = 0; i < set->count; i++)
		work += set->patterns[i].regex ? REGEX_WORK : 1;
	part = PART_WORK / work;
	part = part > PART_MAX ? PART_MAX : part < PART_MIN ? PART_MIN : part;
	return part < text_len ? part : text_len;
}

static int fill_text(struct bench *bench, struct image *image, struct error *error)
{
	const struct bench_options *options = bench->options;
	uint64_t size = image ? image_info(image)->size : RANDOM_SIZE;
	int status;

	if (image && size > DATA_SIZE)
		size = DATA_SIZE;
	if (options->size)
		size = options->size;
	status = bench_text_take(&bench->text, (size_t)size, error);
	if (status)
		return status;
	if (image)
		bench_text_from(&bench->text, image, options->seed);
	else
		bench_text_random(&bench->text, options->seed);
	if (options->plant)
		bench_text_plant(&bench->text, options->set, options->plant, options->seed + 1);
	bench->result->text_len = size;
	bench->result->part_len = part_of(options->set, size);
	return 0;
}

static int make_text(struct bench *bench, struct error *error)
{
	struct image *image = NULL;
	int status = 0;

	if (bench->options->data)
		status = image_open(&image, bench->options->data, error);
	if (!status)
		status = fill_text(bench, image, error);
	image_close(image);
	return status;
}

/* ---- all ----------------------------------------------------------------------------------- */

/* The first usable engine that is neither a GPU's nor reference, which is the last resort. */
static const struct scan_engine *find_base(void)
{
	for (const struct scan_engine *const *engine = scan_engines; *engine; engine++) {
		char reason[256];

		if (strcmp((*engine)->name, "gpu") != 0 &&
			(*engine)->probe(reason, sizeof(reason)) == 0)
			return *engine;
	}
	return scan_engine_find("reference");
}

static int measure(struct bench *bench, struct error *error)
{
	const bool *modes = bench->options->modes;
	int status = make_text(bench, error);

	if (!status && (modes[BENCH_RESIDENT] || modes[BENCH_HOST]))
		status = bench_expect(bench, error);
	if (status)
		return status;
	if (modes[BENCH_RESIDENT])
		bench_resident(bench);
	if (modes[BENCH_HOST])
		bench_host(bench);
	if (modes[BENCH_WHOLE])
		bench_files(bench);
	return signals_caught() ? -EINTR : 0;
}

int bench_run(struct bench_result *result, const struct bench_options *options, struct error *error)
{
	struct bench bench = { .options = options, .result = result, .base = find_base() };
	int status;

	*result = (struct bench_result){ 0 };
	bench.pool = pool_new(options->threads);
	if (!bench.pool)
		return error_set(error, EXIT_IO, EAGAIN, "cannot start any thread");
	bench.seconds = xcalloc(options->rounds, sizeof(*bench.seconds));
	result->threads = pool_threads(bench.pool);
	status = measure(&bench, error);
	if (gpu_bench_tool)
		gpu_bench_tool->close(bench.gpu);
	bench_text_free(&bench.text);
	pool_free(bench.pool);
	free(bench.seconds);
	return status;
}

void bench_result_free(struct bench_result *result)
{
	free(result->rows);
	*result = (struct bench_result){ 0 };
}
