/*
 * RealMedia (RealNetworks, RealMedia File Format), as in RM, RMVB and RA files.
 *
 *	chunk:  kind, length of all of it (4 bytes, big-endian), version
 *	chunks: '.RMF' the number of headers; PROP, CONT (texts), MDPR (a stream each); DATA: how
 *	        many packets, packets; INDX
 *	packet: version, length, stream, time, flags, data
 *
 * Chunks follow each other, and so do packets inside DATA, up to its end. A recording that was not
 * closed has no length there: its packets are walked to the last one. The file ends where no chunk
 * of a known kind follows.
 */
#include "rm.h"

#include <inttypes.h>
#include <stdbool.h>
#include <string.h>

#include "bytes.h"
#include "title.h"
#include "walk.h"

#define STREAMS_MAX 64
#define DATA_HEAD 18

struct rm {
	struct view *view;
	struct finding *finding;
	uint64_t streams; /* a bit for each of the first 64 numbers */
	uint64_t packets;
	uint64_t index; /* where one should be if none was found yet; 0: none expected */
	bool described, data, open;
};

static bool is_known_kind(const uint8_t *kind)
{
	static const char kinds[] = "PROPCONTMDPRDATAINDXRMMDRJMDRMJE";

	for (const char *at = kinds; *at; at += 4)
		if (memcmp(kind, at, 4) == 0)
			return true;
	return false;
}

bool rm_is_chunk(struct view *view, uint64_t at)
{
	const uint8_t *p = view_peek(view, at, 10);

	return p && is_known_kind(p) && be16(p + 8) <= 1 &&
	       (be32(p + 4) >= 10 || (!be32(p + 4) && memcmp(p, "DATA", 4) == 0));
}

/* Texts, each after its length: title, author, copyright, comment. */
static void read_contents(struct rm *rm, uint64_t at)
{
	const uint8_t *p = view_peek(rm->view, at + 10, 2);
	uint16_t len = p ? be16(p) : 0;

	p = len ? view_peek(rm->view, at + 12, len) : NULL;
	if (p)
		finding_set_title_latin1(rm->finding, p, len);
}

/* The length of the packet at `at`, or 0. */
static uint32_t packet_len(const struct rm *rm, uint64_t at)
{
	const uint8_t *p = view_peek(rm->view, at, 12);
	uint16_t stream = p ? be16(p + 4) : 0, len = p ? be16(p + 2) : 0;

	if (!p || be16(p) > 1 || len < 12 || stream >= STREAMS_MAX || !(rm->streams >> stream & 1))
		return 0;
	return len;
}

/* Walks the packets of the chunk [at, *end), or of one without a length, and sets *end after the
 * last intact one, or after all: true if their number is the chunk's, and they fill it. */
static bool walk_packets(struct rm *rm, uint64_t at, uint64_t *end)
{
	const uint8_t *p = view_peek(rm->view, at, DATA_HEAD);
	uint64_t count = p ? be32(p + 10) : 0, next = p ? at + DATA_HEAD : at, i = 0;
	uint64_t limit = rm->open || *end > view_size(rm->view) ? view_size(rm->view) : *end;
	uint64_t stated_end = *end;

	rm->data = true;
	for (; p && next < limit && (count == 0 || i < count); i++) {
		uint32_t len = packet_len(rm, next);

		if (len == 0 || len > limit - next)
			break;
		next += len;
	}
	rm->packets += i;
	*end = next;
	if (rm->open || next == stated_end)
		return true;
	/* FFmpeg ends with an empty chunk, and states ten bytes more than it writes. */
	if (count == 0 || i < count || stated_end < next || !walk_zeros(rm->view, next, next + 8) ||
		(stated_end != next + 8 && stated_end != next + DATA_HEAD))
		return false;
	*end = next + 8;
	return true;
}

static enum verdict judge_invalid(struct rm *rm, uint64_t at, const char *problem)
{
	if (rm->packets == 0)
		return verdict_because(CARVE_REJECT, rm->finding, "%s at %" PRIu64, problem, at);
	rm->finding->length = at;
	return verdict_because(CARVE_TRUNCATED, rm->finding, "%s at %" PRIu64, problem, at);
}

/* The view ends before `wanted`; all before `valid_end` is valid. */
static enum verdict judge_cut(struct rm *rm, uint64_t wanted, uint64_t valid_end)
{
	if (rm->packets == 0)
		return judge_invalid(rm, valid_end, "no packet or index");
	return walk_cut(rm->view, rm->finding, wanted,
		view_ends_with_image(rm->view) ? view_size(rm->view) : valid_end);
}

static enum verdict judge_end(struct rm *rm, uint64_t at)
{
	struct finding *finding = rm->finding;

