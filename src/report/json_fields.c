#include "report/json_fields.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "output/dirfd.h"
#include "base/text.h"

void json_fields_fail(struct json_fields *fields, const char *format, ...)
{
	char text[512];
	va_list args;

	if (fields->status)
		return;
	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	fields->status = error_set(fields->error, EXIT_IO, EINVAL, "%s:%" PRIu64 ": %s",
		fields->file, fields->line, text);
}

const char *json_fields_text(struct json_fields *fields, const char *key, const char *fallback)
{
	const json_t *value = json_object_get(fields->object, key);

	if (json_is_string(value))
		return json_string_value(value);
	if (!fallback || (value && !json_is_null(value)))
		json_fields_fail(fields, "'%s' must be a text", key);
	return fallback ? fallback : "";
}

uint64_t json_fields_number(
	struct json_fields *fields, const char *key, bool required, uint64_t max)
{
	const json_t *value = json_object_get(fields->object, key);

	if (!required && (!value || json_is_null(value)))
		return 0;
	if (!json_is_integer(value) || json_integer_value(value) < 0)
		json_fields_fail(fields, "'%s' must be a whole number that is not negative", key);
	else if ((uint64_t)json_integer_value(value) > max)
		json_fields_fail(fields, "'%s' is too large: %lld, at most %" PRIu64, key,
			(long long)json_integer_value(value), max);
	else
		return (uint64_t)json_integer_value(value);
	return 0;
}

bool json_fields_flag(struct json_fields *fields, const char *key, bool fallback)
{
	const json_t *value = json_object_get(fields->object, key);

	if (!value || json_is_null(value))
		return fallback;
	if (!json_is_boolean(value))
		json_fields_fail(fields, "'%s' must be true or false", key);
	return json_is_true(value);
}

const char *json_fields_name(struct json_fields *fields, const char *key, const char *fallback)
{
	const char *name = json_fields_text(fields, key, fallback);
	char *clean = text_clean_copy(name);

	if ((*name || !fallback) && (!dirfd_path_is_plain(name) || strchr(name, '/') ||
					    name[0] == '.' || strcmp(name, clean) != 0))
		json_fields_fail(fields,
			"'%s' must be a plain name: no '/', no dot in front, no control characters",
			key);
	free(clean);
	return name;
}

int json_fields_choice(struct json_fields *fields, const char *key, const char *fallback,
	const char *(*name)(int), int count)
{
	const char *text = json_fields_text(fields, key, fallback);
	char clean[64];

	for (int i = 0; i < count; i++)
		if (strcmp(text, name(i)) == 0)
			return i;
	json_fields_fail(
		fields, "'%s' is unknown: '%s'", key, text_clean(text, clean, sizeof(clean)));
	return 0;
}

void json_fields_hash(struct json_fields *fields, const char *key, char *digits, size_t len)
{
	const char *text = json_fields_text(fields, key, "");

	digits[0] = '\0';
	if (!*text)
		return;
	if (strlen(text) != len - 1 || strspn(text, "0123456789abcdefABCDEF") != len - 1) {
		json_fields_fail(fields, "'%s' must be %zu hexadecimal digits", key, len - 1);
		return;
	}
	for (size_t i = 0; i < len; i++)
		digits[i] = (char)tolower((unsigned char)text[i]);
}

struct json_fields json_fields_enter(const struct json_fields *outer, const char *key)
{
	struct json_fields inner = *outer;

	inner.object = json_object_get(outer->object, key);
	if (json_is_null(inner.object))
		inner.object = NULL;
	if (inner.object && !json_is_object(inner.object))
		json_fields_fail(&inner, "'%s' must be an object", key);
	return inner;
}

void json_fields_leave(struct json_fields *outer, const struct json_fields *inner)
{
	outer->status = inner->status;
}
