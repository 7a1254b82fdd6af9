/*
 * A hit is plain if all rules that use its pattern have it for a header, at the file's start, anywhere, and need no footer;
 * and if all other patterns of these rules are plain, too, so that what the pairing knows of a rule's last header is in one
 * place. Hits at one place are forgotten together or paired together, for alternatives of a rule that match there count once.
 */
#include "carve/held_hits.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

#define SECTOR_LEN 512
/* Of a pattern whose headers are at different distances from their files' starts. */
#define ANY_DISTANCE UINT16_MAX

struct held_hit {
	uint64_t offset;
	uint32_t pattern;
	uint32_t value; /* the rejection, or the match's length where the pairing wants that */
};

struct pattern_facts {
	uint32_t rejected_rule; /* whose rejections they are */
	uint16_t distance;      /* of a header from its file's start, modulo SECTOR_LEN */
	uint8_t uses;           /* candidates of a plain hit */
	bool plain;
	bool has_length; /* value is a length */
	bool has_header; /* that may be an early candidate */
};

struct held_hits {
	const struct rules *rules;
	struct pairing *pairing;
	struct pattern_facts *facts; /* by pattern */
	struct held_hit *hits;       /* [first, end) of capacity */
	size_t first, end, capacity;
	uint64_t position;       /* held_hits_advance; UINT64_MAX: held_hits_finish */
	uint64_t told;           /* of that, to the pairing */
	struct candidate *early; /* [early_first, early_end) of early_capacity, in order */
	size_t early_first, early_end, early_capacity;
	uint64_t delay; /* the largest header_offset, bytes */
};

/* ---- what is known of patterns ------------------------------------------------------------- */

static bool all_plain(const struct held_hits *held, const struct rule *rule)
{
	for (uint32_t i = 0; i < rule->header_count; i++)
		if (!held->facts[rule->headers[i]].plain)
			return false;
	return true;
}

/* As far as its rules are. */
static bool is_plain(const struct held_hits *held, uint32_t pattern, const bool *plain_rules)
{
	uint32_t count;
	const struct pattern_use *uses = pairing_uses(held->pairing, pattern, &count);

	for (uint32_t i = 0; i < count; i++)
		if (!uses[i].header || !plain_rules[uses[i].rule])
			return false;
	return count <= UINT8_MAX;
}

static void find_plain(struct held_hits *held)
{
	const struct rules *rules = held->rules;
	bool *plain = xcalloc(rules->count + 1, sizeof(*plain)), changed = true;

	for (uint32_t r = 0; r < rules->count; r++)
		plain[r] = pairing_is_plain(held->pairing, r);
	while (changed) {
		changed = false;
		for (uint32_t p = 0; p < rules->patterns.count; p++)
			held->facts[p].plain = is_plain(held, p, plain);
		for (uint32_t r = 0; r < rules->count; r++) {
			if (!plain[r] || all_plain(held, &rules->rules[r]))
				continue;
			plain[r] = false;
			changed = true;
		}
	}
	free(plain);
}

static void fill_facts(struct held_hits *held, uint32_t pattern)
{
	struct pattern_facts *facts = &held->facts[pattern];
	uint32_t count;
	const struct pattern_use *uses = pairing_uses(held->pairing, pattern, &count);

	facts->uses = facts->plain ? (uint8_t)count : 0;
	facts->has_length = pairing_wants_length(held->pairing, pattern);
	for (uint32_t i = 0; i < count; i++) {
		uint16_t distance = held->rules->rules[uses[i].rule].header_offset % SECTOR_LEN;

		if (!uses[i].header)
			continue;
		if (facts->has_header && facts->distance != distance)
			distance = ANY_DISTANCE;
		facts->has_header = true;
		facts->distance = distance;
	}
}

struct held_hits *held_hits_new(const struct rules *rules, struct pairing *pairing)
{
	struct held_hits *held = xcalloc(1, sizeof(*held));

	held->rules = rules;
	held->pairing = pairing;
	held->facts = xcalloc(rules->patterns.count + 1, sizeof(*held->facts));
	find_plain(held);
	for (uint32_t p = 0; p < rules->patterns.count; p++)
		fill_facts(held, p);
	for (uint32_t r = 0; r < rules->count; r++)
		if (rules->rules[r].header_offset > held->delay)
			held->delay = rules->rules[r].header_offset;
	return held;
}

void held_hits_free(struct held_hits *held)
{
	if (!held)
		return;
	free(held->facts);
	free(held->hits);
	free(held->early);
	free(held);
}

/* ---- early candidates ---------------------------------------------------------------------- */

