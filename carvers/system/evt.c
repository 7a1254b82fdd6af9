/*
 * Event logs of Windows NT to 2003 ([MS-EVEN], ELF_LOGFILE_HEADER, EVENTLOGRECORD and
 * ELF_EOF_RECORD on learn.microsoft.com).
 *
 *	file:   header of 48 bytes, a ring of records
 *	record: length, 'LfLe', number, two times, ..., length once more
 *	end:    28 00 00 00, 11 11 11 11 to 44 44 44 44, start and end of the ring, numbers, 28 00
 *		00 00
 *
 * The header gives the file's size, and the offsets of the oldest record and the end record; at the
 * file's end a record continues after the header, and none starts in the last 56 bytes (they are
 * filled with 27 00 00 00). While the log is open those offsets are out of date: the walk follows
 * the records up to the end record, wherever it is. burin checks all lengths, that numbers rise by
 * one, and the end record. The bytes between it and the file's end belong to older records, or are
 * zeros; random bytes there show that the file was overwritten, and others but zeros leave it unverified.
 */
#include <inttypes.h>
#include <stdbool.h>
#include <string.h>

#include "bytes.h"
#include "slack.h"
#include "walk.h"

#define HEADER_LEN 48
#define END_LEN 40
#define RECORD_MIN 56
#define FLAG_DIRTY 1

struct evt {
	struct view *view;
	struct finding *finding;
	uint64_t size;    /* of the file */
	uint64_t start;   /* the oldest record */
	uint64_t at;      /* the next record */
	uint64_t highest; /* after the last byte in the file that the walk covered */
	uint32_t number;  /* of the next record; 0: any */
	uint32_t count;   /* records walked */
	bool wrapped;
};

static const char *read_header(struct evt *log)
{
	const uint8_t *p = view_peek(log->view, 0, HEADER_LEN);

	if (!p || le32(p) != HEADER_LEN || memcmp(p + 4, "LfLe", 4) != 0 || le32(p + 8) != 1 ||
		le32(p + 12) != 1 || le32(p + 44) != HEADER_LEN)
		return "no header";
	log->start = le32(p + 16);
	log->size = le32(p + 32);
	if (log->size < 2 * HEADER_LEN || log->size % 4 || log->start < HEADER_LEN ||
		log->start >= log->size || log->start % 4 || le32(p + 36) > 15)
		return "impossible offsets or flags";
	log->at = log->start;
	log->highest = HEADER_LEN;
	return NULL;
}

/* The four bytes at `offset` of the ring, 0 when they are not readable. */
static uint32_t word_at(struct evt *log, uint64_t offset)
{
	const uint8_t *p;

	if (offset >= log->size)
		offset = offset - log->size + HEADER_LEN;
	p = view_peek(log->view, offset, 4);
	return p ? le32(p) : 0;
}

/* Whether the end record is at log->at. */
static bool at_end_record(struct evt *log)
{
	for (uint32_t i = 1; i <= 4; i++)
		if (word_at(log, log->at + 4 * i) != 0x11111111 * i)
			return false;
	return word_at(log, log->at) == END_LEN && word_at(log, log->at + 36) == END_LEN;
}

/* Moves past a record. False: there is none. */
static bool skip_record(struct evt *log)
{
	uint32_t len = word_at(log, log->at), number = word_at(log, log->at + 8);

	if (len < RECORD_MIN || len % 4 || len > log->size - HEADER_LEN ||
		word_at(log, log->at + 4) != 0x654c664c || word_at(log, log->at + len - 4) != len)
		return false;
	if (log->count && number != log->number)
		return false;
	log->number = number + 1;
	log->count++;
	log->finding->time = word_at(log, log->at + 16);
	log->at += len;
	if (log->at > log->highest)
		log->highest = log->at < log->size ? log->at : log->size;
	return true;
}

static bool wrap_around(struct evt *log)
{
	if (log->size - log->at >= RECORD_MIN && log->at < log->size)
		return true;
	if (log->wrapped)
		return false;
	log->wrapped = true;
	log->at = log->at >= log->size ? log->at - log->size + HEADER_LEN : HEADER_LEN;
	log->highest = log->size;
	return true;
}

/* The verdict when the walk stopped before the end record. */
static enum verdict judge_damage(struct evt *log)
{
	uint64_t size = view_size(log->view), valid_end = log->highest;

	if (!log->count)
		return verdict_because(
			CARVE_REJECT, log->finding, "no record at %" PRIu64, log->start);
	if (log->wrapped && size >= log->size)
		valid_end = log->size;
	if (log->size > size)
		return walk_cut(log->view, log->finding, log->size,
			view_ends_with_image(log->view) ? size : valid_end);
	log->finding->length = valid_end;
	return verdict_because(CARVE_TRUNCATED, log->finding, "no record at %" PRIu64, log->at);
}

static enum verdict check(struct view *view, struct finding *finding)
{
	struct evt log = { .view = view, .finding = finding };
	const char *problem = read_header(&log);
	uint64_t noise;

	if (problem)
		return verdict_because(CARVE_REJECT, finding, "%s", problem);
	while (wrap_around(&log) && !at_end_record(&log))
		if (!skip_record(&log))
			return judge_damage(&log);
	if (!at_end_record(&log) || log.size > view_size(view))
		return judge_damage(&log);
	if (log.wrapped) {
		finding->length = log.size;
		return CARVE_COMPLETE;
	}
	log.highest = log.at + END_LEN < log.size ? log.at + END_LEN : log.size;
	noise = slack_noise(view, log.highest, log.size);
	finding->length = noise;
	if (noise < log.size)
		return verdict_because(CARVE_TRUNCATED, finding,
			"random bytes after the end record, at %" PRIu64, noise);
	if (!walk_zeros(view, log.highest, log.size))
		return verdict_because(CARVE_UNVERIFIED, finding,
			"nothing verifies the bytes after the end record, from %" PRIu64 " on",
			log.highest);
	return CARVE_COMPLETE;
}

const struct carver evt_carver = {
	.name = "evt",
	.summary = "Windows NT event logs (EVT), by their records and end record",
	.check = check,
};
