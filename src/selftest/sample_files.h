/* Small files of known formats, made by code: sound from the first byte to the last, and with
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
	/* Adds a file to bytes; size: about how long its content is to be, bytes. */
	void (*make)(struct bytes *bytes, size_t size, uint64_t *seed);
	/* It holds something by which burin notices that the end is lost, or that a byte has
	 * changed, wherever that is. */
	bool notices_cut, notices_change;
};

/* Ended by a row without a type. */
extern const struct sample_kind sample_kinds[];

/* A ZIP that holds inner, stored, from *place on. */
void sample_zip_around(
	struct bytes *bytes, const struct bytes *inner, uint64_t *seed, size_t *place);
/* Words of a language that no header is made of. */
void sample_text(struct bytes *bytes, size_t len, uint64_t *seed);

#endif
