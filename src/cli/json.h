/* JSON for stdout, with text that may come from anywhere. */
#ifndef BURIN_CLI_JSON_H
#define BURIN_CLI_JSON_H

#include <jansson.h>

/* A string; what is no UTF-8 in it is replaced. NULL makes a JSON null. */
json_t *json_text(const char *text);

/* Prints the value to stdout with a newline, and frees it. */
void json_put(json_t *value);

#endif