/* Candidates come nearly in order; those of one rule and start, in that of patterns, which is kept. */
static void add_early(struct held_hits *held, const struct candidate *candidate)
{
	struct candidate *early;
	size_t i;

	if (held->early_first == held->early_end)
		held->early_first = held->early_end = 0;
	held->early = xgrow(held->early, &held->early_capacity, held->early_end, sizeof(*early));
	early = held->early;
	i = held->early_end++;
	for (; i > held->early_first && candidate_is_before(candidate, &early[i - 1]); i--)
		early[i] = early[i - 1];
	early[i] = *candidate;
}

static void find_early(struct held_hits *held, uint64_t offset, uint32_t pattern)
{
	uint32_t count;
	const struct pattern_use *uses = pairing_uses(held->pairing, pattern, &count);

	for (uint32_t i = 0; i < count; i++) {
		const struct rule *rule = &held->rules->rules[uses[i].rule];
		uint64_t start = offset - rule->header_offset;
		struct candidate candidate;

		if (!uses[i].header || offset < rule->header_offset || start % SECTOR_LEN ||
			!pairing_takes(held->pairing, uses[i].rule, start))
			continue;
		candidate = candidate_of_header(rule, uses[i].rule, pattern, start);
		add_early(held, &candidate);
	}
}

bool held_hits_next_early(struct held_hits *held, struct candidate *candidate)
{
	const struct candidate *early = held->early;
	size_t next = held->early_first;

	if (next == held->early_end)
		return false;
	*candidate = early[next];
	/* One that starts before it may follow. */
	if (held->position < held->delay || candidate->start >= held->position - held->delay)
		return false;
	while (next < held->early_end && early[next].start == candidate->start &&
		early[next].rule == candidate->rule)
		next++;
	held->early_first = next;
	return true;
}

/* ---- hits ---------------------------------------------------------------------------------- */

static void make_room(struct held_hits *held)
{
	if (held->end == held->capacity && held->first > held->end / 2) {
		held->end -= held->first;
		memcpy(held->hits, held->hits + held->first, held->end * sizeof(*held->hits));
		held->first = 0;
	}
	held->hits = xgrow(held->hits, &held->capacity, held->end, sizeof(*held->hits));
}

void held_hits_add(struct held_hits *held, uint64_t offset, uint32_t pattern, uint32_t match_len,
	uint32_t rule, uint32_t rejection)
{
	struct pattern_facts *facts = &held->facts[pattern];

	if (rejection)
		facts->rejected_rule = rule;
	if (held->end == held->capacity)
		make_room(held);
	held->hits[held->end++] =
		(struct held_hit){ offset, pattern, facts->has_length ? match_len : rejection };
	if (facts->has_header && !rejection &&
		((offset - facts->distance) % SECTOR_LEN == 0 || facts->distance == ANY_DISTANCE))
		find_early(held, offset, pattern);
}

void held_hits_advance(struct held_hits *held, uint64_t position)
{
	held->position = position;
}

void held_hits_finish(struct held_hits *held)
{
	held->position = UINT64_MAX;
}

static void pair_hit(struct held_hits *held, const struct held_hit *hit)
{
	const struct pattern_facts *facts = &held->facts[hit->pattern];

	pairing_checked_hit(held->pairing, hit->offset, hit->pattern,
		facts->has_length ? hit->value : 0, facts->rejected_rule,
		facts->has_length ? 0 : hit->value);
}

uint64_t held_hits_skip(struct held_hits *held, uint64_t position)
{
	uint64_t count = 0;

	for (; held->first < held->end; held->first++) {
		const struct held_hit *hit = &held->hits[held->first];
		const struct pattern_facts *facts = &held->facts[hit->pattern];
		bool alone;

		if (hit->offset >= position)
			break;
		if (!facts->plain) {
			pair_hit(held, hit);
			continue;
		}
		alone = (held->first + 1 == held->end || hit[1].offset != hit->offset) &&
			(!held->first || hit[-1].offset != hit->offset);
		count += alone && pairing_in_range(held->pairing, hit->offset)
				 ? facts->uses
				 : pairing_forget(held->pairing, hit->offset, hit->pattern);
	}
	return count;
}

bool held_hits_pair(struct held_hits *held)
{
	if (held->first < held->end) {
		uint64_t offset = held->hits[held->first].offset;

		while (held->first < held->end && held->hits[held->first].offset == offset)
			pair_hit(held, &held->hits[held->first++]);
		return true;
	}
	if (held->told == held->position)
		return false;
	held->told = held->position;
	if (held->position == UINT64_MAX)
		pairing_finish(held->pairing);
	else
		pairing_advance(held->pairing, held->position);
	return true;
}

void held_hits_pair_all(struct held_hits *held)
{
	while (held_hits_pair(held))
		;
}

size_t held_hits_count(const struct held_hits *held)
{
	return held->end - held->first;
}
