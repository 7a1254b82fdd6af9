/*
 * Fetches the fields of an untrusted JSON object. The first failure is kept and turns every later
 * fetch into a no-op, so that the calling code reads as a list of fields. A field of null counts as
 * missing.
 */
#ifndef BURIN_REPORT_JSON_GET_H
#define BURIN_REPORT_JSON_GET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <jansson.h>

#include "base/error.h"

struct json_fields {
	const char *file; /* for messages, cleaned */
	uint64_t line;
	json_t *object; /* NULL: every field is missing */
	struct error *error;
	int status; /* 0, or the first failure, worded in error (EXIT_IO) */
};

/* Words a failure: "FILE:LINE: ...". Does nothing after the first. */
void json_fields_fail(struct json_fields *fields, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* fallback: for a missing field; NULL: the field is required. Never returns NULL; valid as long as
 * the object. */
const char *json_fields_text(struct json_fields *fields, const char *key, const char *fallback);

/* required: the field must exist; otherwise a missing one is 0. max: the largest value allowed. */
uint64_t json_fields_number(
	struct json_fields *fields, const char *key, bool required, uint64_t max);

/* fallback: for a missing field. */
bool json_fields_flag(struct json_fields *fields, const char *key, bool fallback);

/* As json_fields_text, for one component of a path: clean text without '/' and leading dot, at most
 * 255 bytes; empty only where there is a fallback. */
const char *json_fields_name(struct json_fields *fields, const char *key, const char *fallback);

/* As json_fields_text, one of count texts that name gives for 0, 1, ...: returns its index. */
int json_fields_choice(struct json_fields *fields, const char *key, const char *fallback,
	const char *(*name)(int), int count);

/* A hash in hex, made lower case, or "" when missing. len: bytes of digits, including the zero. */
void json_fields_hash(struct json_fields *fields, const char *key, char *digits, size_t len);

/* The object in a field; one without fields when it is missing. Return it with json_fields_leave
 * before continuing with the outer one. */
struct json_fields json_fields_enter(const struct json_fields *outer, const char *key);
void json_fields_leave(struct json_fields *outer, const struct json_fields *inner);

#endif
