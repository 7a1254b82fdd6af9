/* JSON values of what may come from anywhere. */
#ifndef BURIN_BASE_JSON_VALUE_H
#define BURIN_BASE_JSON_VALUE_H

#include <stdint.h>

#include <jansson.h>

/* A string; what is no UTF-8 in it is replaced. NULL makes a JSON null. */
json_t *json_text(const char *text);

/* seconds: since 1970 UTC. "2024-05-01T12:00:00Z"; null for 0 and for what no year of four digits
 * holds. */
json_t *json_time(int64_t seconds);

#endif
