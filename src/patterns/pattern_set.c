#include "patterns/pattern_set.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "patterns/regex.h"

/* Open addressing with linear probing; a slot holds index + 1. */
struct pattern_index {
	uint32_t *slots;
	size_t slot_count; /* a power of 2, more than twice the patterns */
};

static uint64_t hash_bytes(uint64_t hash, const void *bytes, size_t len)
{
	const uint8_t *p = bytes;

	for (size_t i = 0; i < len; i++)
		hash = (hash ^ p[i]) * UINT64_C(0x100000001b3);
	return hash;
}

static uint64_t pattern_hash(const struct pattern *pattern)
{
	uint64_t hash = UINT64_C(0xcbf29ce484222325);

	if (pattern->regex) {
		const char *source = regex_source(pattern->regex);

		return hash_bytes(hash, source, strlen(source));
	}
	return hash_bytes(
		hash_bytes(hash, pattern->bytes, pattern->len), pattern->mask, pattern->len);
}

static bool pattern_equal(const struct pattern *a, const struct pattern *b)
{
	if (a->regex || b->regex)
		return a->regex && b->regex &&
		       strcmp(regex_source(a->regex), regex_source(b->regex)) == 0;
	return a->len == b->len && memcmp(a->bytes, b->bytes, a->len) == 0 &&
	       memcmp(a->mask, b->mask, a->len) == 0;
}

/* The slot that holds the pattern, or the free one where it belongs. */
static uint32_t *find_slot(const struct pattern_set *set, const struct pattern *pattern)
{
	size_t wrap = set->index->slot_count - 1;
	size_t at = pattern_hash(pattern) & wrap;

	while (set->index->slots[at] &&
		!pattern_equal(&set->patterns[set->index->slots[at] - 1], pattern))
		at = (at + 1) & wrap;
	return &set->index->slots[at];
}

static void grow_index(struct pattern_set *set)
{
	struct pattern_index *index = set->index;

	if (!index)
		index = set->index = xcalloc(1, sizeof(*index));
	if (index->slot_count / 2 > set->count)
		return;
	index->slot_count = index->slot_count ? index->slot_count * 4 : 64;
	free(index->slots);
	index->slots = xcalloc(index->slot_count, sizeof(*index->slots));
	for (uint32_t i = 0; i < set->count; i++)
		*find_slot(set, &set->patterns[i]) = i + 1;
}

uint32_t pattern_set_add(struct pattern_set *set, struct pattern *pattern)
{
	uint32_t *slot;
	size_t capacity = set->capacity;

	grow_index(set);
	slot = find_slot(set, pattern);
	if (*slot) {
		pattern_free(pattern);
		return *slot - 1;
	}
	set->patterns = xgrow(set->patterns, &capacity, set->count, sizeof(*set->patterns));
	set->capacity = (uint32_t)capacity;
	set->patterns[set->count++] = *pattern;
	*slot = set->count;
	if (pattern->len > set->longest)
		set->longest = pattern->len;
	*pattern = (struct pattern){ 0 };
	return set->count - 1;
}

static int add_line(struct pattern_set *set, const char *path, unsigned number, const char *line,
	struct error *error)
{
	struct error mistake = { 0 };
	struct pattern pattern;

	if (pattern_parse(&pattern, line, &mistake))
		return error_set(
			error, EXIT_USAGE, EINVAL, "%.300s:%u: %.600s", path, number, mistake.text);
	pattern_set_add(set, &pattern);
	return 0;
}

int pattern_set_read(struct pattern_set *set, const char *path, struct error *error)
{
	FILE *file = fopen(path, "re");
	unsigned number = 0;
	char *line = NULL;
	size_t capacity = 0;
	int status = 0;

	if (!file)
		return error_set(error, EXIT_USAGE, errno, "cannot read the patterns in %s: %s",
			path, strerror(errno));
	while (!status && getline(&line, &capacity, file) > 0) {
		line[strcspn(line, "\r\n")] = '\0';
		number++;
		if (*line)
			status = add_line(set, path, number, line, error);
	}
	if (!status && ferror(file))
		status = error_set(error, EXIT_USAGE, EIO, "cannot read the patterns in %s", path);
	if (!status && !set->count)
		status = error_set(error, EXIT_USAGE, EINVAL, "there are no patterns in %s", path);
	free(line);
	fclose(file);
	return status;
}

void pattern_set_free(struct pattern_set *set)
{
	for (uint32_t i = 0; i < set->count; i++)
		pattern_free(&set->patterns[i]);
	free(set->patterns);
	if (set->index)
		free(set->index->slots);
	free(set->index);
	*set = (struct pattern_set){ 0 };
}
