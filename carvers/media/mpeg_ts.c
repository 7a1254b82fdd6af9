/*
 * MPEG transport streams (ISO/IEC 13818-1, 2.4): TS of broadcasts and cameras, M2TS of AVCHD and
 * Blu-ray, and packets followed by Reed-Solomon bytes.
 *
 *	packet: 47, flags and the stream's number (13 bits), scrambling, what follows (2 bits), a
 *	        counter (4 bits), 184 bytes; M2TS has a time of 4 bytes before each packet, others
 *	        16 bytes after it
 *
 * Packets follow each other without gaps, and each stream's counter increases by one with each of
 * its packets. The first packets have to be in step, and to hold the start of a table (of programs
 * or of services). The file ends where no packet follows: nothing in the format marks the end, so a
 * stream is unverified; truncated, if something that has a length breaks off. A file whose counters hardly ever match is rejected.
 *
 * Packets that start a table begin like the file and are named as its parts. What starts in a packet may begin like a
 * file of its own, such as MPEG video, and is named as embedded.
 */
#include <inttypes.h>
#include <stdbool.h>

#include "bytes.h"
#include "carver.h"
#include "embedded.h"
#include "turning.h"
#include "walk.h"

#define PACKET_LEN 188
#define TIMED_LEN 192
#define PARITY_LEN 204

/* Packets in step needed to accept a stream. */
#define PACKETS_MIN 6
#define STREAMS 8192
#define PROGRAMS 0
#define SERVICES 0x11
#define NOTHING 0x1fff
#define STARTS 0x40  /* in the second byte: something starts in this packet */
#define TABLE_MIN 13 /* bytes of the shortest one, with the byte before it */
#define PES_HEAD 6
#define PAID_MAX 4
#define LIES 255
#define START_LOOK 64 /* bytes from the payload's begin: the head of PES and what follows it */

struct mpegts {
	struct view *view;
	uint64_t at; /* of the next packet's 47 */
	uint32_t step;
	uint32_t lead;              /* bytes before the 47 */
	uint64_t count, mismatched; /* packets, and those with an unexpected counter */
	uint8_t next[STREAMS];      /* 0: not seen; else 1 + the expected counter */
	uint32_t owed
		[STREAMS]; /* bytes that the last packet of PES still has; 0: none, or not stated */
	uint8_t paid
		[STREAMS]; /* packets of PES with a length that were whole, at most PAID_MAX; LIES: one was not */
};

/* Notes the payload in a packet of a stream: PES (2.4.3.6) begins with 00 00 01, the stream's kind, and its length, or 0. */
static void note_payload(struct mpegts *stream, const uint8_t *p, uint16_t number)
{
	size_t at = 4 + (p[3] & 0x20 ? 1u + p[4] : 0), len = PACKET_LEN - at;
	uint32_t *owed = &stream->owed[number];

	if (p[1] & STARTS) {
		if (*owed)
			stream->paid[number] = LIES;
		*owed = len >= PES_HEAD && !p[at] && !p[at + 1] && p[at + 2] == 1 &&
					be16(p + at + 4)
				? be16(p + at + 4) + (uint32_t)PES_HEAD
				: 0;
	}
	if (*owed && *owed <= len && stream->paid[number] < PAID_MAX)
		stream->paid[number]++;
	*owed = *owed > len ? *owed - (uint32_t)len : 0;
}

/* Whether a packet of PES has fewer bytes than it says, in a stream where all before had as many. */
static bool is_owed(const struct mpegts *stream)
{
	for (unsigned i = 0; i < STREAMS; i++)
		if (stream->owed[i] && stream->paid[i] == PAID_MAX)
			return true;
	return false;
}

/* Reads the packet at stream->at: false if there is none. */
static bool accept_packet(struct mpegts *stream)
{
	const uint8_t *p = view_peek(stream->view, stream->at, PACKET_LEN);
	uint16_t number;
	bool holds, announced;

	if (!p || p[0] != 0x47 || !(p[3] & 0x30) || p[1] & 0x80)
		return false;
	/* The adaptation field fits. */
	if (p[3] & 0x20 && p[4] > ((p[3] & 0x10) ? 182 : 183))
		return false;
	number = be16(p + 1) & 0x1fff;
	holds = p[3] & 0x10;
	announced = p[3] & 0x20 && p[4] && p[5] & 0x80; /* an announced gap */
	if (number != NOTHING) {
		uint8_t counter = p[3] & 15, due = stream->next[number];

		/* A packet may come twice. */
		if (!due ||
			(holds && !announced && counter != due - 1 && counter != ((due - 2) & 15)))
			stream->mismatched++;
		if (holds || !due)
			stream->next[number] = (uint8_t)(1 + ((counter + holds) & 15));
	}
	if (p[1] & STARTS && (number == PROGRAMS || number == SERVICES) && stream->count)
		view_part(stream->view, stream->at - stream->lead);
	if (holds && number != NOTHING)
		note_payload(stream, p, number);
	if (p[1] & STARTS && holds && number != PROGRAMS && number != SERVICES)
		embedded_find(stream->view, stream->at + 4 + (p[3] & 0x20 ? 1u + p[4] : 0),
			stream->at + PACKET_LEN, START_LOOK);
	stream->count++;
	stream->at += stream->step;
	return true;
}

