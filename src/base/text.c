/*
 * Titles, names and acquisition data come from the evidence, which may be hostile: a right-to-left
 * override can make "exe.gpj" look like a picture, an escape sequence can redraw the terminal of
 * someone who views the audit, a line separator can forge a line. Reports need none of these, so
 * each bad byte or character becomes U+FFFD.
 */
#include "base/text.h"

#include <string.h>
#include <time.h>

#include "base/memory.h"

#define REPLACEMENT "\xEF\xBF\xBD"

/* Returns the length of the UTF-8 sequence at text, and its code point; 0 if it is invalid:
 * overlong, a surrogate, cut short. */
static size_t decode(const unsigned char *text, uint32_t *point)
{
	static const uint32_t least[] = { 0, 0, 0x80, 0x800, 0x10000 };
	size_t len;

	if (text[0] < 0x80) {
		*point = text[0];
		return 1;
	}
	len = text[0] >= 0xF8   ? 0
	      : text[0] >= 0xF0 ? 4
	      : text[0] >= 0xE0 ? 3
	      : text[0] >= 0xC0 ? 2
				: 0;
	if (!len)
		return 0;
	*point = text[0] & (0x7F >> len);
	for (size_t i = 1; i < len; i++) {
		if ((text[i] & 0xC0) != 0x80)
			return 0;
		*point = *point << 6 | (text[i] & 0x3F);
	}
	if (*point < least[len] || *point > 0x10FFFF || (*point >= 0xD800 && *point <= 0xDFFF))
		return 0;
	return len;
}

static bool is_harmless(uint32_t point)
{
	static const struct {
		uint32_t first, last;
	} bad[] = {
		{ 0x00, 0x1F }, { 0x7F, 0x9F },         /* controls */
		{ 0x061C, 0x061C }, { 0x200E, 0x200F }, /* marks of direction */
		{ 0x2028, 0x2029 },                     /* line and paragraph separators */
		{ 0x202A, 0x202E }, { 0x2066, 0x2069 }, /* overrides and isolates */
		{ 0xFEFF, 0xFEFF },                     /* byte order mark */
	};

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		if (point >= bad[i].first && point <= bad[i].last)
			return false;
	return (point & 0xFFFE) != 0xFFFE; /* noncharacters, in every plane */
}

char *text_clean(const char *text, char *buffer, size_t len)
{
	const unsigned char *from = (const unsigned char *)text;
	size_t used = 0;

	while (*from) {
		uint32_t point = 0;
		size_t step = decode(from, &point);
		bool good = step && is_harmless(point);
		size_t room = good ? step : strlen(REPLACEMENT);

		if (used + room >= len)
			break;
		memcpy(buffer + used, good ? (const char *)from : REPLACEMENT, room);
		used += room;
		from += step ? step : 1;
	}
	buffer[used] = '\0';
	return buffer;
}

char *text_clean_copy(const char *text)
{
	size_t len = strlen(text) * strlen(REPLACEMENT) + 1;

	return text_clean(text, xmalloc(len), len);
}

const char *text_file_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

/* printf and scanf would make times the larger part of what a line of a report costs. */
static void put_digits(char *to, int count, int value)
{
	for (; count-- > 0; value /= 10)
		to[count] = (char)('0' + value % 10);
}

/* Anything where there are no digits. */
static int get_digits(const char *from, int count)
{
	int value = 0;

	for (int i = 0; i < count; i++)
		value = value * 10 + (uint8_t)from[i] - '0';
	return value;
}

bool text_time(int64_t seconds, char buffer[TEXT_TIME_LEN])
{
	const int64_t year_1 = -62135596800, year_10000 = 253402300800;
	time_t time = (time_t)seconds;
	struct tm tm;

	buffer[0] = '\0';
	if (seconds < year_1 || seconds >= year_10000 || !gmtime_r(&time, &tm))
		return false;
	memcpy(buffer, "0000-00-00T00:00:00Z", TEXT_TIME_LEN);
	put_digits(buffer, 4, tm.tm_year + 1900);
	put_digits(buffer + 5, 2, tm.tm_mon + 1);
	put_digits(buffer + 8, 2, tm.tm_mday);
	put_digits(buffer + 11, 2, tm.tm_hour);
	put_digits(buffer + 14, 2, tm.tm_min);
	put_digits(buffer + 17, 2, tm.tm_sec);
	return true;
}

bool text_time_parse(const char *text, int64_t *seconds)
{
	char again[TEXT_TIME_LEN];
	struct tm tm = { 0 };
	time_t time;

	if (strlen(text) != TEXT_TIME_LEN - 1)
		return false;
	tm.tm_year = get_digits(text, 4) - 1900;
	tm.tm_mon = get_digits(text + 5, 2) - 1;
	tm.tm_mday = get_digits(text + 8, 2);
	tm.tm_hour = get_digits(text + 11, 2);
	tm.tm_min = get_digits(text + 14, 2);
	tm.tm_sec = get_digits(text + 17, 2);
	time = timegm(&tm);
	/* What timegm corrected (a 31st of June), or is no digit, does not print the same. */
	if (!text_time(time, again) || strcmp(text, again) != 0)
		return false;
	*seconds = time;
	return true;
}
