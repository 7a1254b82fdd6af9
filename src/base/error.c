#include "base/error.h"

#include <stdio.h>

int error_set(struct error *error, enum exit_code code, int errnum, const char *format, ...)
{
	if (error) {
		va_list args;

		va_start(args, format);
		vsnprintf(error->text, sizeof(error->text), format, args);
		va_end(args);
		error->code = code;
	}
	return -errnum;
}
