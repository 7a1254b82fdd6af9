#include "hashing/hash_list.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>

#include "base/text.h"

/* Only the beginning of a longer line is read. */
#define LINE_LEN 8192
#define FIELDS_MAX 64

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

bool hash_digest_parse(const char *hex, size_t hex_len, enum hash_kind *kind, uint8_t digest[32])
{
	size_t i = 0;

	while (i < KIND_COUNT && kinds[i].digest_len * 2 != hex_len)
		i++;
	if (i == KIND_COUNT)
		return false;
	*kind = kinds[i].kind;
	for (i = 0; i < hex_len; i += 2) {
		int high = hex_value(hex[i]), low = hex_value(hex[i + 1]);

		if (high < 0 || low < 0)
			return false;
		digest[i / 2] = (uint8_t)(high << 4 | low);
	}
	return true;
}

struct text_list {
	FILE *file;
	char line[LINE_LEN];
	bool wide;      /* UTF-16, little-endian, as Windows writes it */
	char separator; /* of the columns, if a line named them; 0: none did */
	/* Columns with hashes, the strongest first. */
	size_t columns[KIND_COUNT], column_count;
};

/* A character beyond ASCII becomes '?': none is of use here. */
static int next_char(const struct text_list *list)
{
	int low = getc_unlocked(list->file), high;

	if (!list->wide || low == EOF)
		return low;
	high = getc_unlocked(list->file);
	return high == EOF ? EOF : high || low >= 0x80 ? '?' : low;
}

/* The next line, without its end. False at the end of the file. */
static bool next_line(struct text_list *list)
{
	size_t len = 0;
	int c;

	while ((c = next_char(list)) != EOF && c != '\n')
		if (len < sizeof(list->line) - 1)
			list->line[len++] = (char)(c ? c : '?');
	if (c == EOF && !len)
		return false;
	if (len && list->line[len - 1] == '\r')
		len--;
	list->line[len] = '\0';
	return true;
}

/* Skips the byte order mark that Windows puts in front of a text. */
static void skip_mark(struct text_list *list)
{
	char mark[3] = "";
	size_t len = fread(mark, 1, sizeof(mark), list->file);

	list->wide = len >= 2 && memcmp(mark, "\xFF\xFE", 2) == 0;
	if (list->wide)
		fseek(list->file, 2, SEEK_SET);
	else if (len < 3 || memcmp(mark, "\xEF\xBB\xBF", 3) != 0)
		rewind(list->file);
}

/* ---- tables -------------------------------------------------------------------------------- */

/* Splits the line into its fields, which may be quoted. Returns how many. */
static size_t cut_fields(char *line, char separator, char *fields[FIELDS_MAX])
{
	const char ends[] = { separator, '\0' };
	size_t count = 0;

	while (count < FIELDS_MAX) {
		char *to = line, end;

		fields[count++] = line;
		if (*line == '"') {
			for (line++; *line && (*line != '"' || line[1] == '"'); line++) {
				line += *line == '"';
				*to++ = *line;
			}
			line += *line == '"';
		} else {
			to = line += strcspn(line, ends);
		}
		line += strcspn(line, ends);
		end = *line++;
		*to = '\0';
		if (!end)
			break;
	}
	return count;
}

static bool is_name(const char *field, size_t kind)
{
	static const char *const names[KIND_COUNT][3] = { { "SHA-256", "SHA256", "SHA256 HASH" },
		{ "SHA-1", "SHA1", "SHA1 HASH" }, { "MD5", "HASH", "MD5 HASH" } };

	for (size_t i = 0; i < 3; i++)
		if (strcasecmp(field + strspn(field, " "), names[kind][i]) == 0)
			return true;
	return false;
}

/* Whether the line names columns, including hashes: as in NSRLFile.txt, and after four percent
 * signs in hashdeep's output. */
