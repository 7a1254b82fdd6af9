/* Small files of known formats, made by code: valid from the first byte to the last, and with
 * checksums where the format has them. The same seed gives the same bytes. */
#ifndef BURIN_SELFTEST_SAMPLE_FILES_H
#define BURIN_SELFTEST_SAMPLE_FILES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct bytes {
	uint8_t *data;
	size_t len, capacity;
};

void bytes_add(struct bytes *bytes, const void *data, size_t len);
/* NULL data is fine. */
void bytes_free(struct bytes *bytes);

struct sample_kind {
	const char *type; /* as the rules name it */
	/* Appends a file; size: the approximate length of its content, bytes. */
	void (*make)(struct bytes *bytes, size_t size, uint64_t *seed);
	/* Whether burin can detect that the end is missing, and that any one byte was changed. */
	bool notices_cut, notices_change;
};

/* The last row has no type. */
extern const struct sample_kind sample_kinds[];

/* Appends a ZIP that holds inner, stored, starting at *place. */
void sample_zip_around(
	struct bytes *bytes, const struct bytes *inner, uint64_t *seed, size_t *place);
/* Appends words that contain no header. */
void sample_text(struct bytes *bytes, size_t len, uint64_t *seed);

#endif