	if (!rm->described || !rm->streams || !rm->data || !rm->packets)
		return verdict_because(CARVE_REJECT, finding, "no packets before %" PRIu64, at);
	finding->length = at;
	if (rm->open)
		return verdict_because(CARVE_UNVERIFIED, finding,
			"an unclosed recording: no packet at %" PRIu64, at);
	if (rm->index)
		return verdict_because(CARVE_TRUNCATED, finding, "no index at %" PRIu64, rm->index);
	return CARVE_COMPLETE;
}

/* Entries of 14 bytes fill the chunk; their times rise. */
static bool is_valid_index(const struct rm *rm, uint64_t at, uint64_t end)
{
	const uint8_t *p = view_peek(rm->view, at, 20);
	uint64_t count = p ? be32(p + 10) : 0;
	uint32_t last = 0;

	if (!p || 20 + 14 * count != end - at)
		return false;
	for (at += 20; at < end; at += 14) {
		p = view_peek(rm->view, at, 14);
		if (!p || be16(p) || be32(p + 2) < last)
			return false;
		last = be32(p + 2);
	}
	return true;
}

/* An audio stream is described by a RealAudio header, after its name, its kind, and a length. */
static void note_audio_header(struct rm *rm, uint64_t at)
{
	const uint8_t *p;

	for (int i = 0; i < 2; i++) {
		p = view_peek(rm->view, at, 1);
		at += p ? 1 + (uint64_t)*p : 0;
	}
	p = view_peek(rm->view, at + 4, 4);
	if (p && be32(p) == 0x2e7261fd)
		view_part(rm->view, at + 4);
}

/* Adds a chunk. True if it is valid; *end is after it. */
static bool add_chunk(struct rm *rm, const char *kind, uint64_t at, uint64_t *end)
{
	const uint8_t *p;

	if (memcmp(kind, "PROP", 4) == 0) {
		const uint8_t *place = view_peek(rm->view, at + 38, 4);

		rm->described = true;
		rm->index = place ? be32(place) : 0;
	}
	if (memcmp(kind, "INDX", 4) == 0) {
		rm->index = 0;
		if (!is_valid_index(rm, at, *end)) {
			*end = at;
			return false;
		}
	}
	if (memcmp(kind, "CONT", 4) == 0)
		read_contents(rm, at);
	p = view_peek(rm->view, at, 12);
	if (memcmp(kind, "MDPR", 4) == 0 && p && be16(p + 10) < STREAMS_MAX) {
		rm->streams |= (uint64_t)1 << be16(p + 10);
		note_audio_header(rm, at + 40);
	}
	return memcmp(kind, "DATA", 4) != 0 || walk_packets(rm, at, end);
}

/* The end of the chunk at `at`; 0 if there is none. A DATA chunk may have no length. */
static uint64_t chunk_end(struct rm *rm, uint64_t at, char *kind)
{
	const uint8_t *p = view_peek(rm->view, at, 10);
	uint32_t len = p ? be32(p + 4) : 0;

	if (!p || !is_known_kind(p) || (be16(p + 8) > 2 && memcmp(p, "R", 1) != 0))
		return 0;
	memcpy(kind, p, 4);
	if (memcmp(p, "RMJE", 4) == 0)
		return at + 12 + 128;
	rm->open = memcmp(p, "DATA", 4) == 0 && len < DATA_HEAD;
	if (rm->open)
		return at + DATA_HEAD;
	return len >= 10 ? at + len : 0;
}

static enum verdict check(struct view *view, struct finding *finding)
{
	struct rm rm = { .view = view, .finding = finding };
	const uint8_t *p = view_peek(view, 0, 18);
	uint64_t at, end;
	char kind[4];

	if (p && be32(p) == 0x2e7261fd)
		return rm_audio(view, finding);
	if (!p || be32(p) != 0x2e524d46 || be32(p + 4) < 16 || be32(p + 4) > 64)
		return verdict_because(CARVE_REJECT, finding, "no header at 0");
	for (at = be32(p + 4); (end = chunk_end(&rm, at, kind)) != 0; at = end) {
		uint64_t stated_end = end;

		if (end > view_size(view) && memcmp(kind, "DATA", 4) != 0)
			return judge_cut(&rm, end, at);
		if (!add_chunk(&rm, kind, at, &end))
			return stated_end > view_size(view) && view_size(view) - end < 65536
				       ? judge_cut(&rm, stated_end, end)
				       : judge_invalid(&rm, end, "no packet or index");
		if (rm.open)
			break;
	}
	return judge_end(&rm, rm.open ? end : at);
}

const struct carver rm_carver = {
	.name = "rm",
	.summary = "RealMedia by its chunks and packets, and RealAudio",
	.check = check,
};
