/* Tran, Lee and Choi: the partitioned automata: Tables 2 to 4, throughput on prose and on the
 * dictionary as input, beside processors, and what each optimization is worth. */
#include <stdio.h>
#include <string.h>

#include "bench/papers/paper_data.h"
#include "scan/gpu_papers.h"
#include "bench/papers/papers_state.h"

#define LARGEST 500 /* MB */
#define K20 208e9   /* bytes a second of its memory */
#define SHAPE_ROUNDS 3
#define CPU_MB 32    /* of the text, for a rate of the processor */
#define TUNED_MB 100 /* for figures 20 and 21 */

static const unsigned parts[] = { 1, 4, 8 };
#define PARTS 3
static const uint32_t counts[] = { 100, 5000, 50000 };
#define COUNTS 3
static const double sizes[] = { 20, 100, LARGEST };
#define SIZES 3

/* ---- Tables 2 to 4: nothing of it needs a GPU ---- */

/* Fills in the automata, and their least building time of some rounds; -1 without any. */
static void measure_automata(
	const struct pattern_set *set, unsigned part_count, struct paper_automata *automata)
{
	double least = -1;

	for (unsigned i = 0; i < SHAPE_ROUNDS && !papers_stop(); i++) {
		if (paper_automata_make(automata, set, part_count))
			break;
		if (least < 0 || automata->seconds < least)
			least = automata->seconds;
	}
	automata->seconds = least;
}

struct shape_tables {
	struct paper_table *states, *sizes, *seconds;
};

/* A row of Tables 2, 3 and 4, as published; 0: it is not in the table. */
struct shape_row {
	uint32_t count;
	double seconds[PARTS], average_len;
	double states[PARTS], kib[PARTS];
};

static double published(double number)
{
	return number > 0 ? number : -1;
}

/* "148 146 146 142" */
static void add_parts(struct paper_table *table, const struct paper_automata *automata)
{
	char text[56] = "";

	for (unsigned i = 0; i < automata->count; i++)
		snprintf(text + strlen(text), sizeof(text) - strlen(text), "%s%u", i ? " " : "",
			automata->part_states[i]);
	paper_table_word(table, "%s", text);
}

static void add_shapes(
	const struct papers *papers, struct shape_tables *tables, const struct shape_row *row)
{
	struct pattern_set set = { 0 };
	struct paper_automata all[PARTS] = { 0 };

	paper_prose_patterns(&set, row->count, papers->options->seed + 1);
	for (unsigned i = 0; i < PARTS; i++)
		measure_automata(&set, parts[i], &all[i]);
	paper_table_number(tables->states, row->count, 0);
	paper_table_number(tables->states, set.count, 0);
	paper_table_number(tables->states, published(row->average_len), 2);
	paper_table_number(tables->states, all[0].average_len, 2);
	paper_table_number(tables->sizes, row->count, 0);
	paper_table_number(tables->seconds, row->count, 0);
	for (unsigned i = 0; i < PARTS; i++) {
		paper_table_number(tables->states, published(row->states[i]), 0);
		paper_table_number(tables->states, all[i].states, 0);
		if (i)
			add_parts(tables->states, &all[i]);
		paper_table_number(tables->sizes, published(row->kib[i]), 0);
		paper_table_number(tables->sizes, all[i].len / 1024, 0);
		if (i) {
			paper_table_number(tables->sizes,
				row->kib[0] > 0 ? 100 * (row->kib[i] / row->kib[0] - 1) : -1, 2);
			paper_table_number(tables->sizes, 100 * (all[i].len / all[0].len - 1), 2);
		}
		paper_table_number(tables->seconds, row->seconds[i], 4);
		paper_table_number(tables->seconds, all[i].seconds, 4);
	}
	pattern_set_free(&set);
}

static const struct shape_row shape_rows[] = {
	{ 100, { 0.2249, 0.1195, 0.099 }, 7.58, { 573, 578, 597 }, { 575.5, 580.25, 599.33 } },
	{ 200, { 0.3883, 0.2209, 0.1828 }, 0, { 0 }, { 0 } },
	{ 500, { 0.8046, 0.4383, 0.3716 }, 0, { 0 }, { 0 } },
	{ 1000, { 1.2972, 0.6755, 0.5953 }, 0, { 0 }, { 0 } },
	{ 2000, { 1.9574, 1.0011, 0.8747 }, 0, { 0 }, { 0 } },
	{ 5000, { 3.5452, 1.9299, 1.6624 }, 8.28, { 8606, 8628, 8664 }, { 8640, 8661.7, 8697.84 } },
	{ 10000, { 5.0627, 2.786, 2.7159 }, 0, { 0 }, { 0 } },
	{ 20000, { 7.443, 4.0041, 3.5579 }, 0, { 0 }, { 0 } },
	{ 30000, { 9.3607, 5.1498, 4.7219 }, 0, { 0 }, { 0 } },
	{ 40000, { 11.1045, 6.1751, 5.2814 }, 0, { 0 }, { 0 } },
	{ 50000, { 12.4503, 6.798, 5.6173 }, 8.58, { 26369, 26433, 26565 },
		{ 26471.2, 26536.25, 26668.77 } },
};

