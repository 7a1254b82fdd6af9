/*
 * The audits of Scalpel and Foremost: text for people, a row a file.
 *
 *     Scalpel 1.60:   00000002.gif      1110016		NO            10022	case.raw
 *     Foremost 1.5.7: 0:	00002168.gif 	       9 KB 	    1110016 	  (356 x 321)
 *
 * Foremost gives sizes from 1 KB on in whole KB, rounded down. If the carved file exists beside the
 * audit (TYPE/NAME), its own size is taken; otherwise the length is known only to the KB.
 */
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/memory.h"
#include "base/text.h"
#include "compare/listing.h"

struct audit_reader {
	struct listing *listing;
	char *folder; /* of the audit */
	bool in_rows;
	unsigned images;
};

/* The text from the words to the line's end, without quotes; NULL if the line does not start with
 * them. */
static char *text_after(char *line, const char *words)
{
	size_t len = strlen(words);

	if (strncmp(line, words, len) != 0)
		return NULL;
	line += len;
	len = strlen(line);
	while (len && (isspace((unsigned char)line[len - 1]) || line[len - 1] == '"'))
		line[--len] = '\0';
	while (*line == '"' || *line == ' ')
		line++;
	return line;
}

static bool take_number(char **text, uint64_t *number)
{
	char *end;

	while (isspace((unsigned char)**text))
		++*text;
	if (!isdigit((unsigned char)**text))
		return false;
	errno = 0;
	*number = strtoull(*text, &end, 10);
	*text = end;
	return errno == 0 && *number <= INT64_MAX;
}

static char *take_word(char **text)
{
	char *word;

	while (isspace((unsigned char)**text))
		++*text;
	word = *text;
	while (**text && !isspace((unsigned char)**text))
		++*text;
	if (**text)
		*(*text)++ = '\0';
	return word;
}

/* ---- Scalpel ------------------------------------------------------------------------------- */

static bool scalpel_row(struct audit_reader *audit, char *line)
{
	char *name = take_word(&line), *chop;
	uint64_t offset, length;
	struct listed *file;

	if (!*name || !take_number(&line, &offset))
		return false;
	chop = take_word(&line);
	if ((strcmp(chop, "YES") != 0 && strcmp(chop, "NO") != 0) || !take_number(&line, &length))
		return false;
	if (length > INT64_MAX - offset)
		return false;
	file = listing_add(audit->listing);
	listing_name(file, name);
	file->offset = offset;
	file->length = length;
	file->chopped = *chop == 'Y';
	listing_set(&file->note, file->chopped ? "cut at the rule's largest size" : "");
	listing_add_run(file, offset, length);
	return true;
}

static bool scalpel_line(struct audit_reader *audit, char *line)
{
	struct listing *listing = audit->listing;
	char *value;

	if ((value = text_after(line, "Scalpel version "))) {
		listing_set(&listing->version, take_word(&value));
	} else if ((value = text_after(line, "Configuration file: "))) {
		listing_set(&listing->rules_path, value);
	} else if ((value = text_after(line, "Opening target "))) {
		listing_set(&listing->image_path, value);
		audit->images++;
		audit->in_rows = false;
	} else if (text_after(line, "File\t")) {
		audit->in_rows = true;
	} else if (text_after(line, "Completed at ")) {
		listing->ended = true;
	} else if (audit->in_rows && *line != '\n') {
		return scalpel_row(audit, line);
	} else {
		audit->in_rows = false;
	}
	return true;
}

/* ---- Foremost ------------------------------------------------------------------------------ */

/* The size of the carved file, if it exists. */
static bool find_size(const struct audit_reader *audit, const struct listed *file, uint64_t *length)
{
	char *path = xasprintf("%s/%s/%s", audit->folder, file->type, file->path);
	struct stat info;
	bool found = lstat(path, &info) == 0 && S_ISREG(info.st_mode);

	if (found)
		*length = (uint64_t)info.st_size;
	free(path);
	return found;
}

