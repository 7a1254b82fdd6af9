/*
 * Event logs of Windows Vista and later (libyal's documentation of the EVTX format; [MS-EVEN6]).
 *
 *	file:   header of 4,096 bytes, chunks of 65,536 bytes
 *	chunk:  header of 512 bytes with offsets of names and templates, records, unused space
 *	record: 2A 2A 00 00, length, number, time, binary XML, length once more
 *
 * The header has the number of chunks and a CRC-32 of itself. While the log is open (dirty) that
 * number may be too small; then further chunks belong to it as long as their record numbers
 * continue, and the end is unverified. A chunk has CRC-32s of its header and of its records, unless
 * a flag says that it has none, and the numbers of its first and last record; its records are
 * walked, too. A chunk that was never used is zeros. After the records are zeros or older records,
 * which nothing verifies (view_unverified): unless old records end, and zeros begin, just where a sector does, as
 * they do where a cluster was lost. Random bytes after the last chunk's records show that
 * the file was overwritten; so do, in a log that was closed, text and equal bytes that extend to
 * its end. Old records that fill a cluster or more of the last chunk leave the log unverified: another log's look alike.
 * Any other bytes that are neither zeros nor records are a note.
 *
 * Where a log is put together of pieces, old records show more: a log is written from each chunk's beginning, so one that begins
 * after the others is all there. That follows the number before it, and has no end, was cut off.
 *
 * A damaged file is valid up to the end of the last intact record.
 */
#include <inttypes.h>
#include <stdbool.h>
#include <string.h>
#include <zlib.h>

#include "bytes.h"
#include "dates.h"
#include "foreign.h"
#include "slack.h"
#include "walk.h"

#define HEADER_LEN 4096
/* See view_proved: a record has its length at both ends, and a log's number. */
enum { CRC_BITS = 32, LENGTH_BITS = 16, NUMBER_BITS = 16 };
#define CHUNK_LEN 65536
#define RESERVED_UNIT 16 /* chunks */
#define CHUNK_HEADER_LEN 512
#define FOREIGN_BLOCK 512
#define ZEROS_LEAST 8  /* in such a block of old records... */
#define ZEROS_USUAL 96 /* ...of which real logs have 200 (tests/bench/RESULTS.md) */
#define RECORD_MAGIC 0x2a2a
#define RECORD_HEAD 24
#define RECORD_MIN 28
#define RECORD_ALIGN 8
#define FLAG_DIRTY 1
#define FLAG_NO_CRC 4

struct evtx {
	struct view *view;
	struct finding *finding;
	uint64_t next_record; /* the expected number of the next chunk's first record; 0: any */
	uint64_t valid_end;   /* after the last valid record or chunk */
	uint64_t tail;        /* where the last chunk's unused space begins */
	uint64_t foreign;     /* the first bytes in unused space that are not of records; 0: none */
	uint64_t file_next;   /* the number that the next record gets, and */
	uint32_t chunk_count; /* chunks, according to the header */
	uint64_t cut_off;     /* old records are, or are no records; 0: nowhere */
	bool dirty, no_crc, wrong_crc;
};

static const char *read_header(struct evtx *log)
{
	const uint8_t *p = view_peek(log->view, 0, 128);

	if (!p || memcmp(p, "ElfFile", 8) != 0)
		return "no header";
	if (le32(p + 32) != 128 || le16(p + 38) != 3 || le16(p + 40) != HEADER_LEN)
		return "an impossible header";
	log->file_next = le64(p + 24);
	log->chunk_count = le16(p + 42);
	log->dirty = le32(p + 120) & FLAG_DIRTY;
	log->no_crc = le32(p + 120) & FLAG_NO_CRC;
	log->wrong_crc = !log->no_crc && le32(p + 124) != (uint32_t)crc32(0, p, 120);
	return NULL;
}

