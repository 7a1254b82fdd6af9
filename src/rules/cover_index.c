/*
 * Comparing each rule with each other one would take minutes for tens of thousands. So rules with
 * the same headers at the same place, musts and alignment form a class: whether one covers another
 * is the same for all of a class. A class that covers another has a header that covers the other's,
 * and its first must is implied by one of the other's, so those are looked up, by the first 8 bytes
 * of the patterns: there are few masks of these, however many patterns. Of each class that covers a
 * rule, the first of its rules that makes a finding is looked up as well.
 */
#include "rules/cover_index.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

/* ---- one rule against another ---------------------------------------------------------------- */

/* Whether a matches wherever b matches (for regexes: whether they are the same). */
static bool pattern_covers(const struct pattern *a, const struct pattern *b)
{
	if (a == b)
		return true;
	if (a->regex || b->regex || a->len > b->len)
		return false;
	for (uint32_t i = 0; i < a->len; i++)
		if ((a->mask[i] & ~b->mask[i]) || ((a->bytes[i] ^ b->bytes[i]) & a->mask[i]))
			return false;
	return true;
}

static bool headers_cover(const struct rules *rules, const struct rule *a, const struct rule *b)
{
	const struct pattern *patterns = rules->patterns.patterns;

	for (uint32_t j = 0; j < b->header_count; j++) {
		uint32_t i = 0;

		while (i < a->header_count &&
			!pattern_covers(&patterns[a->headers[i]], &patterns[b->headers[j]]))
			i++;
		if (i == a->header_count)
			return false;
	}
	return true;
}

/* Whether b's musts imply all of a's. */
static bool musts_cover(const struct rule *a, const struct rule *b)
{
	for (uint32_t i = 0; i < a->must_count; i++) {
		uint32_t j = 0;

		while (j < b->must_count &&
			(a->musts[i].at != b->musts[j].at ||
				!pattern_covers(&a->musts[i].pattern, &b->musts[j].pattern)))
			j++;
		if (j == b->must_count)
			return false;
	}
	return true;
}

bool rule_covers(const struct rules *rules, const struct rule *a, const struct rule *b)
{
	return a->header_offset == b->header_offset &&
	       (a->align < 2 || (b->align && b->align % a->align == 0)) && musts_cover(a, b) &&
	       headers_cover(rules, a, b);
}

/* ---- the index ------------------------------------------------------------------------------- */

struct pattern_head {
	uint64_t mask, bytes; /* of the first 8 bytes; zeros past the pattern's end */
	uint32_t pattern;
};

/* What may be asked of a must: to be there, and to fix these bits. */
struct must_shape {
	uint64_t at, mask;
};

struct class_entry {
	uint32_t pattern,
		shape; /* one of the class's headers; of its first must, 0 for none, from 1 */
	uint64_t header_offset, bytes; /* of the rules; the first must's */
	uint32_t class;
};

/* Rules of a class with one carver, in order. To find the first that allows a range of sizes, there
 * is a tree: at level n blocks of 2^n of them, each in order of min, where max is the largest so far. */
struct size_range {
	uint64_t min, max;
};

struct carver_group {
	uint32_t from, count, level_count; /* in by_carver */
	struct size_range **levels;
};

struct cover_index {
	const struct rules *rules;
	struct pattern_head *heads; /* of headers that are not regexes, by mask and bytes */
	uint32_t head_count;
	uint32_t *masks; /* where in heads each mask starts; ends with head_count */
	uint32_t mask_count;

	uint32_t *class_of;      /* of each rule */
	uint32_t *first_of;      /* of each class: a rule */
	uint32_t *first_carving; /* of each class: the first rule with a carver; UINT32_MAX: none */
	uint32_t class_count;
	struct must_shape *shapes;
	uint32_t shape_count;
	struct class_entry *entries;
	uint32_t *first; /* for each pattern: where its entries start; ends with their count */

	uint32_t *by_end;    /* rules by class, end, and number */
	uint32_t *by_carver; /* rules by class, carver, and number; those without one come first */
	struct carver_group *groups;
	uint32_t group_count;

