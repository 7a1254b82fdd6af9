/*
 * Segments are numbered by their extensions: E01 to E99, then EAA, EAB, ... EZZ, FAA ... ZZZ.
 * SMART's begin with S. The folder is listed rather than each name tried, so that a missing segment
 * does not hide those after it. But disk.EXE is not segment 702: a name that does not directly
 * follow the one before must have its number in its file's head.
 */
#include "evidence/e01_names.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "evidence/backend.h"
#include "base/file.h"
#include "base/memory.h"
#include "evidence/e01_sections.h"

#define EXTENSION_LEN 3
#define NUMBER_AT 9

struct segment_name {
	unsigned number;
	char extension[EXTENSION_LEN + 1];
};

static int digit(char c)
{
	return c >= '0' && c <= '9' ? c - '0' : -1;
}

static int letter(char c, bool lower)
{
	return c >= (lower ? 'a' : 'A') && c <= (lower ? 'z' : 'Z') ? c - (lower ? 'a' : 'A') : -1;
}

/* The number that an extension means, 0 for none. first: the first letter of the set's first
 * extension. */
static unsigned number_of(const char *extension, char first)
{
	bool lower = first >= 'a';
	int a, b, c;

	if (strlen(extension) != EXTENSION_LEN)
		return 0;
	a = letter(extension[0], lower) - letter(first, lower);
	b = letter(extension[1], lower);
	c = letter(extension[2], lower);
	if (letter(extension[0], lower) < 0 || a < 0)
		return 0;
	if (digit(extension[1]) >= 0 && digit(extension[2]) >= 0 && a == 0)
		return (unsigned)(digit(extension[1]) * 10 + digit(extension[2]));
	return b >= 0 && c >= 0 ? (unsigned)(100 + (a * 26 + b) * 26 + c) : 0;
}

/* The first letter of the set's first extension; 0 when path's extension is not a set's. */
static char first_letter(const char *extension)
{
	static const char letters[] = "SsEe";

	for (const char *first = letters; *first; first++)
		if (number_of(extension, *first))
			return *first;
	return 0;
}

static int by_number(const void *a, const void *b)
{
	const struct segment_name *first = a, *second = b;

	return (first->number > second->number) - (first->number < second->number);
}

/* All names in the folder that begin with base (up to and including the dot) and end with an
 * extension of the set, in order. */
static struct segment_name *list_names(
	const char *folder, const char *base, char first, size_t *count)
{
	DIR *dir = opendir(folder);
	size_t base_len = strlen(base), capacity = 0;
	struct segment_name *names = NULL;
	struct dirent *entry;

	*count = 0;
	while (dir && (entry = readdir(dir))) {
		unsigned number = strncmp(entry->d_name, base, base_len)
					  ? 0
					  : number_of(entry->d_name + base_len, first);

		if (!number)
			continue;
		names = xgrow(names, &capacity, *count, sizeof(*names));
		names[*count].number = number;
		memcpy(names[(*count)++].extension, entry->d_name + base_len, EXTENSION_LEN + 1);
	}
	if (dir)
		closedir(dir);
	if (names)
		qsort(names, *count, sizeof(*names), by_number);
	return names;
}

static bool head_has_number(const char *path, unsigned number)
{
	uint8_t head[E01_FILE_HEAD_LEN];
	int fd = image_open_file(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	bool matches = fd >= 0 && !file_read_all_at(fd, head, sizeof(head), 0) &&
		       e01_probe(head, sizeof(head)) &&
		       (head[NUMBER_AT] | (unsigned)head[NUMBER_AT + 1] << 8) == number;

	if (fd >= 0)
		close(fd);
	return matches;
}

void e01_find_names(const char *path, char ***paths, size_t *count)
{
	const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
	const char *dot = strrchr(name, '.');
	char first = dot ? first_letter(dot + 1) : 0;
	char *folder = slash ? xasprintf("%.*s", (int)(slash - path + 1), path) : xstrdup("./");
	char *base = dot ? xasprintf("%.*s", (int)(dot + 1 - name), name) : NULL;
	size_t name_count = 0;
	struct segment_name *names = first ? list_names(folder, base, first, &name_count) : NULL;
	bool gap = false;

	*paths = xcalloc(name_count + 1, sizeof(**paths));
	*count = 0;
	for (size_t i = 0; i < name_count; i++) {
		char *found = xasprintf("%s%s%s", slash ? folder : "", base, names[i].extension);

		/* A gap before the first is reported elsewhere. */
		gap |= i > 0 && names[i].number != names[i - 1].number + 1;
		if (!gap || head_has_number(found, names[i].number))
			(*paths)[(*count)++] = found;
		else
			free(found);
	}
	if (!*count) {
		(*paths)[0] = xstrdup(path);
		*count = 1;
	}
	free(names);
	free(folder);
	free(base);
}

char *e01_first_name(const char *path)
{
	const char *slash = strrchr(path, '/'), *dot = strrchr(slash ? slash : path, '.');
	char first = dot ? first_letter(dot + 1) : 0;
	unsigned number = first ? number_of(dot + 1, first) : 0;
	char *name = number > 1 ? xasprintf("%.*s%c01", (int)(dot + 1 - path), path, first) : NULL;

	if (name && !access(name, F_OK) && head_has_number(path, number))
		return name;
	free(name);
	return NULL;
}
