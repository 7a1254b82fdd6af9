/* A whole run, as `burin carve --dry-run` makes it, and the reader alone. */
#ifndef BURIN_BENCH_WHOLE_H
#define BURIN_BENCH_WHOLE_H

#include "scan/hit_tally.h"
#include "bench/search_text.h"
#include "run/run.h"

/* A folder for what a run writes, below $TMPDIR. */
struct bench_folder {
	char *path;
};

int bench_folder_make(struct bench_folder *folder, struct error *error);
/* The path of one that was made, but for the last six letters, which differ. The caller frees it. */
char *bench_folder_name(void);
/* With all that is in it. */
void bench_folder_remove(struct bench_folder *folder);

/* Writes the text to a file in the folder. Returns its path, which the caller frees; NULL with
 * error set. */
char *bench_folder_write(
	const struct bench_folder *folder, const struct bench_text *text, struct error *error);

struct bench_whole {
	struct run_sums sums;
	struct hit_tally lines; /* the report's lines about files */
};

/* Carves image by the options, which should say dry_run, into the folder, which is empty again
 * afterwards. -EIO with error set when the run ended early or the report can't be read. */
int bench_whole_run(struct bench_whole *whole, const struct run_options *options, const char *image,
	const struct bench_folder *folder, struct error *error);

/* Reads the image as such a run does, and does nothing with it. Returns the seconds, or a negative
 * errno with error set. *len: bytes. */
double bench_read_file(const char *image, const struct reader_options *options, uint64_t *len,
	struct error *error);

#endif
