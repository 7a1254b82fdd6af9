/* A growing text: always ends with a zero once something was added. */
#ifndef BURIN_RULES_BUFFER_H
#define BURIN_RULES_BUFFER_H

#include <stddef.h>

/* Zero-initialise; the owner frees text. */
struct buffer {
	char *text;
	size_t len, capacity;
};

void buffer_add(struct buffer *buffer, const void *bytes, size_t len);
void buffer_print(struct buffer *buffer, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

#endif
