/*
 * Apple's Core Audio Format (Apple Core Audio Format Specification 1.0).
 *
 *	file:  'caff', version 1, flags; chunks
 *	chunk: kind, length (8 bytes, big-endian), data; the first is 'desc': rate, coding, bytes
 *	       and frames a packet
 *
 * Each chunk leads to the next; the file ends where none of a known kind follows. What follows the
 * audio ('data') confirms its end: a table of packets whose lengths add up to the audio's, texts,
 * zeros in 'free'. If the audio is the last chunk, uncompressed samples have to continue to its
 * end; compressed ones cannot be verified. In no case does anything verify the bytes of the audio
 * (view_unverified). A recording that was not closed has audio of unknown
 * length: it ends with the samples, a guess.
 */
#include <inttypes.h>
#include <stdbool.h>
#include <string.h>

#include "bytes.h"
#include "pcm.h"
#include "predictor.h"
#include "title.h"
#include "walk.h"

#define SMALL_LEN 64
#define TEXTS_MAX 65536

struct caf {
	struct view *view;
	struct finding *finding;
	struct pcm_format samples;
	uint32_t packet_len, frame_count; /* of a packet; 0: varies */
	uint64_t data, data_end;          /* the audio, after its edit count */
	uint64_t valid_end;               /* after the last whole chunk */
	uint64_t padding;                 /* zeros after it */
	uint64_t packets_len;             /* the sum in the table of packets */
	bool has_packets;
	bool plain;         /* uncompressed samples */
	bool end_confirmed; /* by the last chunk */
};

struct caf_chunk {
	char kind[5];
	uint64_t at, data, end;
	bool unknown_len;
};

static bool is_known_kind(const uint8_t *kind)
{
	static const char kinds[] = "desc data pakt kuki chan info free mark regn inst midi ovvw "
				    "peak strg umid uuid edct "
				    "LEVL dscr ldat ";
	char word[6] = { 0 };

	memcpy(word, kind, 4);
	word[4] = ' ';
	return strlen(word) == 5 && strstr(kinds, word);
}

/* Reads the chunk at `at`: false if none of a known kind starts there. */
static bool read_chunk(struct view *view, uint64_t at, struct caf_chunk *chunk)
{
	const uint8_t *p = view_peek(view, at, 12);

	if (!p || !is_known_kind(p))
		return false;
	*chunk = (struct caf_chunk){ .at = at, .data = at + 12 };
	memcpy(chunk->kind, p, 4);
	chunk->unknown_len = be64(p + 4) == UINT64_MAX && memcmp(p, "data", 4) == 0;
	if (be64(p + 4) > INT64_MAX / 2 && !chunk->unknown_len)
		return false;
	chunk->end = chunk->unknown_len ? UINT64_MAX : chunk->data + be64(p + 4);
	return true;
}

static bool read_description(struct caf *caf)
{
	const uint8_t *p = view_peek(caf->view, 0, 52);
	uint32_t flags, channels, bits;

	if (!p || be32(p) != 0x63616666 || be16(p + 4) != 1 || be64(p + 12) != 32)
		return false;
	flags = be32(p + 32);
	caf->packet_len = be32(p + 36);
	caf->frame_count = be32(p + 40);
	channels = be32(p + 44);
	bits = be32(p + 48);
	if (channels == 0 || channels > 1024 || bits > 64 || caf->packet_len > 1 << 24 ||
		(be16(p + 20) & 0xc000) != 0x4000)
		return false;
	if (memcmp(p + 28, "lpcm", 4) == 0)
		caf->samples.tag = flags & 1 ? PCM_FLOAT : PCM_INTEGER;
	else if (memcmp(p + 28, "ulaw", 4) == 0)
		caf->samples.tag = PCM_MU_LAW;
	else if (memcmp(p + 28, "alaw", 4) == 0)
		caf->samples.tag = PCM_A_LAW;
	caf->samples.big_endian = !(flags & 2);
	caf->samples.signed_8 = true;
	caf->samples.bits = (uint16_t)bits;
	caf->samples.frame_len = (uint16_t)caf->packet_len;
	caf->plain = caf->samples.tag && caf->packet_len && caf->packet_len < 65536;
	return true;
}

/* Reads a number of 7 bits a byte, the highest first, at *at: false if it does not end. */
static bool read_number(const uint8_t *p, size_t len, size_t *at, uint64_t *number)
{
	*number = 0;
	for (int i = 0; i < 9 && *at < len; i++) {
		*number = *number << 7 | (p[*at] & 0x7f);
		if (!(p[(*at)++] & 0x80))
			return true;
	}
	return false;
}

/* Walks the table of packets: true if its entries fill it. An entry has the packet's length and its
 * frames, unless all packets have the same. */
