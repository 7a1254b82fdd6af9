/* JSON for stdout. */
#ifndef BURIN_CLI_JSON_PRINT_H
#define BURIN_CLI_JSON_PRINT_H

#include "base/json_value.h"

/* Prints the value to stdout with a newline, and frees it. */
void json_put(json_t *value);

#endif
