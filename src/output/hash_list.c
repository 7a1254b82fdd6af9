#include "output/hash_list.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>

#include "base/text.h"

/* Of a longer line only so much is looked at. */
#define LINE_LEN 8192
#define NO_COLUMN UINT32_MAX

static const struct {
	enum hash_kind kind;
	size_t digest_len;
} kinds[] = { { HASH_MD5, 16 }, { HASH_SHA1, 20 }, { HASH_SHA256, 32 } };

#define KIND_COUNT (sizeof(kinds) / sizeof(*kinds))

size_t hash_digest_len(enum hash_kind kind)
{
	for (size_t i = 0; i < KIND_COUNT; i++)
		if (kinds[i].kind == kind)
			return kinds[i].digest_len;
	return 0;
}

/* 0 to 15, or 255. */
static uint8_t nibble(char digit)
{
	if (digit >= '0' && digit <= '9')
		return (uint8_t)(digit - '0');
	if (digit >= 'a' && digit <= 'f')
		return (uint8_t)(digit - 'a' + 10);
	if (digit >= 'A' && digit <= 'F')
		return (uint8_t)(digit - 'A' + 10);
	return 255;
}

bool hash_digest_parse(const char *hex, size_t hex_len, enum hash_kind *kind, uint8_t digest[32])
{
	size_t i = 0;

	while (i < KIND_COUNT && kinds[i].digest_len * 2 != hex_len)
		i++;
	if (i == KIND_COUNT)
		return false;
	*kind = kinds[i].kind;
	for (i = 0; i < hex_len; i += 2) {
		uint8_t high = nibble(hex[i]), low = nibble(hex[i + 1]);

		if ((high | low) > 15)
			return false;
		digest[i / 2] = (uint8_t)(high << 4 | low);
	}
	return true;
}

struct text_list {
	FILE *file;
	char line[LINE_LEN];
	uint32_t column; /* NO_COLUMN: plain */
};

/* The next line, without its end. False at the end of the file. */
static bool next_line(struct text_list *list)
{
	size_t len;
	int c;

	if (!fgets(list->line, sizeof(list->line), list->file))
		return false;
	len = strlen(list->line);
	if (len == sizeof(list->line) - 1 && list->line[len - 1] != '\n')
		while ((c = getc_unlocked(list->file)) != EOF && c != '\n')
			;
	while (len && (list->line[len - 1] == '\n' || list->line[len - 1] == '\r'))
		list->line[--len] = '\0';
	return true;
}

/* The field of a line of CSV, which is cut up for it. NULL when the line has fewer. */
static char *csv_field(char *line, uint32_t column)
{
	for (uint32_t i = 0;; i++) {
		char *field = line, *to = line;

		if (*line == '"') {
			for (field = to = ++line; *line && (*line != '"' || line[1] == '"');
				line++) {
				line += *line == '"';
				*to++ = *line;
			}
			line += *line == '"';
		} else {
			to = line += strcspn(line, ",");
		}
		if (i == column) {
			*to = '\0';
			return field;
		}
		line += strcspn(line, ",");
		if (!*line++)
			return NULL;
	}
}

/* The strongest column that holds hashes; line: the names of the columns. */
static uint32_t find_column(const char *line)
{
	static const char *const names[] = { "SHA-256", "SHA256", "SHA-1", "SHA1", "MD5", "HASH" };
	char copy[LINE_LEN], *field;

	if (*line != '"')
		return NO_COLUMN;
	for (size_t n = 0; n < sizeof(names) / sizeof(*names); n++)
		for (uint32_t column = 0;; column++) {
			snprintf(copy, sizeof(copy), "%s", line);
			field = csv_field(copy, column);
			if (!field)
				break;
			if (strcasecmp(field, names[n]) == 0)
				return column;
			if (column > 64)
				break;
		}
	return NO_COLUMN;
}

static int take_line(struct text_list *list, struct hash_list_reader *reader)
{
	char *text = list->column == NO_COLUMN ? list->line : csv_field(list->line, list->column);
	enum hash_kind kind;
	uint8_t digest[32];

	if (text)
		text += strspn(text, " \t\"\\");
	if (list->column == NO_COLUMN && (!*text || *text == '#'))
		return 0;
	if (!text || !hash_digest_parse(text, strcspn(text, " \t,;\""), &kind, digest)) {
		reader->ignored++;
		return 0;
	}
	return reader->take(reader->context, kind, digest);
}

static int read_text(FILE *file, struct hash_list_reader *reader)
{
	struct text_list list = { .file = file, .column = NO_COLUMN };
	int status = 0;

	if (!next_line(&list))
		return 0;
	if (strncmp(list.line, "\xEF\xBB\xBF", 3) == 0)
		memmove(list.line, list.line + 3, strlen(list.line + 3) + 1);
	list.column = find_column(list.line);
	if (list.column == NO_COLUMN)
		status = take_line(&list, reader);
	while (!status && next_line(&list))
		status = take_line(&list, reader);
	return status ? status : ferror(file) ? -EIO : 0;
}

static int refuse(const char *path, int errnum, struct error *error)
{
	char clean[512];

	return error_set(error, EXIT_USAGE, errnum, "cannot read the list of hashes '%s': %s",
		text_clean(path, clean, sizeof(clean)),
		errnum == EINVAL ? "it is no plain file" : strerror(errnum));
}

int hash_list_read(const char *path, struct hash_list_reader *reader, struct error *error)
{
	static const char sqlite[] = "SQLite format 3";
	FILE *file = fopen(path, "rbe");
	char magic[sizeof(sqlite)] = "";
	struct stat info;
	int status;

	if (!file)
		return refuse(path, errno, error);
	if (fstat(fileno(file), &info) || !S_ISREG(info.st_mode)) {
		fclose(file);
		return refuse(path, EINVAL, error);
	}
	if (fread(magic, 1, sizeof(magic), file) == sizeof(magic) &&
		memcmp(magic, sqlite, sizeof(magic)) == 0) {
		fclose(file);
		return hash_list_read_sqlite(path, reader, error);
	}
	rewind(file);
	status = read_text(file, reader);
	fclose(file);
	return status == -EIO ? refuse(path, EIO, error) : status;
}
