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

#include "carve/ahead.h"
#include "carve/coded_memo.h"
#include "carve/view.h"
#include "rules/rules.h"
#include "tests/photos_case.h"

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

static void count_link(void *context, const struct carve_page_link *link)
{
	const uint32_t *count = context;

	if (link->page >= *count || link->other >= *count || link->way > 1)
		abort();
}

/* What pages show of each other, and of pages that are elsewhere: the file's own, and what is where pages do not begin. */
static void check_pages(const uint8_t *data, size_t len)
{
	struct view *view = view_new_memory(data, len);
	uint32_t page_len = 0, count = 0;
	void *pages = tested->pages->begin(view, &page_len, &count);

	view_free(view);
	if (!pages)
		return;
	if (!page_len || page_len & (page_len - 1) || count > (len + page_len - 1) / page_len)
		abort();
	tested->pages->links(pages, count_link, &count);
	for (size_t at = 0; at + page_len <= len && at < 64 * (size_t)page_len;
		at += page_len / 2) {
		uint8_t *page = malloc(page_len);

		if (!page)
			abort();
		memcpy(page, data + at, page_len);
		for (uint32_t i = 0; i < count && i < 32; i++) {
			tested->pages->may_be(pages, i, page);
			tested->pages->inner_bits(pages, page, i, page_len / 3, page_len);
		}
		tested->pages->kin(pages, page);
		free(page);
	}
	for (uint32_t i = 0; i <= count; i++)
		tested->pages->may_be(pages, i, NULL);
	tested->pages->end(pages);
}

/* What tables show of places, asked of the file's own bytes, also where others are. */
static void check_places(const uint8_t *data, size_t len)
{
	struct view *view = view_new_memory(data, len);
	uint64_t length = 0, known = 0;
	bool is_whole = false;
	void *places = tested->places->begin(view, &length, &is_whole, &known);
	size_t size = len % 3 ? 512 : 4096;
	int bits[64];

	view_free(view);
	if (!places)
		return;
	for (size_t at = 0; at + size <= len && at < 64 * size; at += size) {
		uint8_t *cluster = malloc(size);

		if (!cluster)
			abort();
		memcpy(cluster, data + at, size);
		tested->places->ask(places, 0, 64, cluster, size, bits);
		tested->places->ask(places, at, 1, cluster, size, bits);
		free(cluster);
	}
	tested->places->end(places);
}

/* What a file in pieces asks for: tables, CRCs, and a thorough check. */
static void check_pieces(const uint8_t *data, size_t len)
{
	const struct carve_map *map = tested->map;
	struct view *view = view_new_memory(data, len);
	struct carve_table table = { .add = add_anchor };
	struct finding finding = { 0 };
	struct carve_sum sum = { 0 };
	struct carve_stored stored = { 0 };

	if (map && map->head)
		map->head(view, &table);
	if (map && map->tail)
		map->tail(view, len / 2, &table);
	if (map && map->sum && map->sum(view, &sum) &&
		(sum.from > sum.to || sum.next_count > CARVE_NEXT))
		abort();
	if (tested->stored && tested->stored(view, &stored) &&
		(stored.from > stored.to || !stored.sample_len || !stored.channels))
		abort();
	view_set_thorough(view, true);
	tested->check(view, &finding);
	view_free(view);
}

/* Where the coded data ends, if it is all valid by what a GPU does with it; else 0. */
static uint64_t decode_ahead(const uint8_t *data, size_t len, uint64_t *from)
{
	struct carve_coded *coded = malloc(sizeof(*coded));
	struct view *view = view_new_memory(data, len);
	struct photo_text text = photo_text_on_host(data, (uint32_t)len, (uint32_t)len, 0);
	uint64_t end = 0;
	bool cut;

	coded->begins = true;
	if (tested->coded(view, NULL, coded)) {
		*from = coded->data;
		end = photo_decode_on_host(&text, 1, coded->data, coded, &cut);
	}
	free((void *)text.tiles);
	free(coded);
	view_free(view);
	return end;
}

/* With that the check says the same as without, after the same work. */
static void check_ahead(const uint8_t *data, size_t len)
{
	struct rules none = { 0 };
	struct finding finding[2] = { 0 };
	enum verdict verdict[2];
	uint64_t from, work[2], end = decode_ahead(data, len, &from);
	struct ahead *ahead = ahead_new(&none, NULL, 0, false);

	if (end)
		ahead_add(ahead, 0, from, end);
	for (int known = 0; end && known < 2; known++) {
		struct view *view = view_new_memory(data, len);

		view_know(view, known ? ahead : NULL);
		verdict[known] = tested->check(view, &finding[known]);
		work[known] = view_work_done(view);
		view_free(view);
	}
	if (end && (verdict[0] != verdict[1] || work[0] != work[1] ||
			   memcmp(&finding[0], &finding[1], sizeof(finding[0])) != 0))
		abort();
	ahead_free(ahead);
}

