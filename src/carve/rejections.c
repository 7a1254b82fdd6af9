/*
 * A table of reasons that never shrinks nor moves. Finding one that is there takes no lock; the few
 * that are new are added under one. A note is a reason's number and 20 bits of work.
 */
#include "carve/rejections.h"

#include <assert.h>
#include <ctype.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

#define WORK_BITS 20
#define REASONS_MAX ((1u << (32 - WORK_BITS)) - 1)
#define TABLE_LEN ((size_t)4 * (REASONS_MAX + 1)) /* of the hash table: a power of two */

struct reason {
	uint32_t number, rule;
	char text[sizeof(((struct finding *)NULL)->why)];
};

struct rejections {
	_Atomic(struct reason *) table[TABLE_LEN]; /* by hash, then the next free place */
	struct reason *_Atomic reasons[REASONS_MAX + 1];
	pthread_mutex_t lock; /* of additions */
	uint32_t count;
};

struct rejections *rejections_new(void)
{
	struct rejections *rejections = xcalloc(1, sizeof(*rejections));

	pthread_mutex_init(&rejections->lock, NULL);
	return rejections;
}

void rejections_free(struct rejections *rejections)
{
	if (!rejections)
		return;
	for (uint32_t i = 1; i <= rejections->count; i++)
		free(rejections->reasons[i]);
	pthread_mutex_destroy(&rejections->lock);
	free(rejections);
}

/* ---- reasons ------------------------------------------------------------------------------- */

/* Bytes at the start of a reason, "expected 48 45 41 44", that are the rule's and stay as they are;
 * 0: none. */
static size_t expected_len(const char *why)
{
	static const char start[] = "expected ";
	size_t len = sizeof(start) - 1;

	if (strncmp(why, start, len) != 0)
		return 0;
	len += strspn(why + len, "0123456789ABCDEF?/ .");
	return strncmp(why + len, "at offset ", 10) == 0 ? len : 0;
}

void rejection_reason(const char *why, char *text, size_t len)
{
	const char *end = strstr(why, ", found "), *variable = why + expected_len(why);
	size_t used = 0;

	for (; *why && why != end && used + 1 < len; why++) {
		if (why < variable || !isdigit((unsigned char)*why))
			text[used++] = *why;
		else if (!used || text[used - 1] != 'N')
			text[used++] = 'N';
	}
	text[used] = '\0';
}

/* FNV-1a. */
static size_t place_of(uint32_t rule, const char *text)
{
	uint64_t hash = 0xcbf29ce484222325u ^ rule;

	for (; *text; text++)
		hash = (hash ^ (uint8_t)*text) * 0x100000001b3u;
	return (size_t)(hash >> 32) % TABLE_LEN;
}

/* The reason, or NULL, with *place where it would be. */
static const struct reason *find(
	const struct rejections *rejections, uint32_t rule, const char *text, size_t *place)
{
	const struct reason *reason;

	for (*place = place_of(rule, text); (reason = rejections->table[*place]);
		*place = (*place + 1) % TABLE_LEN)
		if (reason->rule == rule && strcmp(reason->text, text) == 0)
			return reason;
	return NULL;
}

static const struct reason *add(struct rejections *rejections, uint32_t rule, const char *text)
{
	const struct reason *found;
	struct reason *reason;
	size_t place;

	pthread_mutex_lock(&rejections->lock);
	found = find(rejections, rule, text, &place);
	if (!found && rejections->count < REASONS_MAX) {
		reason = xcalloc(1, sizeof(*reason));
		reason->number = ++rejections->count;
		reason->rule = rule;
		memcpy(reason->text, text, strlen(text));
		rejections->reasons[reason->number] = reason;
		rejections->table[place] = reason;
		found = reason;
	}
	pthread_mutex_unlock(&rejections->lock);
	return found;
}

/* ---- notes --------------------------------------------------------------------------------- */

uint32_t rejections_note(
	struct rejections *rejections, uint32_t rule, const struct outcome *outcome)
{
	const struct reason *reason;
	char text[sizeof(reason->text)];
	size_t place;

	assert(outcome->verdict == CARVE_REJECT);
	if (outcome->work >> WORK_BITS)
		return 0;
	rejection_reason(outcome->finding.why, text, sizeof(text));
	reason = find(rejections, rule, text, &place);
	if (!reason)
		reason = add(rejections, rule, text);
	return reason ? reason->number << WORK_BITS | (uint32_t)outcome->work : 0;
}

void rejections_outcome(const struct rejections *rejections, uint32_t note, struct outcome *outcome)
{
	const struct reason *reason = rejections->reasons[note >> WORK_BITS];

	assert(reason);
	outcome->verdict = CARVE_REJECT;
	outcome->work = note & ((1u << WORK_BITS) - 1);
	memcpy(outcome->finding.why, reason->text, strlen(reason->text) + 1);
}
