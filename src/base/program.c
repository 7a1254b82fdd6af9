#include "base/program.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/memory.h"

static char *chosen;

void program_set_folder(const char *folder)
{
	free(chosen);
	chosen = xstrdup(folder);
}

char *program_folder(void)
{
	char path[PATH_MAX];
	ssize_t len;
	char *slash;

	if (chosen)
		return xstrdup(chosen);
	len = readlink("/proc/self/exe", path, sizeof(path) - 1);
	if (len < 0)
		return NULL;
	path[len] = '\0';
	slash = strrchr(path, '/');
	if (!slash)
		return NULL;
	*slash = '\0';
	return xstrdup(path);
}

char *program_find(const char *name, char *reason, size_t reason_len)
{
	static const char *const places[] = { "", "../libexec/burin/" };
	char *folder = program_folder(), *found = NULL;

	for (size_t i = 0; folder && !found && i < sizeof(places) / sizeof(*places); i++) {
		found = xasprintf("%s/%s%s", folder, places[i], name);
		if (access(found, X_OK)) {
			free(found);
			found = NULL;
		}
	}
	if (!found)
		snprintf(reason, reason_len,
			"the program %s is missing: it belongs into %s/ or %s/../libexec/burin",
			name, folder ? folder : "", folder ? folder : "");
	free(folder);
	return found;
}