/* What a check that goes on from a state comes to. */
struct rest {
	struct finding finding;
	enum verdict verdict;
	uint64_t work;
};

static void go_on(const uint8_t *data, size_t len, const struct carve_state *state,
	struct coded_memo *memo, struct rest *rest)
{
	struct view *view = view_new_memory(data, len);

	memset(rest, 0, sizeof(*rest));
	view_share(view, memo);
	rest->verdict = tested->resume(view, state, &rest->finding);
	rest->work = view_work_done(view);
	view_free(view);
}

/* Those that a check saves, of which the caller frees the data. */
static size_t take_states(const uint8_t *data, size_t len, struct carve_state states[VIEW_STATES])
{
	struct view *view = view_new_memory(data, len);
	struct finding finding = { 0 };
	size_t count;

	view_keep_states(view, 512);
	tested->check(view, &finding);
	count = view_take_states(view, states);
	view_free(view);
	return count;
}

/* From each state on it says the same as a thorough check from the beginning. */
static void check_states(const uint8_t *data, size_t len)
{
	struct carve_state states[VIEW_STATES];
	size_t count = take_states(data, len, states);
	struct finding finding = { 0 };
	struct view *view = view_new_memory(data, len);
	enum verdict verdict;

	view_set_thorough(view, true);
	verdict = tested->check(view, &finding);
	view_free(view);
	for (size_t i = 0; i < count; i++) {
		struct finding again = { 0 };
		enum verdict last;

		view = view_new_memory(data, len);
		last = tested->resume(view, &states[i], &again);
		if (view_starts_over(view) || last != verdict ||
			memcmp(&again, &finding, sizeof(finding)) != 0)
			abort();
		view_free(view);
		free((void *)states[i].data);
	}
}

/* With what checks before it decoded it says the same, after the same work. */
static void check_shared(const uint8_t *data, size_t len)
{
	struct coded_memo *memo = coded_memo_new();
	struct carve_state states[VIEW_STATES];
	struct rest alone, shared;
	size_t count = take_states(data, len, states);

	for (size_t i = 0; i < count; i++) {
		if (i == 0 || i == count / 2) {
			go_on(data, len, &states[i], NULL, &alone);
			for (int round = 0; round < 2; round++) {
				go_on(data, len, &states[i], memo, &shared);
				if (shared.verdict != alone.verdict || shared.work != alone.work ||
					memcmp(&shared.finding, &alone.finding,
						sizeof(alone.finding)) != 0)
					abort();
			}
		}
		free((void *)states[i].data);
	}
	coded_memo_free(memo);
}

/* Codes that break off at each state, and the file's own bytes after it, or others. */
static void check_codes(const uint8_t *data, size_t len)
{
	struct carve_state states[VIEW_STATES];
	struct view *view;
	struct rest rest;
	size_t count = take_states(data, len, states);

	for (size_t i = 0; i < count; i++) {
		size_t at = (size_t)states[i].offset, left = len - at;
		uint64_t work;
		void *broken;

		go_on(data, len, &states[i], NULL, &rest);
		view = view_new_memory(data, at);
		broken = tested->codes->begin(view, &states[i]);
		view_free(view);
		for (size_t n = 0; broken && n < 3; n++)
			tested->codes->ask(broken, n < 2 ? data + at : data,
				n == 1 ? left / 2
				: n    ? at
				       : left,
				&work);
		if (broken)
			tested->codes->end(broken);
		free((void *)states[i].data);
	}
}

/* A joint anywhere, and the next one anywhere after it, or none. */
static void check_joints(const uint8_t *data, size_t len)
{
	uint64_t at = len * data[len - 1] / 256;
	struct view *view = view_new_memory(data, len);

	if (tested->joint(view, at, UINT64_MAX) > 64 ||
		tested->joint(view, at, at + 1 + (len - at) / 2) > 64)
		abort();
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
	if (tested->coded && len)
		check_ahead(data, len);
	if (tested->coded && tested->resume)
		check_shared(data, len);
	if (tested->codes)
		check_codes(data, len);
	if (tested->pages)
		check_pages(data, len);
	if (tested->places)
		check_places(data, len);
	if (tested->pages && tested->resume)
		check_states(data, len);
	if (tested->joint && len)
		check_joints(data, len);
	if (verdict != CARVE_COMPLETE)
		return 0;
	/* What followed it must not matter. */
	if (check(data, (size_t)finding.length, &again) != CARVE_COMPLETE ||
		again.length != finding.length)
		abort();
	return 0;
}
