/* The parts of the contract that are code: the reason of a verdict, and the table's lookup. */
#include "carver.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum verdict verdict_because(enum verdict verdict, struct finding *finding, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(finding->why, sizeof(finding->why), format, args);
	va_end(args);
	return verdict;
}

const struct carver *carver_find(const char *name)
{
	for (const struct carver *const *row = carvers; *row; row++)
		if (strcmp((*row)->name, name) == 0)
			return *row;
	return NULL;
}
