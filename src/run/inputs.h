/* What a run needs besides its image: the plug-ins, rules and hash sets that its options name. */
#ifndef BURIN_RUN_INPUTS_H
#define BURIN_RUN_INPUTS_H

#include "run/carve_options.h"

struct run_inputs {
	struct plugin_record *plugins;
	struct rules *rules;
	struct hash_sets *sets; /* NULL: none */
};

/* How what parses evidence is confined, before any of it is opened. Returns 0 or a negative errno with error
 * set. */
int run_inputs_confine(const struct carve_options *settings, struct error *error);

/* Loads them, and fills in options, which begin as settings->run. Whatever it returns, run_inputs_close
 * must follow, once no run uses the options any more. */
int run_inputs_open(struct run_inputs *inputs, const struct carve_options *settings,
	struct run_options *options, struct error *error);
void run_inputs_close(struct run_inputs *inputs);

#endif
