#include "rules/setting.h"

#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/size.h"
#include "base/suggest.h"

/* ---- locations and errors ------------------------------------------------------------------ */

struct source_line setting_origin(const struct setting_reader *r, const config_setting_t *setting)
{
	return source_origin(&r->source, config_setting_source_line(setting));
}

/* The name of the setting; for an element of a list, the name of the list. */
static const char *setting_name(const config_setting_t *setting)
{
	while (setting && !config_setting_name(setting))
		setting = config_setting_parent(setting);
	return setting ? config_setting_name(setting) : "the file";
}

int setting_fail(struct setting_reader *r, const config_setting_t *setting, const char *format, ...)
{
	struct source_line at = setting_origin(r, setting);
	char why[sizeof(r->loader->error->text)];
	va_list args;

	va_start(args, format);
	vsnprintf(why, sizeof(why), format, args);
	va_end(args);
	return loader_fail(r->loader, at.file, at.line, "%s: %s", setting_name(setting), why);
}

int setting_fail_unknown(struct setting_reader *r, const config_setting_t *setting,
	const char *what, const char *wanted, const char *const *known, size_t count)
{
	char *advice = suggest_names(wanted, known, count);
	int status = setting_fail(r, setting, "there is no %s '%.100s'; %s", what, wanted, advice);

	free(advice);
	return status;
}

/* ---- values -------------------------------------------------------------------------------- */

int setting_string(struct setting_reader *r, const config_setting_t *setting, const char **value)
{
	*value = config_setting_get_string(setting);
	return *value ? 0 : setting_fail(r, setting, "expected a string in double quotes");
}

int setting_integer(struct setting_reader *r, const config_setting_t *setting, int64_t *value)
{
	int type = config_setting_type(setting);

	if (type != CONFIG_TYPE_INT && type != CONFIG_TYPE_INT64)
		return setting_fail(r, setting, "expected an integer");
	*value = type == CONFIG_TYPE_INT ? config_setting_get_int(setting)
					 : config_setting_get_int64(setting);
	return 0;
}

/* A number of bytes: an integer, or a string with a unit. */
int setting_size(struct setting_reader *r, const config_setting_t *setting, uint64_t *value)
{
	const char *text = config_setting_get_string(setting);
	int64_t number;
	int status;

	if (text) {
		status = size_parse(text, value);
		if (status == -ERANGE)
			return setting_fail(r, setting, "'%.40s' does not fit in 64 bits", text);
		if (status)
			return setting_fail(r, setting,
				"expected a size such as 4096 or \"50M\", found '%.40s'", text);
		return 0;
	}
	if (config_setting_is_aggregate(setting) || !config_setting_is_number(setting) ||
		config_setting_type(setting) == CONFIG_TYPE_FLOAT)
		return setting_fail(r, setting, "expected a size such as 4096 or \"50M\"");
	status = setting_integer(r, setting, &number);
	if (!status && number < 0)
		return setting_fail(r, setting, "a size can't be negative");
	*value = (uint64_t)number;
	return status;
}

/* Calls read for the setting itself or, when it is a list or an array, for each element. */
int setting_each(struct setting_reader *r, const config_setting_t *setting, void *into,
	int (*read)(struct setting_reader *r, const config_setting_t *setting, void *into))
{
	int count = config_setting_length(setting);

	if (!config_setting_is_list(setting) && !config_setting_is_array(setting))
		return read(r, setting, into);
	if (!count)
		return setting_fail(r, setting, "the list is empty");
	for (int i = 0; i < count; i++) {
		int status = read(r, config_setting_get_elem(setting, (unsigned)i), into);

		if (status)
			return status;
	}
	return 0;
}

int setting_group(struct setting_reader *r, const config_setting_t *group,
	const struct setting_kind *kinds, size_t kind_count, void *into)
{
	if (!config_setting_is_group(group))
		return setting_fail(r, group, "expected a group: { name = value; ... }");
	for (int i = 0; i < config_setting_length(group); i++) {
		const config_setting_t *setting = config_setting_get_elem(group, (unsigned)i);
		const char *name = config_setting_name(setting), *known[16];
		size_t at = 0;
		int status;

		for (; at < kind_count && strcmp(kinds[at].name, name) != 0; at++)
			known[at] = kinds[at].name;
		status = at < kind_count ? kinds[at].read(r, setting, into)
					 : setting_fail_unknown(
						   r, setting, "setting", name, known, kind_count);
		if (status)
			return status;
	}
	return 0;
}

bool setting_has(const config_setting_t *group, const char *name)
{
	return config_setting_get_member(group, name) != NULL;
}