	uint32_t *covering[2]; /* patterns */
	size_t covering_count[2], covering_room[2];
	uint32_t *seen; /* for each class: the last rule for which it was looked at, plus 1 */
};

static struct pattern_head head_of(const struct pattern *pattern, uint32_t number)
{
	struct pattern_head head = { .pattern = number };

	for (uint32_t i = 0; i < 8; i++) {
		uint8_t mask = i < pattern->len ? pattern->mask[i] : 0;

		head.mask = head.mask << 8 | mask;
		head.bytes = head.bytes << 8 | (mask ? pattern->bytes[i] & mask : 0);
	}
	return head;
}

static int order(uint64_t a, uint64_t b)
{
	return (a > b) - (a < b);
}

static int compare_heads(const void *left, const void *right)
{
	const struct pattern_head *a = left, *b = right;

	return a->mask != b->mask ? order(a->mask, b->mask) : order(a->bytes, b->bytes);
}

static void index_heads(struct cover_index *index)
{
	const struct pattern_set *patterns = &index->rules->patterns;

	index->heads = xcalloc(patterns->count, sizeof(*index->heads));
	index->masks = xcalloc(patterns->count + 1, sizeof(*index->masks));
	for (uint32_t p = 0; p < patterns->count; p++)
		if (!patterns->patterns[p].regex && index->first[p] < index->first[p + 1])
			index->heads[index->head_count++] = head_of(&patterns->patterns[p], p);
	qsort(index->heads, index->head_count, sizeof(*index->heads), compare_heads);
	for (uint32_t i = 0; i < index->head_count; i++)
		if (!i || index->heads[i].mask != index->heads[i - 1].mask)
			index->masks[index->mask_count++] = i;
	index->masks[index->mask_count] = index->head_count;
}

/* ---- classes ---- */

static int compare_musts(const struct must *a, const struct must *b)
{
	int difference = order(a->at, b->at);

	if (!difference)
		difference = order(a->pattern.len, b->pattern.len);
	if (!difference)
		difference = memcmp(a->pattern.bytes, b->pattern.bytes, a->pattern.len);
	return difference ? difference : memcmp(a->pattern.mask, b->pattern.mask, a->pattern.len);
}

static uint64_t alignment(const struct rule *rule)
{
	return rule->align ? rule->align : 1;
}

static int compare_classes(const struct rule *a, const struct rule *b)
{
	int difference = order(a->header_offset, b->header_offset);

	if (!difference)
		difference = order(alignment(a), alignment(b));
	if (!difference)
		difference = order(a->header_count, b->header_count);
	if (!difference)
		difference = order(a->must_count, b->must_count);
	for (uint32_t i = 0; i < a->header_count && !difference; i++)
		difference = order(a->headers[i], b->headers[i]);
	for (uint32_t i = 0; i < a->must_count && !difference; i++)
		difference = compare_musts(&a->musts[i], &b->musts[i]);
	return difference;
}

static int compare_by_class(const void *left, const void *right, void *context)
{
	const struct rules *rules = context;
	const uint32_t *a = left, *b = right;
	int difference = compare_classes(&rules->rules[*a], &rules->rules[*b]);

	return difference ? difference : order(*a, *b);
}

static void find_classes(struct cover_index *index)
{
	const struct rules *rules = index->rules;
	uint32_t *sorted = xcalloc(rules->count, sizeof(*sorted));

	index->class_of = xcalloc(rules->count, sizeof(*index->class_of));
	index->first_of = xcalloc(rules->count, sizeof(*index->first_of));
	index->first_carving = xcalloc(rules->count, sizeof(*index->first_carving));
	index->seen = xcalloc(rules->count, sizeof(*index->seen));
	for (uint32_t r = 0; r < rules->count; r++)
		sorted[r] = r;
	if (rules->count)
		qsort_r(sorted, rules->count, sizeof(*sorted), compare_by_class, (void *)rules);
	for (uint32_t i = 0; i < rules->count; i++) {
		uint32_t rule = sorted[i], class;

		if (!i || compare_classes(&rules->rules[sorted[i - 1]], &rules->rules[rule])) {
			index->first_of[index->class_count] = rule;
			index->first_carving[index->class_count++] = UINT32_MAX;
		}
		class = index->class_count - 1;
		index->class_of[rule] = class;
		if (rules->rules[rule].carver && index->first_carving[class] == UINT32_MAX)
			index->first_carving[class] = rule;
	}
	free(sorted);
}

