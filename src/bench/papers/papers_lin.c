/* Lin and others (PFAC): Tables 2 and 3, with the five measures of section 6.2, and the stages. */
#include "bench/papers/paper_data.h"
#include "scan/gpu_papers.h"
#include "bench/papers/papers_state.h"

#define LARGEST 192 /* MB */
#define SIZES 8
#define GTX480 177.4e9 /* bytes a second of its memory */
#define GBPS(len, seconds) (8e-9 * (double)(len) / (seconds))
/* What the published effective bandwidth (formula 2) and throughput mean. */
#define LOOKUPS(then) ((8 * (then)->bandwidth / (then)->gpu - 5.5) / 4)

static const double sizes[SIZES] = { 2, 4, 8, 16, 32, 64, 128, LARGEST };

/* As published: Gbps, GB/s, GFLOPS, GB/s, GB/s, Gbps. */
struct published {
	double ac, dpac, pfac, gpu, bandwidth, instructions, to_device, to_host, system;
};

static const struct published pure[SIZES] = {
	{ 0.95, 3.76, 4.08, 143.40, 169.27, 285.09, 5.67, 6.37, 9.28 },
	{ 0.95, 3.85, 4.14, 175.43, 206.77, 348.25, 5.86, 6.39, 9.48 },
	{ 0.95, 3.89, 4.17, 192.85, 229.90, 387.21, 5.92, 6.40, 9.57 },
	{ 0.95, 3.92, 4.19, 205.61, 244.56, 411.91, 5.96, 6.40, 9.63 },
	{ 0.95, 3.93, 4.20, 190.89, 221.63, 373.27, 6.01, 6.41, 9.61 },
	{ 0.95, 3.94, 4.20, 218.09, 258.31, 435.05, 6.03, 6.41, 9.68 },
	{ 0.95, 3.94, 4.21, 219.14, 260.23, 438.29, 6.01, 6.41, 9.67 },
	{ 0.95, 3.92, 4.20, 208.53, 247.66, 417.12, 6.00, 6.41, 9.65 },
};
static const struct published attack[SIZES] = {
	{ 0.69, 2.88, 3.08, 72.47, 91.35, 154.27, 5.68, 6.36, 8.74 },
	{ 0.70, 2.88, 3.03, 84.58, 105.79, 178.61, 5.83, 6.38, 8.96 },
	{ 0.70, 3.00, 3.18, 92.69, 115.27, 194.58, 5.94, 6.39, 9.09 },
	{ 0.71, 3.09, 3.31, 95.52, 118.87, 200.66, 5.99, 6.40, 9.14 },
	{ 0.70, 3.05, 3.28, 93.31, 114.84, 193.85, 6.01, 6.41, 9.13 },
	{ 0.71, 3.09, 3.34, 100.74, 124.39, 209.95, 6.03, 6.41, 9.20 },
	{ 0.79, 3.25, 3.60, 116.63, 140.77, 237.42, 6.04, 6.41, 9.32 },
	{ 0.82, 3.28, 3.67, 122.84, 147.39, 248.51, 6.01, 6.41, 9.35 },
};

static void pair(struct paper_table *table, double then, double now)
{
	paper_table_number(table, then, 2);
	paper_table_number(table, now, 2);
}

/* Of one size, for the row of ratios. */
struct speeds {
	double ac, dpac, pfac, gpu, system; /* Gbps */
};

