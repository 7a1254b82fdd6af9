/*
 * Monkey's Audio (the SDK's MACLib.h and its notes on the format).
 *
 *	since 3.98: 'MAC ', version, a descriptor with the lengths of what follows: the header (of
 *	24 bytes), the table of frames, the head of the WAV file, the frames, the WAV file's tail;
 *	and an MD5 of the last three, then the header and the table. So the end is known.
 *
 *	earlier: 'MAC ', version, a header with the number of frames, the WAV file's head, the
 *	table, the frames, the WAV file's tail. The last frame's length is not stored, so the end is
 *	a guess: where a tag follows, or else by the longest frame.
 *
 * The WAV file's head is not carved as a file of its own (view_embedded). The table's offsets have
 * to rise. Frames have no mark, and only the MD5 verifies their data; without one (zeros) nothing
 * does (view_unverified). Long runs of plain bytes in them are foreign (noise.h). Tags may follow (audio_tags.h) or come first: then
 * mp3.c finds the header.
 */
#include "ape.h"

#include <inttypes.h>
#include <string.h>

#include "bytes.h"
#include "cursor.h"
#include "md5.h"
#include "noise.h"
#include "audio_tags.h"
#include "walk.h"

#define DESCRIPTOR_LEN 52
#define HEADER_LEN 24
#define MD5_AT 36
#define OLD_HEADER_LEN 32
#define FRAMES_MAX (1u << 24)

struct ape {
	struct view *view;
	struct finding *finding;
	uint64_t at;     /* of 'MAC ' */
	uint64_t table;  /* of frames' offsets */
	uint64_t frames; /* where the first has to start */
	uint64_t end;
	uint64_t header, wav_head; /* since 3.98: the table is between them */
	uint8_t md5[MD5_LEN];
	uint32_t frame_count, table_count;
};

/* Whether the table's offsets rise from the first frame on: *last is the last frame's, *longest the
 * largest distance between two. False with *last 0: the view ends within the table. */
static bool read_table(const struct ape *ape, uint64_t *last, uint64_t *longest)
{
	uint64_t before = 0;

	*last = *longest = 0;
	for (uint32_t i = 0; i < ape->frame_count; i++) {
		const uint8_t *p = view_peek(ape->view, ape->table + (uint64_t)i * 4, 4);
		uint64_t here;

		if (!p) {
			*last = 0;
			return false;
		}
		/* Offsets have 32 bits, and wrap around in long files. */
		here = (before & ~UINT64_C(0xffffffff)) | le32(p);
		if (here < before)
			here += UINT64_C(1) << 32;
		*last = ape->at + here;
		if (i && (here <= before || here - before > UINT64_C(1) << 31))
			return false;
		if (i && here - before > *longest)
			*longest = here - before;
		if (!i && *last != ape->frames)
			return false;
		before = here;
	}
	return true;
}

static bool is_valid_audio(unsigned level, unsigned channels, uint32_t rate)
{
	return level >= 1000 && level <= 5000 && level % 1000 == 0 && channels >= 1 &&
	       channels <= 32 && rate >= 1000 && rate <= 10000000;
}

/* What is wrong with a file of 3.98 and later, or NULL. */
static const char *read_new(struct ape *ape, const uint8_t *p)
{
	uint32_t descriptor = le32(p + 8), header = le32(p + 12), table = le32(p + 16);
	uint64_t wav = le32(p + 20), frames = le32(p + 24) | (uint64_t)le32(p + 28) << 32;
	uint64_t tail = le32(p + 32);

	if (descriptor < DESCRIPTOR_LEN || descriptor > 4096 || header < HEADER_LEN ||
		header > 4096 || frames >> 48)
		return "impossible lengths";
	memcpy(ape->md5, p + MD5_AT, MD5_LEN);
	p = view_peek(ape->view, ape->at + descriptor, HEADER_LEN);
	if (!p || !is_valid_audio(le16(p), le16(p + 18), le32(p + 20)))
		return "an impossible header";
	ape->frame_count = le32(p + 12);
	ape->table_count = table / 4;
	ape->header = ape->at + descriptor;
	ape->table = ape->header + header;
	ape->wav_head = ape->table + table;
	view_embedded(ape->view, ape->wav_head);
	ape->frames = ape->wav_head + wav;
	ape->end = ape->frames + frames + tail;
	if (table && ape->frame_count > ape->table_count)
		return "a table that is too short";
	return NULL;
}

static bool has_md5(const struct ape *ape)
{
	static const uint8_t none[MD5_LEN] = { 0 };

	return memcmp(ape->md5, none, MD5_LEN) != 0;
}

/* Whether the audio matches the MD5, if there is one. */
static bool md5_matches(struct ape *ape)
{
	uint8_t digest[MD5_LEN];
	struct md5 md5;

	if (!has_md5(ape)) {
		view_unverified(ape->view, ape->wav_head, ape->end);
		return true;
	}
	md5_start(&md5);
	if (!md5_add_view(&md5, ape->view, ape->wav_head, ape->end) ||
		!md5_add_view(&md5, ape->view, ape->header, ape->wav_head))
		return false;
	md5_end(&md5, digest);
	return memcmp(digest, ape->md5, MD5_LEN) == 0;
}

static enum verdict check_new(struct ape *ape)
{
	uint64_t size = view_size(ape->view), last, longest, plain, end;
	struct finding *finding = ape->finding;

