/*
 * RealMedia (RealNetworks, RealMedia File Format), as in RM, RMVB and RA files.
 *
 *	chunk:  kind, length of all of it (4 bytes, big-endian), version
 *	chunks: '.RMF' the number of headers; PROP, CONT (texts), MDPR (a stream each); DATA: how
 *	        many packets, packets; INDX
 *	packet: version, length, stream, time, flags, data
 *
 * Chunks lead from one to the next, and packets inside DATA, where the last one has to end. A
 * recording that was not closed has no length there: its packets are walked as far as they go. The
 * file ends where no chunk of a known kind follows.
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

struct media {
	struct view *view;
	struct finding *finding;
	uint64_t streams; /* a bit for each of the first 64 numbers */
	uint64_t packets;
	uint64_t index; /* where one should stand, and none was seen; 0: no matter */
	bool described, data, open;
};

static bool known(const uint8_t *kind)
{
	static const char kinds[] = "PROPCONTMDPRDATAINDXRMMDRJMDRMJE";

	for (const char *at = kinds; *at; at += 4)
		if (memcmp(kind, at, 4) == 0)
			return true;
	return false;
}

/* Texts with their length in front: title, author, copyright, comment. */
static void read_contents(struct media *media, uint64_t at)
{
	const uint8_t *p = view_peek(media->view, at + 10, 2);
	uint16_t len = p ? be16(p) : 0;

	p = len ? view_peek(media->view, at + 12, len) : NULL;
	if (p)
		finding_set_title_latin1(media->finding, p, len);
}

/* The packet at `at`: its length, or 0. */
static uint32_t packet_len(const struct media *media, uint64_t at)
{
	const uint8_t *p = view_peek(media->view, at, 12);
	uint16_t stream = p ? be16(p + 4) : 0, len = p ? be16(p + 2) : 0;

	if (!p || be16(p) > 1 || len < 12 || stream >= STREAMS_MAX ||
		!(media->streams >> stream & 1))
		return 0;
	return len;
}

/* Walks the packets of the chunk [at, *end), or of one without a length, and sets *end behind
 * the last sound one, or behind all: true when they are as many as the chunk says, and fill it. */
static bool walk_packets(struct media *media, uint64_t at, uint64_t *end)
{
	const uint8_t *p = view_peek(media->view, at, DATA_HEAD);
	uint64_t count = p ? be32(p + 10) : 0, next = p ? at + DATA_HEAD : at, i = 0;
	uint64_t limit =
		media->open || *end > view_size(media->view) ? view_size(media->view) : *end;
	uint64_t told = *end;

	media->data = true;
	for (; p && next < limit && (count == 0 || i < count); i++) {
		uint32_t len = packet_len(media, next);

		if (len == 0 || len > limit - next)
			break;
		next += len;
	}
	media->packets += i;
	*end = next;
	if (media->open || next == told)
		return true;
	/* FFmpeg ends with an empty chunk, and tells ten bytes more than it writes. */
	if (count == 0 || i < count || told < next || !walk_zeros(media->view, next, next + 8) ||
		(told != next + 8 && told != next + DATA_HEAD))
		return false;
	*end = next + 8;
	return true;
}

static enum verdict broken(struct media *media, uint64_t at, const char *problem)
{
	if (media->packets == 0)
		return verdict_because(CARVE_REJECT, media->finding, "%s at %" PRIu64, problem, at);
	media->finding->length = at;
	return verdict_because(CARVE_TRUNCATED, media->finding, "%s at %" PRIu64, problem, at);
}

/* The view ends before `wanted`; what is sound ends at `sound`. */
static enum verdict cut(struct media *media, uint64_t wanted, uint64_t sound)
{
	if (media->packets == 0)
		return broken(media, sound, "no packet or index");
	return walk_cut(media->view, media->finding, wanted,
		view_ends_with_image(media->view) ? view_size(media->view) : sound);
}

static enum verdict finish(struct media *media, uint64_t at)
{
	struct finding *finding = media->finding;

	if (!media->described || !media->streams || !media->data || !media->packets)
		return verdict_because(CARVE_REJECT, finding, "no packets before %" PRIu64, at);
	finding->length = at;
	if (media->open)
		return verdict_because(CARVE_UNVERIFIED, finding,
			"was not closed: ends where no packet follows, at %" PRIu64, at);
	if (media->index)
		return verdict_because(
			CARVE_TRUNCATED, finding, "no index at %" PRIu64, media->index);
	return CARVE_COMPLETE;
}

