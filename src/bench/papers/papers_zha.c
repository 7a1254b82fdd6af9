/* Zha and Sahni: Tables 1 to 5, their variants, and A against B with their theorems. */
#include <string.h>

#include "bench/papers/paper_data.h"
#include "bench/papers/papers_state.h"
#include "bench/papers/theory.h"

#define LARGEST 904 /* MB */
/* Bytes a second of their card's memory. It had room for 904 MB of text and twice that of states:
 * of the cards with a GT200 that is the Tesla C1060 with 4 GB. */
#define GT200 102e9

static const double sizes[] = { 10, 100, LARGEST };
#define SIZES (sizeof(sizes) / sizeof(*sizes))

/* The milliseconds of Tables 1 and 3; 0: they did not build it. */
struct stage {
	const char *name;
	double ms[SIZES];
};

static const struct stage ac_stages[] = {
	{ "ac0", { 23, 227, 2158 } },
	{ "ac1", { 12, 118, 1107 } },
	{ "ac2", { 8, 80, 748 } },
	{ "ac3", { 6, 53, 434 } },
	{ "ac4", { 3, 26, 249 } },
};
static const struct stage mbm_stages[] = {
	{ "mbm0", { 25, 252, 2343 } },
	{ "mbm1", { 13, 127, 1184 } },
	{ "mbm2", { 0 } },
	{ "mbm3", { 0 } },
	{ "mbm4", { 0 } },
};
#define STAGES 5

#define T_WORD 57 /* S_thread is 4 of them */

/* The total work of section 3.1.1, as a share of the text's length. */
static void add_work(const struct papers *papers, struct paper_table *table, unsigned t_word)
{
	paper_table_number(table, total_work(1, 4 * t_word, papers->set.longest), 4);
}

/* Published times, and how many times as fast as the first row each is. */
static void stages(struct papers *papers, const struct stage *rows, const char *title,
	const char *speedup_title, struct papers_time times[STAGES][SIZES])
{
	struct papers_result *result = papers->result;
	struct paper_table *runtime = paper_table_new(&result->tables, 1,
		"STEP|10MB THEN ms|NOW ms|100MB THEN ms|NOW ms|904MB THEN ms|NOW ms|CEILING THEN|"
		"CEILING NOW|TOTAL WORK|AS HITS ms|COMPARED",
		"%s", title);
	struct paper_table *speedup = paper_table_new(&result->tables, 1,
		"STEP|10MB THEN|NOW|100MB THEN|NOW|904MB THEN|NOW", "%s", speedup_title);

	for (unsigned i = 0; i < STAGES; i++) {
		struct papers_kernel kernel = { .name = rows[i].name };
		struct papers_time hits;

		paper_table_word(runtime, "%s", rows[i].name);
		paper_table_word(speedup, "%s", rows[i].name);
		for (unsigned k = 0; k < SIZES; k++) {
			kernel.form = true;
			kernel.len = papers_len(papers, sizes[k], LARGEST);
			papers_time_kernel(papers, &kernel, &times[i][k]);
			paper_table_number(runtime, rows[i].ms[k] > 0 ? rows[i].ms[k] : -1, 0);
			papers_cell_ms(runtime, &times[i][k]);
			papers_cell_ratio(speedup, rows[0].ms[k], rows[i].ms[k]);
			papers_cell_ratio(speedup, times[0][k].seconds, times[i][k].seconds);
		}
		kernel.form = false;
		papers_time_kernel(papers, &kernel, &hits);
		papers_cell_share(
			runtime, sizes[SIZES - 1] * MB, rows[i].ms[SIZES - 1] / 1e3, GT200);
		papers_cell_share(runtime, (double)kernel.len, times[i][SIZES - 1].seconds,
			result->device_read);
		add_work(papers, runtime, T_WORD);
		papers_cell_ms(runtime, &hits);
		papers_cell_verdict(runtime, hits.different ? &hits : &times[i][SIZES - 1]);
	}
	paper_table_note(runtime,
		"Total work: section 3.1.1, in lengths of the text; theirs was 1.07, "
		"with patterns of up to 17 bytes.");
}

