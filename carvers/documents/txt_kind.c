/*
 * Kinds of plain text. Programs of several kinds look alike, so only what the first lines say is used: the interpreter
 * of a script, words that only one language begins with, a dump's own header, times at the start of log lines, the
 * same number of separators on each line of a table.
 */
#include "txt.h"

#include <stdbool.h>
#include <string.h>

#define LINES 6 /* that are compared */

struct beginning {
	const char *text, *extension;
};

/* In the order in which they are tried. */
static const struct beginning beginnings[] = { { "<?php", "php" }, { "-- MySQL dump", "sql" },
	{ "-- MariaDB dump", "sql" }, { "-- phpMyAdmin SQL", "sql" },
	{ "--\n-- PostgreSQL", "sql" }, { "PRAGMA foreign_keys=", "sql" },
	{ "BEGIN TRANSACTION;", "sql" }, { "CREATE TABLE ", "sql" }, { "INSERT INTO ", "sql" },
	{ "Windows Registry Editor", "reg" }, { "REGEDIT4", "reg" }, { "%YAML", "yaml" },
	{ "---\n", "yaml" }, { "#include", "c" }, { "package ", "java" }, { "import java", "java" },
	{ "# -*- coding", "py" }, { "import ", "py" }, { "from ", "py" }, { "#Software:", "log" },
	{ "#separator", "log" }, { "-----BEGIN ", "pem" } };

/* Words in the line after "#!". */
static const struct beginning interpreters[] = { { "python", "py" }, { "perl", "pl" },
	{ "ruby", "rb" }, { "php", "php" }, { "node", "js" }, { "lua", "lua" }, { "tclsh", "tcl" },
	{ "wish", "tcl" }, { "awk", "awk" }, { "sed", "sed" }, { "sh", "sh" } };

static size_t line_len(const char *line)
{
	return strcspn(line, "\r\n");
}

static const char *next_line(const char *line)
{
	line += line_len(line);
	return line + (*line == '\r') + (line[*line == '\r'] == '\n');
}

static const char *script_kind(const char *line)
{
	size_t len = line_len(line);

	for (size_t i = 0; i < sizeof(interpreters) / sizeof(*interpreters); i++) {
		const char *found = strstr(line, interpreters[i].text);

		if (found && found < line + len)
			return interpreters[i].extension;
	}
	return "sh";
}

/* Whether the line begins with a day, in one of the usual forms: 2023-11-23, [2023/11/23, Nov 23. */
static bool has_day(const char *line)
{
	static const char months[] = "JanFebMarAprMayJunJulAugSepOctNovDec";
	char month[4] = { 0 };
	const char *found;

	line += *line == '[' || *line == '<';
	if (strspn(line, "0123456789") == 4)
		return (line[4] == '-' || line[4] == '/') && strspn(line + 5, "0123456789") == 2;
	memcpy(month, line, line_len(line) < 6 ? 0 : 3);
	found = *month ? strstr(months, month) : NULL;
	return found && (found - months) % 3 == 0 && line[3] == ' ' &&
	       strspn(line + 4, " 0123456789") >= 2;
}

static bool is_log(const char *text)
{
	int lines = 0, days = 0;

	for (; *text && lines < LINES; text = next_line(text), lines++)
		days += has_day(text);
	return lines > 1 && days * 3 >= lines * 2;
}

static size_t count_char(const char *line, size_t len, char what)
{
	size_t count = 0;

	for (size_t i = 0; i < len; i++)
		count += line[i] == what;
	return count;
}

/* Whether each of the first lines has as many separators as the first. */
static bool is_table(const char *text, char separator)
{
	size_t columns = count_char(text, line_len(text), separator);
	int lines = 0;

	if (!columns)
		return false;
	for (; *text && lines < LINES; text = next_line(text), lines++)
		if (text[line_len(text)] && count_char(text, line_len(text), separator) != columns)
			return false;
	return lines >= 3;
}

/* Sections in brackets, and keys with values. */
static bool is_ini(const char *text)
{
	int sections = 0, keys = 0, lines = 0;

	for (; *text && lines < 4 * LINES; text = next_line(text), lines++) {
		size_t len = line_len(text);

		if (!len || *text == ';' || *text == '#')
			continue;
		if (*text == '[' && text[len - 1] == ']')
			sections++;
		else if (sections && memchr(text, '=', len))
			keys++;
		else
			return false;
	}
	return sections && keys;
}

const char *text_kind(const char *text, size_t len)
{
	if (len > 2 && text[0] == '#' && text[1] == '!')
		return script_kind(text);
	for (size_t i = 0; i < sizeof(beginnings) / sizeof(*beginnings); i++)
		if (strncmp(text, beginnings[i].text, strlen(beginnings[i].text)) == 0)
			return beginnings[i].extension;
	if (is_ini(text))
		return "ini";
	if (is_log(text))
		return "log";
	if (is_table(text, '\t'))
		return "tsv";
	return is_table(text, ',') || is_table(text, ';') ? "csv" : "txt";
}
