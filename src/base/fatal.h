/* What can't be reported as an error: memory has run out for something small, or a library lacks what it
 * must have. */
#ifndef BURIN_BASE_FATAL_H
#define BURIN_BASE_FATAL_H

/* Prints the sentence on stderr and ends the program with EXIT_IO. */
_Noreturn void fatal(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* From now on end gets the sentence instead, and must not return. NULL: as before. */
void fatal_redirect(void (*end)(const char *sentence));

#endif