/* ac4: of AC4, by size. */
static void tables_1_to_3(struct papers *papers, struct papers_time ac4[SIZES])
{
	struct papers_time ac[STAGES][SIZES], mbm[STAGES][SIZES];
	struct paper_table *table;

	stages(papers, ac_stages, "Table 1: runtime of the AC versions",
		"Table 2: speedup relative to AC0", ac);
	memcpy(ac4, ac[STAGES - 1], sizeof(ac[STAGES - 1]));
	stages(papers, mbm_stages,
		"Table 3: runtime of the mBM versions (mbm2 to mbm4 were not built then)",
		"Speedup relative to mBM0", mbm);
	table = paper_table_new(&papers->result->tables, 1,
		"STEPS|10MB THEN|NOW|100MB THEN|NOW|904MB THEN|NOW",
		"Time of mBM relative to the AC version of the same step");
	for (unsigned i = 0; i < STAGES; i++) {
		paper_table_word(table, "mbm%u / ac%u", i, i);
		for (unsigned k = 0; k < SIZES; k++) {
			papers_cell_ratio(table, mbm_stages[i].ms[k], ac_stages[i].ms[k]);
			papers_cell_ratio(table, mbm[i][k].seconds, ac[i][k].seconds);
		}
	}
}

/* Section 5.1.1: "14.78 and 7.8 percent more", "1 to 2 percent more". */
static void variants(struct papers *papers)
{
	static const struct {
		const char *kernel, *what;
		struct gpu_tuning tuning;
		double then; /* per cent more than the kernel as it is */
	} rows[] = {
		{ "ac4", "as it is", { 0 }, 0 },
		{ "ac4", "tWord 48", { .words = 48 }, 14.78 },
		{ "ac4", "tWord 56", { .words = 56 }, 7.8 },
		{ "ac4", "tWord 57", { .words = 57 }, 0 },
		{ "ac3", "as it is", { 0 }, 0 },
		{ "ac3", "reads uints", { .uints = true }, 1.5 },
		{ "ac3", "tWord 48", { .words = 48 }, -1 },
	};
	struct paper_table *table = paper_table_new(&papers->result->tables, 1,
		"KERNEL|VARIANT|TOTAL WORK|NOW ms|MORE TIME THEN %|MORE TIME NOW %|COMPARED",
		"Variants of section 5.1.1, 904 MB");
	double base = 0;

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct papers_kernel kernel = { rows[i].kernel, rows[i].tuning, true, false,
			papers_len(papers, LARGEST, LARGEST) };
		struct papers_time time;
		double more;

		papers_time_kernel(papers, &kernel, &time);
		if (rows[i].then <= 0 && !rows[i].tuning.words)
			base = time.seconds;
		paper_table_word(table, "%s", rows[i].kernel);
		paper_table_word(table, "%s", rows[i].what);
		add_work(papers, table, rows[i].tuning.words ? rows[i].tuning.words : T_WORD);
		papers_cell_ms(table, &time);
		paper_table_number(table, rows[i].then, 2);
		more = 100 * (time.seconds / base - 1);
		if (time.seconds > 0 && base > 0)
			paper_table_word(table, "%+.2f", more);
		else
			paper_table_word(table, "-");
		papers_cell_verdict(table, &time);
	}
}

/* ---- Table 4 ---- */

#define HOST_COUNTS 5 /* of threads */
#define HOST_SIZES 4

static const unsigned host_threads[HOST_COUNTS] = { 1, 2, 4, 8, 16 };

