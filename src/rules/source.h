/* The text that libconfig parses, and where each of its lines came from. */
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

/* Prepares the text of a rule file. Returns 0, or -EINVAL with the loader's error set. */
int source_expand(struct source *source, struct loader *loader, const char *file, const char *text,
	size_t len);
/* The origin of a line of the expanded text; line: 1-based, clamped to the text. */
struct source_line source_origin(const struct source *source, unsigned line);
void source_free(struct source *source);

#endif
