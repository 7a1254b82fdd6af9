#include "cli/paths.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/memory.h"

/* The build folder's parent when this program lies in build/ or build/MODE/, or NULL. */
static char *source_tree(void)
{
	char path[PATH_MAX];
	ssize_t len = readlink("/proc/self/exe", path, sizeof(path) - 1);

	if (len < 0)
		return NULL;
	path[len] = '\0';
	for (int level = 0; level < 3; level++) {
		char *slash = strrchr(path, '/');

		if (!slash)
			return NULL;
		if (level && strcmp(slash, "/build") == 0) {
			*slash = '\0';
			return xstrdup(path);
		}
		*slash = '\0';
	}
	return NULL;
}

char *rules_default_path(void)
{
	char *tree = source_tree();
	char *path = tree ? xasprintf("%s/conf/burin.conf", tree) : NULL;

	free(tree);
	if (path && access(path, R_OK) == 0)
		return path;
	free(path);
	return xstrdup(BURIN_CONF_DIR "/burin.conf");
}
