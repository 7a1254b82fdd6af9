#include "rules/paths.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/memory.h"
#include "base/program.h"
#include "base/version.h"

/* Where the default rules are, seen from the program's folder: in an installed or unpacked tree
 * (bin/burin), and in a source tree (build/burin, build/MODE/burin). */
static const char *const beside_program[] = {
	"../share/burin/burin.conf",
	"../conf/burin.conf",
	"../../conf/burin.conf",
};

char *rules_default_path(void)
{
	char *folder = program_folder(), *found = NULL;

	for (size_t i = 0; folder && !found && i < sizeof(beside_program) / sizeof(char *); i++) {
		char *path = xasprintf("%s/%s", folder, beside_program[i]);

		found = access(path, R_OK) == 0 ? realpath(path, NULL) : NULL;
		free(path);
	}
	free(folder);
	return found ? found : xstrdup(burin_installed_rules);
}

/* The path at which a rule file is to be read. The caller frees it. */
static char *find_rules(const char *path)
{
	char *standard = rules_default_path(), *beside;
	const char *slash = strrchr(standard, '/');

	if (!path)
		return standard;
	beside = xasprintf("%.*s%s", slash ? (int)(slash - standard) + 1 : 0, standard, path);
	free(standard);
	if (!strchr(path, '/') && access(path, F_OK) && access(beside, R_OK) == 0)
		return beside;
	free(beside);
	return xstrdup(path);
}

int rules_open(struct rules **rules, const char *path, enum rules_format format,
	const struct option_list *types, struct error *error)
{
	char *found = find_rules(path), *only = types ? option_list_join(types) : NULL;
	int status = rules_load(rules, found, format, only, error);

	free(only);
	free(found);
	return status;
}
