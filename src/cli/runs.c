#include "cli/runs.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <jansson.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/text.h"

/* Takes over path. */
static void add(struct runs *runs, char *path)
{
	runs->folders = xgrow(runs->folders, &runs->capacity, runs->count, sizeof(*runs->folders));
	runs->folders[runs->count++] = path;
}

/* The summary may be hostile: of the image's folder only the name counts, which is below `folder`. */
static void add_image(struct runs *runs, const char *folder, const json_t *image)
{
	const char *path = json_string_value(json_object_get(image, "folder"));
	const json_t *exit = json_object_get(image, "exit");
	const char *name = path ? text_file_name(path) : NULL;
	char *inside;

	if (!name || !*name || strcmp(name, "..") == 0 || !json_is_integer(exit))
		return;
	inside = xasprintf("%s/%s", folder, name);
	if (json_integer_value(exit) == EXIT_IO && access(inside, F_OK))
		free(inside);
	else
		add(runs, inside);
}

void runs_find(struct runs *runs, const char *folder)
{
	char *report = xasprintf("%s/report.jsonl", folder);
	char *summary = xasprintf("%s/batch.json", folder);
	json_t *batch = access(report, F_OK) ? json_load_file(summary, 0, NULL) : NULL;
	const json_t *image;
	size_t i;

	json_array_foreach(json_object_get(batch, "images"), i, image)
		add_image(runs, folder, image);
	runs->batch = runs->count > 0;
	if (!runs->batch)
		add(runs, xstrdup(folder));
	json_decref(batch);
	free(summary);
	free(report);
}

void runs_free(struct runs *runs)
{
	for (size_t i = 0; i < runs->count; i++)
		free(runs->folders[i]);
	free(runs->folders);
	*runs = (struct runs){ 0 };
}
