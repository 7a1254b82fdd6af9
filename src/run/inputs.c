#include "run/inputs.h"

#include <errno.h>

#include "rules/paths.h"

static int open_sets(const struct carve_options *settings, struct run_inputs *inputs,
	struct run_options *options, struct error *error)
{
	const struct option_list *known = &settings->known, *alert = &settings->alert;
	int status;

	if (settings->run.skip_known && !known->count)
		return error_set(error, EXIT_USAGE, EINVAL,
			"--skip-known needs at least one list given by --known");
	/* The lists of a run that is resumed are named by its checkpoint, which is compared with
	 * the run only later, and with these lists: nothing is written next to them for it. */
	status = hash_sets_open(&inputs->sets, known->items, known->count, alert->items,
		alert->count, !settings->resume, error);
	if (!status && settings->run.skip_known)
		hash_sets_skip_known(inputs->sets);
	options->sets = inputs->sets;
	options->hash_mask |= hash_sets_kinds(inputs->sets);
	return status;
}

int run_inputs_open(struct run_inputs *inputs, const struct carve_options *settings,
	struct run_options *options, struct error *error)
{
	struct gpu_wanted gpus;
	int status = gpu_wanted_parse(&gpus, settings->run.gpu.devices, error);

	*inputs = (struct run_inputs){ 0 };
	*options = settings->run;
	if (!status)
		status = rules_open(&inputs->rules, settings->config, settings->rules_format,
			&settings->types, error);
	if (!status)
		status = open_sets(settings, inputs, options, error);
	options->rules = inputs->rules;
	options->resume = settings->resume != NULL;
	return status;
}

void run_inputs_close(struct run_inputs *inputs)
{
	hash_sets_close(inputs->sets);
	rules_free(inputs->rules);
}
