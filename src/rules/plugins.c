#include "rules/plugins.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/memory.h"
#include "carvers/plugin.h"

#define PATH_LEN ((size_t)1 << 16)

/* By what another process knows that its file is the same one: a build makes a new file, or changes its
 * time. */
struct identity {
	uint64_t device, inode, size, seconds, nanoseconds;
};

struct plugin {
	char *path;
	struct identity identity;
	const struct carver *const *carvers;
};

static struct plugin *plugins;
static size_t plugin_count, plugin_capacity;

/* ---- loading ------------------------------------------------------------------------------- */

static bool identify(const char *path, struct identity *identity)
{
	struct stat info;

	if (stat(path, &info))
		return false;
	*identity = (struct identity){ info.st_dev, info.st_ino, (uint64_t)info.st_size,
		(uint64_t)info.st_mtim.tv_sec, (uint64_t)info.st_mtim.tv_nsec };
	return true;
}

static int check_rows(const char *path, const struct carver *const *rows, struct error *error)
{
	if (!rows || !*rows)
		return error_set(error, EXIT_USAGE, EINVAL, "the plug-in %s has no carvers", path);
	for (const struct carver *const *row = rows; *row; row++) {
		if (!(*row)->name || !*(*row)->name || !(*row)->summary || !(*row)->check)
			return error_set(error, EXIT_USAGE, EINVAL,
				"the plug-in %s has a carver without a name, a summary or a check",
				path);
		if (rule_carver_find((*row)->name))
			return error_set(error, EXIT_USAGE, EINVAL,
				"the plug-in %s has a carver called '%.100s', as burin or another "
				"plug-in has",
				path, (*row)->name);
	}
	return 0;
}

static int find_rows(const char *path, const struct carver *const **rows, struct error *error)
{
	void *complete = dlopen(path, RTLD_NOW | RTLD_LOCAL), *library = complete;
	const struct carver_plugin *plugin;
	char missing[300];

	snprintf(missing, sizeof(missing), "%s", complete ? "" : dlerror());
	/* One for another contract may need functions that are not there. */
	if (!library)
		library = dlopen(path, RTLD_LAZY | RTLD_LOCAL);
	if (!library)
		return error_set(error, EXIT_USAGE, EINVAL, "can't load the plug-in: %s", missing);
	plugin = dlsym(library, "burin_plugin");
	if (!plugin)
		return error_set(error, EXIT_USAGE, EINVAL,
			"%s is not a plug-in of burin: it exports no symbol burin_plugin", path);
	if (plugin->contract != CARVER_CONTRACT)
		return error_set(error, EXIT_USAGE, EINVAL,
			"the plug-in %s was built for contract %u of carvers, and this burin has "
			"contract %u: build it again with this burin's carver.h",
			path, plugin->contract, CARVER_CONTRACT);
	if (!complete)
		return error_set(error, EXIT_USAGE, EINVAL, "can't load the plug-in: %s", missing);
	*rows = plugin->carvers;
	return check_rows(path, *rows, error);
}

static const struct plugin *find_loaded(const char *path)
{
	for (size_t i = 0; i < plugin_count; i++)
		if (strcmp(plugins[i].path, path) == 0)
			return &plugins[i];
	return NULL;
}

static int open_one(const char *given, struct error *error)
{
	struct plugin plugin = { .path = realpath(given, NULL) };
	int status;

	if (!plugin.path || !identify(plugin.path, &plugin.identity)) {
		status = error_set(error, EXIT_USAGE, EINVAL, "can't load the plug-in %s: %s",
			given, strerror(errno));
	} else if (find_loaded(plugin.path)) {
		status = 0;
	} else if (!(status = find_rows(plugin.path, &plugin.carvers, error))) {
		plugins = xgrow(plugins, &plugin_capacity, plugin_count, sizeof(*plugins));
		plugins[plugin_count++] = plugin;
		return 0;
	}
	free(plugin.path);
	return status;
}

int plugins_open(const struct option_list *paths, struct error *error)
{
	int status = 0;

	for (size_t i = 0; i < paths->count && !status; i++)
		status = open_one(paths->items[i], error);
	return status;
}

/* ---- what was loaded ----------------------------------------------------------------------- */

const char *plugin_path(size_t number)
{
	return number < plugin_count ? plugins[number].path : NULL;
}

const struct carver *rule_carver_find(const char *name)
{
	const struct carver *carver = carver_find(name);

	for (size_t i = 0; i < plugin_count && !carver; i++)
		for (const struct carver *const *row = plugins[i].carvers; *row && !carver; row++)
			if (strcmp((*row)->name, name) == 0)
				carver = *row;
	return carver;
}

void plugins_save(struct codec_writer *writer)
{
	codec_put(writer, plugin_count);
	for (size_t i = 0; i < plugin_count; i++) {
		codec_put_text(writer, plugins[i].path);
		codec_put_bytes(writer, &plugins[i].identity, sizeof(plugins[i].identity));
	}
}

void plugins_load(struct codec_reader *reader)
{
	uint64_t count = codec_get(reader, UINT32_MAX);

	while (count-- && codec_ok(reader)) {
		char *path = codec_get_text(reader, PATH_LEN);
		const struct plugin *plugin;
		struct identity identity = { 0 };
		struct error error;

		codec_copy_bytes(reader, &identity, sizeof(identity));
		if (!codec_ok(reader) || open_one(path, &error) || !(plugin = find_loaded(path)) ||
			memcmp(&identity, &plugin->identity, sizeof(identity)) != 0)
			codec_fail(reader);
		free(path);
	}
}
