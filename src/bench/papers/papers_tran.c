/* Tran, Lee and Choi: the partitioned automata: Tables 2 to 4, throughput, the dictionary as input,
 * and what the diagonal scheme is worth. */
#include <stdio.h>

#include "bench/papers/paper_data.h"
#include "scan/gpu_papers.h"
#include "bench/papers/papers_state.h"

#define LARGEST 500 /* MB */
#define K20 208e9   /* bytes a second of its memory */
#define SHAPE_ROUNDS 3

static const unsigned parts[] = { 1, 4, 8 };
#define PARTS 3

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

struct tables {
	struct paper_table *states, *sizes, *seconds;
};

static void add_shapes(const struct papers *papers, struct tables *tables, uint32_t count,
	const double seconds[PARTS])
{
	struct pattern_set set = { 0 };
	struct paper_automata all[PARTS] = { 0 };

	paper_prose_patterns(&set, count, papers->options->seed + 1);
	for (unsigned i = 0; i < PARTS; i++)
		measure_automata(&set, parts[i], &all[i]);
	paper_table_number(tables->states, count, 0);
	paper_table_number(tables->states, all[PARTS - 1].average_len, 2);
	paper_table_number(tables->sizes, count, 0);
	paper_table_number(tables->seconds, count, 0);
	for (unsigned i = 0; i < PARTS; i++) {
		paper_table_number(tables->states, all[i].states, 0);
		paper_table_number(tables->states, all[i].largest, 0);
		paper_table_number(tables->sizes, all[i].len / 1024, 0);
		paper_table_number(tables->seconds, seconds[i], 4);
		paper_table_number(tables->seconds, all[i].seconds, 4);
	}
	paper_table_number(tables->sizes, 100 * (all[1].len / all[0].len - 1), 2);
	paper_table_number(tables->sizes, 100 * (all[2].len / all[0].len - 1), 2);
	pattern_set_free(&set);
}

static void tables_2_to_4(struct papers *papers)
{
	static const struct {
		uint32_t count;
		double seconds[PARTS];
	} rows[] = {
		{ 100, { 0.2249, 0.1195, 0.099 } },
		{ 200, { 0.3883, 0.2209, 0.1828 } },
		{ 500, { 0.8046, 0.4383, 0.3716 } },
		{ 1000, { 1.2972, 0.6755, 0.5953 } },
		{ 2000, { 1.9574, 1.0011, 0.8747 } },
		{ 5000, { 3.5452, 1.9299, 1.6624 } },
		{ 10000, { 5.0627, 2.786, 2.7159 } },
		{ 20000, { 7.443, 4.0041, 3.5579 } },
		{ 30000, { 9.3607, 5.1498, 4.7219 } },
		{ 40000, { 11.1045, 6.1751, 5.2814 } },
		{ 50000, { 12.4503, 6.798, 5.6173 } },
	};
	struct paper_tables *all = &papers->result->tables;
	struct tables tables = {
		paper_table_new(all, 4,
			"PATTERNS|AVERAGE LENGTH|1 STT, STATES|LARGEST|4 STTs, STATES|LARGEST|8 "
			"STTs, STATES|LARGEST",
			"Table 2: characteristics of the pattern sets"),
		paper_table_new(all, 4,
			"PATTERNS|1 STT KiB|4 STTs KiB|8 STTs KiB|4 STTs LARGER BY %|8 STTs "
			"LARGER BY %",
			"Table 3: sizes"),
		paper_table_new(all, 4,
			"PATTERNS|1 STT THEN s|NOW s|4 STTs THEN s|NOW s|8 STTs THEN s|NOW s",
			"Table 4: building time"),
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows) && !papers_stop(); i++)
		add_shapes(papers, &tables, rows[i].count, rows[i].seconds);
	paper_table_note(tables.states, "Then 50,000 patterns made 26,369 "
					"states, fewer than patterns: many of theirs were equal.");
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
	"KERNEL|PATTERNS|MB|1 STT Gbps|4 STTs Gbps|TIMES 1 STT|8 STTs Gbps|TIMES 1 STT|CEILING, " \
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

static void add_cpu(struct papers *papers, struct paper_table *table)
{
	size_t part = papers_len(papers, 100, LARGEST);
	struct papers_time stt, ac;

	papers_time_engine(papers, "stt", 0, part, &stt);
	papers_time_engine(papers, "ac", 0, part, &ac);
	paper_table_number(table, papers->set.count, 0);
	papers_cell_speed(table, part, &stt);
	papers_cell_speed(table, part, &ac);
	papers_cell_ratio(table, ac.seconds, stt.seconds);
	papers_cell_verdict(table, &stt);
}

static const uint32_t counts[] = { 100, 5000, 50000 };
#define COUNTS 3

/* Figures 11 to 13, 19 and 22: prose. */
static int prose(struct papers *papers, struct error *error)
{
	static const double mb[] = { 20, 100, LARGEST };
	struct paper_tables *all = &papers->result->tables;
	struct paper_table *speeds =
		paper_table_new(all, 4, SPEED_HEADS, "Figures 11 to 13: random text (prose)");
	struct paper_table *diagonal =
		paper_table_new(all, 4, "PATTERNS|WITH CONFLICTS ms|DIAGONAL ms|SPEEDUP|COMPARED",
			"Figure 19: the diagonal store scheme, stt-p2 with 8 STTs");
	struct paper_table *cpu = paper_table_new(all, 4,
		"PATTERNS|stt GB/s|ac GB/s|SPEEDUP|COMPARED",
		"Figure 22: processors in place of the Xeon Phi, all threads, prose of 100 MB");
	int status = papers_make_text(
		papers, paper_prose_text, papers_len(papers, LARGEST, LARGEST), error);

	paper_table_note(speeds,
		"Then at best 75.8 Gbps with P-1 and 692.7 with P-2, 4.6 %% and 41.6 %% of the "
		"K20's memory; 4 and 8 STTs 1.47 to 2.73 times one with P-1, 1.34 to 1.86 with "
		"P-2.");
	paper_table_note(diagonal, "Then 1.72 to 4.48.");
	paper_table_note(
		cpu, "Then 4 STTs were 1.60 to 2.00 times as fast as one on the Xeon Phi.");
	for (unsigned i = 0; !status && i < COUNTS; i++) {
		char data[40];

		papers_forget_set(papers);
		paper_prose_patterns(&papers->set, counts[i], papers->options->seed + 1);
		status = papers_search(papers, error);
		if (status)
			break;
		for (unsigned k = 0; k < sizeof(mb) / sizeof(*mb); k++) {
			add_speeds(papers, speeds, "stt-p1", mb[k],
				papers_len(papers, mb[k], LARGEST));
			add_speeds(papers, speeds, "stt-p2", mb[k],
				papers_len(papers, mb[k], LARGEST));
		}
		add_figure_19(papers, diagonal);
		add_cpu(papers, cpu);
		snprintf(data, sizeof(data), "prose, %u words", counts[i]);
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