/* shared: filled in with the times of the one DFA for all threads. */
static void table_4(struct papers *papers, struct papers_time shared[HOST_COUNTS][HOST_SIZES])
{
	static const double mb[HOST_SIZES] = { 10, 100, 500, LARGEST };
	static const double then[][HOST_SIZES] = { { 24, 243, 1238, 2370 }, { 14, 126, 617, 1206 },
		{ 11, 69, 319, 605 }, { 9, 68, 367, 677 }, { 11, 68, 356, 621 } };
	static const char *const engines[] = { "ac-copies", "ac" };
	static const char *const whose[] = { "its own", "shared" };
	struct paper_table *table = paper_table_new(&papers->result->tables, 1,
		"THREADS|DFA|10MB THEN ms|NOW ms|100MB THEN ms|NOW ms|500MB THEN ms|NOW ms|"
		"904MB THEN ms|NOW ms|SPEEDUP 10MB THEN|NOW|100MB THEN|NOW|500MB THEN|NOW|904MB "
		"THEN|NOW",
		"Table 4: multithreaded AC on the host, each thread with a DFA of its own, and "
		"with one shared");

	for (unsigned e = 0; e < 2; e++) {
		for (unsigned i = 0; i < HOST_COUNTS; i++) {
			/* The shared ones come last, and stay. */
			struct papers_time *times = shared[i];

			paper_table_word(table, "%u", host_threads[i]);
			paper_table_word(table, "%s", whose[e]);
			for (unsigned k = 0; k < HOST_SIZES; k++) {
				papers_time_engine(papers, engines[e], host_threads[i],
					papers_len(papers, mb[k], LARGEST), &times[k]);
				paper_table_number(table, e == 0 ? then[i][k] : -1, 0);
				papers_cell_ms(table, &times[k]);
			}
			for (unsigned k = 0; k < HOST_SIZES; k++) {
				papers_cell_ratio(table, e == 0 ? then[0][k] : -1, then[i][k]);
				papers_cell_ratio(table, shared[0][k].seconds, times[k].seconds);
			}
		}
	}
}

/* The abstract and section 5.1.3: AC4 is 8.5 to 9.5 times a CPU with one thread, and 2.4 to 3.2 times
 * the best number of threads. ac4: its times. shared: of the host, from table 4. */
static void against_the_host(struct papers *papers, const struct papers_time ac4[SIZES],
	struct papers_time shared[HOST_COUNTS][HOST_SIZES])
{
	static const double one[SIZES] = { 24, 243, 2370 }, best[SIZES] = { 9, 68, 605 };
	static const unsigned host_size[SIZES] = { 0, 1, 3 }; /* of table 4 */
	struct paper_table *table = paper_table_new(&papers->result->tables, 1,
		"MB|AC4 THEN ms|NOW ms|ONE THREAD THEN ms|NOW ms|AC4 IS TIMES AS FAST THEN|NOW|"
		"BEST THREADS THEN ms|NOW ms|THREADS NOW|AC4 IS TIMES AS FAST THEN|NOW",
		"Section 5.1.3: AC4 beside the host");

	for (unsigned k = 0; k < SIZES; k++) {
		const struct papers_time *first = &shared[0][host_size[k]];
		struct papers_time fastest = *first;
		double ac4_then = ac_stages[STAGES - 1].ms[k];
		unsigned threads = 1;

		for (unsigned i = 1; i < HOST_COUNTS; i++) {
			const struct papers_time *time = &shared[i][host_size[k]];

			if (host_threads[i] > papers->result->threads || time->seconds <= 0 ||
				time->seconds >= fastest.seconds)
				continue;
			fastest = *time;
			threads = host_threads[i];
		}
		paper_table_number(table, sizes[k], 0);
		paper_table_number(table, ac4_then, 0);
		papers_cell_ms(table, &ac4[k]);
		paper_table_number(table, one[k], 0);
		papers_cell_ms(table, first);
		papers_cell_ratio(table, one[k], ac4_then);
		papers_cell_ratio(table, first->seconds, ac4[k].seconds);
		paper_table_number(table, best[k], 0);
		papers_cell_ms(table, &fastest);
		paper_table_number(table, threads, 0);
		papers_cell_ratio(table, best[k], ac4_then);
		papers_cell_ratio(table, fastest.seconds, ac4[k].seconds);
	}
	paper_table_note(
		table, "The host's times are those of table 4 with one DFA for all threads.");
}

