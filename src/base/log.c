#include "base/log.h"

#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>

#include "base/text.h"

/* Bytes of a message: enough for a path and a sentence about it. */
#define TEXT_LEN 8192

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static enum log_level threshold = LOG_INFO;
static void (*before_hook)(void);
static void (*after_hook)(void);
static void (*redirected)(enum log_level level, const char *text);
static void (*listening)(enum log_level level, const char *text);

void log_set_level(enum log_level level)
{
	threshold = level;
}

void log_set_hooks(void (*before)(void), void (*after)(void))
{
	pthread_mutex_lock(&lock);
	before_hook = before;
	after_hook = after;
	pthread_mutex_unlock(&lock);
}

void log_redirect(void (*take)(enum log_level level, const char *text))
{
	pthread_mutex_lock(&lock);
	redirected = take;
	pthread_mutex_unlock(&lock);
}

void log_listen(void (*hear)(enum log_level level, const char *text))
{
	pthread_mutex_lock(&lock);
	listening = hear;
	pthread_mutex_unlock(&lock);
}

static void print_line(enum log_level level, const char *clean)
{
	static const char *const words[] = { "error: ", "warning: ", "", "" };

	if (before_hook)
		before_hook();
	fprintf(stderr, "burin: %s%s\n", words[level], clean);
	if (after_hook)
		after_hook();
}

void log_print(enum log_level level, const char *format, ...)
{
	char text[TEXT_LEN], clean[TEXT_LEN];
	va_list args;

	if (level > threshold)
		return;
	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	/* Names of files and types may contain terminal escape sequences. */
	text_clean(text, clean, sizeof(clean));
	pthread_mutex_lock(&lock);
	if (redirected)
		redirected(level, clean);
	else
		print_line(level, clean);
	if (listening && level <= LOG_WARN)
		listening(level, clean);
	pthread_mutex_unlock(&lock);
}
