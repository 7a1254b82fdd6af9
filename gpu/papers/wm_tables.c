/* Makes SHIFT, HASH and PREFIX, algorithm 4 of Kouzinopoulos et al., for gpu/papers/wm.h. */
#include "gpu/papers/wm.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "patterns/keywords.h"
#include "scan/gpu_options.h"

#define BYTES_MAX (1u << 27) /* what a linear texture can have for elements on every device */

struct wm_program {
	struct wm_tables tables;
};

const struct wm_tables *wm_tables(const struct gpu_program *program)
{
	return &((const struct wm_program *)program)->tables;
}

static uint32_t shortest_window(const struct keyword_set *keywords)
{
	uint32_t m = 0;

	for (uint32_t i = 0; i < keywords->count; i++) {
		uint32_t len = keywords->items[i].len;

		if (len >= WM_B && (!m || len < m))
			m = len;
	}
	return m;
}

/* h1 of the B bytes of a keyword that end before q. */
static uint32_t hash_before(const struct keyword *keyword, uint32_t q)
{
	const uint8_t *bytes = keyword->bytes + q - WM_B;

	return wm_hash(bytes[0], bytes[1], bytes[2]);
}

static uint32_t *make_shift(const struct keyword_set *keywords, uint32_t m)
{
	uint32_t *shift = xcalloc(WM_HASHES, sizeof(*shift));

	for (uint32_t h = 0; h < WM_HASHES; h++)
		shift[h] = m - WM_B + 1;
	for (uint32_t i = 0; i < keywords->count; i++) {
		if (keywords->items[i].len < WM_B)
			continue;
		for (uint32_t q = m; q >= WM_B; q--) {
			uint32_t *lowest = &shift[hash_before(&keywords->items[i], q)];

			if (m - q < *lowest)
				*lowest = m - q;
		}
	}
	return shift;
}

/* HASH: counts, their sums, and then the members in the order of the keywords. */
static void make_hash(struct wm_tables *tables, const struct keyword_set *keywords)
{
	uint32_t *first = xcalloc(WM_HASHES + 1, sizeof(*first)), *next;
	uint32_t *members = xcalloc(keywords->count, sizeof(*members));

	for (uint32_t i = 0; i < keywords->count; i++)
		if (keywords->items[i].len >= WM_B)
			first[hash_before(&keywords->items[i], tables->m) + 1]++;
	for (uint32_t h = 0; h < WM_HASHES; h++)
		first[h + 1] += first[h];
	next = xcalloc(WM_HASHES, sizeof(*next));
	memcpy(next, first, WM_HASHES * sizeof(*next));
	for (uint32_t i = 0; i < keywords->count; i++)
		if (keywords->items[i].len >= WM_B)
			members[next[hash_before(&keywords->items[i], tables->m)]++] = i;
	free(next);
	tables->first = first;
	tables->members = members;
	tables->member_count = first[WM_HASHES];
}

static void make_keywords(struct wm_tables *tables, const struct keyword_set *keywords)
{
	uint32_t *prefix = xcalloc(keywords->count, sizeof(*prefix));
	uint8_t *bytes = xcalloc(keywords->count, tables->longest);

	for (uint32_t i = 0; i < keywords->count; i++) {
		const struct keyword *keyword = &keywords->items[i];

		memcpy(bytes + (size_t)i * tables->longest, keyword->bytes, keyword->len);
		if (keyword->len >= WM_B_PREFIX)
			prefix[i] = wm_prefix(keyword->bytes[0], keyword->bytes[1]);
	}
	tables->prefix = prefix;
	tables->bytes = bytes;
}

static uint32_t *table_of_none(size_t count)
{
	uint32_t *table = xcalloc(count, sizeof(*table));

	memset(table, 0xff, count * sizeof(*table));
	return table;
}

static void make_companion(struct wm_tables *tables, const struct keyword_set *keywords)
{
	uint32_t *singles = NULL, *pairs = NULL;

	for (uint32_t i = 0; i < keywords->count; i++) {
		const struct keyword *keyword = &keywords->items[i];

		if (keyword->len >= WM_B)
			continue;
		if (!singles)
			singles = table_of_none(256);
		if (keyword->len == 1) {
			singles[keyword->bytes[0]] = i;
			continue;
		}
		if (!pairs)
			pairs = table_of_none(65536);
		pairs[keyword->bytes[0] << 8 | keyword->bytes[1]] = i;
	}
	tables->singles = singles;
	tables->pairs = pairs;
}

static void build(
	struct wm_tables *tables, const struct keyword_set *keywords, const struct pattern_set *set)
{
	tables->m = shortest_window(keywords);
	tables->longest = keywords->longest ? keywords->longest : 1;
	if (tables->m) {
		tables->shift = make_shift(keywords, tables->m);
		make_hash(tables, keywords);
		make_keywords(tables, keywords);
	}
	make_companion(tables, keywords);
	found_build(&tables->found, keywords, set);
}

/* ---- the rows' functions ---- */

int wm_compile(struct gpu_program **program, const struct pattern_set *set,
	const struct gpu_tuning *tuning, struct error *error)
{
	struct keyword_set keywords;
	struct wm_program *wm;
	uint64_t len;

	keywords_make(&keywords, set, SUBCHUNK_KEYWORD_MAX);
	len = (uint64_t)keywords.count * keywords.longest;
	if (len > BYTES_MAX) {
		keywords_free(&keywords);
		return error_set(error, EXIT_NO_ENGINE, EINVAL,
			"the kernels wm keep the keywords in a texture, and this set's %llu bytes "
			"of them make one that does not fit: %u can be",
			(unsigned long long)len, BYTES_MAX);
	}
	wm = xcalloc(1, sizeof(*wm));
	build(&wm->tables, &keywords, set);
	wm->tables.round_robin = tuning && tuning->round_robin;
	keywords_free(&keywords);
	*program = (struct gpu_program *)wm;
	return 0;
}

void wm_free(struct gpu_program *program)
{
	struct wm_program *wm = (struct wm_program *)program;

	if (!wm)
		return;
	free((void *)wm->tables.shift);
	free((void *)wm->tables.first);
	free((void *)wm->tables.members);
	free((void *)wm->tables.prefix);
	free((void *)wm->tables.bytes);
	free((void *)wm->tables.singles);
	free((void *)wm->tables.pairs);
	found_free(&wm->tables.found);
	free(wm);
}

void wm_describe(const struct gpu_program *program, char *text, size_t len)
{
	const struct wm_tables *tables = wm_tables(program);

	snprintf(text, len, "wm (%u keywords, window of %u%s)", tables->member_count, tables->m,
		tables->singles ? ", companion pass for short ones" : "");
}

void wm_run(
	const struct gpu_program *program, const struct gpu_text *text, const struct gpu_hits *hits)
{
	const struct wm_tables *tables = wm_tables(program);
	struct wm_view view = { tables };
	struct subchunk all = { text->from, found_end(&tables->found, text), text->bytes, 0 };
	struct subchunk_output output = { false, NULL, hits };

	wm_search(&view, &all, text, &output);
}
