/* Kouzinopoulos and others: the optimization steps, AC against WM, and zero copy. */
#include <stdio.h>

#include "bench/papers/paper_data.h"
#include "bench/papers/papers_state.h"

#define TEXT_MB 1024.0
#define GT240 28.8e9     /* bytes a second of its memory, GDDR3: 128 bits at 1.8 GT/s */
#define SEQUENTIAL_MB 16 /* of the text, for the engines of the CPU with one thread */

/* Fig. 4: seconds on one node, 8,000 patterns. */
static const struct {
	const char *step, *ac, *wm;
	double ac_seconds, wm_seconds; /* 0: not applied */
} steps[] = {
	{ "GPU-U", "nfa-u", "wm-u", 95.5, 462.5 },
	{ "GPU-TC", NULL, "wm-tc", 0, 467.7 },
	{ "GPU-CR", "nfa-cr", "wm-cr", 62.1, 303.9 },
	{ "GPU-R16", "nfa-r16", "wm-r16", 60.1, 302.9 },
	{ "GPU-CW", "nfa-cw", "wm-cw", 57.3, 283.2 },
	{ "Algorithm 8", "nfa-tc", NULL, 0, 0 },
};
#define STEPS (sizeof(steps) / sizeof(*steps))

/* The times of both algorithms' steps with the text on the device. */
struct resident {
	struct papers_time ac[STEPS], wm[STEPS];
};

static void add_step(struct papers *papers, struct paper_table *table, const char *name,
	double then, struct papers_time *time)
{
	struct papers_kernel kernel = { .name = name, .form = true };

	*time = (struct papers_time){ .seconds = -1 };
	if (name)
		papers_time_kernel(papers, &kernel, time);
	paper_table_number(table, then > 0 ? then * 1e3 : -1, 0);
	papers_cell_ms(table, time);
	papers_cell_share(table, TEXT_MB * MB, then, GT240);
	papers_cell_share(
		table, (double)papers->text.len, time->seconds, papers->result->device_read);
}

static void figure_4(struct papers *papers, struct resident *resident)
{
	struct paper_table *table = paper_table_new(&papers->result->tables, 2,
		"STEP|AC THEN ms|NOW ms|CEILING THEN|NOW|WM THEN ms|NOW ms|CEILING THEN|NOW|"
		"COMPARED",
		"Figure 4: optimization steps, 8,000 patterns");

	for (size_t i = 0; i < STEPS; i++) {
		paper_table_word(table, "%s", steps[i].step);
		add_step(papers, table, steps[i].ac, steps[i].ac_seconds, &resident->ac[i]);
		add_step(papers, table, steps[i].wm, steps[i].wm_seconds, &resident->wm[i]);
		papers_cell_verdict(table, !steps[i].wm || resident->ac[i].different
						   ? &resident->ac[i]
						   : &resident->wm[i]);
	}
	paper_table_note(table,
		"Then the text came out of the host's memory (zero copy), now it is on the "
		"device; see the table of zero copy. AC's last row is algorithm 8, GPU-CW with its "
		"tables through texture, which their figure does not have.");
}

/* A row of the table of zero copy. resident: its time with the text on the device; NULL: to be measured.
 * first: the time of the algorithm's first stage, filled in by it. */
static void add_zero_copy(struct papers *papers, struct paper_table *table,
	const struct papers_kernel *of, const struct papers_time *resident, double then,
	double first_then, struct papers_time *first)
{
	struct papers_kernel kernel = *of;
	struct papers_time measured, mapped;

	kernel.form = true;
	if (!resident)
		papers_time_kernel(papers, &kernel, &measured);
	resident = resident ? resident : &measured;
	kernel.zero_copy = true;
	papers_time_kernel(papers, &kernel, &mapped);
	if (then == first_then && then > 0)
		*first = mapped;
	paper_table_word(
		table, "%s%s", kernel.name, kernel.tuning.round_robin ? ", stored in turns" : "");
	paper_table_number(table, then > 0 ? then * 1e3 : -1, 0);
	papers_cell_ms(table, &mapped);
	papers_cell_speed(table, papers->text.len, &mapped);
	papers_cell_ratio(table, first_then, then > 0 ? then : -1);
	papers_cell_ratio(table, first->seconds, mapped.seconds);
	papers_cell_ms(table, resident);
	papers_cell_ratio(table, mapped.seconds, resident->seconds);
	papers_cell_verdict(table, &mapped);
}

