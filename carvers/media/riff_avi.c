/*
 * AVI's pictures and audio (Microsoft, AVI RIFF File Reference; OpenDML AVI 1.02): the list 'movi'
 * holds chunks that are named after their stream, two digits and two letters ('00dc', '01wb'),
 * perhaps within lists 'rec ', and indexes ('ix00'). 'idx1' after it lists them: id, flags, offset
 * from 'movi' or from the file's start, length.
 */
#include "riff_avi.h"

#include <stdio.h>
#include <string.h>

#include "bytes.h"
#include "dates.h"
#include "embedded.h"

#define ENTRY_LEN 16
#define ENTRIES_LOOKED 64
/* Enough to see how a frame begins. */
#define FRAME_LOOK 8
/* All of the last entries, a sector full: nothing else confirms a file's last bytes. */
#define ENTRIES_LAST 32

static bool is_hex_digit(char byte)
{
	return (byte >= '0' && byte <= '9') || (byte >= 'A' && byte <= 'F') ||
	       (byte >= 'a' && byte <= 'f');
}

static bool is_stream_chunk(const char *id)
{
	static const char kinds[] = "dc db wb pc tx sb iv vc st ";

	if (riff_is(id, "JUNK") || riff_is(id, "LIST") || riff_is(id, "junk"))
		return true;
	if (id[0] == 'i' && id[1] == 'x')
		return is_hex_digit(id[2]) && is_hex_digit(id[3]);
	if (!is_hex_digit(id[0]) || !is_hex_digit(id[1]))
		return false;
	for (const char *kind = kinds; *kind; kind += 3)
		if (memcmp(kind, id + 2, 2) == 0)
			return true;
	/* Some codecs use other letters. */
	return id[2] >= 'A' && id[3] >= '0' && id[2] <= 'z' && id[3] <= 'z';
}

/* Where no chunk follows: a first frame that was invalid was so for that reason. */
static enum riff_avi_state broken_at(const struct riff_avi_walk *walk, uint64_t *at)
{
	if (!walk->video || !walk->video->stream.failed_at || walk->video->stream.given_up)
		return RIFF_AVI_BROKEN;
	*at = walk->video->stream.failed_at;
	return RIFF_AVI_INVALID;
}

enum riff_avi_state riff_avi_walk_movi(struct riff_avi_walk *walk, uint64_t *at)
{
	struct riff *inside = &walk->inside;
	uint64_t size = view_size(inside->view);
	struct riff_chunk chunk;

	for (;;) {
		enum mpeg4_state state = MPEG4_VALID;
		enum riff_step step;

		if (walk->save)
			walk->save(walk->context, inside);
		step = riff_next(inside, &chunk);
		if (step == RIFF_END) {
			if (inside->end > size)
				return RIFF_AVI_CUT;
			*at = inside->end;
			return RIFF_AVI_INTACT;
		}
		if (step == RIFF_CUT)
			return RIFF_AVI_CUT;
		if (step == RIFF_BROKEN || !is_stream_chunk(chunk.id))
			return broken_at(walk, at);
		*at = chunk.at;
		if (walk->video)
			state = riff_avi_check_chunk(inside->view, walk->video, &chunk, at);
		if (state == MPEG4_BROKEN)
			return RIFF_AVI_INVALID;
		if (chunk.end > size)
			return RIFF_AVI_CUT;
		embedded_find(inside->view, chunk.data, chunk.end, FRAME_LOOK);
		/* A list's content is read as if it were not in a list. */
		if (riff_is(chunk.id, "LIST")) {
			if (chunk.len < 4)
				return RIFF_AVI_BROKEN;
			inside->at = chunk.data + 4;
		}
	}
}

static bool matches_chunk_at(const struct riff *riff, const uint8_t *entry, uint64_t base)
{
	uint8_t copy[ENTRY_LEN];
	const uint8_t *p;

	memcpy(copy, entry, ENTRY_LEN);
	p = view_peek(riff->view, base + le32(copy + 8), 8);
	return p && memcmp(p, copy, 4) == 0 && le32(p + 4) == le32(copy + 12);
}

static bool is_valid_entry(const struct riff *riff, uint64_t at, uint64_t movi)
{
	const uint8_t *p = view_peek(riff->view, at, ENTRY_LEN);
	uint8_t entry[ENTRY_LEN];

	if (!p)
		return false;
	memcpy(entry, p, ENTRY_LEN);
	/* Empty chunks may be missing; lists have their own lengths. */
	if (memcmp(entry, "rec ", 4) == 0 ||
		(!le32(entry + 12) && is_stream_chunk((const char *)entry)))
		return true;
	return matches_chunk_at(riff, entry, movi) || matches_chunk_at(riff, entry, 0);
}

bool riff_avi_index_matches(const struct riff *riff, const struct riff_chunk *index, uint64_t movi)
{
	uint64_t count = index->len / ENTRY_LEN, step = count / ENTRIES_LOOKED + 1;
	uint64_t last = count > ENTRIES_LAST ? count - ENTRIES_LAST : 0;

	if (view_thorough(riff->view))
		step = 1;
	for (uint64_t i = 0; i < last; i += step)
		if (!is_valid_entry(riff, index->data + i * ENTRY_LEN, movi))
			return false;
	for (uint64_t i = last; i < count; i++)
		if (!is_valid_entry(riff, index->data + i * ENTRY_LEN, movi))
			return false;
	return true;
}

int64_t riff_avi_date(const struct riff *riff, const struct riff_chunk *chunk)
{
	static const char months[] = "janfebmaraprmayjunjulaugsepoctnovdec";
	size_t len = chunk->len < 40 ? chunk->len : 40;
	const uint8_t *p = view_peek(riff->view, chunk->data, len);
	char text[41] = "", month[4] = "";
	int year, day, hour, minute, second;
	const char *found;

	if (!p)
		return 0;
	memcpy(text, p, len);
	if (sscanf(text, "%*3s %3s %2d %2d:%2d:%2d %4d", month, &day, &hour, &minute, &second,
		    &year) != 6)
		return 0;
	for (char *letter = month; *letter; letter++)
		*letter = (char)(*letter | 0x20);
	found = strlen(month) == 3 ? strstr(months, month) : NULL;
	if (!found || (found - months) % 3)
		return 0;
	return utc_seconds(year, (int)(found - months) / 3 + 1, day, hour, minute, second);
}
