/*
 * Standard MIDI Files (MIDI Manufacturers Association, RP-001).
 *
 *	file:  chunk 'MThd' of 6 bytes (format, number of tracks, division), then chunks 'MTrk', and
 *	       others of unknown kinds between and after them
 *	track: events, each after a time of 1 to 4 bytes (7 bits each): a channel message, whose
 *	       first byte may be left out if it is the same as the previous one's; F0 and F7 with
 *	       length and data; FF with kind, length and data
 *
 * The walk reads every event of every track, up to FF 2F 00, which should be the last. The file
 * ends after the last track. The valid part ends at the first invalid event; but one message that
 * lacks a byte, as some writers leave it, is skipped if the events after it lead to the track's
 * end: then the file is unverified. The first track's name is the title.
 */
#include <inttypes.h>
#include <string.h>

#include "bytes.h"
#include "carver.h"
#include "cursor.h"
#include "title.h"
#include "walk.h"

#define EVENT_WORK 4 /* units (view_work), besides the bytes */

struct midi_track {
	struct cursor cursor;
	uint64_t end;
	uint64_t name; /* where the name is, if name_len is not 0 */
	uint32_t name_len;
	uint8_t running;  /* the last message's first byte */
	bool done;        /* the last event was the end of the track */
	uint64_t lacking; /* after the message that lacks a byte; 0: none */
};

/* Takes a number of 1 to 4 bytes; false if there is none. */
static bool take_number(struct midi_track *track, uint32_t *number)
{
	*number = 0;
	for (int i = 0; i < 4; i++) {
		int byte = track->cursor.at < track->end ? cursor_next(&track->cursor) : -1;

		if (byte < 0)
			return false;
		*number = *number << 7 | (byte & 0x7f);
		if (!(byte & 0x80))
			return true;
	}
	return false;
}

/* Skips a length and that many bytes, which are an event's data. */
static bool skip_data(struct midi_track *track, int kind)
{
	uint32_t len;

	if (!take_number(track, &len) || len > track->end - track->cursor.at)
		return false;
	if (kind == 0x03 && !track->name_len) {
		track->name = track->cursor.at;
		track->name_len = len;
	}
	track->cursor.at += len;
	track->done = kind == 0x2f;
	return kind != 0x2f || len == 0;
}

/* Skips the rest of an event that begins with `byte`, F0 to FF. */
static bool skip_system_event(struct midi_track *track, int byte)
{
	static const int8_t lens[16] = { -1, 1, 2, 1, -1, -1, 0, -1, 0, -1, 0, 0, 0, -1, 0, -1 };

	if (byte == 0xf0 || byte == 0xf7)
		return skip_data(track, -1);
	if (byte != 0xff) {
		track->cursor.at += lens[byte & 15] > 0 ? (uint64_t)lens[byte & 15] : 0;
		return lens[byte & 15] >= 0 && track->cursor.at <= track->end;
	}
	byte = cursor_next(&track->cursor);
	return byte >= 0 && byte < 0x80 && skip_data(track, byte);
}

/* The next byte of the track; negative after its end, or the image's. */
static int peek_byte(struct midi_track *track)
{
	return track->cursor.at < track->end ? cursor_peek(&track->cursor) : -1;
}

/* Skips an event after its time. */
static bool skip_message(struct midi_track *track)
{
	int byte = peek_byte(track), count;

	if (byte >= 0x80) {
		track->cursor.at++;
		if (byte >= 0xf0)
			return skip_system_event(track, byte);
		track->running = (uint8_t)byte;
	}
	if (byte < 0 || !track->running)
		return false;
	for (count = (track->running & 0xe0) == 0xc0 ? 1 : 2; count; count--) {
		byte = peek_byte(track);
		if (byte < 0 || byte >= 0x80)
			break;
		track->cursor.at++;
	}
	if (byte >= 0x80 && !track->lacking) {
		track->lacking = track->cursor.at;
		return skip_message(track);
	}
	return !count;
}

static bool skip_event(struct midi_track *track)
{
	uint32_t time;

	return take_number(track, &time) && skip_message(track);
}

struct midi {
	struct view *view;
	struct finding *finding;
	uint64_t at; /* validated up to here */
	unsigned tracks, walked;
	bool unterminated; /* a track lacks its end event */
	uint64_t lacking;  /* after a message that lacks a byte */
};