static bool find_columns(struct text_list *list)
{
	char copy[LINE_LEN], *fields[FIELDS_MAX];
	const char *line = list->line;

	if (strncmp(line, "%%%% ", 5) == 0)
		line += 5;
	list->column_count = 0;
	for (const char *separator = ",;\t"; *separator && !list->column_count; separator++) {
		size_t count;

		memcpy(copy, line, strlen(line) + 1);
		count = cut_fields(copy, *separator, fields);
		for (size_t kind = 0; kind < KIND_COUNT; kind++)
			for (size_t i = 0; i < count; i++)
				if (is_name(fields[i], kind)) {
					list->columns[list->column_count++] = i;
					break;
				}
		list->separator = list->column_count ? *separator : 0;
	}
	return list->column_count > 0;
}

/* The strongest hash of a row; a row may lack some. */
static bool parse_row(struct text_list *list, enum hash_kind *kind, uint8_t digest[32])
{
	char *fields[FIELDS_MAX];
	size_t count = cut_fields(list->line, list->separator, fields);

	for (size_t i = 0; i < list->column_count; i++)
		if (list->columns[i] < count) {
			const char *field = fields[list->columns[i]];

			field += strspn(field, " ");
			if (hash_digest_parse(field, strcspn(field, " "), kind, digest))
				return true;
		}
	return false;
}

/* ---- plain lists --------------------------------------------------------------------------- */

/* The first word that is a hash. In "SHA256 (name) = hash", as BSD and OpenSSL write it, only what
 * follows the name is examined, because a name may be a hash. */
static bool parse_plain(const char *line, enum hash_kind *kind, uint8_t digest[32])
{
	static const char around[] = " \t,;\"\\";
	const char *tag = strchr(line, '('), *sign;

	line += strspn(line, around);
	if (hash_digest_parse(line, strcspn(line, around), kind, digest))
		return true;
	while (tag && (sign = strstr(tag, "= ")))
		line = tag = sign + 2;
	while (*line) {
		size_t len = strcspn(line, around);

		if (hash_digest_parse(line, len, kind, digest))
			return true;
		line += len;
		line += strspn(line, around);
	}
	return false;
}

static int read_line(struct text_list *list, struct hash_list_reader *reader)
{
	enum hash_kind kind;
	uint8_t digest[32];
	const char *line = list->line + strspn(list->line, " \t");

	if (!*line || *line == '#' || *line == '%')
		return 0;
	if (list->separator ? !parse_row(list, &kind, digest) : !parse_plain(line, &kind, digest)) {
		reader->ignored++;
		return 0;
	}
	return reader->take(reader->context, kind, digest);
}

static int read_text(FILE *file, struct hash_list_reader *reader)
{
	struct text_list list = { .file = file };
	bool first = true;
	int status = 0;

	skip_mark(&list);
	while (!status && next_line(&list)) {
		if ((!first && *list.line != '%') || !find_columns(&list))
			status = read_line(&list, reader);
		first = false;
	}
	return status ? status : ferror(file) ? -EIO : 0;
}

static int read_error(const char *path, int errnum, struct error *error)
{
	char clean[512];

	return error_set(error, EXIT_USAGE, errnum, "cannot read the list of hashes '%s': %s",
		text_clean(path, clean, sizeof(clean)),
		errnum == EINVAL    ? "it is not a plain file"
		: errnum == ENOEXEC ? "it is compressed; decompress it first"
				    : strerror(errnum));
}

int hash_list_read(const char *path, struct hash_list_reader *reader, struct error *error)
{
	static const char sqlite[] = "SQLite format 3";
	FILE *file = fopen(path, "rbe");
	char magic[sizeof(sqlite)] = "";
	struct stat info;
	size_t len;
	int status;

	if (!file)
		return read_error(path, errno, error);
	if (fstat(fileno(file), &info) || !S_ISREG(info.st_mode)) {
		fclose(file);
		return read_error(path, EINVAL, error);
	}
	len = fread(magic, 1, sizeof(magic), file);
	if (len >= 4 && (memcmp(magic, "PK\3\4", 4) == 0 || memcmp(magic, "\x1F\x8B", 2) == 0)) {
		fclose(file);
		return read_error(path, ENOEXEC, error);
	}
	if (len == sizeof(magic) && memcmp(magic, sqlite, sizeof(magic)) == 0) {
		fclose(file);
		return hash_list_read_sqlite(path, reader, error);
	}
	rewind(file);
	status = read_text(file, reader);
	fclose(file);
	return status == -EIO ? read_error(path, EIO, error) : status;
}
