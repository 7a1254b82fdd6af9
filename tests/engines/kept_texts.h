/*
 * What an engine keeps of the text that it searches (scan/kept_text.h), taken over by the device for searches: the
 * answers about it must be those about the text itself. Used by engine_tests.c alone.
 */
#ifndef BURIN_TESTS_KEPT_TEXTS_H
#define BURIN_TESTS_KEPT_TEXTS_H

#include "scan/kept_text.h"
#include "scan/scan.h"
#include "engines/searches.h"

#define KEPT_TEXTS_LEN ((size_t)160 << 20)
#define KEPT_TEXTS_CHUNK ((size_t)16 << 20)
/* Where the text begins in the image: what keeps it has a border in it. */
#define KEPT_TEXTS_AT (((uint64_t)1 << 30) - ((uint64_t)40 << 20) + 512)

/* Searches the text, for nothing. NULL, or what is wrong. */
static const char *kept_texts_scan(
	const struct scan_engine *engine, const uint8_t *text, struct kept_text *kept)
{
	struct pattern_set set = { 0 };
	struct scan_options options = {
		.chunk_len = KEPT_TEXTS_CHUNK, .chunks = 1, .kept_text = kept
	};
	struct error error = { 0 };
	struct hit hits[16];
	struct scan *scan;
	const char *what = NULL;

	if (engine->open(&scan, &set, &options, &error))
		return "an engine that can't be opened";
	for (size_t at = 0; at < KEPT_TEXTS_LEN && !what; at += KEPT_TEXTS_CHUNK) {
		struct chunk chunk = { .data = text + at,
			.offset = KEPT_TEXTS_AT + at,
			.len = KEPT_TEXTS_CHUNK,
			.hits = hits,
			.hit_capacity = 16 };
		struct chunk *reaped;

		if (engine->submit(scan, &chunk) || engine->reap(scan, &reaped) || chunk.status)
			what = "a chunk that is not searched";
	}
	engine->close(scan);
	return what;
}

/* Takes clusters from somewhere in the text, and asks about them. */
static const char *kept_texts_ask(
	struct searches *searches, const uint8_t *text, const struct kept_text *kept, uint64_t size)
{
	struct carve_coded coded;
	struct coded_question question = { .coded = &coded };
	size_t at = 512 * (size_t)searches_draw(searches, 4096);
	size_t count = searches->tool->take(
		searches->device, kept, KEPT_TEXTS_AT + at, size, searches->head_len);
	const char *what = NULL;

	if (!count)
		return "nothing is taken";
	if (searches->tool->take(
		    searches->device, kept, KEPT_TEXTS_AT - 512, size, searches->head_len))
		return "more is taken than was kept";
	while (!searches_describe(searches, &coded))
		;
	question.count = count;
	question.bits = xcalloc(count / 64, sizeof(uint64_t));
	if (searches->tool->find_coded(searches->device, &question, 1))
		what = "an error";
	for (size_t i = 0; i < count && !what; i++)
		if ((question.bits[i / 64] >> i % 64 & 1) != coded_may_follow(&coded,
								     text + at + i * size,
								     (uint32_t)searches->head_len))
			what = "another answer than about the text";
	free(question.bits);
	return what;
}

static void kept_texts_test(const struct scan_engine *engine, const struct search_tool *tool,
	uint64_t seed, void (*judge)(const char *name, const char *what))
{
	static const struct {
		uint64_t size;
		size_t len;
	} cases[] = { { 4096, 4096 }, { 8192, 4096 }, { 512, 512 } };
	struct kept_text *kept = kept_text_new(NULL, KEPT_TEXTS_AT + KEPT_TEXTS_LEN);
	struct searches searches = { .tool = tool, .judge = judge, .random = seed };
	uint8_t *text = xmalloc(KEPT_TEXTS_LEN);
	struct error error = { 0 };
	const char *what;

	searches_read_pictures(&searches);
	for (size_t at = 0; at < KEPT_TEXTS_LEN; at += searches.len)
		memcpy(text + at, searches.bytes,
			KEPT_TEXTS_LEN - at < searches.len ? KEPT_TEXTS_LEN - at : searches.len);
	what = kept ? kept_texts_scan(engine, text, kept) : "no room";
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		searches.head_len = cases[i].len;
		if (!what && tool->open(&searches.device, NULL, &error))
			what = error.text;
		judge("kept text",
			what ? what : kept_texts_ask(&searches, text, kept, cases[i].size));
		if (!what)
			tool->close(searches.device);
	}
	kept_text_free(kept);
	free(searches.bytes);
	free(text);
}

#endif
