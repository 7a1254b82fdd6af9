#include "base/json_value.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/text.h"

json_t *json_text(const char *text)
{
	char *clean;
	json_t *value;

	if (!text)
		return json_null();
	clean = text_clean_copy(text);
	value = json_string_nocheck(clean);
	free(clean);
	return value;
}

json_t *json_time(int64_t seconds)
{
	char text[TEXT_TIME_LEN];

	return seconds != 0 && text_time(seconds, text) ? json_string_nocheck(text) : json_null();
}

void json_print(json_t *value)
{
	json_dumpf(value, stdout, JSON_INDENT(2));
	putchar('\n');
	json_decref(value);
}
