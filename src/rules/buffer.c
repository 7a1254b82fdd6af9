#include "rules/buffer.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

void buffer_add(struct buffer *buffer, const void *bytes, size_t len)
{
	while (buffer->capacity - buffer->len <= len)
		buffer->text = xgrow(buffer->text, &buffer->capacity, buffer->capacity, 1);
	if (len)
		memcpy(buffer->text + buffer->len, bytes, len);
	buffer->len += len;
	buffer->text[buffer->len] = '\0';
}

void buffer_print(struct buffer *buffer, const char *format, ...)
{
	char small[128], *text = small;
	va_list args;
	int len;

	va_start(args, format);
	len = vsnprintf(small, sizeof(small), format, args);
	va_end(args);
	if (len >= (int)sizeof(small)) {
		text = xmalloc((size_t)len + 1);
		va_start(args, format);
		vsnprintf(text, (size_t)len + 1, format, args);
		va_end(args);
	}
	if (len > 0)
		buffer_add(buffer, text, (size_t)len);
	if (text != small)
		free(text);
}
