/*
 * Journals of systemd (systemd.io/JOURNAL_FILE_FORMAT).
 *
 *	file:   header (its length at 88), objects, each at a multiple of 8
 *	object: type (1 to 7), flags, 6 unused bytes, length (8 bytes), content
 *
 * The header gives the length of the arena after it, the last object's offset, and the number of
 * objects. The walk follows the objects to the last one, and counts them; types, lengths and each
 * type's minimum length are checked. After the last object the arena is zeros (files grow by 8
 * MiB). A journal that is still being written may have more objects than its header counts: then,
 * too, the walk stops at the header's last object.
 *
 * The time is the last entry's.
 */
#include <inttypes.h>
#include <stdbool.h>
#include <string.h>

#include "bytes.h"
#include "slack.h"
#include "walk.h"

#define HEADER_MIN 208
#define HEADER_MAX 4096
#define OBJECT_LEN 16

struct systemd_journal {
	struct view *view;
	uint64_t size, last, count; /* from the header: of the file, the last object, objects */
	uint64_t at, walked, tail;
};

static const char *read_header(struct systemd_journal *journal, struct finding *finding)
{
	const uint8_t *p = view_peek(journal->view, 0, HEADER_MIN);
	uint64_t header_len, arena_len;

	if (!p || memcmp(p, "LPKSHHRH", 8) != 0 || p[16] > 2)
		return "no header";
	header_len = le64(p + 88);
	arena_len = le64(p + 96);
	journal->last = le64(p + 136);
	journal->count = le64(p + 144);
	if (header_len < HEADER_MIN || header_len > HEADER_MAX || header_len % 8 ||
		arena_len > (uint64_t)1 << 40)
		return "impossible lengths";
	journal->size = header_len + arena_len;
	journal->at = header_len;
	journal->tail = header_len;
	if (journal->last >= journal->size || journal->last % 8 ||
		(journal->last && journal->last < header_len))
		return "an impossible last object";
	/* Microseconds. */
	finding->time = (int64_t)(le64(p + 192) / 1000000);
	return NULL;
}

/* The length of the object at `at`, 0 when there is none. */
static uint64_t object_len(const struct systemd_journal *journal, uint64_t at)
{
	static const uint8_t min_lens[] = { 0, 64, 40, 64, 16, 16, 16, 64 };
	const uint8_t *p = view_peek(journal->view, at, OBJECT_LEN);
	uint64_t len;

	if (!p || p[0] < 1 || p[0] > 7 || p[1] > 7)
		return 0;
	for (int i = 2; i < 8; i++)
		if (p[i])
			return 0;
	len = le64(p + 8);
	return len >= min_lens[p[0]] && len <= journal->size - at ? len : 0;
}

static enum verdict judge_damage(struct systemd_journal *journal, struct finding *finding)
{
	if (!journal->walked)
		return verdict_because(CARVE_REJECT, finding, "no object after the header");
	finding->length = journal->tail;
	return verdict_because(CARVE_TRUNCATED, finding, "no object at %" PRIu64, journal->at);
}

static enum verdict check(struct view *view, struct finding *finding)
{
	struct systemd_journal journal = { .view = view };
	const char *problem = read_header(&journal, finding);
	uint64_t noise, size = view_size(view);

	if (problem)
		return verdict_because(CARVE_REJECT, finding, "%s", problem);
	while (journal.at <= journal.last) {
		uint64_t len = object_len(&journal, journal.at);

		if (len && len > size - journal.at)
			break;
		if (!len && journal.at + OBJECT_LEN <= size)
			return judge_damage(&journal, finding);
		if (!len)
			break;
		journal.walked++;
		journal.tail = journal.at + len;
		if (journal.at == journal.last)
			break;
		journal.at += (len + 7) & ~(uint64_t)7;
	}
	if (!journal.walked)
		return verdict_because(CARVE_REJECT, finding, "no object after the header");
	if (journal.size > size)
		return walk_cut(view, finding, journal.size,
			view_ends_with_image(view) ? size : journal.tail);
	if (journal.at != journal.last)
		return judge_damage(&journal, finding);
	noise = slack_noise(view, journal.tail, journal.size);
	finding->length = noise;
	if (noise < journal.size)
		return verdict_because(CARVE_TRUNCATED, finding,
			"random bytes after the last object, at %" PRIu64, noise);
	if (!walk_zeros(view, journal.tail, journal.size)) {
		view_unverified(view, journal.tail, journal.size);
		return verdict_because(CARVE_UNVERIFIED, finding,
			"other bytes than zeros after the last object, at %" PRIu64, journal.tail);
	}
	if (journal.walked != journal.count)
		return verdict_because(CARVE_UNVERIFIED, finding,
			"%" PRIu64 " objects, but the header counts %" PRIu64, journal.walked,
			journal.count);
	return CARVE_COMPLETE;
}

const struct carver journal_carver = {
	.name = "journal",
	.summary = "systemd's journals, by their objects",
	.check = check,
};
