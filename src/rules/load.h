/* What rules.c and the readers of the three formats share while a rule set is loaded. Only they and
 * tests include this. */
#ifndef BURIN_RULES_LOAD_H
#define BURIN_RULES_LOAD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <openssl/evp.h>

#include "base/strbuf.h"
#include "rules/lint.h"
#include "rules/rules.h"

/* Maximum length of a rule file with everything that it includes, bytes. */
#define RULES_MAX_TEXT ((size_t)64 << 20)

struct loader {
	struct rules *rules;
	size_t rule_capacity, file_capacity;
	EVP_MD_CTX *digest; /* of all text read so far */
	bool may_include;   /* false for text that is not from a file */
	char **only;        /* the file's own selection */
	size_t only_count, only_capacity;
	struct error *error;
};

/* Like rules_load, but from text. path: its name in messages, and what @include is relative to;
 * NULL: the text is not from a file and can't include any. */
int rules_load_text(struct rules **rules, const char *path, const char *text, size_t len,
	enum rules_format format, const char *only, struct error *error);

/* Sets the error to "file:line: ..." and returns -EINVAL. */
int loader_fail(struct loader *loader, const char *file, unsigned line, const char *format, ...)
	__attribute__((format(printf, 4, 5)));

/* Adds a file to the list of files and its content to the digest. Returns its name, owned by the
 * rule set; NULL, with the error set, when the text contains a zero byte. */
const char *loader_add_file(struct loader *loader, const char *path, const char *text, size_t len);
/* Reads a whole file. Returns 0 or a negative errno with *why set to the reason (static, or
 * strerror's). */
int loader_read_file(const char *path, struct strbuf *text, const char **why);

/* Adds the pattern to the set and its index to a rule's list, unless already there; takes over
 * *pattern. */
void loader_add_pattern(
	struct loader *loader, uint32_t **list, uint32_t *count, struct pattern *pattern);
/* Takes over *rule. */
void loader_add_rule(struct loader *loader, struct rule *rule);
void rule_free(struct rule *rule);

/* Whether a type's name can be a folder's: [A-Za-z0-9._-]+, not starting with a dot, at most
 * RULE_NAME_MAX bytes. */
bool rule_name_valid(const char *name);
#define RULE_NAME_MAX 100

/* The readers. text[len] is zero, and no byte before it; file: from loader_add_file. */
int libconfig_read(struct loader *loader, const char *file, const char *text, size_t len);
int scalpel_read(struct loader *loader, const char *file, const char *text, bool foremost);

/* What rules_select keeps: sets stays[] for each rule, and kinds_off in those that stay in part. Returns 0, or
 * -EINVAL with the error set. */
int choice_mark(struct rules *rules, char *const *names, size_t count, bool sets, const char *where,
	bool *stays, struct error *error);
/* Keeps only the rules of the named types, without those named with a leading '-', and drops
 * patterns that no rule uses any more. sets: names of sets count (choice.c). where: the beginning of errors ("conf/x.conf: only"). */
int rules_select(struct rules *rules, char *const *names, size_t count, bool sets,
	const char *where, struct error *error);

#endif
