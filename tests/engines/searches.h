/*
 * The devices of src/assemble/search_device.h against loops that only follow its words: random cases, and
 * pictures that break off, from tests/golden, followed by parts of others, damaged ones, noise and zeros.
 * Used by engine_tests.c alone.
 */
#ifndef BURIN_TESTS_SEARCHES_H
#define BURIN_TESTS_SEARCHES_H

#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "assemble/crc_algebra.h"
#include "assemble/search_device.h"
#include "base/memory.h"
#include "carve/view.h"
#include "carvers/coded.h"

#define SEARCHES_HEADS ((size_t)4096)

struct searches {
	const struct search_tool *tool;
	struct search_device *device;
	/* Called for each comparison; what: NULL, or what is wrong. */
	void (*judge)(const char *name, const char *what);
	uint64_t random;
	uint8_t *bytes; /* of all pictures */
	size_t len;
	size_t head_len; /* bytes of a cluster that the device keeps */
};

static uint32_t searches_draw(struct searches *searches, uint32_t below)
{
	searches->random = searches->random * 6364136223846793005u + 1442695040888963407u;
	return (uint32_t)((searches->random >> 33) % below);
}

/* ---- breaks -------------------------------------------------------------------------------- */

static bool searches_counts(const struct crc_search *search, size_t index)
{
	return index >= search->sums_from && index < search->sums_to;
}

static void searches_add(struct crc_hits *hits, size_t i, size_t second, size_t first)
{
	if (hits->count < CRC_HITS_MAX)
		hits->items[hits->count] =
			(struct crc_hit){ (uint32_t)i, (uint32_t)second, (uint32_t)first };
	hits->count++;
}

/* As search_device.h has it, with known and rest divided by x as often as the displacement says. */
static void searches_naive(
	const struct crc_search *search, uint32_t *known, uint32_t *rest, struct crc_hits *hits)
{
	hits->count = 0;
	for (size_t i = 0; i < search->count; i++) {
		size_t from = search->ends ? 0 : search->rest_from;
		size_t to = search->ends ? search->known_count : search->rest_to;

		for (size_t k = from; k < to; k++) {
			const uint32_t *sums = search->sums + i;

			if (!searches_counts(search, i + k))
				continue;
			if (search->ends && (known[k] ^ sums[k]) == search->ends[i])
				searches_add(hits, i, k, 0);
			for (size_t j = 0; !search->ends && j < k && j < search->known_count; j++)
				if (searches_counts(search, i + j) &&
					(known[j] ^ sums[j]) == (rest[k] ^ sums[k]))
					searches_add(hits, i, k, j);
		}
		for (size_t k = 0; k < search->known_count; k++)
			known[k] = crc_over_x(known[k]);
		for (size_t k = 0; !search->ends && k < search->rest_to; k++)
			rest[k] = crc_over_x(rest[k]);
	}
}

/* Makes displacement i fit, with breaks that are drawn. */
static void searches_plant(
	struct searches *searches, struct crc_search *search, uint32_t *sums, uint32_t *ends)
{
	size_t i = searches_draw(searches, (uint32_t)search->count);
	size_t j = searches_draw(searches, (uint32_t)search->known_count);
	size_t k = searches_draw(searches, (uint32_t)search->rest_to);
	uint32_t known = search->known[j], rest = search->rest[k];

	for (size_t n = 0; n < i; n++) {
		known = crc_over_x(known);
		rest = crc_over_x(rest);
	}
	if (ends)
		ends[i] = known ^ sums[i + j];
	else if (j < k)
		sums[i + k] = known ^ sums[i + j] ^ rest;
}

