/*
 * The format is described in GNU ddrescue's manual, "Mapfile structure": lines that start with #
 * are comments; the first other line is the state of the rescue; each of the rest is one block:
 * position, size, status, the numbers as C writes them, the status one of ? * / - + (not tried, not
 * trimmed, not scraped, bad, finished). Blocks follow each other without a gap; what a map does not
 * mention, because its rescue had a smaller domain, was not read either.
 */
#include "evidence/ddrescue_map.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Far longer than any line that ddrescue writes. */
#define LINE_MAX_LEN 1024

struct map_parser {
	const char *path;
	unsigned line; /* number of the current one */
	struct ranges *unread;
	uint64_t size;
	uint64_t reached; /* end of the last block */
	bool begun;       /* the state's line was read */
	struct error *error;
};

static int bad_line(const struct map_parser *map, const char *what)
{
	return error_set(map->error, EXIT_USAGE, EINVAL,
		"%s:%u: %s; expected a map as ddrescue writes it: POSITION SIZE STATUS in each "
		"line",
		map->path, map->line, what);
}

static void add_unread(struct map_parser *map, uint64_t from, uint64_t to)
{
	if (to > map->size)
		to = map->size;
	if (from < to)
		ranges_add(map->unread, from, to - from);
}

/* A number in decimal, octal or hexadecimal, and the blanks after it. False when there is none. */
static bool parse_number(char **text, uint64_t *number)
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

static int parse_block(struct map_parser *map, char *text)
{
	uint64_t position, size;

	if (!parse_number(&text, &position) || !parse_number(&text, &size))
		return bad_line(map, "missing position or size");
	if (!*text || !strchr("?*/-+", *text) || text[1 + strspn(text + 1, " \t\r\n")])
		return bad_line(map, "unknown status");
	if (size > UINT64_MAX - position)
		return bad_line(map, "the block is too large");
	if (position < map->reached)
		return bad_line(map, "the block starts before the end of the previous one");
	add_unread(map, map->reached, position);
	if (*text != '+')
		add_unread(map, position, position + size);
	map->reached = position + size;
	return 0;
}

/* "0x00120000 ? 1": where the rescue was, what it was doing, and since 1.22 the pass. */
static int parse_state(struct map_parser *map, char *text)
{
	uint64_t position;

	if (!parse_number(&text, &position) || !*text || !strchr("?*/-FG+", *text))
		return bad_line(map, "this is not the state of a rescue");
	map->begun = true;
	return 0;
}

static int parse_line(struct map_parser *map, char *text)
{
	text += strspn(text, " \t");
	if (*text == '#' || *text == '\n' || *text == '\r' || !*text)
		return 0;
	return map->begun ? parse_block(map, text) : parse_state(map, text);
}

static int parse_lines(struct map_parser *map, FILE *stream)
{
	char text[LINE_MAX_LEN];
	int rc = 0;

	while (!rc && fgets(text, sizeof(text), stream)) {
		map->line++;
		if (!strchr(text, '\n') && !feof(stream))
			return bad_line(map, "the line is too long");
		rc = parse_line(map, text);
	}
	if (!rc && ferror(stream))
		rc = error_set(map->error, EXIT_IO, EIO, "can't read the ddrescue map %s: %s",
			map->path, strerror(errno));
	if (!rc && !map->begun)
		rc = bad_line(map, "this file is not a ddrescue map");
	return rc;
}

int ddrescue_map_read(struct ranges *unread, const char *path, uint64_t size, struct error *error)
{
	struct map_parser map = { .path = path, .unread = unread, .size = size, .error = error };
	FILE *stream = fopen(path, "re");
	int rc;

	if (!stream)
		return error_set(error, EXIT_IO, errno, "can't open the ddrescue map %s: %s", path,
			strerror(errno));
	rc = parse_lines(&map, stream);
	fclose(stream);
	if (!rc)
		add_unread(&map, map.reached, size);
	return rc;
}