/* Walks the records in [at, end) of a chunk. Returns the end of the last valid one. */
static uint64_t walk_records(struct evtx *log, uint64_t at, uint64_t end, uint64_t number)
{
	uint64_t first = number;

	while (end - at >= RECORD_MIN) {
		const uint8_t *p = view_peek(log->view, at, RECORD_HEAD);
		uint64_t time;
		uint32_t len;

		if (!p || le32(p) != RECORD_MAGIC || le64(p + 8) != number)
			break;
		len = le32(p + 4);
		time = le64(p + 16);
		if (len < RECORD_MIN || len > end - at)
			break;
		p = view_peek(log->view, at + len - 4, 4);
		if (!p || le32(p) != len)
			break;
		log->finding->time = filetime_seconds(time);
		view_proved(log->view, at, at + len, LENGTH_BITS);
		if (number != first)
			view_proved(log->view, at - 1, at + RECORD_HEAD, NUMBER_BITS);
		at += len;
		number++;
	}
	return at;
}

/* Whether [at, end), of a chunk, is zeros. */
static bool all_zeros(struct view *view, uint64_t at, uint64_t end)
{
	size_t len = (size_t)(end - at);
	const uint8_t *p = len ? view_peek(view, at, len) : NULL;

	return p && p[0] == 0 && memcmp(p, p + 1, len - 1) == 0;
}

/* Whether the record at `at`, where the walk stopped, is the last one that reached the disk, while
 * the chunk's header, already written, counts records up to `end`: it starts here, and zeros follow
 * it, or start with a sector that was not written any more. */
static bool half_written(struct evtx *log, uint64_t at, uint64_t end)
{
	const uint8_t *p = log->dirty ? view_peek(log->view, at, 16) : NULL;
	uint32_t len = p ? le32(p + 4) : 0;
	uint64_t sector = (at + 16 + 511) / 512 * 512;

	if (!p || le32(p) != RECORD_MAGIC || len < RECORD_MIN || len >= end - at)
		return false;
	return all_zeros(log->view, at + len, end) ||
	       (sector < end && all_zeros(log->view, sector, end));
}

/* Whether the log, or the chunk with this header, goes without checksums. */
static bool lacks_checksums(const struct evtx *log, const uint8_t *header)
{
	return log->no_crc || le32(header + 120) & FLAG_NO_CRC;
}

static bool header_matches(const uint8_t *header)
{
	return (uint32_t)crc32(crc32(0, header, 120), header + 128, CHUNK_HEADER_LEN - 128) ==
	       le32(header + 124);
}

/* Whether the chunk's checksums match. */
static bool checksums_match(struct evtx *log, uint64_t at, uint32_t used)
{
	const uint8_t *p = view_peek(log->view, at, CHUNK_HEADER_LEN);
	uint32_t of_records, sum = 0;

	if (!p)
		return false;
	if (lacks_checksums(log, p))
		return true;
	of_records = le32(p + 52);
	if (!header_matches(p))
		return false;
	return walk_crc32(log->view, at + CHUNK_HEADER_LEN, used - CHUNK_HEADER_LEN, &sum) &&
	       sum == of_records;
}

enum evtx_chunk { CHUNK_VALID, CHUNK_NONE, CHUNK_OPEN, CHUNK_BAD };

/* Checks the chunk at `at`. CHUNK_OPEN: its records are valid, its checksums are not (yet). */
static enum evtx_chunk check_chunk(struct evtx *log, uint64_t at)
{
	const uint8_t *p = view_peek(log->view, at, CHUNK_HEADER_LEN);
	uint64_t first, last, end;
	uint32_t used;

	if (!p || memcmp(p, "ElfChnk", 8) != 0)
		return CHUNK_NONE;
	first = le64(p + 24);
	last = le64(p + 32);
	used = le32(p + 48);
	if (le32(p + 40) != 128 || used < CHUNK_HEADER_LEN || used > CHUNK_LEN)
		return CHUNK_NONE;
	log->valid_end = at + CHUNK_HEADER_LEN;
	end = walk_records(log, log->valid_end, at + used, first);
	log->valid_end = end;
	log->tail = at + used;
	log->next_record = last + 1;
	if (view_size(log->view) - at < CHUNK_LEN)
		return CHUNK_BAD;
	if (end == at + used && checksums_match(log, at, used)) {
		if (!log->no_crc)
			view_proved(log->view, at, at + used, CRC_BITS);
		return CHUNK_VALID;
	}
	if (end < at + used && half_written(log, end, at + used))
		return CHUNK_OPEN;
	return end == at + used ? CHUNK_OPEN : CHUNK_BAD;
}

