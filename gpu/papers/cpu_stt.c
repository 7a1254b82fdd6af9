/*
 * The engine stt: the patterns divided among four automata, on the processor's threads. It takes the
 * place of what Tran, Lee and Choi ran on a Xeon Phi (2015, section 5.3): there too each thread takes
 * the next piece of the text when it has finished one, and the threads share the four tables. A
 * thread sends its piece through one table after the other. The engine stt-1 is the same with one
 * automaton, which they compare with. The tables are those of the kernels stt-*; see gpu/papers/stt.cu.
 */
#include "gpu/papers/stt.h"
#include "gpu/papers/cpu_sequential.h"

static int stt_compile_four(struct gpu_program **program, const struct pattern_set *set,
	const struct gpu_tuning *tuning, struct error *error)
{
	static const struct gpu_tuning four = { .parts = 4 };

	(void)tuning; /* CPU engines have no options */
	return stt_compile(program, set, &four, error);
}

static int stt_compile_one(struct gpu_program **program, const struct pattern_set *set,
	const struct gpu_tuning *tuning, struct error *error)
{
	static const struct gpu_tuning one = { .parts = 1 };

	(void)tuning;
	return stt_compile(program, set, &one, error);
}

static void stt_search_all(
	const struct gpu_program *program, const struct gpu_text *text, const struct gpu_hits *hits)
{
	const struct stt_tables *tables = stt_tables(program);
	struct stt_view view = { .bytes = text->bytes };
	struct stt_out out = { .hits = hits };

	for (uint32_t i = 0; i < tables->part_count && *hits->count <= hits->capacity; i++) {
		const struct stt_part *part = &tables->parts[i];

		stt_search(part, tables->longest, &view, text->from,
			found_end(&part->automaton.found, text), text, &out);
	}
}

static const struct sequential stt = {
	.compile = stt_compile_four,
	.free = stt_free,
	.describe = stt_describe,
	.search = stt_search_all,
};

static const struct sequential stt_one = {
	.compile = stt_compile_one,
	.free = stt_free,
	.describe = stt_describe,
	.search = stt_search_all,
};

static int compile(void **database, const struct pattern_set *set, struct error *error)
{
	return sequential_compile(database, &stt, set, error);
}

static int compile_one(void **database, const struct pattern_set *set, struct error *error)
{
	return sequential_compile(database, &stt_one, set, error);
}

static const struct matcher stt_matcher = {
	.name = "stt",
	.summary = "several small automata (Tran et al.); for comparison",
	.compile = compile,
	SEQUENTIAL_MATCHER,
};

static const struct matcher stt_one_matcher = {
	.name = "stt-1",
	.summary = "the same with one automaton; for comparison",
	.compile = compile_one,
	SEQUENTIAL_MATCHER,
};

static int stt_open(struct scan **scan, const struct pattern_set *set,
	const struct scan_options *options, struct error *error)
{
	return cpu_scan_open(scan, &stt_matcher, set, options, error);
}

static int stt_one_open(struct scan **scan, const struct pattern_set *set,
	const struct scan_options *options, struct error *error)
{
	return cpu_scan_open(scan, &stt_one_matcher, set, options, error);
}

const struct scan_engine stt_engine = {
	.name = "stt",
	.summary = "several small automata (Tran et al.); for comparison",
	.probe = sequential_probe,
	.open = stt_open,
	CPU_SCAN_CALLS,
	.comparison = true,
};

const struct scan_engine stt_one_engine = {
	.name = "stt-1",
	.summary = "the same with one automaton; for comparison",
	.probe = sequential_probe,
	.open = stt_one_open,
	CPU_SCAN_CALLS,
	.comparison = true,
};
