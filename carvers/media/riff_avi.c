/*
 * AVI's pictures and audio (Microsoft, AVI RIFF File Reference; OpenDML AVI 1.02): the list 'movi'
 * holds chunks that are named after their stream, two digits and two letters ('00dc', '01wb'),
 * perhaps within lists 'rec ', and indexes ('ix00'). 'idx1' after it lists them: id, flags, offset
 * from 'movi' or from the file's start, length.
 */
#include "riff_avi.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bytes.h"
#include "dates.h"
#include "embedded.h"
#include "sample_chain.h"

#define ENTRY_LEN 16
#define HEAD_LEN 8 /* id and length of a chunk */
#define ENTRIES_LOOKED 64
/* Enough to see how a frame begins. */
#define FRAME_LOOK 8
/* All of the last entries, a sector full: nothing else confirms a file's last bytes. */
#define ENTRIES_LAST 32
/* Bytes of a frame whose place proves something. */
#define PLACED_MIN 256
#define INDEX_BITS 6

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

/* *at: the chunk. */
static bool matches_chunk_at(
	const struct riff *riff, const uint8_t *entry, uint64_t base, uint64_t *at)
{
	uint8_t copy[ENTRY_LEN];
	const uint8_t *p;

	memcpy(copy, entry, ENTRY_LEN);
	*at = base + le32(copy + 8);
	p = view_peek(riff->view, *at, 8);
	return p && memcmp(p, copy, 4) == 0 && le32(p + 4) == le32(copy + 12);
}

/* An entry of the index. */
struct entry {
	uint8_t bytes[ENTRY_LEN];
	uint64_t chunk; /* 0: it is of none */
};

static bool read_entry(const struct riff *riff, uint64_t at, uint64_t movi, struct entry *entry)
{
	const uint8_t *p = view_peek(riff->view, at, ENTRY_LEN);

	entry->chunk = 0;
	if (!p)
		return false;
	memcpy(entry->bytes, p, ENTRY_LEN);
	/* Empty chunks may be missing; lists have their own lengths. */
	if (memcmp(entry->bytes, "rec ", 4) == 0 ||
		(!le32(entry->bytes + 12) && is_stream_chunk((const char *)entry->bytes)))
		return true;
	return matches_chunk_at(riff, entry->bytes, movi, &entry->chunk) ||
	       matches_chunk_at(riff, entry->bytes, 0, &entry->chunk);
}

static bool is_valid_entry(const struct riff *riff, uint64_t at, uint64_t movi)
{
	struct entry entry;

	return read_entry(riff, at, movi, &entry);
}

/* What the places of chunks prove, by an index that matches. */
struct places {
	const struct riff *riff;
	const struct riff_avi_video *video;
	struct sample_likeness likeness;
	size_t frame_count;
	uint64_t read; /* bytes of all frames */
	uint64_t index_at;
	struct sample_chain chain;
};

/* A frame, which was decoded, and whose length the index has at entry_at: where only one joint is between both, and in the index,
 * that says something of it. Of frames one in 2,504 has the length of another film's (tests/bench/RESULTS.md). */
static void place_frame(struct places *places, uint64_t at, uint64_t len, uint64_t entry_at)
{
	struct sample_link link = { at, at + HEAD_LEN, at + HEAD_LEN + len };
	struct view *view = places->riff->view;
	unsigned bits = sample_likeness_keeps(&places->likeness, link.to, len, INDEX_BITS);

	if (len >= PLACED_MIN && view_linked(view, link.to - 1, entry_at + 1, 0))
		view_proved(view, places->index_at, entry_at + 1, bits);
	if (len >= PLACED_MIN)
		sample_chain_add_video(&places->chain, view, &places->likeness, &link, len);
	else
		sample_chain_add(&places->chain, view, &link, 0, 0);
}

/* Counts the chunks of an index, or declares what they prove. */
static void visit_chunks(
	struct places *places, const struct riff_chunk *index, uint64_t movi, bool declares)
{
	struct entry entry;

	for (uint64_t at = index->data; index->end - at >= ENTRY_LEN; at += ENTRY_LEN) {
		uint64_t len;

		if (!read_entry(places->riff, at, movi, &entry))
			return;
		if (!entry.chunk || !riff_avi_is_frame(places->video, (const char *)entry.bytes))
			continue;
		len = le32(entry.bytes + 12);
		if (declares) {
			place_frame(places, entry.chunk, len, at);
		} else {
			sample_likeness_add(&places->likeness, entry.chunk + HEAD_LEN + len, len);
			places->frame_count++;
			places->read += HEAD_LEN + len + (len & 1);
		}
	}
}

/* Whether the list 'movi' has hardly anything but frames: a copy of the film with other sound, say, has the same frames in the same
 * places. */
static bool has_little_else(const struct places *places, uint64_t movi)
{
	uint64_t all = places->index_at - movi;

	return places->index_at > movi && places->read <= all && all - places->read < SAMPLE_SECTOR;
}

static void declare_places(const struct riff *riff, const struct riff_chunk *index, uint64_t movi,
	const struct riff_avi_video *video)
{
	struct places *places = calloc(1, sizeof(*places));

	if (!places) {
		view_no_memory(riff->view);
		return;
	}
	places->riff = riff;
	places->video = video;
	places->index_at = index->at;
	visit_chunks(places, index, movi, false);
	if (!video->stream.given_up && video->stream.exact >= places->frame_count &&
		has_little_else(places, movi))
		visit_chunks(places, index, movi, true);
	free(places);
}

bool riff_avi_index_matches(const struct riff *riff, const struct riff_chunk *index, uint64_t movi,
	const struct riff_avi_video *video)
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
	if (view_thorough(riff->view) && video->found)
		declare_places(riff, index, movi, video);
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
