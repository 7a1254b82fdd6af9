/* For tests of carvers: bytes that grow, and a carver run over bytes in memory. */
#ifndef BURIN_TESTS_CARVER_CASE_H
#define BURIN_TESTS_CARVER_CASE_H

#include <criterion/criterion.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "carve/view.h"

struct bytes {
	uint8_t *data;
	size_t len;
	size_t room; /* bytes that data has */
};

/* Room for len bytes more, which the caller sets. */
static __attribute__((unused)) uint8_t *bytes_grow(struct bytes *bytes, size_t len)
{
	if (!bytes->data || bytes->room - bytes->len < len) {
		bytes->room = (bytes->len + len) * 2 + 64;
		bytes->data = realloc(bytes->data, bytes->room);
		cr_assert_not_null(bytes->data);
	}
	bytes->len += len;
	return bytes->data + bytes->len - len;
}

static __attribute__((unused)) void bytes_add(struct bytes *bytes, const void *data, size_t len)
{
	uint8_t *room = bytes_grow(bytes, len);

	if (len)
		memcpy(room, data, len);
}

static __attribute__((unused)) void bytes_fill(struct bytes *bytes, uint8_t value, size_t count)
{
	memset(bytes_grow(bytes, count), value, count);
}

static __attribute__((unused)) void bytes_add_file(struct bytes *bytes, const char *path)
{
	FILE *file = fopen(path, "rb");
	uint8_t buffer[4096];
	size_t len;

	cr_assert_not_null(file, "can't read %s: run the tests from the source folder", path);
	while ((len = fread(buffer, 1, sizeof(buffer), file)) > 0)
		bytes_add(bytes, buffer, len);
	fclose(file);
}

static __attribute__((unused)) struct bytes bytes_of_file(const char *path)
{
	struct bytes bytes = { 0 };

	bytes_add_file(&bytes, path);
	return bytes;
}

/* `width` bytes of value, big- or little-endian. */
static __attribute__((unused)) void bytes_add_be(struct bytes *bytes, uint64_t value, int width)
{
	while (width--)
		bytes_fill(bytes, (uint8_t)(value >> 8 * width), 1);
}

static __attribute__((unused)) void bytes_add_le(struct bytes *bytes, uint64_t value, int width)
{
	for (int i = 0; i < width; i++)
		bytes_fill(bytes, (uint8_t)(value >> 8 * i), 1);
}

/* xorshift64*: the same everywhere. */
static __attribute__((unused)) void bytes_add_random(
	struct bytes *bytes, uint64_t seed, size_t count)
{
	uint8_t *room = bytes_grow(bytes, count);

	seed = seed * 2 + 1;
	for (size_t i = 0; i < count; i++) {
		seed ^= seed >> 12;
		seed ^= seed << 25;
		seed ^= seed >> 27;
		room[i] = (uint8_t)(seed * 0x2545f4914f6cdd1du >> 56);
	}
}

/* Runs a carver over the first len bytes, in memory of exactly that size, and checks what holds for
 * any finding. */
static __attribute__((unused)) enum verdict carve(
	const char *carver, const uint8_t *data, size_t len, struct finding *finding)
{
	const struct carver *row = carver_find(carver);
	uint8_t *copy = malloc(len ? len : 1);
	struct view *view;
	enum verdict verdict;

	cr_assert_not_null(row, "no carver %s", carver);
	if (len)
		memcpy(copy, data, len);
	view = view_new_memory(copy, len);
	memset(finding, 0, sizeof(*finding));
	verdict = row->check(view, finding);
	view_free(view);
	free(copy);
	cr_assert_leq(finding->length, len, "%s: longer than the view", carver);
	cr_assert_not_null(memchr(finding->why, 0, sizeof(finding->why)));
	cr_assert_not_null(memchr(finding->title, 0, sizeof(finding->title)));
	if (verdict == CARVE_REJECT)
		cr_assert_eq(finding->length, 0, "%s", finding->why);
	else
		cr_assert_gt(finding->length, 0, "%s: no length", carver);
	if (verdict != CARVE_COMPLETE)
		cr_assert_neq(finding->why[0], 0, "%s: no reason given", carver);
	return verdict;
}

/* The same where proof is asked for (view_thorough). */
static __attribute__((unused)) enum verdict carve_thoroughly(
	const char *carver, const uint8_t *data, size_t len, struct finding *finding)
{
	struct view *view = view_new_memory(data, len);
	enum verdict verdict;

	*finding = (struct finding){ 0 };
	view_set_thorough(view, true);
	verdict = carver_find(carver)->check(view, finding);
	view_free(view);
	return verdict;
}

/* The work of a check that may take so much. */
static __attribute__((unused)) uint64_t carve_work(
	const char *carver, const struct bytes *bytes, uint64_t max)
{
	struct view *view = view_new_memory(bytes->data, bytes->len);
	struct finding found = { 0 };
	uint64_t work;

	view_limit_work(view, max);
	carver_find(carver)->check(view, &found);
	work = view_work_done(view);
	view_free(view);
	return work;
}

/* The carver's verdict on the bytes has to be this one, with this length and a reason that contains
 * why (unless NULL). */
#define expect(carver, bytes, want, want_len, want_why) \
	do { \
		struct finding found_; \
		enum verdict verdict_ = carve(carver, (bytes)->data, (bytes)->len, &found_); \
		const char *why_ = want_why; \
		cr_assert_eq(verdict_, want, "verdict %d: '%s'", (int)verdict_, found_.why); \
		cr_assert_eq(found_.length, (uint64_t)(want_len), "length %zu: '%s'", \
			(size_t)found_.length, found_.why); \
		cr_assert(!why_ || strstr(found_.why, why_), "why '%s'", found_.why); \
	} while (0)

#endif
