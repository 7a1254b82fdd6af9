#include "base/program.h"

#include <limits.h>
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