static void add_size(struct papers *papers, struct paper_table *table, double mb,
	const struct published *then, struct speeds *speeds)
{
	size_t len = papers_len(papers, mb, LARGEST);
	struct papers_kernel kernel = { .name = "pfac5", .form = true, .len = len };
	struct gpu_bench_transfer transfer = { .kernel = "pfac5",
		.strategy = GPU_STRATEGY_A,
		.two_channels = true,
		.segments = 1,
		.len = len };
	const struct hit_tallies *right = papers_right(papers, len);
	struct papers_time ac, dpac, pfac, dfa, gpu, moved;
	double lookups = paper_pfac_lookups(&papers->set, papers->text.bytes, len);

	papers_time_engine(papers, "nfa", 1, len, &ac);
	papers_time_engine(papers, "dpac", 0, len, &dpac);
	papers_time_engine(papers, "dpac-dfa", 0, len, &dfa);
	papers_time_engine(papers, "pfac", 0, len, &pfac);
	papers_time_kernel(papers, &kernel, &gpu);
	papers_time_transfer(papers, &transfer, &moved);
	*speeds = (struct speeds){ GBPS(len, ac.seconds), GBPS(len, dpac.seconds),
		GBPS(len, pfac.seconds), GBPS(len, gpu.seconds), GBPS(len, moved.seconds) };
	paper_table_number(table, mb, 0);
	paper_table_number(table, right ? (double)right->all.count : -1, 0);
	pair(table, LOOKUPS(then), lookups / (double)len);
	pair(table, then->ac, speeds->ac);
	pair(table, then->dpac, speeds->dpac);
	paper_table_number(table, GBPS(len, dfa.seconds), 2);
	pair(table, then->pfac, speeds->pfac);
	pair(table, then->gpu, speeds->gpu);
	pair(table, then->bandwidth, (5.5 * (double)len + 4 * lookups) / gpu.seconds / 1e9);
	pair(table, then->instructions, (7 * lookups + 9 * (double)len) / gpu.seconds / 1e9);
	pair(table, then->to_device, moved.seconds > 0 ? (double)len / transfer.t_w / 1e9 : -1);
	pair(table, then->to_host, moved.seconds > 0 ? 4.0 * (double)len / transfer.t_r / 1e9 : -1);
	pair(table, then->system, speeds->system);
	papers_cell_share(table, mb * MB, 8e-9 * mb * MB / then->gpu, GTX480);
	papers_cell_share(table, (double)len, gpu.seconds, papers->result->device_read);
	papers_cell_verdict(table, moved.different ? &moved : &gpu);
}

/* The last row of their tables: of 192 MB, how many times AC_CPU. */
static void add_ratios(
	struct paper_table *table, const struct published *then, const struct speeds *now)
{
	paper_table_word(table, "ratio");
	for (unsigned i = 0; i < 3; i++)
		paper_table_word(table, "-");
	pair(table, 1, now->ac > 0 ? 1 : -1);
	pair(table, then->dpac / then->ac, now->dpac / now->ac);
	paper_table_word(table, "-");
	pair(table, then->pfac / then->ac, now->pfac / now->ac);
	pair(table, then->gpu / then->ac, now->gpu / now->ac);
	for (unsigned i = 0; i < 8; i++)
		paper_table_word(table, "-");
	pair(table, then->system / then->ac, now->system / now->ac);
	for (unsigned i = 0; i < 3; i++)
		paper_table_word(table, "-");
}

static void packets_table(struct papers *papers, const struct published *then, const char *title)
{
	struct paper_table *table = paper_table_new(&papers->result->tables, 3,
		"MB|MATCHES|LOOKUPS A BYTE THEN|NOW|AC CPU THEN Gbps|NOW|DPAC OMP THEN|NOW|"
		"THE SAME WITH A DFA NOW|PFAC OMP THEN|NOW|PFAC GPU THEN|NOW|EFFECTIVE GB/s THEN|"
		"NOW|GFLOPS THEN|NOW|H2D GB/s THEN|NOW|D2H THEN|NOW|SYSTEM Gbps THEN|NOW|CEILING "
		"THEN|NOW|COMPARED",
		"%s", title);
	struct speeds speeds = { -1, -1, -1, -1, -1 };

	for (unsigned i = 0; i < SIZES && !papers_stop(); i++)
		add_size(papers, table, sizes[i], &then[i], &speeds);
	add_ratios(table, &then[SIZES - 1], &speeds);
	paper_table_note(table, "AC CPU, DPAC and PFAC follow failure transitions or none, as the "
				"paper has them; a DFA looks up once for each byte.");
	paper_table_note(table, "dpac and pfac with all threads; they had 8 on 4 cores. Lookups "
				"then: (8 * effective bandwidth / throughput - 5.5) / 4.");
}

