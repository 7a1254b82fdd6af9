/*
 * The format is described in GNU ddrescue's manual, "Mapfile structure": lines that start with #
 * are comments; the first other line is the state of the rescue; each of the rest is one block:
 * position, size, status, the numbers as C writes them, the status one of ? * / - + (not tried, not
 * trimmed, not scraped, bad, finished). Blocks follow on each other without a gap; what a map does
 * not mention, because its rescue had a smaller domain, was not read either.
 */
#include "evidence/ddrescue_map.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* No line that ddrescue writes comes near it. */
#define LINE_MAX_LEN 1024

struct map {
	const char *path;
	unsigned line; /* number of the one in hand */
	struct ranges *unread;
	uint64_t size;
	uint64_t reached; /* end of the last block */
	bool begun;       /* the state's line was read */
	struct error *error;
};

static int bad_line(const struct map *map, const char *what)
{
	return error_set(map->error, EXIT_USAGE, EINVAL,
		"%s:%u: %s; expected is a map as ddrescue writes it: POSITION SIZE STATUS in each "
		"line",
		map->path, map->line, what);
}

static void add_unread(struct map *map, uint64_t from, uint64_t to)
{
	if (to > map->size)
		to = map->size;
	if (from < to)
		ranges_add(map->unread, from, to - from);
}

/* A number in decimal, octal or hexadecimal, and the blanks behind it. False when there is none. */
static bool take_number(char **text, uint64_t *number)
{
	char *end;

	if (**text < '0' || **text > '9')
		return false;
	errno = 0;
	*number = strtoull(*text, &end, 0);
	if (errno || (*end != ' ' && *end != '\t'))
		return false;
	*text = end + strspn(end, " \t");
	return true;
}

static int take_block(struct map *map, char *text)
{
	uint64_t position, size;

	if (!take_number(&text, &position) || !take_number(&text, &size))
		return bad_line(map, "no position and size");
	if (!*text || !strchr("?*/-+", *text) || text[1 + strspn(text + 1, " \t\r\n")])
		return bad_line(map, "unknown status");
	if (size > UINT64_MAX - position)
		return bad_line(map, "the block is too large");
	if (position < map->reached)
		return bad_line(map, "the block starts before the end of the one above");
	add_unread(map, map->reached, position);
	if (*text != '+')
		add_unread(map, position, position + size);
	map->reached = position + size;
	return 0;
}

/* "0x00120000 ? 1": where the rescue was, what it was doing, and since 1.22 the pass. */
static int take_state(struct map *map, char *text)
{
	uint64_t position;

	if (!take_number(&text, &position) || !*text || !strchr("?*/-FG+", *text))
		return bad_line(map, "this is not the state of a rescue");
	map->begun = true;
	return 0;
}

static int take_line(struct map *map, char *text)
{
	text += strspn(text, " \t");
	if (*text == '#' || *text == '\n' || *text == '\r' || !*text)
		return 0;
	return map->begun ? take_block(map, text) : take_state(map, text);
}

static int take_lines(struct map *map, FILE *stream)
{
	char text[LINE_MAX_LEN];
	int rc = 0;

	while (!rc && fgets(text, sizeof(text), stream)) {
		map->line++;
		if (!strchr(text, '\n') && !feof(stream))
			return bad_line(map, "the line is too long");
		rc = take_line(map, text);
	}
	if (!rc && ferror(stream))
		rc = error_set(map->error, EXIT_IO, EIO, "can't read the map %s: %s", map->path,
			strerror(errno));
	if (!rc && !map->begun)
		rc = bad_line(map, "there is no map in this file");
	return rc;
}

int map_read(struct ranges *unread, const char *path, uint64_t size, struct error *error)
{
	struct map map = { .path = path, .unread = unread, .size = size, .error = error };
	FILE *stream = fopen(path, "re");
	int rc;

	if (!stream)
		return error_set(
			error, EXIT_IO, errno, "can't open the map %s: %s", path, strerror(errno));
	rc = take_lines(&map, stream);
	fclose(stream);
	if (!rc)
		add_unread(&map, map.reached, size);
	return rc;
}
