/* One run over one image, from the evidence to the reports. */
#ifndef BURIN_RUN_RUN_H
#define BURIN_RUN_RUN_H

#include "run/run_options.h"
#include "run/signals.h"

/* Carves image_path into the new or empty folder output. Logs what a person needs to know; returns
 * the exit code. sums (may be NULL): what was carved. */
int run_carve(const struct run_options *options, const char *image_path, const char *output,
	struct run_sums *sums);

/* Writes the files that a report of an earlier run lists (perhaps filtered) into output, without
 * scanning. image_path: the evidence, or NULL for the one that the report names. Only threads,
 * hash_mask, arguments and progress of the options count. (extract.c) */
int run_extract(const struct run_options *options, const char *report_path, const char *image_path,
	const char *output, struct run_sums *sums);

#endif