static bool walk_packets(struct caf *caf, const struct caf_chunk *chunk)
{
	const uint8_t *p =
		chunk->end - chunk->data >= 24 ? view_peek(caf->view, chunk->data, 24) : NULL;
	unsigned each = (caf->packet_len == 0) + (caf->frame_count == 0);
	uint64_t at = chunk->data + 24, count = p ? be64(p) : 0, number, i = 0;
	size_t len = 0, used = 0;

	if (!p || each == 0)
		return p != NULL;
	if (count > (chunk->end - at) / each)
		return false;
	for (count *= each; i < count; i++, at += used) {
		used = 0;
		len = chunk->end - at < 9 ? (size_t)(chunk->end - at) : 9;
		p = view_peek(caf->view, at, len);
		if (!p || !read_number(p, len, &used, &number))
			return false;
		caf->packets_len += i % each == 0 && caf->packet_len == 0 ? number : 0;
	}
	caf->has_packets = caf->packet_len == 0;
	return walk_zeros(caf->view, at, chunk->end);
}

/* Walks pairs of a key and a text, each ended by a zero: true if they fill the chunk. */
static bool walk_texts(struct caf *caf, const struct caf_chunk *chunk)
{
	uint64_t len = chunk->end - chunk->data;
	const uint8_t *p =
		len > 4 && len < TEXTS_MAX ? view_peek(caf->view, chunk->data, (size_t)len) : NULL;
	size_t at = 4;
	uint32_t count = p ? be32(p) : 0;

	for (uint32_t i = 0; p && i < 2 * count; i++) {
		const uint8_t *end = memchr(p + at, 0, (size_t)len - at);
		size_t text_len = end ? (size_t)(end - p) - at : 0;

		if (!end)
			return false;
		if (i % 2 == 0 && text_len == 5 && memcmp(p + at, "title", 6) == 0)
			finding_set_title(caf->finding, end + 1,
				strnlen((const char *)end + 1, len - at - 6));
		at += text_len + 1;
	}
	return p && at == len;
}

static void add_chunk(struct caf *caf, const struct caf_chunk *chunk)
{
	uint64_t len = chunk->end - chunk->data;

	caf->valid_end = chunk->end;
	caf->end_confirmed = false;
	if (memcmp(chunk->kind, "data", 4) == 0) {
		caf->data = chunk->data + (len < 4 ? len : 4);
		caf->data_end = chunk->end;
	} else if (memcmp(chunk->kind, "pakt", 4) == 0) {
		caf->end_confirmed = walk_packets(caf, chunk);
	} else if (memcmp(chunk->kind, "info", 4) == 0) {
		caf->end_confirmed = walk_texts(caf, chunk);
	} else if (memcmp(chunk->kind, "free", 4) == 0) {
		caf->end_confirmed = walk_zeros(caf->view, chunk->data, chunk->end);
	} else {
		caf->end_confirmed = len <= SMALL_LEN;
	}
}

static enum verdict judge_end(struct caf *caf)
{
	struct finding *finding = caf->finding;
	enum predictor_end tail = PREDICTOR_UNKNOWN;
	uint64_t at = 0;

	finding->length = caf->valid_end + caf->padding;
	if (!caf->data)
		return verdict_because(
			CARVE_TRUNCATED, finding, "no audio before %" PRIu64, caf->valid_end);
	if (caf->has_packets && caf->packets_len > caf->data_end - caf->data)
		return verdict_because(CARVE_UNVERIFIED, finding,
			"the packets are longer than the audio at %" PRIu64, caf->data);
	view_unverified(caf->view, caf->data, caf->data_end);
	if (caf->valid_end != caf->data_end && caf->end_confirmed)
		return CARVE_COMPLETE;
	if (caf->valid_end == caf->data_end && caf->plain)
		tail = pcm_check(caf->view, &caf->samples, caf->data, caf->data_end, &at);
	if (tail == PREDICTOR_CONTINUOUS)
		return CARVE_COMPLETE;
	if (tail == PREDICTOR_UNKNOWN)
		return verdict_because(CARVE_UNVERIFIED, finding,
			"the bytes before %" PRIu64 " cannot be verified", caf->valid_end);
	finding->length = at;
	return verdict_because(
		CARVE_TRUNCATED, finding, "foreign bytes instead of samples at %" PRIu64, at);
}

static enum verdict check(struct view *view, struct finding *finding)
{
	struct caf caf = { .view = view, .finding = finding };
	uint64_t size = view_size(view);
	struct caf_chunk chunk;

	if (!read_description(&caf))
		return verdict_because(CARVE_REJECT, finding, "no description at 8");
	caf.valid_end = 52;
	while (read_chunk(view, caf.valid_end, &chunk)) {
		if (chunk.unknown_len) {
			uint64_t end = pcm_guess_end(view, &caf.samples, chunk.data + 4);

			finding->length = end > chunk.data ? end : chunk.data;
			return verdict_because(CARVE_UNVERIFIED, finding,
				"the audio at %" PRIu64 " has no length", chunk.data);
		}
		if (chunk.end > size)
			return walk_cut(view, finding, chunk.end,
				view_ends_with_image(view) ? size : chunk.at);
		add_chunk(&caf, &chunk);
	}
	/* libsndfile makes the length of a file with packets even. */
	if (!caf.plain && caf.valid_end % 2 && caf.valid_end == caf.data_end)
		caf.padding = walk_padding(view, caf.valid_end, 1);
	if (caf.valid_end == 52)
		return verdict_because(CARVE_REJECT, finding, "no chunk at 52");
	return judge_end(&caf);
}

const struct carver caf_carver = {
	.name = "caf",
	.summary = "Apple's Core Audio Format, by its chunks",
	.check = check,
};
