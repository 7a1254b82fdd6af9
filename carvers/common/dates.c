#include "dates.h"

#include <time.h>

int64_t utc_seconds(int year, int month, int day, int hour, int minute, int second)
{
	struct tm date = { .tm_year = year - 1900,
		.tm_mon = month - 1,
		.tm_mday = day,
		.tm_hour = hour,
		.tm_min = minute,
		.tm_sec = second };
	int64_t seconds;

	if (year < 1 || year > 9999 || month < 1 || month > 12 || day < 1 || day > 31 || hour < 0 ||
		hour > 23 || minute < 0 || minute > 59 || second < 0 || second > 60)
		return 0;
	seconds = timegm(&date);
	/* timegm turns the 31st of April into the 1st of May. */
	return date.tm_mon == month - 1 || second == 60 ? seconds : 0;
}

int64_t dos_seconds(uint32_t date)
{
	return utc_seconds(1980 + (int)(date >> 25), date >> 21 & 15, date >> 16 & 31,
		date >> 11 & 31, date >> 5 & 63, (date & 31) * 2);
}

/* Converts a count of seconds since a day that is `epoch` seconds before 1970. */
static int64_t seconds_since(uint64_t seconds, uint64_t epoch)
{
	if (seconds <= epoch || seconds - epoch > 253402300799)
		return 0;
	return (int64_t)(seconds - epoch);
}

int64_t filetime_seconds(uint64_t filetime)
{
	return seconds_since(filetime / 10000000, 11644473600);
}

int64_t mac_seconds(uint64_t seconds)
{
	return seconds_since(seconds, 2082844800);
}
