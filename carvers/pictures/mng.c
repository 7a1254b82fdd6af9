/*
 * MNG and JNG (Multiple-image Network Graphics 1.0, JPEG Network Graphics 1.0).
 *
 *	file:  8A 'MNG' or 8B 'JNG', 0D 0A 1A 0A, then chunks as in PNG
 *	chunk: data length (4 bytes, big-endian), type (4 letters), data, CRC-32 of type and data
 *
 * MHDR or JHDR comes first; MEND or IEND is empty, and the file ends after it. Every CRC is checked.
 * JPEG data in JDAT and JDAA are not files of their own.
 */
#include <inttypes.h>
#include <stdbool.h>
#include <string.h>

#include "bytes.h"
#include "walk.h"

#define SIGNATURE_LEN 8
#define CHUNK_MIN 12
#define HEADER_MIN 16

/* Whether a chunk with its CRC is at `at`; *type is its type and *end its end. *cut: the view ends
 * before it does. */
static bool read_chunk(struct view *view, uint64_t at, uint8_t type[4], uint64_t *end, bool *cut)
{
	const uint8_t *p = view_peek(view, at, SIGNATURE_LEN);
	uint32_t crc = 0;

	*cut = !p;
	if (!p || be32(p) > INT32_MAX)
		return false;
	memcpy(type, p + 4, 4);
	for (int i = 0; i < 4; i++)
		if ((type[i] | 0x20) < 'a' || (type[i] | 0x20) > 'z')
			return false;
	*end = at + CHUNK_MIN + be32(p);
	*cut = *end > view_size(view);
	if (*cut || !walk_crc32(view, at + 4, *end - at - 8, &crc))
		return false;
	p = view_peek(view, *end - 4, 4);
	if (!p || be32(p) != crc)
		return false;
	view_proved(view, at, *end, 32);
	return true;
}

static enum verdict check(struct view *view, struct finding *finding)
{
	const uint8_t *p = view_peek(view, 0, SIGNATURE_LEN);
	bool film = p && memcmp(p, "\x8aMNG\r\n\x1a\n", SIGNATURE_LEN) == 0, cut = false;
	uint64_t at = SIGNATURE_LEN, end;
	uint8_t type[4];

	if (!film && (!p || memcmp(p, "\x8bJNG\r\n\x1a\n", SIGNATURE_LEN) != 0))
		return verdict_because(CARVE_REJECT, finding, "no signature at 0");
	finding->extension = film ? "mng" : "jng";
	while (read_chunk(view, at, type, &end, &cut)) {
		if (at == SIGNATURE_LEN && (memcmp(type, film ? "MHDR" : "JHDR", 4) != 0 ||
						   end - at < CHUNK_MIN + HEADER_MIN))
			break;
		if (memcmp(type, "JDA", 3) == 0)
			view_embedded(view, at + 8);
		at = end;
		if (memcmp(type, film ? "MEND" : "IEND", 4) == 0) {
			finding->length = at;
			return CARVE_COMPLETE;
		}
	}
	if (at == SIGNATURE_LEN)
		return verdict_because(CARVE_REJECT, finding, "no header at %d", SIGNATURE_LEN);
	if (cut)
		return walk_cut(view, finding, view_size(view) + 1, view_size(view));
	finding->length = at;
	return verdict_because(CARVE_TRUNCATED, finding, "no chunk with its CRC at %" PRIu64, at);
}

const struct carver mng_carver = {
	.name = "mng",
	.summary = "MNG and JNG pictures, by their chunks' CRCs",
	.check = check,
};
