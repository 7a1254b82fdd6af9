/* The types of a rule file, for `burin list types` and `burin conf list`. */
#ifndef BURIN_CLI_TYPES_H
#define BURIN_CLI_TYPES_H

#include <stdbool.h>

#include "base/options.h"
#include "rules/rules.h"

/* Loads the rule file (NULL: the default one) and prints its types to stdout: those that --types selects, or
 * all (NULL). Logs errors. Returns the exit code. */
int types_print(
	const char *path, enum rules_format format, const struct option_list *types, bool json);

#endif