static void tables_2_to_4(struct papers *papers)
{
	struct paper_tables *all = &papers->result->tables;
	struct shape_tables tables = {
		paper_table_new(all, 4,
			"PATTERNS|DIFFERENT|AVERAGE LENGTH THEN|NOW|1 STT, STATES THEN|NOW|4 STTs, "
			"ALL THEN|NOW|EACH|8 STTs, ALL THEN|NOW|EACH",
			"Table 2: characteristics of the pattern sets"),
		paper_table_new(all, 4,
			"PATTERNS|1 STT THEN KiB|NOW|4 STTs THEN KiB|NOW|LARGER THEN %|NOW|8 STTs "
			"THEN KiB|NOW|LARGER THEN %|NOW",
			"Table 3: sizes"),
		paper_table_new(all, 4,
			"PATTERNS|1 STT THEN s|NOW s|4 STTs THEN s|NOW s|8 STTs THEN s|NOW s",
			"Table 4: building time"),
	};

	for (size_t i = 0; i < sizeof(shape_rows) / sizeof(*shape_rows) && !papers_stop(); i++)
		add_shapes(papers, &tables, &shape_rows[i]);
	paper_table_note(tables.states,
		"Their 50,000 patterns made 26,369 states, fewer than patterns: most were equal. "
		"So "
		"words are drawn here as they occur in prose, and the set has each once.");
	paper_table_note(tables.seconds, "Now on one processor; least of %d.", SHAPE_ROUNDS);
}

/* ---- throughput ---- */

static void add_speeds(struct papers *papers, struct paper_table *table, const char *kernel_name,
	double mb, size_t len)
{
	double one = -1;

	paper_table_word(table, "%s", kernel_name);
	paper_table_number(table, papers->set.count, 0);
	paper_table_number(table, mb, 0);
	for (unsigned i = 0; i < PARTS; i++) {
		struct papers_kernel kernel = { .name = kernel_name,
			.tuning = { .parts = parts[i] },
			.form = true,
			.len = len };
		struct papers_time time;

		papers_time_kernel(papers, &kernel, &time);
		one = i ? one : time.seconds;
		paper_table_number(table, 8e-9 * (double)len / time.seconds, 1);
		if (i)
			papers_cell_ratio(table, one, time.seconds);
		if (i + 1 == PARTS) {
			papers_cell_share(
				table, (double)len, time.seconds, papers->result->device_read);
			papers_cell_verdict(table, &time);
		}
	}
}

#define SPEED_HEADS \
	"KERNEL|DIFFERENT PATTERNS|MB|1 STT Gbps|4 STTs Gbps|TIMES 1 STT|8 STTs Gbps|TIMES 1 " \
	"STT|CEILING, " \
	"8 STTs|COMPARED"

static void add_figure_19(struct papers *papers, struct paper_table *table)
{
	struct papers_time time[2];

	for (unsigned linear = 0; linear < 2; linear++) {
		struct papers_kernel kernel = { .name = "stt-p2",
			.tuning = { .parts = 8, .no_diagonal = linear == 1 },
			.form = true };

		papers_time_kernel(papers, &kernel, &time[linear]);
	}
	paper_table_number(table, papers->set.count, 0);
	papers_cell_ms(table, &time[1]);
	papers_cell_ms(table, &time[0]);
	papers_cell_ratio(table, time[1].seconds, time[0].seconds);
	papers_cell_verdict(table, time[1].different ? &time[1] : &time[0]);
}

/* Figure 22: the same code with four automata and with one. */
static void add_figure_22(struct papers *papers, struct paper_table *table, double mb)
{
	size_t len = papers_len(papers, mb, LARGEST);
	struct papers_time four, one;

	papers_time_engine(papers, "stt", 0, len, &four);
	papers_time_engine(papers, "stt-1", 0, len, &one);
	paper_table_number(table, papers->set.count, 0);
	paper_table_number(table, mb, 0);
	papers_cell_speed(table, len, &four);
	papers_cell_speed(table, len, &one);
	papers_cell_ratio(table, one.seconds, four.seconds);
	papers_cell_verdict(table, four.different ? &four : &one);
}

