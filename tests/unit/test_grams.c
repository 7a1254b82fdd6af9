#include "searching.h"

#include "scan/grams.h"
#include "tier.h"

static void find(const void *database, const uint8_t *text, size_t len, size_t text_len,
	uint64_t offset, struct hit_sink *sink)
{
	grams_find(database, text, len, text_len, offset, sink);
}

/* In each way that this processor can. */
static void compare_ways(const struct pattern_set *set, struct grams *grams, const uint8_t *text,
	size_t len, size_t text_len)
{
	for (enum grams_way way = GRAMS_PLAIN; way < GRAMS_WAYS; way++) {
		if (!grams_can(way))
			continue;
		grams_choose(grams, way);
		compare(set, find, grams, text, len, text_len);
	}
}

/* 4 to 12 fixed bytes, some of them letters of either case, before or after wild ones. */
static void random_pattern(char *text)
{
	uint32_t wild = draw(4), len = 4 + draw(9);

	for (uint32_t i = 0; i < wild; i++)
		text += sprintf(text, "?? ");
	for (uint32_t i = 0; i < len; i++)
		if (draw(6) == 0)
			text += sprintf(text, "i'%c' ", 'a' + (int)draw(26));
		else
			text += sprintf(text, "%02X ", 0x81 + draw(90));
	sprintf(text, draw(3) ? "40" : "?? 4?");
}

static struct grams *make(const struct pattern_set *set, bool **taken)
{
	uint32_t *ids = xcalloc(set->count, sizeof(*ids));
	struct grams *grams;

	*taken = xcalloc(set->count, sizeof(**taken));
	for (uint32_t i = 0; i < set->count; i++)
		ids[i] = i;
	grams = grams_new(set, ids, set->count, *taken);
	free(ids);
	return grams;
}

/* A set of those patterns that were taken, to compare with; the ids change with it, so it is
 * searched anew. */
static void keep_taken(struct pattern_set *set, const bool *taken)
{
	struct pattern_set kept = { 0 };

	for (uint32_t id = 0; id < set->count; id++)
		if (taken[id])
			add(&kept, set->patterns[id].text);
	pattern_set_free(set);
	*set = kept;
}

Test(grams, finds_what_stands_there)
{
	uint8_t text[1000];
	char pattern[128];

	random_state = test_seed() | 1;
	printf("seed %llu\n", (unsigned long long)random_state);
	for (unsigned round = 0; round < test_tier(80, 200, 2000); round++) {
		struct pattern_set set = { 0 };
		uint32_t count = 60 + draw(400);
		size_t text_len = 1 + draw(sizeof(text)), len = 1 + draw((uint32_t)text_len);
		struct grams *grams;
		bool *taken;

		for (uint32_t i = 0; i < count; i++) {
			random_pattern(pattern);
			add(&set, pattern);
		}
		grams = make(&set, &taken);
		cr_assert_not_null(grams);
		grams_free(grams);
		keep_taken(&set, taken);
		free(taken);
		grams = make(&set, &taken);
		cr_assert_eq(grams_count(grams), set.count);
		for (size_t i = 0; i < text_len; i++)
			text[i] = (uint8_t)draw(256);
		for (int i = 0; i < 20; i++) {
			const struct pattern *one = &set.patterns[draw(set.count)];

			if (one->len <= text_len)
				plant(text + draw((uint32_t)(text_len - one->len + 1)), one);
		}
		compare_ways(&set, grams, text, len, text_len);
		free(taken);
		grams_free(grams);
		pattern_set_free(&set);
	}
}

/* Every place of a match, and every length of the text before and after it. */
Test(grams, at_all_ends)
{
	struct pattern_set set = { 0 };
	struct grams *grams;
	uint8_t text[300];
	bool *taken;

	for (int i = 0; i < 40; i++) {
		char pattern[32];

		snprintf(pattern, sizeof(pattern), "%s 'Qz%02d' %s", i & 1 ? "?? ??" : "", i,
			i & 2 ? "?? 'x'" : "");
		add(&set, pattern);
	}
	grams = make(&set, &taken);
	cr_assert_eq(grams_count(grams), set.count);
	for (size_t text_len = 1; text_len <= sizeof(text); text_len += test_tier(37, 23, 1))
		for (uint32_t id = 0; id < 4; id++)
			for (size_t at = 0; at + set.patterns[id].len <= text_len;
				at += text_len < 90 ? 1 : 5) {
				memset(text, 'a', sizeof(text));
				plant(text + at, &set.patterns[id]);
				compare_ways(&set, grams, text, text_len - text_len / 3, text_len);
			}
	free(taken);
	grams_free(grams);
	pattern_set_free(&set);
}