/* The step between the first packets, or 0. */
static uint32_t find_step(struct view *view, uint32_t lead)
{
	static const uint32_t steps[] = { PACKET_LEN, TIMED_LEN, PARITY_LEN };

	for (size_t i = 0; i < sizeof(steps) / sizeof(*steps); i++) {
		unsigned count = 0;

		if ((steps[i] == TIMED_LEN) != (lead != 0))
			continue;
		while (count < PACKETS_MIN) {
			const uint8_t *p = view_peek(view, lead + (uint64_t)count * steps[i], 4);

			if (!p || p[0] != 0x47 || !(p[3] & 0x30))
				break;
			count++;
		}
		if (count == PACKETS_MIN)
			return steps[i];
	}
	return 0;
}

/* A table of programs or services starts in the packet at `at`, with flags and a length that fits; some writers have padding
 * before it rather than after it. */
static bool starts_table(struct view *view, uint64_t at)
{
	const uint8_t *p = view_peek(view, at, PACKET_LEN);
	uint16_t number = p ? be16(p + 1) & 0x1fff : NOTHING;
	uint32_t table;

	if (!p || p[0] != 0x47 || !(p[3] & 0x10) || p[3] & 0xc0)
		return false;
	table = 4;
	if (p[3] & 0x20) {
		if (p[4] > PACKET_LEN - 5 - TABLE_MIN || (p[4] && p[5]))
			return false;
		for (uint32_t i = 6; i < 5u + p[4]; i++)
			if (p[i] != 0xff)
				return false;
		table = 5u + p[4];
	}
	p += table;
	return p[0] == 0 && p[1] == (number == PROGRAMS ? 0 : 0x42) && (p[2] & 0xf0) >= 0xb0 &&
	       (be16(p + 2) & 0xfff) >= 9 && (be16(p + 2) & 0xfff) <= 1021;
}

static enum verdict check(struct view *view, struct finding *finding)
{
	struct mpegts stream = { .view = view };
	uint64_t valid_end, end;

	stream.lead = !starts_table(view, 0) ? TIMED_LEN - PACKET_LEN : 0;
	if (!starts_table(view, stream.lead))
		return verdict_because(CARVE_REJECT, finding, "no table starts at 0 or 4");
	stream.step = find_step(view, stream.lead);
	if (!stream.step)
		return verdict_because(
			CARVE_REJECT, finding, "fewer than %d packets from 0", PACKETS_MIN);
	stream.at = stream.lead;
	do
		valid_end = stream.at - stream.lead;
	while (accept_packet(&stream));
	if (stream.count < PACKETS_MIN || stream.mismatched > 3 + stream.count / 2)
		return verdict_because(CARVE_REJECT, finding,
			"packet counters do not match before %" PRIu64, stream.at);
	finding->extension = stream.lead ? "m2ts" : "ts";
	view_holds(view, stream.step, valid_end);
	if (view_size(view) > valid_end && view_size(view) - valid_end < stream.step)
		return walk_cut(view, finding, valid_end + stream.step, view_size(view));
	/* The last packet's parity may be cut or missing. */
	end = valid_end < view_size(view) ? valid_end : view_size(view);
	finding->length = turning_in_unit(view, valid_end - stream.step, end);
	if (finding->length < end)
		return verdict_because(CARVE_TRUNCATED, finding,
			"bytes unlike the packets before at %" PRIu64, finding->length);
	if (is_owed(&stream))
		return verdict_because(CARVE_TRUNCATED, finding,
			"no packet at %" PRIu64 ", though one of sound or video goes on",
			valid_end);
	return verdict_because(CARVE_UNVERIFIED, finding,
		"no packet at %" PRIu64 ", and the format has no end mark", valid_end);
}

const struct carver mpegts_carver = {
	.name = "mpegts",
	.summary = "MPEG transport streams, also with times or parity, by their packets",
	.check = check,
};
