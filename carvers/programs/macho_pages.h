/* Hashes that a code signature has of each page of the file. */
#ifndef BURIN_CARVERS_PROGRAMS_MACHO_PAGES_H
#define BURIN_CARVERS_PROGRAMS_MACHO_PAGES_H

#include <stdbool.h>

#include "carver.h"

#define MACHO_DIGEST_LEN 32

/* Of the pages [0, limit) of a program that begins at `base` in its file; the last one may be shorter. */
struct macho_pages {
	uint64_t base, limit;
	uint64_t hashes; /* where they are in the file, each of digest_len bytes */
	uint32_t page_len, count;
	uint8_t digest_len;
	bool is_sha1; /* or SHA-256, of which there may be the first bytes */
};

/* Reads where the strongest hashes are in the signature at `at` of the file, of len bytes at most. False: it has none that are of
 * all pages of [0, limit). */
bool macho_pages_read(
	struct view *view, uint64_t at, uint64_t len, uint64_t limit, struct macho_pages *pages);
/* The hash of len bytes, up to pages->digest_len. */
void macho_pages_digest(const struct macho_pages *pages, const uint8_t *bytes, size_t len,
	uint8_t digest[MACHO_DIGEST_LEN]);
/* Whether all pages have their hashes. False: *wrong_at is the first that has not, in the file, or could not be read. */
bool macho_pages_fit(struct view *view, const struct macho_pages *pages, uint64_t *wrong_at);

#endif
