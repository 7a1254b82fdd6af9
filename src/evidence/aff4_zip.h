/*
 * The ZIP file around an AFF4 image: finds members by name, and reads parts of them in place. No library of
 * the distribution's gives the place of a stored member's bytes without copying all that is before it.
 * One thread.
 */
#ifndef BURIN_EVIDENCE_AFF4_ZIP_H
#define BURIN_EVIDENCE_AFF4_ZIP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The bytes of the file. read: 0 or a negative errno; the range is inside the file. */
struct aff4_source {
	int (*read)(void *context, uint64_t offset, void *buffer, size_t len);
	void *context;
	uint64_t size;
};

struct aff4_member {
	char *name;                            /* without %XX */
	uint64_t head_at, at, packed_len, len; /* at: 0 until it was looked for */
	bool stored, deflated;
};

struct aff4_zip;

/* NULL: it has no list of members that can be read. The source is copied. */
struct aff4_zip *aff4_zip_open(const struct aff4_source *source);
/* The text after the list; "" if there is none. */
const char *aff4_zip_comment(const struct aff4_zip *zip);
/* NULL: there is none. */
const struct aff4_member *aff4_zip_find(const struct aff4_zip *zip, const char *name);
/* Bytes of a stored member, all or none: 0 or a negative errno. */
int aff4_zip_read(struct aff4_zip *zip, const struct aff4_member *member, uint64_t offset,
	void *buffer, size_t len);
/* All of a member, at most max bytes, and a zero after them, which the caller frees; NULL: it can't be read. */
uint8_t *aff4_zip_load(
	struct aff4_zip *zip, const struct aff4_member *member, size_t max, size_t *len);
/* NULL is fine. */
void aff4_zip_close(struct aff4_zip *zip);

#endif
