/*
 * Databases of the Extensible Storage Engine: Windows Search, web cache, SRUM, Active Directory,
 * Exchange (libyal's documentation of the EDB format; Microsoft's published source of ESE).
 *
 *	file:   header in a page, a copy in the next one, pages from number 1 on
 *	header: checksum (words XORed from offset 4 on, and 89ABCDEF), 89ABCDEF, version 620, type,
 *		..., page size at 236
 *	page:   checksum, then its number (old), or a checksum that can correct bits (new)
 *
 * An old page's checksum is computed like the header's. A new one's is its number and the words
 * from offset 8 on, XORed; pages above 8 KiB have one for each quarter, of which the first is
 * checked, and the number at 64. Pages that were never used are zeros. The number of pages is not
 * easy to find, so the walk goes up to the last page whose checksum matches, and the end is
 * unverified: pages of zeros may follow.
 */
#include <inttypes.h>
#include <stdbool.h>
#include <string.h>

#include "bytes.h"
#include "carver.h"

#define SEED 0x89abcdef
#define LARGE 8192
#define HEADER_LEN 668
#define UNUSED_MAX 4096 /* pages of zeros in a row */

enum ese_page { PAGE_VALID, PAGE_UNUSED, PAGE_BAD, PAGE_CUT };

static uint32_t xor_words(const uint8_t *p, size_t from, size_t to, uint32_t sum)
{
	for (size_t i = from; i + 4 <= to; i += 4)
		sum ^= le32(p + i);
	return sum;
}

/* The page size of the header at `at`, 0 when it is not a header, or its checksum is wrong. */
static uint32_t read_header(struct view *view, uint64_t at)
{
	const uint8_t *p = view_peek(view, at, HEADER_LEN);
	uint32_t len;

	if (!p || le32(p + 4) != SEED || le32(p + 8) != 0x620 || le32(p + 12) > 1)
		return 0;
	len = le32(p + 236);
	if (len != 2048 && len != 4096 && len != 8192 && len != 16384 && len != 32768)
		return 0;
	p = view_peek(view, at, len);
	return p && xor_words(p, 4, len, SEED) == le32(p) ? len : 0;
}

static enum ese_page check_page(struct view *view, uint64_t at, uint32_t len, uint32_t number)
{
	const uint8_t *p = view_peek(view, at, len);

	if (!p)
		return PAGE_CUT;
	if (p[0] == 0 && memcmp(p, p + 1, len - 1) == 0)
		return PAGE_UNUSED;
	if (le32(p + 4) == number && xor_words(p, 4, len, SEED) == le32(p))
		return PAGE_VALID;
	if (len > LARGE && le64(p + 64) != number)
		return PAGE_BAD;
	return xor_words(p, 8, len > LARGE ? len / 4 : len, number) == le32(p) ? PAGE_VALID
									       : PAGE_BAD;
}

static enum verdict check(struct view *view, struct finding *finding)
{
	uint32_t len = read_header(view, 0), number = 1, last_valid = 0;
	enum ese_page page = PAGE_VALID;

	if (!len)
		return verdict_because(
			CARVE_REJECT, finding, "no header, or its checksum is wrong");
	if (read_header(view, len) != len)
		return verdict_because(CARVE_REJECT, finding, "no copy of the header after it");
	while (number - last_valid < UNUSED_MAX) {
		page = check_page(view, ((uint64_t)number + 1) * len, len, number);
		if (page == PAGE_BAD || page == PAGE_CUT)
			break;
		if (page == PAGE_VALID)
			last_valid = number;
		number++;
	}
	finding->length = ((uint64_t)last_valid + 2) * len;
	if (last_valid == 0) {
		finding->length = 0;
		return verdict_because(CARVE_REJECT, finding, "no valid page after the headers");
	}
	/* Foreign bytes are not part of the file, but a page with the right number is. */
	if (page == PAGE_BAD && number == last_valid + 1) {
		const uint8_t *p = view_peek(view, ((uint64_t)number + 1) * len, len);

		if (p && (le32(p + 4) == number || (len > LARGE && le64(p + 64) == number)))
			return verdict_because(CARVE_TRUNCATED, finding,
				"the checksum of page %" PRIu32 " at %" PRIu64 " is wrong", number,
				finding->length);
	}
	return verdict_because(CARVE_UNVERIFIED, finding,
		"the number of pages is unknown; %" PRIu32 " are valid", last_valid);
}

const struct carver ese_carver = {
	.name = "ese",
	.summary = "ESE databases (edb, dat), by their pages' checksums",
	.check = check,
};
