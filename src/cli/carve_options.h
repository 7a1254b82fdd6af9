/* What `burin carve` can be told on the command line. */
#ifndef BURIN_CLI_CARVE_OPTIONS_H
#define BURIN_CLI_CARVE_OPTIONS_H

#include "cli/options.h"
#include "rules/rules.h"
#include "run/run.h"

struct carve_settings {
	const char *config, *output, *types, *engine, *kernel, *gpus, *hash, *verify, *map, *resume;
	struct option_list lists, known, alert;
	enum rules_format rules_format;
	unsigned io;
	enum gpu_transfer transfer;
	enum carving_label label;
	enum volumes_depth file_systems;
	unsigned compat;
	uint64_t align, threads, jobs, chunk_size, offset, length, parts;
	uint64_t max_files, max_bytes, max_files_type, max_bytes_type;
	uint64_t checkpoint_interval, unit_size;
	bool unallocated, allocated;
	bool both, dry_run, no_extension, flat, nested, strict, html, quiet, verbose, json;
	bool no_content_map, skip_known;
};

extern const struct option_row carve_option_rows[];

/* All that needs no file to be opened: rules, hashes and lists of hashes are left to the caller. */
struct run_options carve_run_options(const struct carve_settings *settings);

#endif