static int compare_shapes(const void *left, const void *right)
{
	const struct must_shape *a = left, *b = right;

	return a->at != b->at ? order(a->at, b->at) : order(a->mask, b->mask);
}

static struct must_shape shape_of(const struct must *must)
{
	return (struct must_shape){ must->at, head_of(&must->pattern, 0).mask };
}

static void find_shapes(struct cover_index *index)
{
	uint32_t count = 0;

	index->shapes = xcalloc(index->class_count, sizeof(*index->shapes));
	for (uint32_t c = 0; c < index->class_count; c++) {
		const struct rule *rule = &index->rules->rules[index->first_of[c]];

		if (rule->must_count)
			index->shapes[count++] = shape_of(&rule->musts[0]);
	}
	qsort(index->shapes, count, sizeof(*index->shapes), compare_shapes);
	for (uint32_t i = 0; i < count; i++)
		if (!i || compare_shapes(&index->shapes[i], &index->shapes[i - 1]))
			index->shapes[index->shape_count++] = index->shapes[i];
}

static int compare_entries(const void *left, const void *right)
{
	const struct class_entry *a = left, *b = right;

	if (a->pattern != b->pattern)
		return order(a->pattern, b->pattern);
	if (a->header_offset != b->header_offset)
		return order(a->header_offset, b->header_offset);
	return a->shape != b->shape ? order(a->shape, b->shape) : order(a->bytes, b->bytes);
}

static void make_entries(struct cover_index *index)
{
	const struct rules *rules = index->rules;
	uint32_t total = 0, count = 0;

	index->first = xcalloc(rules->patterns.count + 1, sizeof(*index->first));
	for (uint32_t c = 0; c < index->class_count; c++)
		total += rules->rules[index->first_of[c]].header_count;
	index->entries = xcalloc(total, sizeof(*index->entries));
	for (uint32_t c = 0; c < index->class_count; c++) {
		const struct rule *rule = &rules->rules[index->first_of[c]];
		struct class_entry entry = { .header_offset = rule->header_offset, .class = c };

		if (rule->must_count) {
			struct must_shape shape = shape_of(&rule->musts[0]);
			const struct must_shape *found = bsearch(&shape, index->shapes,
				index->shape_count, sizeof(shape), compare_shapes);

			entry.shape = (uint32_t)(found - index->shapes) + 1;
			entry.bytes = head_of(&rule->musts[0].pattern, 0).bytes;
		}
		for (uint32_t i = 0; i < rule->header_count; i++) {
			entry.pattern = rule->headers[i];
			index->entries[count++] = entry;
			index->first[entry.pattern + 1]++;
		}
	}
	for (uint32_t p = 0; p < rules->patterns.count; p++)
		index->first[p + 1] += index->first[p];
	qsort(index->entries, count, sizeof(*index->entries), compare_entries);
}

/* ---- the rules of a class ---- */

int rule_compare_ends(const struct rule *a, const struct rule *b)
{
	const struct length_field *m = &a->length, *n = &b->length;
	const uint64_t left[] = { a->pair, a->include_footer, a->min_size, a->max_size,
		(uintptr_t)a->carver, m->width, m->at, m->big_endian, m->multiply, (uint64_t)m->add,
		a->footer_count };
	const uint64_t right[] = { b->pair, b->include_footer, b->min_size, b->max_size,
		(uintptr_t)b->carver, n->width, n->at, n->big_endian, n->multiply, (uint64_t)n->add,
		b->footer_count };

	for (size_t i = 0; i < sizeof(left) / sizeof(*left); i++)
		if (left[i] != right[i])
			return order(left[i], right[i]);
	return a->footer_count
		       ? memcmp(a->footers, b->footers, a->footer_count * sizeof(*a->footers))
		       : 0;
}