/* Entries of 14 bytes fill the chunk; their times rise. */
static bool sound_index(const struct media *media, uint64_t at, uint64_t end)
{
	const uint8_t *p = view_peek(media->view, at, 20);
	uint64_t count = p ? be32(p + 10) : 0;
	uint32_t last = 0;

	if (!p || 20 + 14 * count != end - at)
		return false;
	for (at += 20; at < end; at += 14) {
		p = view_peek(media->view, at, 14);
		if (!p || be16(p) || be32(p + 2) < last)
			return false;
		last = be32(p + 2);
	}
	return true;
}

/* A stream of sound is described by a header of RealAudio, behind its name, its kind, and a
 * length. */
static void name_audio(struct media *media, uint64_t at)
{
	const uint8_t *p;

	for (int i = 0; i < 2; i++) {
		p = view_peek(media->view, at, 1);
		at += p ? 1 + (uint64_t)*p : 0;
	}
	p = view_peek(media->view, at + 4, 4);
	if (p && be32(p) == 0x2e7261fd)
		view_part(media->view, at + 4);
}

/* A chunk's part in the whole. True when it is sound; *end is behind it. */
static bool take(struct media *media, const char *kind, uint64_t at, uint64_t *end)
{
	const uint8_t *p;

	if (memcmp(kind, "PROP", 4) == 0) {
		const uint8_t *place = view_peek(media->view, at + 38, 4);

		media->described = true;
		media->index = place ? be32(place) : 0;
	}
	if (memcmp(kind, "INDX", 4) == 0) {
		media->index = 0;
		if (!sound_index(media, at, *end)) {
			*end = at;
			return false;
		}
	}
	if (memcmp(kind, "CONT", 4) == 0)
		read_contents(media, at);
	p = view_peek(media->view, at, 12);
	if (memcmp(kind, "MDPR", 4) == 0 && p && be16(p + 10) < STREAMS_MAX) {
		media->streams |= (uint64_t)1 << be16(p + 10);
		name_audio(media, at + 40);
	}
	return memcmp(kind, "DATA", 4) != 0 || walk_packets(media, at, end);
}

/* The end of the chunk at `at`; 0 when none stands there. A DATA chunk may have no length. */
static uint64_t chunk_end(struct media *media, uint64_t at, char *kind)
{
	const uint8_t *p = view_peek(media->view, at, 10);
	uint32_t len = p ? be32(p + 4) : 0;

	if (!p || !known(p) || (be16(p + 8) > 2 && memcmp(p, "R", 1) != 0))
		return 0;
	memcpy(kind, p, 4);
	if (memcmp(p, "RMJE", 4) == 0)
		return at + 12 + 128;
	media->open = memcmp(p, "DATA", 4) == 0 && len < DATA_HEAD;
	if (media->open)
		return at + DATA_HEAD;
	return len >= 10 ? at + len : 0;
}

static enum verdict check(struct view *view, struct finding *finding)
{
	struct media media = { .view = view, .finding = finding };
	const uint8_t *p = view_peek(view, 0, 18);
	uint64_t at, end;
	char kind[4];

	if (p && be32(p) == 0x2e7261fd)
		return rm_audio(view, finding);
	if (!p || be32(p) != 0x2e524d46 || be32(p + 4) < 16 || be32(p + 4) > 64)
		return verdict_because(CARVE_REJECT, finding, "no header at 0");
	for (at = be32(p + 4); (end = chunk_end(&media, at, kind)) != 0; at = end) {
		uint64_t told = end;

		if (end > view_size(view) && memcmp(kind, "DATA", 4) != 0)
			return cut(&media, end, at);
		if (!take(&media, kind, at, &end))
			return told > view_size(view) && view_size(view) - end < 65536
				       ? cut(&media, told, end)
				       : broken(&media, end, "no packet or index");
		if (media.open)
			break;
	}
	return finish(&media, media.open ? end : at);
}

const struct carver rm_carver = {
	.name = "rm",
	.summary = "RealMedia by its chunks and packets, and RealAudio",
	.check = check,
};