/* ---- host to host ---- */

static void table_5(struct papers *papers)
{
	static const struct {
		unsigned segments;
		double mb, gpu, quadcore;
	} rows[] = { { 100, 904, 817, 605 }, { 10, 904, 786, 605 }, { 2, 904, 789, 605 },
		{ 1, 904, 770, 605 }, { 50, 500, 413, 319 }, { 10, 500, 388, 319 },
		{ 5, 500, 385, 319 }, { 1, 500, 396, 319 } };
	struct paper_table *table = paper_table_new(&papers->result->tables, 1,
		"SEGMENTS|MB|GPU THEN ms|NOW, 1 CHANNEL ms|NOW, 2 CHANNELS ms|QUAD-CORE THEN ms|"
		"ALL CORES NOW ms|SPEEDUP THEN|SPEEDUP NOW|ONE THREAD THEN ms|NOW ms|SPEEDUP "
		"THEN|SPEEDUP NOW|COMPARED",
		"Table 5: host to host by strategy A with AC3");

	struct papers_time cpu, one;

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		size_t len = papers_len(papers, rows[i].mb, LARGEST);
		double one_then = rows[i].mb > 500 ? 2370 : 1238;
		struct papers_time times[2];

		for (unsigned channels = 1; channels <= 2; channels++) {
			struct gpu_bench_transfer run = { .kernel = "ac3",
				.strategy = GPU_STRATEGY_A,
				.two_channels = channels == 2,
				.segments = rows[i].segments,
				.len = len };

			papers_time_transfer(papers, &run, &times[channels - 1]);
		}
		if (i == 0 || rows[i].mb < rows[i - 1].mb) { /* the host knows no segments */
			papers_time_engine(papers, "ac", 0, len, &cpu);
			papers_time_engine(papers, "ac", 1, len, &one);
		}
		paper_table_number(table, rows[i].segments, 0);
		paper_table_number(table, rows[i].mb, 0);
		paper_table_number(table, rows[i].gpu, 0);
		papers_cell_ms(table, &times[0]);
		papers_cell_ms(table, &times[1]);
		paper_table_number(table, rows[i].quadcore, 0);
		papers_cell_ms(table, &cpu);
		papers_cell_ratio(table, rows[i].quadcore, rows[i].gpu);
		papers_cell_ratio(table, cpu.seconds, times[1].seconds);
		paper_table_number(table, one_then, 0);
		papers_cell_ms(table, &one);
		papers_cell_ratio(table, one_then, rows[i].gpu);
		papers_cell_ratio(table, one.seconds, times[1].seconds);
		papers_cell_verdict(table, times[1].different ? &times[1] : &times[0]);
	}
}

#define HYBRID_BUFFERS 4

/* A row: both strategies with this many segments, measured, and as the theorems predict from the
 * times of the single steps; beside them the hybrid. */
static void a_against_b_row(
	struct papers *papers, struct paper_table *table, unsigned segments, bool two, size_t len)
{
	static const enum gpu_strategy strategies[] = { GPU_STRATEGY_A, GPU_STRATEGY_B,
		GPU_STRATEGY_HYBRID };
	struct papers_time time[3];
	struct gpu_bench_transfer run[3];
	struct transfer_times t;
	double a, b, bound;

