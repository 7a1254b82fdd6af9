/* Makes the tables of gpu/confirm.h. */
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "gpu/confirm.h"

void confirm_window_of(const struct pattern *pattern, int64_t back, uint32_t *value, uint32_t *mask)
{
	*value = *mask = 0;
	for (int i = 0; i < 4; i++) {
		int64_t at = back + i;
		if (at < 0 || at >= pattern->len)
			continue;
		*value |= (uint32_t)(pattern->bytes[at] & pattern->mask[at]) << 8 * i;
		*mask |= (uint32_t)pattern->mask[at] << 8 * i;
	}
}

static int choice_compare(const void *a, const void *b)
{
	const struct confirm_choice *x = a, *y = b;
	if (x->bucket != y->bucket)
		return x->bucket < y->bucket ? -1 : 1;
	if (x->mask != y->mask)
		return x->mask < y->mask ? -1 : 1;
	if (x->value != y->value)
		return x->value < y->value ? -1 : 1;
	return x->pattern < y->pattern ? -1 : x->pattern > y->pattern;
}

static void build_patterns(struct confirm *confirm, const struct pattern_set *set)
{
	struct confirm_pattern *patterns = xcalloc(set->count, sizeof(*patterns));
	size_t word_count = 0;
	for (uint32_t i = 0; i < set->count; i++) {
		patterns[i] =
			(struct confirm_pattern){ (uint32_t)word_count, set->patterns[i].len };
		word_count += (set->patterns[i].len + 3) / 4;
	}
	struct confirm_word *words = xcalloc(word_count, sizeof(*words));
	for (uint32_t i = 0; i < set->count; i++)
		for (uint32_t at = 0; at < set->patterns[i].len; at += 4) {
			struct confirm_word *word = &words[patterns[i].first_word + at / 4];
			confirm_window_of(&set->patterns[i], at, &word->value, &word->mask);
		}
	confirm->patterns = patterns;
	confirm->pattern_count = set->count;
	confirm->words = words;
	confirm->word_count = (uint32_t)word_count;
}

/* Compared first: the side of the window where more bits are certain. */
static struct confirm_record make_record(
	const struct pattern_set *set, const struct confirm_choice *choice)
{
	const struct pattern *pattern = &set->patterns[choice->pattern];
	struct confirm_record record = { choice->pattern, (int16_t)choice->back, 4, 0, 0 };
	uint32_t value, mask;
	confirm_window_of(pattern, (int64_t)choice->back + 4, &record.value, &record.mask);
	confirm_window_of(pattern, (int64_t)choice->back - 4, &value, &mask);
	if (__builtin_popcount(mask) > __builtin_popcount(record.mask)) {
		record.beside = -4;
		record.value = value;
		record.mask = mask;
	}
	return record;
}

/* Gives the windows of one bucket, mask and value a slot. */
static void add_slot(struct confirm *confirm, struct confirm_slot *slots, uint32_t value,
	uint32_t first, uint32_t count)
{
	uint32_t list = confirm->mask_count - 1;
	uint32_t at = confirm_hash(value, list) & confirm->slot_mask;
	while (slots[at].count)
		at = (at + 1) & confirm->slot_mask;
	slots[at] = (struct confirm_slot){ value, list, first, count };
}

void confirm_build(struct confirm *confirm, const struct pattern_set *set,
	struct confirm_choice *choices, uint32_t choice_count)
{
	memset(confirm, 0, sizeof(*confirm));
	build_patterns(confirm, set);
	if (choice_count)
		qsort(choices, choice_count, sizeof(*choices), choice_compare);

	confirm->slot_count = 16;
	while (confirm->slot_count < 2 * choice_count)
		confirm->slot_count *= 2;
	confirm->slot_mask = confirm->slot_count - 1;
	struct confirm_slot *slots = xcalloc(confirm->slot_count, sizeof(*slots));
	struct confirm_record *records = xcalloc(choice_count, sizeof(*records));
	uint32_t *masks = xcalloc(choice_count, sizeof(*masks));
	for (uint32_t i = 0, next; i < choice_count; i = next) {
		const struct confirm_choice *c = &choices[i];
		if (i == 0 || c->bucket != c[-1].bucket || c->mask != c[-1].mask) {
			masks[confirm->mask_count++] = c->mask;
			for (uint32_t b = c->bucket; b < CONFIRM_BUCKETS; b++)
				confirm->mask_first[b + 1] = confirm->mask_count;
		}
		for (next = i; next < choice_count && choices[next].bucket == c->bucket &&
			       choices[next].mask == c->mask && choices[next].value == c->value;
			next++)
			records[next] = make_record(set, &choices[next]);
		add_slot(confirm, slots, c->value, i, next - i);
	}
	confirm->slots = slots;
	confirm->records = records;
	confirm->record_count = choice_count;
	confirm->masks = masks;
}

void confirm_free(struct confirm *confirm)
{
	free((void *)confirm->slots);
	free((void *)confirm->records);
	free((void *)confirm->patterns);
	free((void *)confirm->words);
	free((void *)confirm->masks);
}
