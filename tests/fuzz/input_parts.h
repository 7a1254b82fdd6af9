/* An input that is several texts, with a form feed between. */
#ifndef BURIN_TESTS_FUZZ_INPUT_PARTS_H
#define BURIN_TESTS_FUZZ_INPUT_PARTS_H

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

struct part {
	char *text; /* a zero follows; the caller frees it */
	size_t len;
};

/* Fills count parts; what is not there is empty, and the last one has all the rest. */
static void split_parts(const uint8_t *data, size_t len, struct part *parts, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		const uint8_t *end = i + 1 < count && len ? memchr(data, '\f', len) : NULL;
		size_t part_len = end ? (size_t)(end - data) : len;
		size_t taken = end ? part_len + 1 : part_len;

		parts[i] = (struct part){ malloc(part_len + 1), part_len };
		if (!parts[i].text)
			abort();
		memcpy(parts[i].text, data, part_len);
		parts[i].text[part_len] = '\0';
		data += taken;
		len -= taken;
	}
}

#endif
