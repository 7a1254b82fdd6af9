/*
 * Logins on Linux, also failed ones (utmp, wtmp, btmp; glibc's bits/utmp.h, for 64 bits and for programs of 32).
 *
 *	record: kind (2 bytes, 0 to 9), zeros (2), process (4), line (32), id (4), user (32), host (256), exit (4),
 *	        session (4), seconds (4), microseconds (4), address (16), zeros (20): 384 bytes; integers little-endian
 *
 * Texts end in zeros. Nothing verifies the records, and their number is not stored.
 */
#include <inttypes.h>
#include <stdbool.h>

#include "bytes.h"
#include "walk.h"

#define RECORD_LEN 384
#define RECORDS_MIN 2
#define KIND_MAX 9
#define MICROSECONDS 1000000
#define EARLIEST 631152000 /* 1990 */

static const struct {
	uint16_t at, len;
} texts[] = { { 8, 32 }, { 44, 32 }, { 76, 256 } };

/* Whether the bytes are printable text, then zeros. */
static bool is_text(const uint8_t *p, size_t len)
{
	size_t i = 0;

	while (i < len && p[i] >= ' ' && p[i] != 0x7f)
		i++;
	while (i < len && !p[i])
		i++;
	return i == len;
}

static bool is_record(const uint8_t *p)
{
	if (le16(p) > KIND_MAX || le16(p + 2) || le32(p + 340) < EARLIEST ||
		le32(p + 344) >= MICROSECONDS || le64(p + 364) || le64(p + 372) || le32(p + 380))
		return false;
	for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++)
		if (!is_text(p + texts[i].at, texts[i].len))
			return false;
	return true;
}

static enum verdict check(struct view *view, struct finding *finding)
{
	uint64_t at = 0, size = view_size(view);
	const uint8_t *p;

	while ((p = view_peek(view, at, RECORD_LEN)) && is_record(p)) {
		if (at)
			view_part(view, at);
		else
			finding->time = le32(p + 340);
		at += RECORD_LEN;
	}
	if (at < (uint64_t)RECORDS_MIN * RECORD_LEN) {
		finding->time = 0;
		return verdict_because(CARVE_REJECT, finding, "no record at %" PRIu64, at);
	}
	if (!p && at < size && view_ends_with_image(view))
		return walk_cut(view, finding, at + RECORD_LEN, size);
	return walk_uncounted(view, finding, 0, at, 0, "record");
}

const struct carver utmp_carver = {
	.name = "utmp",
	.summary = "logins on Linux (utmp, wtmp, btmp), by their records",
	.check = check,
};