	for (unsigned i = 0; i < 3; i++) {
		run[i] = (struct gpu_bench_transfer){ .kernel = "ac3",
			.strategy = strategies[i],
			.buffers = HYBRID_BUFFERS,
			.two_channels = two,
			.segments = segments,
			.len = len };
		papers_time_transfer(papers, &run[i], &time[i]);
	}
	t = (struct transfer_times){ (run[0].t_w + run[1].t_w) / 2, (run[0].t_p + run[1].t_p) / 2,
		(run[0].t_r + run[1].t_r) / 2, segments };
	a = two ? transfer_a_two_channels(&t) : transfer_a_one_channel(&t);
	b = two ? transfer_b_two_channels(&t) : transfer_b_one_channel(&t);
	bound = two ? transfer_bound_two_channels(segments) : transfer_bound_one_channel(segments);
	paper_table_number(table, segments, 0);
	paper_table_number(table, two ? 2 : 1, 0);
	paper_table_number(table, t.t_w * 1e3, 3);
	paper_table_number(table, t.t_p * 1e3, 3);
	paper_table_number(table, t.t_r * 1e3, 3);
	paper_table_number(table, time[0].seconds > 0 ? a * 1e3 : -1, 2);
	papers_cell_ms(table, &time[0]);
	paper_table_number(table, time[1].seconds > 0 ? b * 1e3 : -1, 2);
	papers_cell_ms(table, &time[1]);
	paper_table_word(table, "%.2f", a > 0 ? 100 * (b - a) / a : 0);
	if (time[0].seconds > 0 && time[1].seconds > 0)
		paper_table_word(
			table, "%.2f", 100 * (time[1].seconds - time[0].seconds) / time[0].seconds);
	else
		paper_table_word(table, "-");
	paper_table_number(table, 100 * bound, 2);
	papers_cell_ms(table, &time[2]);
	for (unsigned i = 0; i < 3; i++)
		paper_table_number(
			table, time[i].seconds > 0 ? (double)run[i].device_len / MB : -1, 0);
	papers_cell_verdict(table, &time[time[0].different ? 0 : time[1].different ? 1 : 2]);
}

static void a_against_b(struct papers *papers)
{
	static const unsigned segments[] = { 1, 2, 3, 4, 5, 10, 20, 50, 100 };
	struct paper_table *table = paper_table_new(&papers->result->tables, 1,
		"SEGMENTS|CHANNELS|t_w ms|t_p ms|t_r ms|T_A PREDICTED ms|MEASURED ms|T_B PREDICTED "
		"ms|MEASURED ms|(T_B-T_A)/T_A PREDICTED %|MEASURED %|BOUND %|HYBRID ms|DEVICE "
		"MEMORY A MB|B MB|HYBRID MB|COMPARED",
		"Strategy A against B with AC3, 904 MB: Theorems 2, 4, 7, 10; the bounds of 6 (one "
		"channel) and 12 (two)");

	if (!papers->gpu)
		return;
	for (unsigned two = 0; two < 2; two++)
		for (size_t i = 0; i < sizeof(segments) / sizeof(*segments); i++)
			a_against_b_row(papers, table, segments[i], two,
				papers_len(papers, LARGEST, LARGEST));
	paper_table_note(table,
		"Hybrid: %d buffers in turn, without B's barriers: a segment waits for the one "
		"whose "
		"buffers it takes. Device memory is that of text and states.",
		HYBRID_BUFFERS);
}

int papers_zha(struct papers *papers, struct error *error)
{
	struct papers_time ac4[SIZES], shared[HOST_COUNTS][HOST_SIZES];
	int status = papers_make_text(
		papers, paper_disk_text, papers_len(papers, LARGEST, LARGEST), error);

	if (!status) {
		paper_disk_patterns(&papers->set);
		status = papers_search(papers, error);
	}
	if (status)
		return status;
	tables_1_to_3(papers, ac4);
	variants(papers);
	table_4(papers, shared);
	against_the_host(papers, ac4, shared);
	table_5(papers);
	a_against_b(papers);
	papers_compare_all(papers, "disk, 33 patterns");
	return 0;
}
