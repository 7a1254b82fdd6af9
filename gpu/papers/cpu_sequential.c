#include "gpu/papers/cpu_sequential.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "patterns/prefix.h"

#define KEYS_MAX (16u << 10)

struct database {
	const struct sequential *algorithm;
	struct gpu_program *program;
	const struct pattern_set *set; /* the caller's */
	struct pattern_set searched;   /* without regexes; patterns of length 0 are not searched */
	uint32_t *unanchored;          /* the regexes that are asked for at every byte */
	uint32_t unanchored_count;
	char description[256];
};

/* What is searched for in place of the set, index by index. */
static void replace_regexes(struct database *database)
{
	const struct pattern_set *set = database->set;
	struct pattern_set *searched = &database->searched;

	searched->patterns = xcalloc(set->count, sizeof(*searched->patterns));
	searched->count = set->count;
	database->unanchored = xcalloc(set->count, sizeof(*database->unanchored));
	for (uint32_t i = 0; i < set->count; i++) {
		if (!set->patterns[i].regex)
			searched->patterns[i] = set->patterns[i];
		else if (!prefix_pattern_make(&searched->patterns[i], &set->patterns[i])) {
			searched->patterns[i] = (struct pattern){ 0 };
			database->unanchored[database->unanchored_count++] = i;
		}
		if (searched->patterns[i].len > searched->longest)
			searched->longest = searched->patterns[i].len;
	}
}

int sequential_compile(void **result, const struct sequential *algorithm,
	const struct pattern_set *set, struct error *error)
{
	struct database *database = xcalloc(1, sizeof(*database));
	int status;

	database->algorithm = algorithm;
	database->set = set;
	replace_regexes(database);
	status = algorithm->compile(&database->program, &database->searched, NULL, error);
	if (status) {
		database->program = NULL;
		sequential_free(database);
		return status;
	}
	algorithm->describe(
		database->program, database->description, sizeof(database->description));
	*result = database;
	return 0;
}

void sequential_free(void *memory)
{
	struct database *database = memory;

	if (!database)
		return;
	if (database->program)
		database->algorithm->free(database->program);
	for (uint32_t i = 0; i < database->set->count; i++)
		if (database->set->patterns[i].regex && database->searched.patterns[i].len)
			pattern_free(&database->searched.patterns[i]);
	free(database->searched.patterns);
	free(database->unanchored);
	free(database);
}

void *sequential_scratch_new(const void *database)
{
	(void)database;
	return malloc(KEYS_MAX * sizeof(uint64_t));
}

void sequential_scratch_free(void *scratch)
{
	free(scratch);
}

/* Takes over what the algorithm found. */
static void add_hits(const struct database *database, const struct gpu_text *text,
	const uint64_t *keys, size_t count, uint64_t offset, struct hit_sink *sink)
{
	for (size_t i = 0; i < count; i++) {
		uint32_t at = (uint32_t)(keys[i] >> 32), number = (uint32_t)keys[i];
		const struct pattern *pattern = &database->set->patterns[number];

		if (pattern->regex && !pattern_match_len(pattern, text->bytes + at, text->len - at))
			continue;
		if (!hit_sink_add(sink, offset + at, number))
			return;
	}
}

static void ask_everywhere(const struct database *database, const struct gpu_text *text,
	uint64_t offset, struct hit_sink *sink)
{
	for (uint32_t i = 0; i < database->unanchored_count; i++) {
		uint32_t number = database->unanchored[i];

		for (uint32_t at = text->from; at < text->to; at++)
			if (pattern_match_len(&database->set->patterns[number], text->bytes + at,
				    text->len - at) &&
				!hit_sink_add(sink, offset + at, number))
				return;
	}
}

int sequential_find(const void *memory, void *scratch, const uint8_t *bytes, size_t len,
	size_t text_len, uint64_t offset, struct hit_sink *sink)
{
	const struct database *database = memory;
	struct gpu_text text = { bytes, 0, (uint32_t)len, (uint32_t)text_len };
	unsigned long long count = 0;
	struct gpu_hits hits = { scratch, &count, KEYS_MAX, NULL };

	database->algorithm->search(database->program, &text, &hits);
	if (count > KEYS_MAX) {
		sink->full = true; /* comes again with less text */
		return 0;
	}
	add_hits(database, &text, scratch, count, offset, sink);
	if (!sink->full)
		ask_everywhere(database, &text, offset, sink);
	return 0;
}

const char *sequential_kernel(const void *database)
{
	return ((const struct database *)database)->description;
}

int sequential_probe(char *reason, size_t len)
{
	(void)reason;
	(void)len;
	return 0;
}