/* Figure 4 as it was: every stage under zero copy. */
static void zero_copy(struct papers *papers, const struct resident *resident)
{
	struct paper_table *table = paper_table_new(&papers->result->tables, 2,
		"KERNEL|ZERO COPY THEN ms|NOW ms|NOW GB/s|SPEEDUP THEN|NOW|RESIDENT ms|TIMES AS "
		"LONG|COMPARED",
		"Section 5 and figure 4: the text in pinned memory of the host, fetched by the "
		"kernel, 8,000 patterns");
	struct gpu_tuning in_turns = { .round_robin = true };
	struct papers_time ac = { .seconds = -1 }, wm = { .seconds = -1 };

	for (size_t i = 0; i < STEPS; i++)
		if (steps[i].ac)
			add_zero_copy(papers, table, &(struct papers_kernel){ .name = steps[i].ac },
				&resident->ac[i], steps[i].ac_seconds, steps[0].ac_seconds, &ac);
	add_zero_copy(papers, table,
		&(struct papers_kernel){ .name = "nfa-r16", .tuning = in_turns }, NULL, 0,
		steps[0].ac_seconds, &ac);
	for (size_t i = 0; i < STEPS; i++)
		if (steps[i].wm)
			add_zero_copy(papers, table, &(struct papers_kernel){ .name = steps[i].wm },
				&resident->wm[i], steps[i].wm_seconds, steps[0].wm_seconds, &wm);
	add_zero_copy(papers, table,
		&(struct papers_kernel){ .name = "wm-r16", .tuning = in_turns }, NULL, 0,
		steps[0].wm_seconds, &wm);
}

/* ---- AC against WM ---- */

struct pair {
	uint32_t patterns;
	double ac, wm;     /* seconds on one node */
	double sequential; /* how many times as fast as WM AC was on the CPU */
};

static void add_pair(struct papers *papers, struct paper_table *table, const struct pair *pair)
{
	size_t part = papers_len(papers, SEQUENTIAL_MB, TEXT_MB);
	struct papers_kernel kernel = { .name = "nfa-cw", .form = true };
	struct papers_time ac, wm, nfa, cpu_wm;

	papers_time_kernel(papers, &kernel, &ac);
	kernel.name = "wm-cw";
	papers_time_kernel(papers, &kernel, &wm);
	papers_time_engine(papers, "nfa", 1, part, &nfa);
	papers_time_engine(papers, "wm", 1, part, &cpu_wm);
	paper_table_number(table, papers->set.count, 0);
	paper_table_number(table, pair->ac * 1e3, 0);
	papers_cell_ms(table, &ac);
	paper_table_number(table, pair->wm * 1e3, 0);
	papers_cell_ms(table, &wm);
	papers_cell_ratio(table, pair->wm, pair->ac);
	papers_cell_ratio(table, wm.seconds, ac.seconds);
	paper_table_number(table, pair->sequential, 2);
	papers_cell_ratio(table, cpu_wm.seconds, nfa.seconds);
	papers_cell_speed(table, part, &nfa);
	papers_cell_speed(table, part, &cpu_wm);
}

int papers_kouzinopoulos(struct papers *papers, struct error *error)
{
	static const struct pair pairs[] = { { 1000, 26.08, 38.80, 1.29 },
		{ 8000, 55.59, 300.60, 4.11 }, { 16000, 66.70, 546.14, 6.69 } };
	struct paper_table *table = paper_table_new(&papers->result->tables, 2,
		"PATTERNS|AC GPU THEN ms|NOW ms|WM GPU THEN ms|NOW ms|AC AHEAD BY, THEN|NOW|ON THE "
		"CPU, THEN|NOW|CPU AC GB/s|CPU WM GB/s",
		"AC against WM on one node: patterns of 8 letters, DNA text of 1 GiB");
	int status = papers_make_text(
		papers, paper_dna_text, papers_len(papers, TEXT_MB, TEXT_MB), error);

	for (size_t i = 0; !status && i < sizeof(pairs) / sizeof(*pairs); i++) {
		char data[40];

		papers_forget_set(papers);
		paper_dna_patterns(
			&papers->set, &papers->text, pairs[i].patterns, papers->options->seed + i);
		status = papers_search(papers, error);
		if (status)
			break;
		add_pair(papers, table, &pairs[i]);
		if (i == 1) {
			struct resident resident;

			figure_4(papers, &resident);
			zero_copy(papers, &resident);
		}
		snprintf(data, sizeof(data), "DNA, %u of 8", pairs[i].patterns);
		papers_compare_all(papers, data);
	}
	return status;
}
