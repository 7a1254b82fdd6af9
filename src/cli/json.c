#include "cli/json.h"

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
	value = json_string(clean);
	free(clean);
	return value;
}

void json_put(json_t *value)
{
	json_dumpf(value, stdout, JSON_INDENT(2));
	putchar('\n');
	json_decref(value);
}
