/* The options of `burin carve`: one row per option, and the struct that they fill. A row marked as
 * changing the result feeds checkpoints, the comparison of a cluster's processes and the report's
 * `options` without further code. */
#ifndef BURIN_RUN_CARVE_OPTIONS_H
#define BURIN_RUN_CARVE_OPTIONS_H

#include "base/options.h"
#include "rules/rules.h"
#include "run/run_options.h"
#include "run/secret_files.h"

struct carve_options {
	/* What one run needs. First, so that offsets in the table count for it as well: the
	 * options that change the result are all in here. */
	struct run_options run;
	/* What the command needs. */
	const char *config, *output, *verify, *resume;
	struct option_list types, plugins;
	struct option_list lists, known, alert;
	struct secret_files secrets;
	const char *shadow;
	enum rules_format rules_format;
	unsigned io;      /* an index of READER_IO_CHOICES */
	unsigned sandbox; /* enum confine_mode */
	uint64_t jobs;
	bool recursive, open, html, verbose;
};

extern const struct option_row carve_option_rows[];

/* The most bytes that a run over an image of that size carves; 0: no limit. */
uint64_t output_limit(const struct run_options *options, uint64_t image_size);

/* After parsing: fills the members of run that derive from other members, such as the hashes that
 * --verify names. Opens nothing. Returns 0 or a negative errno with error set (EXIT_USAGE). */
int carve_options_complete(struct carve_options *options, struct error *error);

#endif