static int compare_by_end(const void *left, const void *right, void *context)
{
	const struct cover_index *index = context;
	const uint32_t *a = left, *b = right;
	int difference = order(index->class_of[*a], index->class_of[*b]);

	if (!difference)
		difference = rule_compare_ends(&index->rules->rules[*a], &index->rules->rules[*b]);
	return difference ? difference : order(*a, *b);
}

static int compare_by_carver(const void *left, const void *right, void *context)
{
	const struct cover_index *index = context;
	const uint32_t *a = left, *b = right;
	int difference = order(index->class_of[*a], index->class_of[*b]);

	if (!difference)
		difference = order((uintptr_t)index->rules->rules[*a].carver,
			(uintptr_t)index->rules->rules[*b].carver);
	return difference ? difference : order(*a, *b);
}

static int compare_ranges(const void *left, const void *right)
{
	const struct size_range *a = left, *b = right;

	return order(a->min, b->min);
}

static void make_level(struct size_range *ranges, uint32_t count, uint32_t block)
{
	for (uint32_t from = 0; from < count; from += block) {
		uint32_t len = count - from < block ? count - from : block;

		qsort(ranges + from, len, sizeof(*ranges), compare_ranges);
		for (uint32_t i = 1; i < len; i++)
			if (ranges[from + i].max < ranges[from + i - 1].max)
				ranges[from + i].max = ranges[from + i - 1].max;
	}
}

static void make_tree(const struct cover_index *index, struct carver_group *group)
{
	while ((group->count - 1) >> group->level_count)
		group->level_count++;
	group->level_count++;
	group->levels = xcalloc(group->level_count, sizeof(*group->levels));
	for (uint32_t level = 0; level < group->level_count; level++) {
		struct size_range *ranges = xcalloc(group->count, sizeof(*ranges));

		for (uint32_t i = 0; i < group->count; i++) {
			const struct rule *rule =
				&index->rules->rules[index->by_carver[group->from + i]];

			ranges[i] = (struct size_range){ rule->min_size, rule->max_size };
		}
		make_level(ranges, group->count, UINT32_C(1) << level);
		group->levels[level] = ranges;
	}
}

static void index_carvers(struct cover_index *index)
{
	const struct rules *rules = index->rules;

	index->groups = xcalloc(rules->count, sizeof(*index->groups));
	for (uint32_t i = 0; i < rules->count; i++) {
		uint32_t rule = index->by_carver[i], before = index->by_carver[i ? i - 1 : 0];

		if (i && index->class_of[rule] == index->class_of[before] &&
			rules->rules[rule].carver == rules->rules[before].carver)
			index->groups[index->group_count - 1].count++;
		else
			index->groups[index->group_count++] =
				(struct carver_group){ i, 1, 0, NULL };
	}
	for (uint32_t g = 0; g < index->group_count; g++)
		if (rules->rules[index->by_carver[index->groups[g].from]].carver)
			make_tree(index, &index->groups[g]);
}

static void index_rules(struct cover_index *index)
{
	uint32_t count = index->rules->count;

	index->by_end = xcalloc(count, sizeof(*index->by_end));
	index->by_carver = xcalloc(count, sizeof(*index->by_carver));
	for (uint32_t r = 0; r < count; r++)
		index->by_end[r] = index->by_carver[r] = r;
	if (count) {
		qsort_r(index->by_end, count, sizeof(uint32_t), compare_by_end, index);
		qsort_r(index->by_carver, count, sizeof(uint32_t), compare_by_carver, index);
	}
	index_carvers(index);
}

struct cover_index *cover_index_new(const struct rules *rules)
{
	struct cover_index *index = xcalloc(1, sizeof(*index));

	index->rules = rules;
	find_classes(index);
	find_shapes(index);
	make_entries(index);
	index_heads(index);
	index_rules(index);
	return index;
}

