/* Han: Table II, Boyer-Moore-Horspool on a grid. */
#include "bench/papers/paper_data.h"
#include "bench/papers/papers_state.h"

#define TEXT_LEN 34873628.0
#define GTX880M 160e9 /* bytes a second of its memory, by the data sheet */
#define TESTS 3

static void add_row(struct paper_table *table, const char *what,
	const struct papers_time times[TESTS], const struct papers_time *verdict)
{
	paper_table_word(table, "%s", what);
	for (unsigned test = 0; test < TESTS; test++) {
		paper_table_word(table, "-");
		papers_cell_ms(table, &times[test]);
	}
	paper_table_word(table, "-");
	paper_table_word(table, "-");
	papers_cell_verdict(table, verdict);
}

/* Section V: "comparing serial implementation, parallel implementation is much faster". kernel: the
 * times of 256 blocks of 16 threads. */
static void add_serial(struct papers *papers, struct paper_table *table,
	const struct papers_time serial[TESTS], const struct papers_time threads[TESTS],
	const struct papers_time kernel[TESTS])
{
	add_row(table, "serial, one CPU thread", serial, &serial[0]);
	add_row(table, "all CPU threads", threads, &threads[0]);
	if (!papers->gpu)
		return;
	paper_table_word(table, "256*16 is times as fast as serial");
	for (unsigned test = 0; test < TESTS; test++) {
		paper_table_word(table, "-");
		papers_cell_ratio(table, serial[test].seconds, kernel[test].seconds);
	}
	for (unsigned i = 0; i < 3; i++)
		paper_table_word(table, "-");
}

int papers_han(struct papers *papers, struct error *error)
{
	static const struct {
		unsigned blocks, threads;
		double ms[TESTS];
	} rows[] = {
		{ 256, 16, { 167, 177, 367 } }, { 512, 4, { 170, 195, 390 } },
		{ 256, 8, { 173, 189, 391 } }, { 128, 16, { 178, 178, 383 } },
		{ 64, 32, { 171, 179, 586 } }, { 32, 64, { 168, 179, 588 } },
		{ 256, 4, { 172, 189, 391 } }, { 128, 8, { 173, 191, 405 } },
		{ 64, 16, { 171, 218, 609 } }, { 32, 32, { 171, 207, 922 } },
		{ 16, 64, { 170, 200, 964 } }, { 16, 32, { 171, 261, 2746 } },
		{ 0, 0, { 0, 0, 0 } }, /* the kernel's own choice */
	};
	static const uint32_t lens[TESTS] = { 1751, 3, 3999 };
	struct paper_table *table = paper_table_new(&papers->result->tables, 5,
		"BLOCKS * THREADS|1751 THEN ms|NOW ms|3 THEN ms|NOW ms|3999 THEN ms|NOW ms|CEILING "
		"THEN|CEILING NOW|COMPARED",
		"Table II: a string of 34,873,628 bytes, one pattern of 1751, 3 or 3999");
	struct papers_time times[sizeof(rows) / sizeof(*rows)][TESTS];
	struct papers_time serial[TESTS], threads[TESTS];
	size_t count = sizeof(rows) / sizeof(*rows);
	int status = papers_make_text(
		papers, paper_prose_text, papers_len(papers, TEXT_LEN / MB, TEXT_LEN / MB), error);

	for (unsigned test = 0; !status && test < TESTS; test++) {
		papers_forget_set(papers);
		paper_cut_pattern(
			&papers->set, &papers->text, lens[test], papers->options->seed + test);
		status = papers_search(papers, error);
		for (size_t i = 0; !status && i < count; i++) {
			struct papers_kernel kernel = { .name = "bmh",
				.tuning = { .blocks = rows[i].blocks, .threads = rows[i].threads },
				.form = true };

			papers_time_kernel(papers, &kernel, &times[i][test]);
		}
		if (!status) {
			papers_time_engine(papers, "bmh", 1, 0, &serial[test]);
			papers_time_engine(papers, "bmh", 0, 0, &threads[test]);
		}
		if (!status && test == 0)
			papers_compare_all(papers, "prose, one of 1751");
	}
	if (status)
		return status;
	add_serial(papers, table, serial, threads, times[0]);
	for (size_t i = 0; i < count; i++) {
		if (rows[i].blocks)
			paper_table_word(table, "%u*%u", rows[i].blocks, rows[i].threads);
		else
			paper_table_word(table, "as burin chooses");
		for (unsigned test = 0; test < TESTS; test++) {
			paper_table_number(table, rows[i].ms[test] > 0 ? rows[i].ms[test] : -1, 0);
			papers_cell_ms(table, &times[i][test]);
		}
		papers_cell_share(table, TEXT_LEN, rows[i].ms[0] / 1e3, GTX880M);
		papers_cell_share(table, (double)papers->text.len, times[i][0].seconds,
			papers->result->device_read);
		papers_cell_verdict(table, &times[i][0]);
	}
	return 0;
}