/* Figure 14: the processor's rates are of a shorter text, which takes them long enough. */
static void add_figure_14(struct papers *papers, struct paper_table *table)
{
	static const unsigned threads[] = { 1, 6, 0 };
	size_t part = papers_len(papers, CPU_MB, LARGEST);
	struct papers_time cpu[3];

	for (unsigned i = 0; i < 3; i++)
		papers_time_engine(papers, "stt-1", threads[i], part, &cpu[i]);
	for (unsigned k = 0; k < SIZES; k++) {
		struct papers_kernel kernel = { .name = "stt-p2",
			.tuning = { .parts = 4 },
			.form = true,
			.len = papers_len(papers, sizes[k], LARGEST) };
		struct papers_time gpu;

		papers_time_kernel(papers, &kernel, &gpu);
		paper_table_number(table, papers->set.count, 0);
		paper_table_number(table, sizes[k], 0);
		papers_cell_speed(table, kernel.len, &gpu);
		for (unsigned i = 0; i < 3; i++) {
			papers_cell_speed(table, part, &cpu[i]);
			papers_cell_ratio(table, (double)kernel.len / gpu.seconds,
				(double)part / cpu[i].seconds);
		}
		papers_cell_verdict(table, &gpu);
	}
}

/* A row of figures 20 and 21: what is tuned, and for each number of automata the time. */
static void add_tuned(struct papers *papers, struct paper_table *table, const char *kernel_name,
	const struct gpu_tuning *tuning)
{
	unsigned block_len =
		tuning->block_len ? tuning->block_len : tuning->threads * tuning->chunk_len;
	struct papers_time time;

	paper_table_word(table, "%s", kernel_name);
	paper_table_number(table, papers->set.count, 0);
	paper_table_number(table, tuning->threads, 0);
	paper_table_number(table, block_len, 0);
	paper_table_number(table, block_len / tuning->threads, 0);
	for (unsigned i = 0; i < PARTS; i++) {
		struct papers_kernel kernel = { .name = kernel_name,
			.tuning = *tuning,
			.form = true,
			.len = papers_len(papers, TUNED_MB, LARGEST) };

		kernel.tuning.parts = parts[i];
		papers_time_kernel(papers, &kernel, &time);
		papers_cell_ms(table, &time);
	}
	papers_cell_verdict(table, &time);
}

/* Figures 20 and 21, and the lengths of chunks and data blocks that they tried as well. */
static void add_figures_20_and_21(
	struct papers *papers, struct paper_table *p1, struct paper_table *p2)
{
	for (unsigned threads = 32; threads <= 512; threads *= 2)
		add_tuned(papers, p1, "stt-p1",
			&(struct gpu_tuning){ .threads = threads, .chunk_len = 256 });
	for (unsigned chunk = 64; chunk <= 1024; chunk *= 4)
		if (chunk != 256)
			add_tuned(papers, p1, "stt-p1",
				&(struct gpu_tuning){ .threads = 128, .chunk_len = chunk });
	for (unsigned threads = 32; threads <= 512; threads *= 2)
		add_tuned(papers, p2, "stt-p2",
			&(struct gpu_tuning){ .threads = threads, .block_len = 8192 });
	for (unsigned block = 2048; block <= 32768; block *= 2)
		if (block != 8192)
			add_tuned(papers, p2, "stt-p2",
				&(struct gpu_tuning){ .threads = 256, .block_len = block });
}

#define TUNED_HEADS \
	"KERNEL|DIFFERENT PATTERNS|THREADS A BLOCK|BYTES A BLOCK|BYTES A THREAD|1 STT ms|4 STTs " \
	"ms|8 STTs ms|COMPARED"

struct prose_tables {
	struct paper_table *speeds, *fourteen, *diagonal, *p1, *p2, *phi;
};

