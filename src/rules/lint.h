/* Likely mistakes in a rule set that loads: those that Scalpel's grammar hides, rules that can't
 * carve anything, rules that carve far too much. */
#ifndef BURIN_RULES_LINT_H
#define BURIN_RULES_LINT_H

#include <stddef.h>

#include "rules/rules.h"

enum lint_level {
	LINT_NOTE, /* worth knowing */
	LINT_WARN, /* probably a mistake */
};

struct lint_message {
	const char *file; /* owned by the rule set */
	unsigned line;    /* 0: the file as a whole */
	char *rule;       /* the rule's name, or NULL when the message is about the file */
	enum lint_level level;
	char *text; /* a sentence */
};

/* Zero-initialise; lint_free when done, before the rule set is freed. */
struct lint {
	struct lint_message *messages;
	size_t count, capacity;
};

/* "note", "warning". */
const char *lint_level_name(enum lint_level level);

/* Adds all messages about the set, including those of its reader, sorted by file (in the order
 * read) and line. */
void lint_rules(struct lint *lint, const struct rules *rules);

/* Adds one message; rule may be NULL. For the readers. */
void lint_add(struct lint *lint, enum lint_level level, const char *file, unsigned line,
	const char *rule, const char *format, ...) __attribute__((format(printf, 6, 7)));

/* The list is empty afterwards. NULL is fine. */
void lint_free(struct lint *lint);

#endif