/* Parts that are searched one after the other meet in it, at odd places too; in half of it nearly every place passes. */
Test(grams, over_many_parts)
{
	enum { LEN = 40000 };

	struct pattern_set set = { 0 };
	uint8_t *text = xmalloc(LEN);
	struct grams *grams;
	bool *taken;

	random_state = test_seed() | 1;
	for (int i = 0; i < 40; i++) {
		char pattern[32];

		snprintf(pattern, sizeof(pattern), "'Qz%02d'", i);
		add(&set, pattern);
	}
	grams = make(&set, &taken);
	cr_assert_eq(grams_count(grams), set.count);
	for (size_t i = 0; i < LEN; i++)
		text[i] = i < LEN / 2 ? (uint8_t)draw(256) : (uint8_t) "Qz1Qz17"[i % 7];
	for (size_t at = 7; at + 4 < LEN / 2; at += 1 + draw(90))
		plant(text + at, &set.patterns[draw(set.count)]);
	for (size_t more = 0; more < 3; more++)
		compare_ways(&set, grams, text + more, LEN - 100, LEN - more);
	free(text);
	free(taken);
	grams_free(grams);
	pattern_set_free(&set);
}

/* It leaves what is short or stands everywhere, and refuses what are too few or too many. */
Test(grams, takes_what_it_is_fast_with)
{
	struct pattern_set set = { 0 };
	char text[32];
	struct grams *grams;
	bool *taken;

	add(&set, "00 00 00 00 01");
	add(&set, "'abc'");
	add(&set, "'Qz' ?? 'xk'");
	for (int i = 0; i < 31; i++) {
		snprintf(text, sizeof(text), "'Qz%02d'", i);
		add(&set, text);
	}
	cr_expect_null(make(&set, &taken));
	for (uint32_t id = 0; id < set.count; id++)
		cr_expect(!taken[id]);
	free(taken);
	add(&set, "'Qz77'");
	grams = make(&set, &taken);
	cr_assert_not_null(grams);
	cr_expect_eq(grams_count(grams), 32);
	for (uint32_t id = 0; id < set.count; id++)
		cr_expect_eq(taken[id], id >= 3);
	free(taken);
	grams_free(grams);
	for (int i = 0; i < 4000; i++) {
		snprintf(text, sizeof(text), "'Z%04dq'", i);
		add(&set, text);
	}
	cr_expect_null(make(&set, &taken));
	for (uint32_t id = 0; id < set.count; id++)
		cr_expect(!taken[id]);
	free(taken);
	pattern_set_free(&set);
}

/* 40 patterns of which one is at every fourth byte, and text in which half of the looks hit. */
static struct grams *make_dense(struct pattern_set *set, uint8_t *bytes, size_t len)
{
	char text[32];
	bool *taken;
	struct grams *grams;

	for (int i = 0; i < 40; i++) {
		snprintf(text, sizeof(text), "'Qz%02d'", i);
		add(set, text);
	}
	grams = make(set, &taken);
	cr_assert_not_null(grams);
	free(taken);
	for (size_t i = 0; i < len; i++)
		bytes[i] = (uint8_t) "Qz17"[i % 4];
	return grams;
}

Test(grams, stops_when_the_sink_is_full)
{
	struct pattern_set set = { 0 };
	struct hit hits[3];
	struct hit_sink sink = { .hits = hits, .capacity = 3 };
	uint8_t bytes[400];
	struct grams *grams = make_dense(&set, bytes, sizeof(bytes));

	for (enum grams_way way = GRAMS_PLAIN; way < GRAMS_WAYS; way++) {
		if (!grams_can(way))
			continue;
		grams_choose(grams, way);
		sink = (struct hit_sink){ .hits = hits, .capacity = 3 };
		grams_find(grams, bytes, sizeof(bytes), sizeof(bytes), 0, &sink);
		cr_expect(sink.full);
		cr_expect_eq(sink.count, 3);
	}
	grams_free(grams);
	pattern_set_free(&set);
}

Test(grams, tells_how_much_it_looked_at)
{
	enum { LEN = 1 << 16 };

	struct pattern_set set = { 0 };
	static struct hit hits[LEN / 4];
	struct hit_sink sink = { .hits = hits, .capacity = LEN / 4 };
	static uint8_t bytes[LEN];
	struct grams *grams = make_dense(&set, bytes, LEN);

	cr_expect_geq(grams_find(grams, bytes, LEN, LEN, 0, &sink), LEN / 4);
	cr_expect_eq(sink.count, LEN / 4);
	memset(bytes, 'x', LEN);
	cr_expect_leq(grams_find(grams, bytes, LEN, LEN, 0, &sink), 8);
	grams_free(grams);
	pattern_set_free(&set);
}