/* The first block of [at, end) whose bytes are unlike records: those have UTF-16 and small numbers,
 * hence zeros, `least` of them or more. `end` if there is none. */
static uint64_t foreign_block(struct view *view, uint64_t at, uint64_t end, unsigned least)
{
	for (; end - at >= FOREIGN_BLOCK; at += FOREIGN_BLOCK) {
		const uint8_t *p = view_peek(view, at, FOREIGN_BLOCK);
		unsigned zeros = 0;

		for (size_t i = 0; p && i < FOREIGN_BLOCK; i++)
			zeros += p[i] == 0;
		if (p && zeros < least)
			return at;
	}
	return end;
}

/* The length of a record's head. 0: it is none. */
static uint32_t record_len(const uint8_t *p, size_t left)
{
	return left >= RECORD_MIN && le32(p) == RECORD_MAGIC ? le32(p + 4) : 0;
}

/* The same of all of a record. */
static uint32_t whole_record_len(const uint8_t *p, size_t left)
{
	uint32_t len = record_len(p, left);

	return len >= RECORD_MIN && len <= left && le32(p + len - 4) == len ? len : 0;
}

/* Where old records in the unused space [log->tail, end) of a chunk are cut off; end if they are not. */
static uint64_t old_records_break(struct evtx *log, uint64_t end)
{
	uint64_t start = (log->tail + RECORD_ALIGN - 1) / RECORD_ALIGN * RECORD_ALIGN;
	size_t size = start < end ? (size_t)(end - start) : 0, at = 0;
	const uint8_t *p = size ? view_peek(log->view, start, size) : NULL;

	while (p && at < size) {
		uint32_t len = whole_record_len(p + at, size - at);
		uint64_t number = len ? le64(p + at + 8) : 0;

		if (!len) {
			at += RECORD_ALIGN;
			continue;
		}
		for (bool is_first = true; len; is_first = false) {
			view_proved(log->view, start + at, start + at + len, LENGTH_BITS);
			if (!is_first)
				view_proved(log->view, start + at - 1, start + at + RECORD_HEAD,
					NUMBER_BITS);
			at += len;
			number++;
			len = whole_record_len(p + at, size - at);
			if (len && le64(p + at + 8) != number)
				len = 0;
		}
		if (record_len(p + at, size - at) && le64(p + at + 8) == number)
			return start + at;
	}
	return end;
}

/* Where a sector of zeros in [at, end) ends, and something else begins at once: old records hardly ever begin just there.
 * end if none does. */
static uint64_t zeros_break(struct view *view, uint64_t at, uint64_t end)
{
	at = (at + FOREIGN_BLOCK - 1) / FOREIGN_BLOCK * FOREIGN_BLOCK;
	for (at += FOREIGN_BLOCK; at + RECORD_ALIGN <= end; at += FOREIGN_BLOCK)
		if (all_zeros(view, at - FOREIGN_BLOCK, at) &&
			!all_zeros(view, at, at + RECORD_ALIGN))
			return at;
	return end;
}

