/*
 * RealAudio 3 to 5 without RealMedia around it (as documented by MultimediaWiki and read by
 * players).
 *
 *	'.ra' FD, version; the header's length, the audio's length, texts, the codec's name; audio
 *
 * Both lengths give the file's, and the header's texts have to fill it. Nothing verifies the audio:
 * unverified. The same header describes a stream of RealMedia, often with a length that is made up; a chunk of that
 * follows it there.
 */
#include <inttypes.h>
#include <string.h>

#include "bytes.h"
#include "rm.h"
#include "title.h"
#include "walk.h"

#define TEXTS 4
#define CODEC_MAX 128 /* bytes that a codec may have after the header */

/* Reads texts, each after its length, the title first: their end, or 0. */
static uint64_t read_texts(struct view *view, struct finding *finding, uint64_t at)
{
	for (int i = 0; i < TEXTS; i++) {
		const uint8_t *p = view_peek(view, at, 1);
		uint8_t len = p ? *p : 0;

		p = p ? view_peek(view, at + 1, len + (size_t)1) : NULL;
		if (!p)
			return 0;
		if (i == 0)
			finding_set_title_latin1(finding, p, len);
		at += 1 + (uint64_t)len;
	}
	return at;
}

/* Where in the bytes from `at` on a chunk of RealMedia is, or 0. */
static uint64_t find_chunk(struct view *view, uint64_t at)
{
	for (uint64_t end = at + CODEC_MAX; at < end; at++)
		if (rm_is_chunk(view, at))
			return at;
	return 0;
}

enum verdict rm_audio(struct view *view, struct finding *finding)
{
	const uint8_t *p = view_peek(view, 0, 66);
	uint64_t head_end, data_len, texts = 22, texts_end, chunk;

	if (p && be16(p + 4) == 3) {
		head_end = 8 + (uint64_t)be16(p + 6);
		data_len = be32(p + 18);
	} else if (p && (p[5] == 4 || p[5] == 5) && p[11] == '0' + p[5]) {
		head_end = 16 + (uint64_t)be32(p + 18);
		data_len = be32(p + 12);
		texts = p[5] == 4 ? 69 : 0;
		if (texts &&
			(p[56] != 4 || p[61] != 4 || be16(p + 48) < 4000 || be16(p + 54) - 1 > 7))
			return verdict_because(CARVE_REJECT, finding, "impossible fields at 48");
	} else {
		return verdict_because(CARVE_REJECT, finding, "no version at 4");
	}
	texts_end = texts ? read_texts(view, finding, texts) : head_end;
	if (texts_end == 0 || head_end < texts_end || head_end - texts_end > 64 || data_len == 0 ||
		data_len > INT32_MAX) {
		finding->title[0] = 0;
		return verdict_because(
			CARVE_REJECT, finding, "no header of %" PRIu64 " bytes", head_end);
	}
	chunk = find_chunk(view, texts_end);
	if (chunk) {
		finding->title[0] = 0;
		return verdict_because(CARVE_REJECT, finding,
			"a stream of RealMedia, whose next chunk is at %" PRIu64, chunk);
	}
	finding->extension = "ra";
	if (head_end + data_len > view_size(view))
		return walk_cut(view, finding, head_end + data_len, view_size(view));
	finding->length = head_end + data_len;
	return verdict_because(CARVE_UNVERIFIED, finding,
		"the audio before %" PRIu64 " cannot be verified", finding->length);
}
