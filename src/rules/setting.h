/* Reads values and groups of a libconfig file, with errors that name file and line. Only
 * libconfig.c and rule_draft.c include this. */
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

/* A setting of a kind of group, and its reader; into: the struct that the group describes. */
struct setting_kind {
	const char *name;
	int (*read)(struct setting_reader *r, const config_setting_t *setting, void *into);
};

/* The setting's file and line. */
struct source_line setting_origin(const struct setting_reader *r, const config_setting_t *setting);
/* Sets the error to "file:line: name: ..." and returns -EINVAL. */
int setting_fail(struct setting_reader *r, const config_setting_t *setting, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
/* The same for an unknown name; what: "setting", "carver". */
int setting_fail_unknown(struct setting_reader *r, const config_setting_t *setting,
	const char *what, const char *wanted, const char *const *known, size_t count);

/* Each returns 0, or -EINVAL with the error set. The string lives as long as the setting. */
int setting_string(struct setting_reader *r, const config_setting_t *setting, const char **value);
int setting_integer(struct setting_reader *r, const config_setting_t *setting, int64_t *value);
/* A number of bytes: an integer that is not negative, or a string with a unit. */
int setting_size(struct setting_reader *r, const config_setting_t *setting, uint64_t *value);
/* Calls read for the setting itself or, when it is a list or an array, for each element. */
int setting_each(struct setting_reader *r, const config_setting_t *setting, void *into,
	int (*read)(struct setting_reader *r, const config_setting_t *setting, void *into));
/* Reads every setting of a group as its table says; a setting that is not in the table is an
 * error. */
int setting_group(struct setting_reader *r, const config_setting_t *group,
	const struct setting_kind *kinds, size_t kind_count, void *into);
bool setting_has(const config_setting_t *group, const char *name);

#endif
