#include "run/inputs.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/memory.h"
#include "base/sandbox.h"
#include "report/folder.h"
#include "rules/paths.h"
#include "rules/plugins.h"

static int hash_plugin(struct plugin_record *plugin, struct error *error)
{
	int fd = open(plugin->path, O_RDONLY | O_CLOEXEC);
	struct hasher *hasher = hasher_new(HASH_SHA256);
	int status = fd < 0 ? -errno : folder_hash(fd, hasher, &plugin->bytes);

	hasher_finish(hasher, &plugin->hashes);
	hasher_free(hasher);
	if (fd >= 0)
		close(fd);
	return !status ? 0
		       : error_set(error, EXIT_USAGE, -status, "can't read the plug-in %s: %s",
				 plugin->path, strerror(-status));
}

/* They must be there before the rules that name their carvers. */
static int open_plugins(const struct carve_options *settings, struct run_inputs *inputs,
	struct run_options *options, struct error *error)
{
	int status = plugins_open(&settings->plugins, error);
	size_t count = 0;

	while (plugin_path(count))
		count++;
	inputs->plugins = xcalloc(count + 1, sizeof(*inputs->plugins));
	for (size_t i = 0; i < count && !status; i++) {
		inputs->plugins[i].path = plugin_path(i);
		status = hash_plugin(&inputs->plugins[i], error);
	}
	options->plugins = inputs->plugins;
	return status;
}

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

int run_inputs_confine(const struct carve_options *settings, struct error *error)
{
	confine_set_mode(settings->sandbox);
	return sandbox_check(error);
}

int run_inputs_open(struct run_inputs *inputs, const struct carve_options *settings,
	struct run_options *options, struct error *error)
{
	struct gpu_wanted gpus;
	int status = gpu_wanted_parse(&gpus, settings->run.gpu.devices, error);

	*inputs = (struct run_inputs){ 0 };
	*options = settings->run;
	if (!status)
		status = open_plugins(settings, inputs, options, error);
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
	free(inputs->plugins);
}
