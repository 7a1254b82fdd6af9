/* JSON values made of untrusted text and times, and their output. */
#ifndef BURIN_BASE_JSON_VALUE_H
#define BURIN_BASE_JSON_VALUE_H

#include <stdint.h>

#include <jansson.h>

/* A string, cleaned (base/text.h). NULL makes a JSON null. */
json_t *json_text(const char *text);

/* "2024-05-01T12:00:00Z"; null for 0 and for years that do not have four digits. seconds: since
 * 1970 UTC. */
json_t *json_time(int64_t seconds);

/* Prints the value to stdout with a newline, and frees it. */
void json_print(json_t *value);

#endif