/* The gain of each stage, and what they say of one. */
static void stages(struct papers *papers, const char *packets)
{
	static const struct {
		const char *name, *what;
		struct gpu_tuning tuning;
		double then; /* per cent faster than the stage before */
	} rows[] = {
		{ "pfac0", "Figure 7", { 0 }, -1 },
		{ "pfac1", "4.1 text in shared memory", { 0 }, -1 },
		{ "pfac2", "4.2 first row preloaded", { 0 }, 25 },
		{ "pfac3", "4.2 texture", { 0 }, -1 },
		{ "pfac4", "4.3 final states first", { .unmerged = true }, -1 },
		{ "pfac4", "4.2 states and matches merged", { 0 }, -1 },
		{ "pfac5", "4.5 coalesced writes", { 0 }, -1 },
	};
	struct paper_table *table = paper_table_new(&papers->result->tables, 3,
		"KERNEL|STAGE|MATCH ARRAY ms|GB/s|CEILING|SPEEDUP|FASTER THAN THE ROW BEFORE THEN "
		"%|NOW %|AS HITS ms|GB/s|COMPARED",
		"Stages of PFAC, %s of 192 MB", packets);
	double first = -1, before = -1;

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct papers_kernel kernel = {
			.name = rows[i].name, .tuning = rows[i].tuning, .form = true
		};
		struct papers_time form, hits;

		papers_time_kernel(papers, &kernel, &form);
		kernel.form = false;
		papers_time_kernel(papers, &kernel, &hits);
		first = i ? first : form.seconds;
		paper_table_word(table, "%s", rows[i].name);
		paper_table_word(table, "%s", rows[i].what);
		papers_cell_ms(table, &form);
		papers_cell_speed(table, papers->text.len, &form);
		papers_cell_share(
			table, (double)papers->text.len, form.seconds, papers->result->device_read);
		papers_cell_ratio(table, first, form.seconds);
		paper_table_number(table, rows[i].then, 0);
		if (before > 0 && form.seconds > 0)
			paper_table_word(table, "%+.1f", 100 * (before / form.seconds - 1));
		else
			paper_table_word(table, "-");
		before = form.seconds;
		papers_cell_ms(table, &hits);
		papers_cell_speed(table, papers->text.len, &hits);
		papers_cell_verdict(table, hits.different ? &hits : &form);
	}
}

/* Figure 12: copies from and to memory that malloc gave, and page-locked memory. */
static void figure_12(struct papers *papers)
{
	struct paper_table *table = paper_table_new(&papers->result->tables, 3,
		"MB|TO THE DEVICE, PAGEABLE GB/s|PAGE-LOCKED GB/s|TO THE HOST, PAGEABLE GB/s|"
		"PAGE-LOCKED GB/s",
		"Figure 12: the bus from pageable and from page-locked memory (2.22 to 5.74 and 6 "
		"to 6.41 GB/s then)");
	struct error error = { 0 };

	for (unsigned i = 0; papers->gpu && i < SIZES && !papers_stop(); i++) {
		size_t len = papers_len(papers, sizes[i], LARGEST);

		paper_table_number(table, sizes[i], 0);
		for (unsigned way = 0; way < 4; way++) {
			struct gpu_bench_copy copy = { .len = len,
				.chunk_len = len,
				.pageable = way % 2 == 0,
				.to_host = way >= 2,
				.seconds = papers->seconds,
				.rounds = papers->options->rounds };
			int status = gpu_bench_tool->copy(papers->gpu, &copy, &error);

			paper_table_number(table,
				status ? -1
				       : (double)len / 1e9 /
						 bench_stats_of(papers->seconds, copy.rounds)
							 .median,
				2);
		}
	}
	if (error.code)
		paper_table_note(table, "%s", error.text);
}

int papers_lin(struct papers *papers, struct error *error)
{
	int status = papers_make_text(
		papers, paper_packets_text, papers_len(papers, LARGEST, LARGEST), error);

	if (status)
		return status;
	for (unsigned with_attacks = 0; with_attacks < 2; with_attacks++) {
		papers_forget_set(papers);
		paper_packets_patterns(&papers->set, papers->options->seed + 1);
		if (with_attacks && !papers->options->data)
			paper_packets_attacks(
				&papers->text, &papers->set, papers->options->seed + 2);
		status = papers_search(papers, error);
		if (status)
			return status;
		packets_table(papers, with_attacks ? attack : pure,
			with_attacks ? "Table 3: packets with attacks (DEFCON then)"
				     : "Table 2: pure packets");
		stages(papers, with_attacks ? "packets with attacks" : "pure packets");
		if (!with_attacks)
			figure_12(papers);
		papers_compare_all(
			papers, with_attacks ? "packets with attacks" : "packets, no match");
	}
	return 0;
}