void cover_index_free(struct cover_index *index)
{
	if (!index)
		return;
	for (uint32_t g = 0; g < index->group_count; g++) {
		for (uint32_t level = 0; level < index->groups[g].level_count; level++)
			free(index->groups[g].levels[level]);
		free(index->groups[g].levels);
	}
	free(index->groups);
	free(index->by_carver);
	free(index->by_end);
	free(index->heads);
	free(index->masks);
	free(index->class_of);
	free(index->first_of);
	free(index->first_carving);
	free(index->shapes);
	free(index->entries);
	free(index->first);
	free(index->covering[0]);
	free(index->covering[1]);
	free(index->seen);
	free(index);
}

/* The first rule of the class with the same end; UINT32_MAX: none. */
static uint32_t first_with_end(
	const struct cover_index *index, uint32_t class, const struct rule *rule)
{
	uint32_t from = 0, until = index->rules->count;

	while (from < until) {
		uint32_t middle = from + (until - from) / 2, other = index->by_end[middle];
		int difference = order(index->class_of[other], class);

		if (!difference)
			difference = rule_compare_ends(&index->rules->rules[other], rule);
		if (difference < 0)
			from = middle + 1;
		else
			until = middle;
	}
	if (from < index->rules->count && index->class_of[index->by_end[from]] == class &&
		!rule_compare_ends(&index->rules->rules[index->by_end[from]], rule))
		return index->by_end[from];
	return UINT32_MAX;
}

/* Whether some rule of a block of the tree allows all sizes that the rule allows. */
static bool block_allows(
	const struct carver_group *group, uint32_t level, uint32_t block, const struct rule *rule)
{
	uint32_t begin = block << level, from = begin, until = begin + (UINT32_C(1) << level);

	if (begin >= group->count)
		return false;
	if (until > group->count)
		until = group->count;
	while (from < until) {
		uint32_t middle = from + (until - from) / 2;

		if (group->levels[level][middle].min <= rule->min_size)
			from = middle + 1;
		else
			until = middle;
	}
	return from > begin && group->levels[level][from - 1].max >= rule->max_size;
}

/* The first rule of the class with the same carver that allows all sizes that the rule allows;
 * UINT32_MAX: none. */
static uint32_t first_with_carver(
	const struct cover_index *index, uint32_t class, const struct rule *rule)
{
	uint32_t from = 0, until = index->group_count, block = 0, level;
	const struct carver_group *group;
	const struct rule *other;

	while (from < until) {
		uint32_t middle = from + (until - from) / 2;
		uint32_t number = index->by_carver[index->groups[middle].from];
		int difference = order(index->class_of[number], class);

		if (!difference)
			difference = order((uintptr_t)index->rules->rules[number].carver,
				(uintptr_t)rule->carver);
		if (difference < 0)
			from = middle + 1;
		else
			until = middle;
	}
	if (from == index->group_count)
		return UINT32_MAX;
	group = &index->groups[from];
	other = &index->rules->rules[index->by_carver[group->from]];
	level = group->level_count - 1;
	if (index->class_of[index->by_carver[group->from]] != class ||
		other->carver != rule->carver || !block_allows(group, level, 0, rule))
		return UINT32_MAX;
	while (level--) {
		block *= 2;
		if (!block_allows(group, level, block, rule))
			block++;
	}
	return index->by_carver[group->from + block];
}

/* ---- looking up ---- */

/* Patterns among those of one mask that cover the one with that head. */
static void find_heads(struct cover_index *index, uint32_t from, uint32_t until,
	const struct pattern_head *head, int list)
{
	const struct pattern *patterns = index->rules->patterns.patterns;
	uint64_t bytes = head->bytes & index->heads[from].mask;
	uint32_t end = until;

	while (from < until) {
		uint32_t middle = from + (until - from) / 2;

		if (index->heads[middle].bytes < bytes)
			from = middle + 1;
		else
			until = middle;
	}
	for (; from < end && index->heads[from].bytes == bytes; from++) {
		uint32_t pattern = index->heads[from].pattern;

		if (!pattern_covers(&patterns[pattern], &patterns[head->pattern]))
			continue;
		index->covering[list] = xgrow(index->covering[list], &index->covering_room[list],
			index->covering_count[list], sizeof(*index->covering[list]));
		index->covering[list][index->covering_count[list]++] = pattern;
	}
}