static uint64_t nearer(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

/* Where what is in the unused space [log->tail, end) of a chunk seems to come from elsewhere; end: nowhere. */
static uint64_t unused_break(struct evtx *log, uint64_t end)
{
	uint64_t at = old_records_break(log, end);

	at = nearer(at, foreign_block(log->view, log->tail, end, ZEROS_USUAL));
	at = nearer(at, zeros_break(log->view, log->tail, end));
	return nearer(at, slack_wiped(log->view, log->tail, end));
}

/* Whether this is a check of a log in pieces. */
static bool is_in_pieces(const struct evtx *log)
{
	return view_thorough(log->view) || view_is_trial(log->view);
}

/* Reports the unused space [log->tail, end) of a chunk unless it is zeros. */
static void report_unused(struct evtx *log, uint64_t end)
{
	uint64_t foreign;

	if (log->tail >= end || all_zeros(log->view, log->tail, end))
		return;
	if (is_in_pieces(log) && !log->cut_off) {
		uint64_t broken = unused_break(log, end);

		log->cut_off = broken < end ? broken : 0;
	}
	view_unverified(log->view, log->tail, end);
	foreign = foreign_block(log->view, log->tail, end, ZEROS_LEAST);
	if (foreign < end && !log->foreign)
		log->foreign = foreign;
}

/* Walks the chunks that the header counts: false when one is invalid. */
static bool walk_chunks(struct evtx *log, uint64_t *at, bool *open)
{
	for (uint32_t i = 0; i < log->chunk_count; i++, *at += CHUNK_LEN) {
		enum evtx_chunk chunk = check_chunk(log, *at);

		if (chunk == CHUNK_NONE && i > 0 && all_zeros(log->view, *at, *at + CHUNK_LEN)) {
			log->tail = *at;
			continue;
		}
		if (chunk == CHUNK_OPEN && log->dirty)
			*open = true;
		else if (chunk != CHUNK_VALID)
			return false;
		report_unused(log, *at + CHUNK_LEN);
		log->valid_end = *at + CHUNK_LEN;
	}
	return true;
}

static enum verdict judge_damage(struct evtx *log, uint64_t at)
{
	if (log->valid_end <= HEADER_LEN && (log->wrong_crc || log->no_crc))
		return verdict_because(CARVE_REJECT, log->finding, "no chunk after the header");
	/* The header proves itself by its CRC. */
	if (log->valid_end < HEADER_LEN)
		log->valid_end =
			HEADER_LEN < view_size(log->view) ? HEADER_LEN : view_size(log->view);
	if (at + CHUNK_LEN > view_size(log->view))
		return walk_cut(log->view, log->finding, at + CHUNK_LEN,
			view_ends_with_image(log->view) ? view_size(log->view) : log->valid_end);
	log->finding->length = log->valid_end;
	return verdict_because(CARVE_TRUNCATED, log->finding,
		"the chunk at %" PRIu64 " is damaged after %" PRIu64, at, log->valid_end);
}

/* In an open log, walks the chunks after those that the header counts. Returns their end. */
static uint64_t further_chunks(struct evtx *log, uint64_t at)
{
	for (;;) {
		const uint8_t *p = view_peek(log->view, at, CHUNK_HEADER_LEN);
		uint64_t next = log->next_record;

		if (!p || le64(p + 24) != next)
			return at;
		if (check_chunk(log, at) != CHUNK_VALID)
			return at;
		report_unused(log, at + CHUNK_LEN);
		at += CHUNK_LEN;
	}
}

/* The verdict on a closed log that ends at `end`. */
static enum verdict judge_closed(struct evtx *log, uint64_t end)
{
	struct finding *finding = log->finding;
	uint64_t foreign = end, cluster;

	if (log->tail < end && !all_zeros(log->view, log->tail, end))
		foreign = foreign_tail(log->view, log->tail, end);
	/* Zeros after old records are unused space. */
	if (foreign < end && !all_zeros(log->view, foreign, end)) {
		finding->length = foreign;
		return verdict_because(CARVE_TRUNCATED, finding,
			"foreign bytes after the records, at %" PRIu64, foreign);
	}
	if (log->wrong_crc)
		return verdict_because(log->dirty ? CARVE_COMPLETE : CARVE_UNVERIFIED, finding,
			"the header's CRC is wrong");
	if (log->tail < end && slack_wiped(log->view, log->tail, end) < end)
		return verdict_because(CARVE_UNVERIFIED, finding,
			"the unused space is zeros from a sector on, as if wiped, at %" PRIu64,
			slack_wiped(log->view, log->tail, end));
	if (end - log->tail >= FOREIGN_BLOCK &&
		foreign_block(log->view, end - FOREIGN_BLOCK, end, ZEROS_LEAST) < end)
		return verdict_because(CARVE_UNVERIFIED, finding,
			"the unused space ends, at %" PRIu64 ", in neither zeros nor old records",
			end);
	cluster = (log->tail / USUAL_CLUSTER + 1) * USUAL_CLUSTER;
	if (cluster < end && !all_zeros(log->view, cluster, end)) {
		view_agrees(log->view);
		return verdict_because(CARVE_UNVERIFIED, finding,
			"nothing verifies the bytes in the unused space, from %" PRIu64 " on",
			cluster);
	}
	if (log->foreign)
		return verdict_because(CARVE_COMPLETE, finding,
			"the unused space at %" PRIu64 " holds neither zeros nor old records",
			log->foreign);
	return CARVE_COMPLETE;
}

/* Adds what Windows reserves after the chunks that end at `end`, in units of 1 MiB with or without a chunk more: zeros. A log
 * of one chunk reserves nothing. */
static enum verdict add_reserved(struct evtx *log, uint64_t end, enum verdict verdict)
{
	uint64_t count = (end - HEADER_LEN) / CHUNK_LEN, max;

	if ((verdict != CARVE_COMPLETE && verdict != CARVE_UNVERIFIED) || count < 2 ||
		count % RESERVED_UNIT <= 1 || log->finding->length != end)
		return verdict;
	max = (count / RESERVED_UNIT + 1) * RESERVED_UNIT + 1;
	for (count = max; count + 1 >= max; count--) {
		uint64_t stop = HEADER_LEN + count * CHUNK_LEN;

		if (stop > view_size(log->view) || !walk_zeros(log->view, end, stop))
			continue;
		view_unverified(log->view, end, stop);
		log->finding->length = stop;
		if (!log->finding->why[0])
			verdict_because(verdict, log->finding,
				"which of the zeros from %" PRIu64 " on belong to it is a guess",
				end);
		break;
	}
	return verdict;
}

static enum verdict check(struct view *view, struct finding *finding)
{
	struct evtx log = { .view = view, .finding = finding };
	const char *problem = read_header(&log);
	uint64_t at = HEADER_LEN, end, noise;
	bool open = false;

	if (problem)
		return verdict_because(CARVE_REJECT, finding, "%s", problem);
	if (log.chunk_count == 0)
		log.chunk_count = 1;
	if (!walk_chunks(&log, &at, &open))
		return judge_damage(&log, at);
	end = further_chunks(&log, at);
	noise = slack_noise(view, log.tail, end);
	finding->length = noise;
	if (log.cut_off && log.cut_off < noise) {
		finding->length = log.cut_off;
		return verdict_because(CARVE_TRUNCATED, finding,
			"old records in the unused space break off at %" PRIu64, log.cut_off);
	}
	if (noise < end)
		return verdict_because(CARVE_TRUNCATED, finding,
			"random bytes after the records, at %" PRIu64, noise);
	if (end > at || open) {
		view_agrees(view);
		return add_reserved(&log, end,
			verdict_because(CARVE_UNVERIFIED, finding,
				"the log was not closed: its header counts %" PRIu32 " chunks",
				log.chunk_count));
	}
	return add_reserved(&log, end, judge_closed(&log, end));
}

/* ---- files in pieces ------------------------------------------------------------------------ */

/* A walk along the chunks whose checksums match. */
struct chunk_walk {
	struct evtx log;
	uint64_t at;
	uint32_t number; /* of the chunk there */
};

/* Where numbers of records are in a chunk's header, 8 bytes each. */
enum { FIRST_AT = 24, LAST_AT = 32 };

static void expect_number(struct carve_anchor *anchor, unsigned at, uint64_t number)
{
	put_le(anchor->bytes + at, number, 8);
	anchor->any &= ~((uint64_t)0xff << at);
}

/* What the chunk at `at` must begin with; nothing is known of it: false. */
static bool chunk_anchor(const struct chunk_walk *walk, struct carve_anchor *anchor)
{
	const struct evtx *log = &walk->log;
	bool is_last = walk->number + 1 == log->chunk_count && !log->dirty && log->file_next;

	*anchor = (struct carve_anchor){ .offset = walk->at, .len = 44, .bytes = "ElfChnk" };
	anchor->any = (uint64_t)0xffffffff << 8;
	put_le(anchor->bytes + 40, 128, 4);
	if (log->next_record)
		expect_number(anchor, FIRST_AT, log->next_record);
	if (is_last)
		expect_number(anchor, LAST_AT, log->file_next - 1);
	return walk->number < log->chunk_count && (is_last || log->next_record);
}

/* Goes to the next chunk. False: it is damaged, or there is none. */
static bool next_chunk(struct chunk_walk *walk)
{
	if (walk->number >= walk->log.chunk_count ||
		check_chunk(&walk->log, walk->at) != CHUNK_VALID)
		return false;
	walk->at += CHUNK_LEN;
	walk->number++;
	return true;
}

static bool begin_walk(struct view *view, struct finding *finding, struct chunk_walk *walk)
{
	*walk = (struct chunk_walk){ .log = { .view = view, .finding = finding },
		.at = HEADER_LEN };
	return !read_header(&walk->log) && walk->log.chunk_count;
}

/* The records of the chunk that is damaged, if its head is intact; goes to the next one then. */
static bool sum_of_chunk(struct chunk_walk *walk, struct carve_sum *sum)
{
	const struct evtx *log = &walk->log;
	const uint8_t *p = view_peek(log->view, walk->at, CHUNK_HEADER_LEN);
	uint32_t used = p ? le32(p + 48) : 0;

	if (!p || lacks_checksums(log, p) || memcmp(p, "ElfChnk", 8) != 0 ||
		used <= CHUNK_HEADER_LEN || used > CHUNK_LEN || !header_matches(p))
		return false;
	sum->from = walk->at + CHUNK_HEADER_LEN;
	sum->to = walk->at + used;
	sum->before = UINT32_MAX;
	sum->after = ~le32(p + 52);
	walk->at += CHUNK_LEN;
	walk->number++;
	return true;
}

/* The chunks have no place of their own in them, but the numbers of their records follow on. */
static bool read_chunks(struct view *view, struct carve_table *table)
{
	struct finding finding = { 0 };
	struct carve_sum sum = { 0 };
	struct chunk_walk walk;
	struct carve_anchor anchor;

	if (!begin_walk(view, &finding, &walk))
		return false;
	table->length = HEADER_LEN + (uint64_t)walk.log.chunk_count * CHUNK_LEN;
	while (next_chunk(&walk))
		if (chunk_anchor(&walk, &anchor) && !table->add(table, &anchor))
			return true;
	if (sum_of_chunk(&walk, &sum) && chunk_anchor(&walk, &anchor))
		table->add(table, &anchor);
	return true;
}

static bool find_sum(struct view *view, struct carve_sum *sum)
{
	struct finding finding = { 0 };
	struct chunk_walk walk;

	if (!begin_walk(view, &finding, &walk))
		return false;
	while (next_chunk(&walk))
		;
	if (walk.number == walk.log.chunk_count)
		return false;
	if (!sum_of_chunk(&walk, sum))
		sum->from = sum->to = walk.at;
	sum->next_count = chunk_anchor(&walk, &sum->next[0]);
	return true;
}

static const struct carve_map evtx_map = {
	.words = { { 8, false, "ElfChnk" } },
	.common = true,
	.head = read_chunks,
	.sum = find_sum,
};

const struct carver evtx_carver = {
	.name = "evtx",
	.summary = "Windows event logs (EVTX), by their chunks, records and CRCs",
	.check = check,
	.map = &evtx_map,
};
