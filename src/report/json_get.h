/*
 * Fetches the fields of a JSON object that nobody vouches for. The first failure is kept and turns
 * every later fetch into nothing, so that the code that fetches reads as a list of fields. A field
 * of null counts as missing.
 */
#ifndef BURIN_REPORT_JSON_GET_H
#define BURIN_REPORT_JSON_GET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <jansson.h>

#include "base/error.h"

struct fields {
	const char *file; /* for messages, cleaned */
	uint64_t line;
	json_t *object; /* NULL: every field is missing */
	struct error *error;
	int status; /* 0, or the first failure, whose words are in error (EXIT_USAGE) */
};

/* Words a failure: "FILE:LINE: ...". Does nothing after the first. */
void fields_fail(struct fields *fields, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* fallback: for a missing field; NULL: it must be there. Never returns NULL; valid as long as the
 * object. */
const char *fields_text(struct fields *fields, const char *key, const char *fallback);

/* required: the field must be there; otherwise a missing one is 0. most: the largest that is
 * allowed. */
uint64_t fields_number(struct fields *fields, const char *key, bool required, uint64_t most);

bool fields_flag(struct fields *fields, const char *key, bool fallback);

/* As fields_text, for one component of a path: clean text without '/' and leading dot, at most 255
 * bytes; empty only where there is a fallback. */
const char *fields_name(struct fields *fields, const char *key, const char *fallback);

/* As fields_text, one of count texts that name gives for 0, 1, ...: returns its index. */
int fields_choice(struct fields *fields, const char *key, const char *fallback,
	const char *(*name)(int), int count);

/* A hash in hex, made lower case, or "" when missing. len: bytes of digits, with the zero. */
void fields_hash(struct fields *fields, const char *key, char *digits, size_t len);

/* The object in a field; one without fields when it is missing. Give it back with fields_leave
 * before going on with the outer one. */
struct fields fields_enter(const struct fields *outer, const char *key);
void fields_leave(struct fields *outer, const struct fields *inner);

#endif
