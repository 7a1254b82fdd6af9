/* Han: Table II, Boyer-Moore-Horspool on a grid. */
#include "bench/papers/paper_data.h"
#include "bench/papers/papers_state.h"

#define TEXT_LEN 34873628.0
#define GTX880M 160e9 /* bytes a second of its memory, by the data sheet */
#define TESTS 3

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
		if (!status && test == 0)
			papers_compare_all(papers, "prose, one of 1751");
	}
	if (status)
		return status;
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