/* Lists the patterns that cover a header. Returns how many classes have them. */
static uint64_t find_covering(struct cover_index *index, uint32_t header, int list)
{
	const struct pattern *pattern = &index->rules->patterns.patterns[header];
	struct pattern_head head;
	uint64_t count = 0;

	index->covering_count[list] = 0;
	if (pattern->regex) {
		index->covering[list] = xgrow(index->covering[list], &index->covering_room[list], 0,
			sizeof(*index->covering[list]));
		index->covering[list][index->covering_count[list]++] = header;
	} else {
		head = head_of(pattern, header);
		for (uint32_t i = 0; i < index->mask_count; i++)
			if (!(index->heads[index->masks[i]].mask & ~head.mask))
				find_heads(
					index, index->masks[i], index->masks[i + 1], &head, list);
	}
	for (size_t i = 0; i < index->covering_count[list]; i++)
		count += index->first[index->covering[list][i] + 1] -
			 index->first[index->covering[list][i]];
	return count;
}

/* The first rule of a class that makes a finding on the rule, if that is before `best`; else best. */
static uint32_t first_finding(
	const struct cover_index *index, uint32_t class, uint32_t number, uint32_t best)
{
	const struct rule *rule = &index->rules->rules[number];
	const struct rule *other = &index->rules->rules[index->first_of[class]];
	uint32_t found;

	if (class != index->class_of[number] && !rule_covers(index->rules, other, rule))
		return best;
	found = rule->carver ? first_with_carver(index, class, rule) : index->first_carving[class];
	if (found < best && (found < number || !rule->carver))
		best = found;
	found = first_with_end(index, class, rule);
	if (found < best && found < number &&
		(class == index->class_of[number] || rule_covers(index->rules, rule, other)))
		best = found;
	return best;
}

/* The same for all classes with that entry. */
static uint32_t find_entries(
	struct cover_index *index, const struct class_entry *wanted, uint32_t number, uint32_t best)
{
	uint32_t from = index->first[wanted->pattern];
	uint32_t until = index->first[wanted->pattern + 1], end = until;

	while (from < until) {
		uint32_t middle = from + (until - from) / 2;

		if (compare_entries(&index->entries[middle], wanted) < 0)
			from = middle + 1;
		else
			until = middle;
	}
	for (; from < end && !compare_entries(&index->entries[from], wanted); from++) {
		uint32_t class = index->entries[from].class;

		if (index->seen[class] == number + 1)
			continue;
		index->seen[class] = number + 1;
		best = first_finding(index, class, number, best);
	}
	return best;
}

/* The same for all classes with that header, and no must or one that is implied by the rule's. */
static uint32_t find_classes_with(
	struct cover_index *index, uint32_t pattern, uint32_t number, uint32_t best)
{
	const struct rule *rule = &index->rules->rules[number];
	struct class_entry wanted = { .pattern = pattern, .header_offset = rule->header_offset };

	best = find_entries(index, &wanted, number, best);
	for (uint32_t m = 0; m < rule->must_count; m++) {
		struct pattern_head head = head_of(&rule->musts[m].pattern, 0);

		for (uint32_t s = 0; s < index->shape_count; s++) {
			if (index->shapes[s].at != rule->musts[m].at ||
				(index->shapes[s].mask & ~head.mask))
				continue;
			wanted.shape = s + 1;
			wanted.bytes = head.bytes & index->shapes[s].mask;
			best = find_entries(index, &wanted, number, best);
		}
	}
	return best;
}

uint32_t cover_index_find(struct cover_index *index, uint32_t number)
{
	const struct rule *rule = &index->rules->rules[number];
	uint32_t best = UINT32_MAX;
	uint64_t fewest = UINT64_MAX;
	int list = 0;

	/* All headers must be covered, so the one that the fewest cover is enough. */
	for (uint32_t i = 0; i < rule->header_count; i++) {
		uint64_t count = find_covering(index, rule->headers[i], !list);

		if (count >= fewest)
			continue;
		fewest = count;
		list = !list;
	}
	for (size_t i = 0; rule->header_count && i < index->covering_count[list]; i++)
		best = find_classes_with(index, index->covering[list][i], number, best);
	return best;
}
