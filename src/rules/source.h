/* The text that libconfig gets to see, with a map of where each line came from. */
#ifndef BURIN_RULES_SOURCE_H
#define BURIN_RULES_SOURCE_H

#include "base/strbuf.h"
#include "rules/load.h"

struct source_line {
	const char *file; /* owned by the rule set */
	unsigned line;
};

/* Zero-initialise; source_free when done. */
struct source {
	struct strbuf text;
	struct source_line *lines; /* lines[i]: origin of the text's line i + 1 */
	size_t line_count, line_capacity;
};

/* Prepares the text of a rule file; -EINVAL with loader's error set. */
int source_expand(struct source *source, struct loader *loader, const char *file, const char *text,
	size_t len);
/* Where a line of the expanded text came from; line: 1-based, anything else gives the nearest. */
struct source_line source_origin(const struct source *source, unsigned line);
void source_free(struct source *source);

#endif
