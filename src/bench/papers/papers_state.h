/* What the files of the papers share; nobody else includes this. */
#ifndef BURIN_BENCH_PAPERS_PAPERS_STATE_H
#define BURIN_BENCH_PAPERS_PAPERS_STATE_H

#include "bench/papers/papers.h"
#include "bench/stats.h"
#include "scan/hit_tally.h"
#include "bench/search_text.h"
#include "scan/gpu_bench.h"

struct pool;

#define MB 1048576.0 /* of the papers: 912 MB are 65,535 blocks of 14,592 bytes */
#define PAPERS_RIGHT_MAX 16

/* The right hits in the first len bytes of the text. */
struct papers_right {
	size_t len;
	struct hit_tallies hits;
};

struct papers {
	const struct papers_options *options;
	struct papers_result *result;
	/* the current data */
	struct bench_text text;
	struct pattern_set set;
	uint32_t *lens; /* of the patterns */
	struct papers_right right[PAPERS_RIGHT_MAX];
	unsigned right_count;
	struct gpu_bench *gpu; /* NULL: there is none */
	double *seconds;       /* as many as rounds */
};

/* One measurement. */
struct papers_time {
	double seconds;  /* median; negative: none */
	double compile;  /* of the tables, seconds */
	bool different;  /* its hits are not the right ones */
	char why[160];   /* why there is none, or what is different; "" */
	size_t form_len; /* bytes of the paper's array */
};

/* ---- papers_data.c: what is searched ---- */

/* The bytes of the paper's size in MB (2^20 bytes), shrunk by the options; largest: the paper's
 * largest. */
size_t papers_len(const struct papers *papers, double mb, double largest);

/* Makes the text (or takes DATA), len bytes. Frees what was there. maker NULL: the caller fills
 * it. */
int papers_make_text(struct papers *papers, void (*maker)(struct bench_text *text, uint64_t seed),
	size_t len, struct error *error);
/* The dictionary is in papers->set (or is taken from the options): finds the right
 * hits, and copies the text to the device. */
int papers_search(struct papers *papers, struct error *error);
/* The steps of that: the patterns' lengths; the text to the device. Closing when there is none is fine. */
void papers_take_lens(struct papers *papers);
void papers_open_gpu(struct papers *papers);
void papers_close_gpu(struct papers *papers);
/* Forgets text and dictionary, or the dictionary alone. */
void papers_forget(struct papers *papers);
void papers_forget_set(struct papers *papers);

/* ---- papers_measure.c ---- */

/* A kernel of the gpu engine on the first len bytes. */
struct papers_kernel {
	const char *name;
	struct gpu_tuning tuning;
	bool form; /* the paper's output, else hits */
	bool zero_copy;
	size_t len; /* 0: all */
};
void papers_time_kernel(
	struct papers *papers, const struct papers_kernel *kernel, struct papers_time *time);

/* A CPU engine with `threads` threads (0: all) on the first len bytes (0: all). */
void papers_time_engine(struct papers *papers, const char *engine, unsigned threads, size_t len,
	struct papers_time *time);

/* Strategy A or B through a kernel: fills in result->t_w, t_p, t_r; time: of the whole. */
void papers_time_transfer(
	struct papers *papers, struct gpu_bench_transfer *result, struct papers_time *time);

/* The hits of `ac` in the first len bytes (0: all). */
const struct hit_tallies *papers_right(struct papers *papers, size_t len);

/* Whether a signal asks to stop. */
bool papers_stop(void);

/* ---- the papers, a file each; each returns 0 or a negative errno with error ---- */

int papers_zha(struct papers *papers, struct error *error);
int papers_kouzinopoulos(struct papers *papers, struct error *error);
int papers_lin(struct papers *papers, struct error *error);
int papers_tran(struct papers *papers, struct error *error);
int papers_han(struct papers *papers, struct error *error);

/* papers_cluster.c: tables of the second paper by the number of processes. */
int papers_cluster(struct papers *papers, struct error *error);

/* papers_all.c: every kernel and engine on the current data, as a column of the table of all. */
void papers_compare_all(struct papers *papers, const char *data);

/* ---- cells ---- */

/* Milliseconds, or "-"; DIFFERENT when its hits are not the right ones. */
void papers_cell_ms(struct paper_table *table, const struct papers_time *time);
/* Bytes a second as GB/s. */
void papers_cell_speed(struct paper_table *table, size_t len, const struct papers_time *time);
/* The share of a memory's speed (bytes a second) that searching len bytes in seconds is. */
void papers_cell_share(struct paper_table *table, double len, double seconds, double memory);
/* How many times as fast b is as a; "-" when one is missing. */
void papers_cell_ratio(struct paper_table *table, double a, double b);
/* "equal", "DIFFERENT", or why there is no time. */
void papers_cell_verdict(struct paper_table *table, const struct papers_time *time);

#endif
