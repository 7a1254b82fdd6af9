/* Where rule files are. */
#ifndef BURIN_RULES_PATHS_H
#define BURIN_RULES_PATHS_H

#include "base/options.h"
#include "rules/rules.h"

/* The default rule file: share/burin/burin.conf of the tree that the program was installed or
 * unpacked in, conf/burin.conf of the source tree that it was built in, else the one below the
 * PREFIX that it was built for (which need not exist). The caller frees the path. */
char *rules_default_path(void);
/* Loads the rules that a command line names. path: NULL for the default rules; a plain name that is
 * not in the working directory is looked for beside those, so that "pictures.conf" is found. types:
 * the --types that were given; NULL or an empty list for all. Otherwise as rules_load. */
int rules_open(struct rules **rules, const char *path, enum rules_format format,
	const struct option_list *types, struct error *error);

#endif
