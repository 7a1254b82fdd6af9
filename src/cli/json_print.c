#include "cli/json_print.h"

#include <stdio.h>

void json_put(json_t *value)
{
	json_dumpf(value, stdout, JSON_INDENT(2));
	putchar('\n');
	json_decref(value);
}