/* Walks a track's events: false with midi->at at the first invalid one. */
static bool walk_track(struct midi *midi, uint64_t data, uint64_t end)
{
	struct midi_track track = {
		.cursor = { .view = midi->view, .at = data }, .end = end, .lacking = midi->lacking
	};
	uint64_t size = view_size(midi->view);
	const uint8_t *p;

	while (track.cursor.at < end) {
		if (track.lacking == midi->lacking)
			midi->at = track.cursor.at;
		track.done = false;
		if (!skip_event(&track) || track.cursor.at > size ||
			!view_work(midi->view, EVENT_WORK))
			return false;
	}
	if (track.cursor.at != end)
		return false;
	/* Some writers forget the end event. */
	midi->unterminated |= !track.done;
	midi->lacking = track.lacking;
	midi->at = end;
	if (track.name_len && !midi->finding->title[0]) {
		size_t len = track.name_len < 128 ? track.name_len : 128;

		p = view_peek(midi->view, track.name, len);
		if (p)
			finding_set_title(midi->finding, p, len);
	}
	return true;
}

static enum verdict truncated_at(struct midi *midi, const char *problem)
{
	midi->finding->length = midi->at;
	return verdict_because(CARVE_TRUNCATED, midi->finding, "%s at %" PRIu64, problem, midi->at);
}

static bool is_chunk_id(const uint8_t *p)
{
	for (int i = 0; i < 4; i++)
		if (p[i] < 0x20 || p[i] > 0x7e)
			return false;
	return true;
}

/* The end of the chunks that Yamaha's keyboards, and a few others, put after the tracks. */
static uint64_t extra_chunks_end(const struct midi *midi)
{
	static const char ids[] = "MTrx XFIH XFKM CASM OTSc FNRc MHhd";
	uint64_t at = midi->at, size = view_size(midi->view);

	for (int i = 0; i < 16; i++) {
		const uint8_t *p = view_peek(midi->view, at, 8);
		char id[5] = { 0 };

		if (!p || !is_chunk_id(p) || be32(p + 4) > size - at - 8)
			break;
		memcpy(id, p, 4);
		if (!strstr(ids, id))
			break;
		at += 8 + be32(p + 4);
	}
	return at;
}

static enum verdict walk_chunks(struct midi *midi)
{
	uint64_t size = view_size(midi->view);
	bool at_end = view_ends_with_image(midi->view);

	while (midi->walked < midi->tracks) {
		const uint8_t *p = view_peek(midi->view, midi->at, 8);
		uint64_t chunk = midi->at, end;

		if (!p && size - midi->at < 8)
			return walk_cut(midi->view, midi->finding, size + 1, at_end ? size : chunk);
		if (!p || !is_chunk_id(p))
			return truncated_at(midi, "no chunk");
		end = chunk + 8 + be32(p + 4);
		if (memcmp(p, "MTrk", 4) != 0) {
			/* A chunk of an unknown kind counts once another chunk follows it. */
			if (end > size)
				return truncated_at(midi, "no track");
			p = view_peek(midi->view, end, 4);
			if (!p || !is_chunk_id(p))
				return truncated_at(midi, "no track");
			midi->at = end;
			continue;
		}
		if (!walk_track(midi, chunk + 8, end)) {
			if (end > size && midi->at + 16 > size)
				return walk_cut(
					midi->view, midi->finding, end, at_end ? size : midi->at);
			midi->at = walk_before_fill(midi->view, chunk + 8, midi->at);
			return truncated_at(midi, "invalid event");
		}
		midi->walked++;
	}
	midi->finding->length = extra_chunks_end(midi);
	if (midi->lacking)
		return verdict_because(CARVE_UNVERIFIED, midi->finding,
			"a message lacks a byte at %" PRIu64, midi->lacking);
	if (midi->unterminated)
		return verdict_because(CARVE_UNVERIFIED, midi->finding,
			"a track before %" PRIu64 " lacks its end event", midi->at);
	return CARVE_COMPLETE;
}

static enum verdict check(struct view *view, struct finding *finding)
{
	struct midi midi = { .view = view, .finding = finding, .at = 14 };
	const uint8_t *p = view_peek(view, 0, 22);
	unsigned format, division;

	if (!p || memcmp(p, "MThd", 4) != 0 || be32(p + 4) < 6 || be32(p + 4) > 255)
		return verdict_because(CARVE_REJECT, finding, "no header at 0");
	midi.at = 8 + be32(p + 4);
	format = be16(p + 8);
	midi.tracks = be16(p + 10);
	division = be16(p + 12);
	if (format > 2 || !midi.tracks || (format == 0 && midi.tracks != 1) || !division)
		return verdict_because(CARVE_REJECT, finding, "impossible fields at 8");
	p = view_peek(view, midi.at, 8);
	if (!p || !is_chunk_id(p))
		return verdict_because(CARVE_REJECT, finding, "no chunk at %" PRIu64, midi.at);
	return walk_chunks(&midi);
}

const struct carver midi_carver = {
	.name = "midi",
	.summary = "MIDI files, by the events of their tracks",
	.check = check,
};
