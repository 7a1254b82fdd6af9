/*
 * Standard MIDI Files (MIDI Manufacturers Association, RP-001).
 *
 *	file:  chunk 'MThd' of 6 bytes (format, number of tracks, division), then chunks 'MTrk', and
 *	       others of unknown kinds between and behind them
 *	track: events, each behind a time of 1 to 4 bytes (7 bits each): a channel's message, of
 *	       which the first byte may be left out when it is the last one's; F0 and F7 with length
 *	       and data; FF with kind, length and data
 *
 * Every event of every track is passed, up to FF 2F 00, which should be the last. The file ends
 * behind the last track. A track whose events make no sense ends the sound part there; but one
 * message that lacks a byte, as some writers leave it, is passed over where the events behind it
 * lead to the track's end: then the file is unverified. The first track's name is the title.
 */
#include <inttypes.h>
#include <string.h>

#include "bytes.h"
#include "carver.h"
#include "cursor.h"
#include "title.h"
#include "walk.h"

struct track {
	struct cursor cursor;
	uint64_t end;
	uint64_t name; /* where the name stands, if name_len is not 0 */
	uint32_t name_len;
	uint8_t running;  /* the last message's first byte */
	bool done;        /* the last event was the end's */
	uint64_t lacking; /* behind the message that lacks a byte; 0: there is none */
};

/* A number of 1 to 4 bytes; false when there is none. */
static bool take_number(struct track *track, uint32_t *number)
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

/* Bytes behind their number; an event with them. */
static bool pass_data(struct track *track, int kind)
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

/* The rest of an event that begins with `byte`, F0 to FF. */
static bool pass_system(struct track *track, int byte)
{
	static const int8_t lens[16] = { -1, 1, 2, 1, -1, -1, 0, -1, 0, -1, 0, 0, 0, -1, 0, -1 };

	if (byte == 0xf0 || byte == 0xf7)
		return pass_data(track, -1);
	if (byte != 0xff) {
		track->cursor.at += lens[byte & 15] > 0 ? (uint64_t)lens[byte & 15] : 0;
		return lens[byte & 15] >= 0 && track->cursor.at <= track->end;
	}
	byte = cursor_next(&track->cursor);
	return byte >= 0 && byte < 0x80 && pass_data(track, byte);
}

/* The next byte of the track; negative behind its end, or the image's. */
static int peek(struct track *track)
{
	return track->cursor.at < track->end ? cursor_peek(&track->cursor) : -1;
}

/* An event behind its time. */
static bool pass_message(struct track *track)
{
	int byte = peek(track), count;

	if (byte >= 0x80) {
		track->cursor.at++;
		if (byte >= 0xf0)
			return pass_system(track, byte);
		track->running = (uint8_t)byte;
	}
	if (byte < 0 || !track->running)
		return false;
	for (count = (track->running & 0xe0) == 0xc0 ? 1 : 2; count; count--) {
		byte = peek(track);
		if (byte < 0 || byte >= 0x80)
			break;
		track->cursor.at++;
	}
	if (byte >= 0x80 && !track->lacking) {
		track->lacking = track->cursor.at;
		return pass_message(track);
	}
	return !count;
}

static bool pass_event(struct track *track)
{
	uint32_t time;

	return take_number(track, &time) && pass_message(track);
}

struct midi {
	struct view *view;
	struct finding *finding;
	uint64_t at; /* behind what is sound */
	unsigned tracks, passed;
	bool endless;     /* a track without its end's event */
	uint64_t lacking; /* behind a message that lacks a byte */
};

/* Passes a track's events: false with midi->at where they break. */
static bool pass_track(struct midi *midi, uint64_t data, uint64_t end)
{
	struct track track = {
		.cursor = { .view = midi->view, .at = data }, .end = end, .lacking = midi->lacking
	};
	uint64_t size = view_size(midi->view);
	const uint8_t *p;

	while (track.cursor.at < end) {
		if (track.lacking == midi->lacking)
			midi->at = track.cursor.at;
		track.done = false;
		if (!pass_event(&track) || track.cursor.at > size)
			return false;
	}
	if (track.cursor.at != end)
		return false;
	/* Some writers forget the end's event. */
	midi->endless |= !track.done;
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

static enum verdict broken(struct midi *midi, const char *problem)
{
	midi->finding->length = midi->at;
	return verdict_because(CARVE_TRUNCATED, midi->finding, "%s at %" PRIu64, problem, midi->at);
}

static bool chunk_id(const uint8_t *p)
{
	for (int i = 0; i < 4; i++)
		if (p[i] < 0x20 || p[i] > 0x7e)
			return false;
	return true;
}

/* Behind chunks that Yamaha's keyboards, and a few others, put behind the tracks. */
static uint64_t behind_chunks(const struct midi *midi)
{
	static const char ids[] = "MTrx XFIH XFKM CASM OTSc FNRc MHhd";
	uint64_t at = midi->at, size = view_size(midi->view);

	for (int i = 0; i < 16; i++) {
		const uint8_t *p = view_peek(midi->view, at, 8);
		char id[5] = { 0 };

		if (!p || !chunk_id(p) || be32(p + 4) > size - at - 8)
			break;
		memcpy(id, p, 4);
		if (!strstr(ids, id))
			break;
		at += 8 + be32(p + 4);
	}
	return at;
}

static enum verdict pass_chunks(struct midi *midi)
{
	uint64_t size = view_size(midi->view);
	bool at_end = view_ends_with_image(midi->view);

	while (midi->passed < midi->tracks) {
		const uint8_t *p = view_peek(midi->view, midi->at, 8);
		uint64_t chunk = midi->at, end;

		if (!p && size - midi->at < 8)
			return walk_cut(midi->view, midi->finding, size + 1, at_end ? size : chunk);
		if (!p || !chunk_id(p))
			return broken(midi, "no chunk starts");
		end = chunk + 8 + be32(p + 4);
		if (memcmp(p, "MTrk", 4) != 0) {
			/* A kind that is not known counts once a chunk stands behind it. */
			if (end > size)
				return broken(midi, "no track starts");
			p = view_peek(midi->view, end, 4);
			if (!p || !chunk_id(p))
				return broken(midi, "no track starts");
			midi->at = end;
			continue;
		}
		if (!pass_track(midi, chunk + 8, end)) {
			if (end > size && midi->at + 16 > size)
				return walk_cut(
					midi->view, midi->finding, end, at_end ? size : midi->at);
			midi->at = walk_before_fill(midi->view, chunk + 8, midi->at);
			return broken(midi, "an event that makes no sense");
		}
		midi->passed++;
	}
	midi->finding->length = behind_chunks(midi);
	if (midi->lacking)
		return verdict_because(CARVE_UNVERIFIED, midi->finding,
			"a message lacks a byte at %" PRIu64, midi->lacking);
	if (midi->endless)
		return verdict_because(CARVE_UNVERIFIED, midi->finding,
			"a track before %" PRIu64 " has no end", midi->at);
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
	if (!p || !chunk_id(p))
		return verdict_because(CARVE_REJECT, finding, "no chunk at %" PRIu64, midi.at);
	return pass_chunks(&midi);
}

const struct carver midi_carver = {
	.name = "midi",
	.summary = "MIDI files, by the events of their tracks",
	.check = check,
};
