#include "cli/json.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "output/text.h"

json_t *json_text(const char *text)
{
	size_t len = text ? 3 * strlen(text) + 1 : 0; /* U+FFFD takes three bytes */
	char *clean;
	json_t *value;

	if (!text)
		return json_null();
	clean = xmalloc(len);
	value = json_string(text_clean(text, clean, len));
	free(clean);
	return value;
}

void json_put(json_t *value)
{
	json_dumpf(value, stdout, JSON_INDENT(2));
	putchar('\n');
	json_decref(value);
}
