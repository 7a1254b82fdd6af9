/* What looks wrong in a rule set that loads: mistakes that Scalpel's grammar hides, rules that
 * can't carve, rules that flood. */
#ifndef BURIN_RULES_LINT_H
#define BURIN_RULES_LINT_H

#include <stddef.h>

#include "rules/rules.h"

enum lint_level {
	LINT_NOTE, /* worth knowing */
	LINT_WARN, /* most likely not what was meant */
};

struct lint_message {
	const char *file; /* owned by the rule set */
	unsigned line;    /* 0: the file as a whole */
	char *rule;       /* the rule's name, or NULL when the message is about the file */
	enum lint_level level;
	char *text; /* a sentence */
};

/* Zero-initialise; lint_free when done, before the rule set goes. */
struct lint {
	struct lint_message *messages;
	size_t count, capacity;
};

/* "note", "warning". */
const char *lint_level_name(enum lint_level level);

/* Adds all that is to be said about the set, what its reader noticed included, ordered by file (as
 * read) and line. */
void lint_rules(struct lint *lint, const struct rules *rules);

/* Adds one message; rule may be NULL. For the readers. */
void lint_add(struct lint *lint, enum lint_level level, const char *file, unsigned line,
	const char *rule, const char *format, ...) __attribute__((format(printf, 6, 7)));

/* Leaves an empty list behind. NULL is fine. */
void lint_free(struct lint *lint);

#endif
