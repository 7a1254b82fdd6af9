/*
 * What an engine keeps of the text that it searches (scan/kept_text.h), taken over by the device for searches: the
 * answers about it must be those about the text itself. Used by engine_tests.c alone.
 */
#ifndef BURIN_TESTS_KEPT_TEXTS_H
#define BURIN_TESTS_KEPT_TEXTS_H

#include "assemble/word_search.h"
#include "base/ranges.h"
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

/* ---- words ---- */

/* Hits of the processor, in the answer's order. */
struct kept_texts_right {
	struct word_answer *answer;
	uint32_t stretch, at; /* of what is searched, in the stretch */
	size_t all;
};

static void kept_texts_add(void *context, unsigned word, size_t at, uint32_t key)
{
	struct kept_texts_right *right = context;

	if (right->answer->count < WORD_HITS_MAX)
		right->answer->items[right->answer->count++] =
			(struct word_hit){ right->stretch, (uint32_t)at, word, key };
	right->all++;
}

static int kept_texts_compare(const void *a, const void *b)
{
	const struct word_hit *left = a, *right = b;

	if (left->stretch != right->stretch)
		return left->stretch < right->stretch ? -1 : 1;
	if (left->at != right->at)
		return left->at < right->at ? -1 : 1;
	return left->word < right->word ? -1 : left->word > right->word;
}

/* Words that the text has somewhere, or hasn't; some begin with the same bytes. */
static void kept_texts_draw_words(
	struct searches *searches, const uint8_t *text, struct word_set *words)
{
	uint32_t count = 1 + searches_draw(searches, WORDS_MAX);
	size_t len_min = searches_draw(searches, 16) ? 4 : WORD_LEN_MIN;

	memset(words, 0, sizeof(*words));
	for (uint32_t i = 0; i < count; i++) {
		const uint8_t *from = text + searches_draw(searches, KEPT_TEXTS_LEN - 8);
		size_t len =
			len_min + searches_draw(searches, (uint32_t)(WORD_LEN_MAX - len_min + 1));

		word_set_add(words, from, len, searches_draw(searches, WORD_KEY_AT_MAX + 1));
	}
}

/* What is wrong with an answer, of which one stretch may be of nothing that is kept. */
static const char *kept_texts_judge_words(const struct word_question *question, const uint8_t *text,
	struct word_answer *answer, struct word_answer *plain)
{
	struct kept_texts_right right = { .answer = plain };
	uint64_t answered = 0;

	plain->count = 0;
	for (uint32_t i = 0; i < question->count; i++) {
		const struct range *stretch = &question->stretches[i];
		uint64_t at = stretch->offset - KEPT_TEXTS_AT, in = stretch->offset % (1 << 30);
		uint64_t len = stretch->length + WORD_AFTER;

		if (stretch->offset < KEPT_TEXTS_AT || at + len > KEPT_TEXTS_LEN ||
			in + len > 1 << 30)
			continue;
		answered |= (uint64_t)1 << i;
		right.stretch = i;
		word_set_search(
			question->words, text + at, stretch->length, len, kept_texts_add, &right);
	}
	if (right.all > WORD_HITS_MAX)
		return answer->answered || answer->count ? "an answer with too many hits" : NULL;
	qsort(plain->items, plain->count, sizeof(*plain->items), kept_texts_compare);
	if (answer->answered != answered)
		return "other stretches are answered than are kept";
	return answer->count == plain->count && !memcmp(answer->items, plain->items,
							plain->count * sizeof(*plain->items))
		       ? NULL
		       : "other hits of words than the plain search's";
}

static const char *kept_texts_ask_words(
	struct searches *searches, const uint8_t *text, const struct kept_text *kept)
{
	struct word_set *words = xcalloc(1, sizeof(*words));
	struct word_answer *answers = xcalloc(2, sizeof(*answers));
	struct range stretches[WORD_STRETCHES_MAX];
	struct word_question question = { words, stretches,
		1 + searches_draw(searches, WORD_STRETCHES_MAX) };
	const char *what;

	kept_texts_draw_words(searches, text, words);
	for (size_t i = 0; i < question.count; i++) {
		/* Some reach past what is kept, and past a border in it. */
		stretches[i].offset = KEPT_TEXTS_AT - 64 + searches_draw(searches, KEPT_TEXTS_LEN);
		stretches[i].length = searches_draw(searches, 3)
					      ? 1 + searches_draw(searches, WORD_STRETCH_MAX)
					      : WORD_STRETCH_MAX;
	}
	what = searches->tool->find_words(searches->device, kept, &question, answers)
		       ? "an error"
		       : kept_texts_judge_words(&question, text, answers, answers + 1);
	free(answers);
	free(words);
	return what;
}

#define KEPT_TEXTS_WORDS 40 /* questions */

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
	if (!what && tool->open(&searches.device, NULL, &error))
		what = error.text;
	for (size_t i = 0; i < KEPT_TEXTS_WORDS && !what; i++)
		judge("words in kept text", kept_texts_ask_words(&searches, text, kept));
	if (!what)
		tool->close(searches.device);
	kept_text_free(kept);
	free(searches.bytes);
	free(text);
}

#endif
