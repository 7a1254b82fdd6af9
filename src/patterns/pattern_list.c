#include "patterns/pattern_list.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int add_pattern(struct pattern_set *set, const char *path, unsigned number, const char *line,
	struct error *error)
{
	struct error mistake = { 0 };
	struct pattern pattern;

	if (pattern_parse(&pattern, line, &mistake))
		return error_set(
			error, EXIT_USAGE, EINVAL, "%.300s:%u: %.600s", path, number, mistake.text);
	pattern_set_add(set, &pattern);
	return 0;
}

int pattern_list_read(struct pattern_set *set, const char *path, struct error *error)
{
	FILE *file = fopen(path, "re");
	unsigned number = 0;
	char *line = NULL;
	size_t capacity = 0;
	int status = 0;

	if (!file)
		return error_set(error, EXIT_USAGE, errno, "cannot read the patterns in %s: %s",
			path, strerror(errno));
	while (!status && getline(&line, &capacity, file) > 0) {
		line[strcspn(line, "\r\n")] = '\0';
		number++;
		if (*line)
			status = add_pattern(set, path, number, line, error);
	}
	if (!status && ferror(file))
		status = error_set(error, EXIT_USAGE, EIO, "cannot read the patterns in %s", path);
	if (!status && !set->count)
		status = error_set(error, EXIT_USAGE, EINVAL, "there are no patterns in %s", path);
	free(line);
	fclose(file);
	return status;
}
