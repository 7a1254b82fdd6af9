/* A temporary folder for a test, and plain helpers for the files in it. Failures end the test. */
#ifndef BURIN_TESTS_TEMP_H
#define BURIN_TESTS_TEMP_H

#include <criterion/criterion.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* The folder of the running test. Each test runs in a process of its own. */
static char temp_path[4096];

static void temp_make(void)
{
	const char *base = getenv("TMPDIR");

	snprintf(temp_path, sizeof(temp_path), "%s/burin-test-XXXXXX",
		base && *base ? base : "/tmp");
	cr_assert_not_null(mkdtemp(temp_path));
	cr_assert_eq(chmod(temp_path, 0755), 0);
}

static int temp_remove_entry(const char *path, const struct stat *info, int type, struct FTW *walk)
{
	(void)info;
	(void)type;
	(void)walk;
	return remove(path);
}

static void temp_remove(void)
{
	nftw(temp_path, temp_remove_entry, 16, FTW_DEPTH | FTW_PHYS);
}

/* PATH/name; four results at a time. */
static const char *temp_at(const char *name)
{
	static char paths[4][4600];
	static unsigned next;
	char *path = paths[next++ % 4];

	snprintf(path, sizeof(paths[0]), "%s/%s", temp_path, name);
	return path;
}

static __attribute__((unused)) void temp_write(const char *name, const void *bytes, size_t len)
{
	FILE *file = fopen(temp_at(name), "wb");

	cr_assert_not_null(file, "%s", name);
	cr_assert_eq(fwrite(bytes, 1, len, file), len);
	cr_assert_eq(fclose(file), 0);
}

/* The file's content and a zero after it; the caller frees it. len may be NULL. */
static __attribute__((unused)) char *temp_read(const char *name, size_t *len)
{
	FILE *file = fopen(temp_at(name), "rb");
	size_t capacity = 1 << 16, used = 0, step;
	char *text = malloc(capacity);

	cr_assert_not_null(file, "%s", name);
	while ((step = fread(text + used, 1, capacity - used - 1, file)) > 0) {
		used += step;
		if (capacity - used < 2)
			text = realloc(text, capacity *= 2);
	}
	fclose(file);
	text[used] = '\0';
	if (len)
		*len = used;
	return text;
}

#endif
