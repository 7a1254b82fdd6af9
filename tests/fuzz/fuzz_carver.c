/*
 * One carver on hostile bytes. CARVER names its row; without it the environment's FUZZ_CARVER names
 * the carver, so that one program can replay all of them:
 *
 *     clang -std=gnu17 -D_GNU_SOURCE -DCARVER=png_carver -g -O1 \
 *             -fsanitize=fuzzer,address,undefined -Isrc -I. \
 *             tests/fuzz/fuzz_carver.c carvers/ and src/ objects ... -lz &&
 *     ./fuzz_carver tests/fuzz/corpus/png tests/golden/png
 *
 * Beside crashes, it finds findings that break the contract, and complete files that depend on what
 * follows them.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "carve/view.h"

#ifdef CARVER
extern const struct carver CARVER;
#define tested (&CARVER)
#else
#include <stdio.h>

static const struct carver *tested;

static __attribute__((constructor)) void find_carver(void)
{
	const char *name = getenv("FUZZ_CARVER");

	tested = name ? carver_find(name) : NULL;
	if (tested)
		return;
	fprintf(stderr, "FUZZ_CARVER names no carver: %s\n", name ? name : "it is not set");
	exit(2);
}
#endif

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

static enum verdict check_view(struct view *view, struct finding *finding)
{
	enum verdict verdict;

	memset(finding, 0, sizeof(*finding));
	verdict = tested->check(view, finding);
	view_free(view);
	return verdict;
}

/* What holds with some bytes that can't be read, at a place that depends on the data. */
static void check_unreadable(const uint8_t *data, size_t len)
{
	size_t from = len, to, room = len / 8 + 1;
	uint8_t *copy = malloc(len ? len : 1);
	struct finding finding;
	struct view *view;

	if (!copy)
		abort();
	memcpy(copy, data, len);
	for (size_t i = 0; i < len; i++)
		from = from * 31 + data[i];
	from = len ? from % len : 0;
	to = len - from < room ? len : from + room;
	memset(copy + from, 0, to - from);
	view = view_new_memory(copy, len);
	view_set_unreadable(view, from, to);
	if ((check_view(view, &finding) == CARVE_REJECT) != (finding.length == 0) ||
		finding.length > len)
		abort();
	free(copy);
}

static enum verdict check(const uint8_t *data, size_t len, struct finding *finding)
{
	/* Memory of exactly this size, so that the sanitizer sees a read past the view. */
	uint8_t *copy = malloc(len ? len : 1);
	struct view *view;
	enum verdict verdict;

	if (!copy)
		abort();
	if (len)
		memcpy(copy, data, len);
	view = view_new_memory(copy, len);
	verdict = check_view(view, finding);
	free(copy);
	return verdict;
}

static bool add_anchor(struct carve_table *table, const struct carve_anchor *anchor)
{
	if (!anchor->len || anchor->len > sizeof(anchor->bytes) ||
		!tested->map->words[anchor->word].len ||
		anchor->word_at + tested->map->words[anchor->word].len > anchor->len)
		abort();
	return ++table->at < 100000; /* which counts them */
}

/* What a file in pieces asks for: tables, CRCs, and a thorough check. */
static void check_pieces(const uint8_t *data, size_t len)
{
	const struct carve_map *map = tested->map;
	struct view *view = view_new_memory(data, len);
	struct carve_table table = { .add = add_anchor };
	struct finding finding = { 0 };
	struct carve_sum sum = { 0 };

	if (map && map->head)
		map->head(view, &table);
	if (map && map->tail)
		map->tail(view, len / 2, &table);
	if (map && map->sum && map->sum(view, &sum) &&
		(sum.from > sum.to || sum.next_count > CARVE_NEXT))
		abort();
	view_set_thorough(view, true);
	tested->check(view, &finding);
	view_free(view);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	struct finding finding, again;
	enum verdict verdict = check(data, len, &finding);

	if (verdict > CARVE_UNVERIFIED || finding.length > len ||
		(verdict == CARVE_REJECT) != (finding.length == 0))
		abort();
	if (verdict != CARVE_COMPLETE && !finding.why[0])
		abort();
	if (!memchr(finding.why, 0, sizeof(finding.why)) ||
		!memchr(finding.title, 0, sizeof(finding.title)))
		abort();
	check_unreadable(data, len);
	check_pieces(data, len);
	if (verdict != CARVE_COMPLETE)
		return 0;
	/* What followed it must not matter. */
	if (check(data, (size_t)finding.length, &again) != CARVE_COMPLETE ||
		again.length != finding.length)
		abort();
	return 0;
}
