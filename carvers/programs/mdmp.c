/*
 * Windows' minidumps of programs (Microsoft, minidumpapiset.h).
 *
 *	header:    'MDMP', version A793 and 2 bytes of the writer's, number of streams, place of their directory, checksum,
 *	           time (4 each, little-endian), flags (8); 32 bytes
 *	directory: for each stream kind, length, place (4 each)
 *	streams:   threads (3), modules (4) and memory (5) name more places; full memory (9) has the place of all
 *	           memory and its parts' lengths (8 each), and ends the file
 *
 * What ends last ends the file. Nothing verifies memory: a dump is unverified. The title is the first module's name, the
 * program's; what is in its memory is carved, too.
 */
#include <inttypes.h>
#include <stdbool.h>
#include <string.h>

#include "bytes.h"
#include "title.h"
#include "walk.h"

#define HEAD_LEN 32
#define ENTRY_LEN 12
#define STREAMS_MAX 1024
#define COUNT_MAX (1u << 20)
#define THREAD_LEN 48
#define MODULE_LEN 108
#define RANGE_LEN 16
#define NAME_MAX_LEN 1024

enum { THREADS = 3, MODULES = 4, MEMORY = 5, FULL_MEMORY = 9 };

struct mdmp {
	struct view *view;
	struct finding *finding;
	uint64_t end;
};

static void add(struct mdmp *mdmp, uint64_t at, uint64_t len)
{
	if (len && at + len > mdmp->end)
		mdmp->end = at + len;
}

/* A place and a length before it, as the directory has them. */
static void add_location(struct mdmp *mdmp, const uint8_t *p)
{
	add(mdmp, le32(p + 4), le32(p));
}

static void add_name(struct mdmp *mdmp, uint64_t at)
{
	const uint8_t *p = view_peek(mdmp->view, at, 4);
	uint32_t len = p ? le32(p) : 0;

	add(mdmp, at, 6 + (uint64_t)len);
	if (!mdmp->finding->title[0] && len && len <= NAME_MAX_LEN &&
		(p = view_peek(mdmp->view, at + 4, len)))
		finding_set_title_utf16(mdmp->finding, p, len, false);
}

/* Reads a list: a count and records of record_len bytes, which have to fit into the stream. Returns the place of the
 * first; *count is 0 if there are none. */
static uint64_t read_list(
	struct mdmp *mdmp, uint64_t at, uint64_t len, size_t record_len, uint32_t *count)
{
	const uint8_t *p = len >= 4 ? view_peek(mdmp->view, at, 4) : NULL;

	*count = p ? le32(p) : 0;
	if (*count > COUNT_MAX || (uint64_t)*count * record_len > len - (p ? 4 : 0))
		*count = 0;
	/* Some writers align the records. */
	return at + len - (uint64_t)*count * record_len;
}

static void add_records(struct mdmp *mdmp, uint32_t kind, uint64_t at, uint64_t len)
{
	size_t record_len = kind == THREADS ? THREAD_LEN : kind == MODULES ? MODULE_LEN : RANGE_LEN;
	uint32_t count;

	at = read_list(mdmp, at, len, record_len, &count);
	for (; count; count--, at += record_len) {
		const uint8_t *p = view_peek(mdmp->view, at, record_len);

		if (!p)
			return;
		if (kind == MEMORY)
			add_location(mdmp, p + 8);
		if (kind == THREADS) {
			add_location(mdmp, p + 32);
			add_location(mdmp, p + 40);
		}
		if (kind == MODULES) {
			uint32_t name = le32(p + 20);

			add_location(mdmp, p + 76);
			add_location(mdmp, p + 84);
			if (name)
				add_name(mdmp, name);
		}
	}
}

static void add_full_memory(struct mdmp *mdmp, uint64_t at, uint64_t len)
{
	const uint8_t *p = len >= 16 ? view_peek(mdmp->view, at, 16) : NULL;
	uint64_t count = p ? le64(p) : 0, end = p ? le64(p + 8) : 0;

	if (!p || count > (len - 16) / RANGE_LEN)
		return;
	for (at += 16; count; count--, at += RANGE_LEN) {
		p = view_peek(mdmp->view, at, RANGE_LEN);
		if (!p || le64(p + 8) > INT64_MAX - end)
			return;
		end += le64(p + 8);
	}
	if (end <= INT64_MAX && end > mdmp->end)
		mdmp->end = end;
}

static enum verdict check(struct view *view, struct finding *finding)
{
	const uint8_t *p = view_peek(view, 0, HEAD_LEN);
	struct mdmp mdmp = { .view = view, .finding = finding };
	uint32_t count = p ? le32(p + 8) : 0, place = p ? le32(p + 12) : 0,
		 time = p ? le32(p + 20) : 0;
	unsigned known = 0;

	if (!p || memcmp(p, "MDMP\x93\xa7", 6) != 0 || !count || count > STREAMS_MAX ||
		place < HEAD_LEN)
		return verdict_because(CARVE_REJECT, finding, "no header at 0");
	add(&mdmp, place, (uint64_t)count * ENTRY_LEN);
	for (uint32_t i = 0; i < count; i++) {
		uint64_t at = place + (uint64_t)i * ENTRY_LEN, stream, len;
		uint32_t kind;

		p = view_peek(view, at, ENTRY_LEN);
		if (!p)
			return walk_cut(view, finding, at + ENTRY_LEN,
				at < view_size(view) ? at : view_size(view));
		kind = le32(p);
		len = le32(p + 4);
		stream = le32(p + 8);
		if (len && stream < HEAD_LEN)
			return verdict_because(
				CARVE_REJECT, finding, "an impossible stream at %" PRIu64, at);
		known += kind >= THREADS && kind <= 24;
		add(&mdmp, stream, len);
		if (kind == THREADS || kind == MODULES || kind == MEMORY)
			add_records(&mdmp, kind, stream, len);
		if (kind == FULL_MEMORY)
			add_full_memory(&mdmp, stream, len);
	}
	if (known < 2)
		return verdict_because(
			CARVE_REJECT, finding, "no streams of known kinds at %" PRIu32, place);
	finding->time = time;
	if (mdmp.end > view_size(view))
		return walk_cut(view, finding, mdmp.end, view_size(view));
	finding->length = mdmp.end;
	return verdict_because(
		CARVE_UNVERIFIED, finding, "nothing verifies the streams up to %" PRIu64, mdmp.end);
}

const struct carver mdmp_carver = {
	.name = "mdmp",
	.summary = "Windows' minidumps, by their streams",
	.check = check,
};
