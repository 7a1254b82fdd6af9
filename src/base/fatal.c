#include "base/fatal.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/error.h"

static void (*redirected)(const char *sentence);

void fatal_redirect(void (*end)(const char *sentence))
{
	redirected = end;
}

void fatal(const char *format, ...)
{
	char sentence[256];
	va_list args;

	va_start(args, format);
	vsnprintf(sentence, sizeof(sentence), format, args);
	va_end(args);
	if (redirected) {
		redirected(sentence);
		abort();
	}
	fprintf(stderr, "burin: %s\n", sentence);
	exit(EXIT_IO);
}
