#include "base/size.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

static const char units[] = "KMGT";

/* The unit's power of 2, or -1 for an unknown one. */
static int unit_shift(const char *unit)
{
	const char *found;

	if (!*unit)
		return 0;
	found = strchr(units, toupper((unsigned char)*unit));
	if (!found)
		return -1;
	unit++;
	if (*unit && strcasecmp(unit, "B") != 0 && strcasecmp(unit, "iB") != 0)
		return -1;
	return 10 * (int)(found - units + 1);
}

int size_parse(const char *text, uint64_t *bytes)
{
	unsigned long long number;
	char *end;
	int shift;

	if (!isdigit((unsigned char)*text))
		return -EINVAL;
	errno = 0;
	number = strtoull(text, &end, text[0] == '0' && (text[1] | 32) == 'x' ? 16 : 10);
	if (errno)
		return -ERANGE;
	shift = unit_shift(end);
	if (shift < 0)
		return -EINVAL;
	if (number > UINT64_MAX >> shift)
		return -ERANGE;
	*bytes = (uint64_t)number << shift;
	return 0;
}

char *size_print(uint64_t bytes, char buffer[16])
{
	int unit = -1;
	double value = (double)bytes;

	while (value >= 1024 && unit < 3) {
		value /= 1024;
		unit++;
	}
	if (unit < 0)
		snprintf(buffer, 16, "%" PRIu64 " bytes", bytes);
	else
		snprintf(buffer, 16, "%.1f %ciB", value, units[unit]);
	return buffer;
}
