/* For tests that open evidence: files with bytes in them, what an image holds, what is refused. */
#ifndef BURIN_TESTS_IMAGE_CASE_H
#define BURIN_TESTS_IMAGE_CASE_H

#include <criterion/criterion.h>
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>

#include "evidence/image.h"
#include "temp.h"

/* Reads of files that touch [bad_from, bad_to) fail (test_image.c). */
extern off_t bad_from, bad_to;

/* Returns the file's path. */
static __attribute__((unused)) const char *write_file(
	const char *name, const void *bytes, size_t len)
{
	temp_write(name, bytes, len);
	return temp_at(name);
}

static __attribute__((unused)) void fill(uint8_t *bytes, size_t len, uint64_t seed)
{
	for (size_t i = 0; i < len; i++) {
		seed = seed * 6364136223846793005u + 1442695040888963407u;
		bytes[i] = (uint8_t)(seed >> 56);
	}
}

/* For errors that name another file than the one that was given. */
static __attribute__((unused)) void refused_set(
	const char *path, const char *piece, const char *other)
{
	struct error error = { 0 };
	struct image *image = NULL;

	cr_assert_lt(image_open(&image, temp_at(path), &error), 0);
	cr_assert_eq(error.code, EXIT_IO);
	cr_assert_not_null(strstr(error.text, piece), "no '%s' in: %s", piece, error.text);
	cr_assert_not_null(strstr(error.text, other), "no '%s' in: %s", other, error.text);
}

static __attribute__((unused)) struct image *opened(const char *path)
{
	struct error error = { 0 };
	struct image *image = NULL;

	cr_assert_eq(image_open(&image, path, &error), 0, "%s", error.text);
	return image;
}

static __attribute__((unused)) void holds(struct image *image, const uint8_t *bytes, size_t len)
{
	uint8_t *read = malloc(len + 1);

	cr_assert_eq(image_info(image)->size, len);
	cr_assert_eq(image_read_at(image, 0, read, len), 0);
	cr_assert_arr_eq(read, bytes, len);
	for (size_t at = 0; at < len; at += 1 + len / 13) {
		size_t piece = len - at < 777 ? len - at : 777;

		cr_assert_eq(image_read_at(image, at, read, piece), 0);
		cr_assert_arr_eq(read, bytes + at, piece);
	}
	cr_assert_eq(image_read_at(image, 1, read, len), -EINVAL);
	cr_assert_eq(image_read_at(image, len + 1, read, 0), -EINVAL);
	cr_assert_eq(image_read_at(image, UINT64_MAX, read, 1), -EINVAL);
	cr_assert_eq(image_read_at(image, len, read, 0), 0);
	free(read);
}

#endif