static void searches_run_breaks(struct searches *searches, bool two)
{
	uint32_t breaks = 1 + searches_draw(searches, searches_draw(searches, 4) ? 40 : 700);
	uint32_t count = 1 + searches_draw(searches, searches_draw(searches, 4) ? 100 : 3000);
	uint32_t kinds = searches_draw(searches, 8) ? UINT32_MAX : 1 + searches_draw(searches, 3);
	uint32_t *values = xmalloc((4 * (size_t)breaks + 2 * (size_t)count + breaks) * 4);
	uint32_t *known = values, *rest = known + breaks, *known2 = rest + breaks,
		 *rest2 = known2 + breaks, *ends = rest2 + breaks, *sums = ends + count;
	struct crc_search search = { .count = count,
		.known = known,
		.known_count = 1 + searches_draw(searches, breaks),
		.sums = sums,
		.sums_from = searches_draw(searches, 3) ? 0 : searches_draw(searches, breaks),
		.sums_to = count + breaks -
			   (searches_draw(searches, 3) ? 0 : searches_draw(searches, breaks)),
		.ends = two ? NULL : ends,
		.rest = rest,
		.rest_from = searches_draw(searches, breaks),
		.rest_to = breaks };
	struct crc_hits *found = xcalloc(2, sizeof(*found)), *right = found + 1;
	int status;

	for (size_t i = 0; i < 5 * (size_t)breaks + 2 * (size_t)count; i++)
		values[i] = (searches_draw(searches, UINT32_MAX) << 1 ^
				    searches_draw(searches, UINT32_MAX)) %
			    kinds;
	for (uint32_t n = searches_draw(searches, 6); n; n--)
		searches_plant(searches, &search, sums, two ? NULL : ends);
	status = searches->tool->find_breaks(searches->device, &search, found);
	memcpy(known2, known, breaks * sizeof(*known));
	memcpy(rest2, rest, breaks * sizeof(*rest));
	searches_naive(&search, known2, rest2, right);
	if (right->count > CRC_HITS_MAX)
		searches->judge(two ? "two breaks" : "one break",
			found->count > CRC_HITS_MAX ? NULL : "too few of many hits");
	else
		searches->judge(two ? "two breaks" : "one break",
			!status && found->count == right->count &&
					!memcmp(found->items, right->items,
						right->count * sizeof(*right->items))
				? NULL
				: "other hits than the plain loops'");
	free(values);
	free(found);
}

/* ---- pictures that break off --------------------------------------------------------------- */

static void searches_read_pictures(struct searches *searches)
{
	glob_t names;

	if (glob("tests/golden/jpeg/*.jpg", 0, NULL, &names)) {
		fputs("engines: no tests/golden/jpeg here: start it in the root of the sources\n",
			stderr);
		exit(1);
	}
	searches->bytes = xmalloc(1 << 20);
	for (size_t i = 0; i < names.gl_pathc; i++) {
		FILE *file = fopen(names.gl_pathv[i], "rb");

		if (!file)
			abort();
		searches->len += fread(searches->bytes + searches->len, 1,
			((size_t)1 << 20) - searches->len, file);
		fclose(file);
	}
	globfree(&names);
}

/* Describes a break in a picture, and changes what is described a little. False: it can't be. */
static bool searches_describe(struct searches *searches, struct carve_coded *coded)
{
	size_t from = searches_draw(searches, (uint32_t)searches->len), at;
	const uint8_t *start =
		memmem(searches->bytes + from, searches->len - from, "\xff\xd8\xff\xe0", 4);
	struct view *view;
	bool described;

	if (!start)
		return false;
	at = 400 + searches_draw(searches, 2000);
	if (at > (size_t)(searches->bytes + searches->len - start))
		return false;
	view = view_new_memory(start, at);
	coded->begins = false;
	described = carver_find("jpeg")->coded(view, NULL, coded);
	view_free(view);
	if (described && searches_draw(searches, 2))
		coded->dc[0] = (int32_t)searches_draw(searches, 3000) - 1500;
	if (described && !searches_draw(searches, 4)) {
		coded->interval = 1 + searches_draw(searches, 20);
		coded->mcus_before_restart = 1 + searches_draw(searches, coded->interval);
		coded->restarts = searches_draw(searches, 100);
	}
	if (described)
		coded->mcus += searches_draw(searches, 2000);
	return described;
}

static void searches_fill_head(struct searches *searches, uint8_t *head)
{
	uint32_t kind = searches_draw(searches, 8);

	for (size_t i = 0; i < searches->head_len; i++)
		head[i] = (uint8_t)(searches_draw(searches, 256) % (kind == 1 ? 4 : 256));
	if (kind == 2)
		memset(head + searches_draw(searches, 100), 0, searches->head_len - 100);
	if (kind == 3)
		memset(head, 0xff, searches_draw(searches, (uint32_t)searches->head_len));
	if (kind > 3)
		memcpy(head,
			searches->bytes + searches_draw(searches,
						  (uint32_t)(searches->len - searches->head_len)),
			searches->head_len);
	if (kind > 5)
		for (uint32_t n = searches_draw(searches, 20); n; n--)
			head[searches_draw(searches, (uint32_t)searches->head_len)] =
				searches_draw(searches, 2)
					? 0xff
					: (uint8_t)(0xd0 + searches_draw(searches, 10));
}

