/* Values and groups of a libconfig file, with errors that say where. Only libconfig.c and
 * rule_draft.c include this. */
#ifndef BURIN_RULES_SETTING_H
#define BURIN_RULES_SETTING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <libconfig.h>

#include "rules/load.h"
#include "rules/source.h"

struct setting_reader {
	struct loader *loader;
	struct source source;
};

/* A setting that a kind of group knows. read: into is the struct that the group describes. */
struct setting_kind {
	const char *name;
	int (*read)(struct setting_reader *r, const config_setting_t *setting, void *into);
};

/* Where the setting stands. */
struct source_line setting_origin(const struct setting_reader *r, const config_setting_t *setting);
/* Sets the error to "file:line: name: ..." and returns -EINVAL. */
int setting_fail(struct setting_reader *r, const config_setting_t *setting, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
/* The same for a name that is not among the known; what: "setting", "carver". */
int setting_fail_unknown(struct setting_reader *r, const config_setting_t *setting,
	const char *what, const char *wanted, const char *const *known, size_t count);

/* Each returns 0, or -EINVAL with the error set. The string lives as long as the setting. */
int setting_string(struct setting_reader *r, const config_setting_t *setting, const char **value);
int setting_integer(struct setting_reader *r, const config_setting_t *setting, int64_t *value);
/* A number of bytes: an integer that is not negative, or a text with a unit. */
int setting_size(struct setting_reader *r, const config_setting_t *setting, uint64_t *value);
/* Calls read for the setting itself or, when it is a list or an array, for each element. */
int setting_each(struct setting_reader *r, const config_setting_t *setting, void *into,
	int (*read)(struct setting_reader *r, const config_setting_t *setting, void *into));
/* Reads every setting of a group by the table; one that is not in it is an error. */
int setting_group(struct setting_reader *r, const config_setting_t *group,
	const struct setting_kind *kinds, size_t kind_count, void *into);
bool setting_has(const config_setting_t *group, const char *name);

#endif