static void make_prose_tables(struct paper_tables *all, struct prose_tables *tables)
{
	*tables = (struct prose_tables){
		paper_table_new(all, 4, SPEED_HEADS, "Figures 11 to 13: random text (prose)"),
		paper_table_new(all, 4,
			"DIFFERENT PATTERNS|MB|P-2 GB/s|ONE CORE GB/s|P-2 AHEAD BY|6 THREADS "
			"GB/s|P-2 AHEAD BY|ALL THREADS GB/s|P-2 AHEAD BY|COMPARED",
			"Figure 14: P-2 with 4 STTs beside the processor with one"),
		paper_table_new(all, 4,
			"DIFFERENT PATTERNS|WITH CONFLICTS ms|DIAGONAL ms|SPEEDUP|COMPARED",
			"Figure 19: the diagonal store scheme, stt-p2 with 8 STTs"),
		paper_table_new(all, 4, TUNED_HEADS,
			"Figure 20: threads a block and bytes a thread of P-1, prose of %d MB",
			TUNED_MB),
		paper_table_new(all, 4, TUNED_HEADS,
			"Figure 21: threads a block and shared memory of P-2, prose of %d MB",
			TUNED_MB),
		paper_table_new(all, 4,
			"DIFFERENT PATTERNS|MB|4 STTs GB/s|1 STT GB/s|SPEEDUP|COMPARED",
			"Figure 22: processors in place of the Xeon Phi, all threads, prose"),
	};
	paper_table_note(tables->speeds,
		"Then at best 75.8 Gbps with P-1 and 692.7 with P-2, 4.6 %% and 41.6 %% of the "
		"K20's memory; 4 and 8 STTs 1.47 to 2.73 times one with P-1, 1.34 to 1.86 with "
		"P-2.");
	paper_table_note(tables->fourteen,
		"Then 127 to 311 times one core, and 86 to 183 times 6 threads. The processor's "
		"rates "
		"are of %d MB.",
		CPU_MB);
	paper_table_note(tables->diagonal, "Then 1.72 to 4.48.");
	paper_table_note(tables->p1, "Then 128 threads were best for all sets.");
	paper_table_note(tables->p2, "Then 8 KiB were best, with 256 threads for 100 and 5,000 "
				     "patterns, and with 512 for 50,000.");
	paper_table_note(
		tables->phi, "Then 4 STTs were 1.60 to 2.00 times as fast as one on the Xeon Phi.");
}

static void add_prose(struct papers *papers, const struct prose_tables *tables)
{
	for (unsigned k = 0; k < SIZES; k++) {
		size_t len = papers_len(papers, sizes[k], LARGEST);

		add_speeds(papers, tables->speeds, "stt-p1", sizes[k], len);
		add_speeds(papers, tables->speeds, "stt-p2", sizes[k], len);
		add_figure_22(papers, tables->phi, sizes[k]);
	}
	add_figure_14(papers, tables->fourteen);
	add_figure_19(papers, tables->diagonal);
	add_figures_20_and_21(papers, tables->p1, tables->p2);
}

/* Figures 11 to 14 and 19 to 22: prose. */
static int prose(struct papers *papers, struct error *error)
{
	struct prose_tables tables;
	int status = papers_make_text(
		papers, paper_prose_text, papers_len(papers, LARGEST, LARGEST), error);

	make_prose_tables(&papers->result->tables, &tables);
	for (unsigned i = 0; !status && i < COUNTS; i++) {
		char data[40];

		papers_forget_set(papers);
		paper_prose_patterns(&papers->set, counts[i], papers->options->seed + 1);
		status = papers_search(papers, error);
		if (status)
			break;
		add_prose(papers, &tables);
		snprintf(data, sizeof(data), "prose, %u words", papers->set.count);
		papers_compare_all(papers, data);
	}
	return status;
}

/* Figures 15 to 18. */
static int dictionary(struct papers *papers, struct error *error)
{
	struct paper_tables *all = &papers->result->tables;
	struct paper_table *tables[2] = {
		paper_table_new(all, 4, SPEED_HEADS, "Figures 15 and 16: Dict_Input_S"),
		paper_table_new(all, 4, SPEED_HEADS, "Figures 17 and 18: Dict_Input_L"),
	};
	int status = 0;

	paper_table_note(tables[0],
		"Then 4 STTs took 18 to 30 %% less time than one, and 8 STTs 20 to 35 %%, with "
		"P-1.");
	for (unsigned i = 0; !status && i < COUNTS; i++) {
		size_t len = papers_len(papers, LARGEST, LARGEST), small;
		struct pattern_set set = { 0 };

		paper_prose_patterns(&set, counts[i], papers->options->seed + 1);
		small = paper_dictionary_len(&set);
		status = papers_make_text(papers, NULL, len, error);
		if (status) {
			pattern_set_free(&set);
			break;
		}
		paper_dictionary_text(&papers->text, &set, papers->options->seed + 3);
		papers->set = set;
		status = papers_search(papers, error);
		for (unsigned k = 0; !status && k < 2; k++) {
			size_t part = k || small > len ? len : small;

			add_speeds(papers, tables[k], "stt-p1", (double)part / MB, part);
			add_speeds(papers, tables[k], "stt-p2", (double)part / MB, part);
		}
	}
	return status;
}

int papers_tran(struct papers *papers, struct error *error)
{
	int status;

	tables_2_to_4(papers);
	status = prose(papers, error);
	if (!status && !papers->options->set && !papers->options->data)
		status = dictionary(papers, error);
	return status;
}