static uint64_t unit_of(const char *word)
{
	static const struct {
		const char *word;
		uint64_t bytes;
	} units[] = { { "B", 1 }, { "KB", 1 << 10 }, { "MB", 1 << 20 }, { "GB", 1 << 30 } };

	for (size_t i = 0; i < sizeof(units) / sizeof(*units); i++)
		if (strcmp(units[i].word, word) == 0)
			return units[i].bytes;
	return 0;
}

static bool foremost_row(struct audit_reader *audit, char *line)
{
	uint64_t number, size, unit, offset;
	char *name;
	struct listed *file;

	if (!take_number(&line, &number) || *line++ != ':')
		return false;
	name = take_word(&line);
	if (!*name || strchr(name, '/') || !take_number(&line, &size))
		return false;
	unit = unit_of(take_word(&line));
	if (!unit || size > INT64_MAX / unit || !take_number(&line, &offset) ||
		offset > INT64_MAX - (size + 1) * unit)
		return false;
	file = listing_add(audit->listing);
	listing_name(file, name);
	file->offset = offset;
	file->length = size * unit;
	file->length_off = unit - 1;
	if (find_size(audit, file, &size) && size <= INT64_MAX - offset) {
		file->length = size;
		file->length_off = 0;
	}
	listing_set(&file->note, text_after(line, " ") ? text_after(line, " ") : "");
	listing_add_run(file, offset, file->length);
	return true;
}

static bool foremost_line(struct audit_reader *audit, char *line)
{
	struct listing *listing = audit->listing;
	char *value;

	if ((value = text_after(line, "Foremost version "))) {
		listing_set(&listing->version, take_word(&value));
	} else if ((value = text_after(line, "Configuration file: "))) {
		listing_set(&listing->rules_path, value);
	} else if ((value = text_after(line, "File: "))) {
		listing_set(&listing->image_path, value);
		audit->images++;
	} else if ((value = text_after(line, "Length: "))) {
		value = strchr(value, '(');
		if (value && *++value)
			take_number(&value, &listing->image_size);
	} else if (text_after(line, "Num\t")) {
		audit->in_rows = true;
	} else if (text_after(line, "Finish: ")) {
		listing->ended = true;
		audit->in_rows = false;
	} else if (audit->in_rows && isdigit((unsigned char)*line)) {
		return foremost_row(audit, line);
	}
	return true;
}

/* ---- both ---------------------------------------------------------------------------------- */

static int read_lines(struct audit_reader *audit, FILE *stream, struct error *error)
{
	bool (*read_line)(struct audit_reader * audit, char *line) = NULL;
	struct listing *listing = audit->listing;
	size_t capacity = 0, number = 0;
	char *line = NULL;
	int status = 0;

	while (!status && getline(&line, &capacity, stream) > 0) {
		number++;
		if (!read_line && strncmp(line, "Scalpel version", 15) == 0) {
			listing->tool = TOOL_SCALPEL;
			read_line = scalpel_line;
		} else if (!read_line && strncmp(line, "Foremost version", 16) == 0) {
			listing->tool = TOOL_FOREMOST;
			read_line = foremost_line;
		}
		if (read_line && !read_line(audit, line))
			status = error_set(error, EXIT_USAGE, EINVAL,
				"%.500s:%zu: this line is not a row of an audit of %s",
				listing->path, number, listing_tool_name(listing->tool));
	}
	if (!status && ferror(stream))
		status = error_set(error, EXIT_IO, EIO, "cannot read '%.500s'", listing->path);
	if (!status && audit->images > 1)
		status = error_set(error, EXIT_USAGE, EINVAL,
			"'%.500s' is about %u images; compare runs over one image", listing->path,
			audit->images);
	free(line);
	return status;
}

int listing_read_audit(struct listing *listing, struct error *error)
{
	const char *slash = strrchr(listing->path, '/');
	struct audit_reader audit = { .listing = listing,
		.folder = slash ? xasprintf("%.*s", (int)(slash - listing->path), listing->path)
				: xstrdup(".") };
	FILE *stream = fopen(listing->path, "re");
	int status = stream ? read_lines(&audit, stream, error)
			    : error_set(error, EXIT_IO, errno, "cannot read '%.500s': %s",
				      listing->path, strerror(errno));

	if (stream)
		fclose(stream);
	free(audit.folder);
	return status;
}