/* Some of the heads that the device keeps, with data that may be described. */
static bool searches_make_question(
	struct searches *searches, size_t kept, bool is_short, struct coded_question *question)
{
	struct carve_coded *coded = xcalloc(1, sizeof(*coded));
	uint64_t first = searches_draw(searches, (uint32_t)kept / 64) * 64ull;
	uint32_t shift = 2 * searches_draw(searches, 5) + 6 * is_short;
	uint32_t most = (uint32_t)(kept - first) / 64 >> shift;
	uint64_t count = (1 + (most ? searches_draw(searches, most) : 0)) * 64ull;

	if (!searches_describe(searches, coded)) {
		free(coded);
		return false;
	}
	*question = (struct coded_question){ coded, first, count,
		xcalloc(count / 64, sizeof(uint64_t)) };
	return true;
}

/* heads: SEARCHES_HEADS, which the device keeps again and again. */
static bool searches_is_right(const struct searches *searches, const uint8_t *heads,
	const struct coded_question *question)
{
	for (uint64_t i = 0; i < question->count; i++) {
		const uint8_t *head =
			heads + (question->first + i) % SEARCHES_HEADS * searches->head_len;

		if ((question->bits[i / 64] >> i % 64 & 1) !=
			coded_may_follow(question->coded, head, (uint32_t)searches->head_len))
			return false;
	}
	return true;
}

static void searches_run_coded(struct searches *searches, const uint8_t *heads, size_t kept)
{
	struct coded_question questions[CODED_QUESTIONS_MAX];
	bool is_many = searches_draw(searches, 2);
	size_t wanted = 1 + searches_draw(searches, is_many ? CODED_QUESTIONS_MAX : 2), count = 0;
	const char *what = NULL;

	while (wanted--)
		count += searches_make_question(searches, kept, is_many, &questions[count]);
	if (count && searches->tool->find_coded(searches->device, questions, count))
		what = "an error";
	for (size_t i = 0; i < count; i++) {
		if (!what && !searches_is_right(searches, heads, &questions[i]))
			what = "another answer than the processor's";
		free((void *)questions[i].coded);
		free(questions[i].bits);
	}
	if (count)
		searches->judge("coded data", what);
}

/* Puts the same heads on the device as often as it wants for a stage. Returns how many it keeps. */
static size_t searches_keep(struct searches *searches, const uint8_t *heads)
{
	size_t kept = 0, count;

	for (unsigned i = 0; i < 2; i++) {
		uint8_t *stage =
			searches->tool->stage(searches->device, searches->head_len, &count);

		for (size_t n = 0; stage && n < count; n++)
			memcpy(stage + n * searches->head_len,
				heads + (kept + n) % SEARCHES_HEADS * searches->head_len,
				searches->head_len);
		if (!stage || searches->tool->keep(searches->device, count))
			break;
		kept += count;
	}
	searches->judge("heads", kept ? NULL : "none are kept");
	return kept;
}

/* ---- all ----------------------------------------------------------------------------------- */

static void searches_run_all(struct searches *searches, unsigned rounds)
{
	uint8_t *heads = xmalloc(SEARCHES_HEADS * searches->head_len);
	size_t kept = 0;

	for (size_t i = 0; i < SEARCHES_HEADS; i++)
		searches_fill_head(searches, heads + i * searches->head_len);
	if (searches->tool->stage)
		kept = searches_keep(searches, heads);
	for (unsigned i = 0; i < rounds; i++) {
		searches_run_breaks(searches, false);
		searches_run_breaks(searches, true);
		if (kept)
			searches_run_coded(searches, heads, kept);
	}
	free(heads);
}

static void searches_run(const struct search_tool *tool, uint64_t seed, unsigned rounds,
	void (*judge)(const char *name, const char *what))
{
	struct searches searches = { .tool = tool, .judge = judge, .random = seed };

	searches_read_pictures(&searches);
	for (searches.head_len = SEARCH_HEAD_MIN; searches.head_len <= SEARCH_HEAD_MAX;
		searches.head_len *= SEARCH_HEAD_MAX / SEARCH_HEAD_MIN) {
		struct error error = { 0 };

		if (tool->open && tool->open(&searches.device, NULL, &error)) {
			judge("opening", error.text);
			break;
		}
		searches_run_all(&searches, rounds * 5);
		if (tool->close)
			tool->close(searches.device);
	}
	free(searches.bytes);
}

#endif
