/* Errors worded for people, and the exit codes of commands. */
#ifndef BURIN_BASE_ERROR_H
#define BURIN_BASE_ERROR_H

#include <stdarg.h>
#include <stddef.h>

/* The exit codes of every command. An interrupted run ends with 128 + the signal's number. */
enum exit_code {
	EXIT_CLEAN = 0,     /* finished, without problems */
	EXIT_PROBLEMS = 1,  /* finished, with problems that the report lists */
	EXIT_USAGE = 2,     /* wrong arguments, or a rule file with an error */
	EXIT_IO = 3,        /* evidence unreadable, or output unwritable (a full disk included) */
	EXIT_NO_ENGINE = 4, /* the requested engine is not available on this machine */
};

/*
 * The code that detects an error words it, once, as a full sentence without a newline: what happened,
 * where, and what to do. Functions that take a `struct error *` leave it unchanged on success and
 * return a negative errno on failure; the pointer may be NULL if the caller does not need the
 * words.
 */
struct error {
	int code; /* an enum exit_code; 0 while no error is set */
	char text[1024];
};

/* Sets the error. Returns -errnum, so that a caller can write `return error_set(...)`.
 * errnum: a positive errno; code: the exit code that a command should end with. */
int error_set(struct error *error, enum exit_code code, int errnum, const char *format, ...)
	__attribute__((format(printf, 4, 5)));

#endif