	finding->length = ape->table < size ? ape->table : size;
	if (ape->table_count && !read_table(ape, &last, &longest)) {
		if (!last && ape->frames > size)
			return walk_cut(ape->view, finding, ape->end, size);
		return verdict_because(CARVE_TRUNCATED, finding,
			"the table of frames at %" PRIu64 " does not rise", ape->table);
	}
	end = ape->end < size ? ape->end : size;
	plain = plain_start(ape->view, ape->frames < end ? ape->frames : end, end);
	/* The frames of silence are plain, too: then the MD5 decides. */
	if (plain < end && (ape->end > size || !has_md5(ape) || !md5_matches(ape))) {
		finding->length = plain;
		return verdict_because(CARVE_TRUNCATED, finding,
			"plain bytes instead of audio at %" PRIu64, plain);
	}
	if (ape->end > size)
		return walk_cut(ape->view, finding, ape->end, size);
	finding->length = audio_tags_end(ape->view, ape->end, finding);
	if (ape->end == ape->frames && finding->length == ape->end) {
		finding->length = 0;
		return verdict_because(
			CARVE_REJECT, finding, "neither audio nor a tag at %" PRIu64, ape->end);
	}
	if (ape->end > ape->frames && !md5_matches(ape))
		return verdict_because(CARVE_UNVERIFIED, finding,
			"the MD5 of the audio before %" PRIu64 " is wrong", ape->end);
	return CARVE_COMPLETE;
}

/* What is wrong with a file before 3.98, or NULL. */
static const char *read_old(struct ape *ape, const uint8_t *p)
{
	unsigned version = le16(p + 4), flags = le16(p + 8);
	uint64_t wav = flags & 32 ? 0 : le32(p + 16);

	if (version < 3800 || !is_valid_audio(le16(p + 6), le16(p + 10), le32(p + 12)) ||
		wav > 1u << 24 || le32(p + 24) > FRAMES_MAX || !le32(p + 24))
		return "an impossible header";
	ape->frame_count = le32(p + 24);
	ape->table_count = ape->frame_count;
	ape->table = ape->at + OLD_HEADER_LEN + (flags & 4 ? 4 : 0);
	if (flags & 16) {
		p = view_peek(ape->view, ape->table, 4);
		if (!p || le32(p) < ape->frame_count || le32(p) > FRAMES_MAX)
			return "a table that is too short";
		ape->table_count = le32(p);
		ape->table += 4;
	}
	view_embedded(ape->view, ape->table);
	ape->table += wav;
	ape->frames = ape->table + (uint64_t)ape->table_count * 4 +
		      (version <= 3800 ? ape->table_count : 0);
	return NULL;
}

/* The tag may be another file's. */
static enum verdict judge_end_at_tag(struct finding *finding, uint64_t at)
{
	return verdict_because(CARVE_UNVERIFIED, finding,
		"only the tag at %" PRIu64 " shows where the last frame ends", at);
}

static enum verdict check_old(struct ape *ape)
{
	struct cursor cursor = { .view = ape->view };
	uint64_t size = view_size(ape->view), last, longest, guess, limit;
	struct finding *finding = ape->finding;

	finding->length = ape->table < size ? ape->table : size;
	if (!read_table(ape, &last, &longest))
		return verdict_because(CARVE_TRUNCATED, finding,
			"the table of frames at %" PRIu64 " is cut, or does not rise", ape->table);
	if (last >= size)
		return walk_cut(ape->view, finding, last, size);
	/* A frame is a few seconds of stereo; with a single frame there is no longest one. */
	guess = last + (longest ? longest : 1 << 20);
	limit = guess + longest < size ? guess + longest : size;
	cursor.at = last;
	if (cursor_find(&cursor, limit, "APETAGEX")) {
		finding->length = audio_tags_end(ape->view, cursor.at, finding);
		if (finding->length > cursor.at)
			return judge_end_at_tag(finding, cursor.at);
	}
	for (cursor.at = last; cursor_find(&cursor, limit, "TAG"); cursor.at++) {
		finding->length = audio_tags_end(ape->view, cursor.at, finding);
		if (finding->length > cursor.at)
			return judge_end_at_tag(finding, cursor.at);
	}
	finding->length = guess < size ? guess : size;
	return verdict_because(CARVE_UNVERIFIED, finding,
		"the last frame starts at %" PRIu64 ", and its length is not stored", last);
}

enum verdict ape_check(struct view *view, uint64_t at, struct finding *finding)
{
	struct ape ape = { .view = view, .finding = finding, .at = at };
	const uint8_t *p = view_peek(view, at, DESCRIPTOR_LEN);
	const char *problem = "no header";
	bool old = p && le16(p + 4) < 3980;

	if (p && memcmp(p, "MAC ", 4) == 0 && le16(p + 4) < 4200)
		problem = old ? read_old(&ape, p) : read_new(&ape, p);
	if (problem)
		return verdict_because(CARVE_REJECT, finding, "%s at %" PRIu64, problem, at);
	finding->extension = "ape";
	return old ? check_old(&ape) : check_new(&ape);
}

static enum verdict check(struct view *view, struct finding *finding)
{
	return ape_check(view, 0, finding);
}

const struct carver ape_carver = {
	.name = "ape",
	.summary = "Monkey's Audio, by its headers and its table of frames",
	.check = check,
};
