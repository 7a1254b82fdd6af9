/* The types of a rule file, for `burin list types` and `burin conf list`. */
#ifndef BURIN_CLI_TYPES_H
#define BURIN_CLI_TYPES_H

#include <stdbool.h>

#include "rules/rules.h"

/* The words of --rules-format, in the order of enum rules_format. */
#define RULES_FORMAT_CHOICES "auto|burin|scalpel|foremost"

/* Loads the rule file (NULL: the default one) and prints its types to stdout. Returns the exit
 * code; what went wrong is logged. */
int types_print(const char *path, enum rules_format format, bool json);

#endif
