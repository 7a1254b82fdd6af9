#include "searching.h"

#include "scan/teddy.h"
#include "tier.h"

static struct teddy *make(const struct pattern_set *set)
{
	uint32_t *ids = xcalloc(set->count, sizeof(*ids));
	struct teddy *teddy;

	for (uint32_t i = 0; i < set->count; i++)
		ids[i] = i;
	teddy = teddy_new(set, ids, set->count);
	free(ids);
	return teddy;
}

/* Where AVX2 is missing there is nothing to test. */
static void need_vectors(const struct teddy *teddy)
{
#if defined(__x86_64__)
	if (__builtin_cpu_supports("avx2")) {
		cr_assert_not_null(teddy);
		return;
	}
#endif
	(void)teddy;
	cr_skip("no AVX2 here");
}

static void find(const void *database, const uint8_t *text, size_t len, size_t text_len,
	uint64_t offset, struct hit_sink *sink)
{
	teddy_find(database, text, len, text_len, offset, sink);
}

/* In each way that this processor can. */
static void compare_ways(const struct pattern_set *set, struct teddy *teddy, const uint8_t *text,
	size_t len, size_t text_len)
{
	for (enum teddy_way way = TEDDY_AVX2; way < TEDDY_WAYS; way++) {
		if (!teddy_can(way))
			continue;
		teddy_choose(teddy, way);
		compare(set, find, teddy, text, len, text_len);
	}
}

static void random_pattern(char *text)
{
	uint32_t len = 2 + draw(8);

	for (uint32_t i = 0; i < len; i++) {
		uint32_t kind = i < 2 ? 0 : draw(8);

		if (kind == 7)
			text += sprintf(text, "?? ");
		else if (kind == 6)
			text += sprintf(text, "%X? ", draw(16));
		else if (kind == 5)
			text += sprintf(text, "i'%c' ", 'a' + (int)draw(26));
		else
			text += sprintf(text, "%02X ", 0x81 + draw(90));
	}
	if (draw(4) == 0)
		sprintf(text, "?? 4?");
}

Test(teddy, finds_what_stands_there)
{
	uint8_t text[1000];
	char pattern[128];
	unsigned compared = 0;

	random_state = test_seed() | 1;
	printf("seed %llu\n", (unsigned long long)random_state);
	for (unsigned round = 0; round < test_tier(100, 300, 3000); round++) {
		struct pattern_set set = { 0 };
		uint32_t count = 1 + draw(round % 3 ? 20 : 80);
		size_t text_len = 1 + draw(sizeof(text)), len = 1 + draw((uint32_t)text_len);
		struct teddy *teddy;

		for (uint32_t i = 0; i < count; i++) {
			random_pattern(pattern);
			add(&set, pattern);
		}
		teddy = make(&set);
		if (count <= 20)
			need_vectors(teddy);
		if (!teddy) {
			pattern_set_free(&set);
			continue;
		}
		compared += count > 20;
		for (size_t i = 0; i < text_len; i++)
			text[i] = (uint8_t)draw(256);
		for (int i = 0; i < 20; i++) {
			const struct pattern *one = &set.patterns[draw(set.count)];

			if (one->len <= text_len)
				plant(text + draw((uint32_t)(text_len - one->len + 1)), one);
		}
		compare_ways(&set, teddy, text, len, text_len);
		teddy_free(teddy);
		pattern_set_free(&set);
	}
	cr_expect_gt(compared, 0, "all large sets were refused");
}

/* Every place of a match, and every length of the text before and after it. */
Test(teddy, at_all_ends)
{
	struct pattern_set set = { 0 };
	struct teddy *teddy;
	uint8_t text[140];

	add(&set, "'moov'");
	add(&set, "?? ?? ?? 'dat' ?? 'x'");
	add(&set, "FF D9");
	teddy = make(&set);
	need_vectors(teddy);
	for (size_t text_len = 1; text_len <= sizeof(text); text_len += test_tier(29, 1, 1))
		for (uint32_t id = 0; id < set.count; id++)
			for (size_t at = 0; at + set.patterns[id].len <= text_len; at++) {
				memset(text, 'a', sizeof(text));
				plant(text + at, &set.patterns[id]);
				compare_ways(&set, teddy, text, text_len - text_len / 3, text_len);
			}
	teddy_free(teddy);
	pattern_set_free(&set);
}

/* Parts that are searched one after the other meet in it; in half of it nearly every place passes. Patterns are shorter and longer
 * than what is compared first, and their rarest bytes are at their beginning or end. */
Test(teddy, over_many_parts)
{
	enum { LEN = 20000 };

	static const char *const patterns[] = { "'Qz1'", "FF D9",
		"'mo' ?? 'v' 00 00 00 00 00 00 00 00 00 00 00 00 00 'Qz'",
		"?? 00 02 00 00 00 00 00 00 00 ?? 0? ?? ?? ?? ?? 18 ?0",
		"C7 71 ?? ?? ?? ?? ?? ?? ?? ?? ?? ?? 00 ?? ?? ?? ?? ?? ?? ?? 00 0? 00 ?? ??" };
	struct pattern_set set = { 0 };
	uint8_t *text = xcalloc(1, LEN);
	struct teddy *teddy;

	random_state = test_seed() | 1;
	for (size_t i = 0; i < sizeof(patterns) / sizeof(*patterns); i++)
		add(&set, patterns[i]);
	teddy = make(&set);
	need_vectors(teddy);
	for (size_t i = 0; i < LEN; i++)
		text[i] = i < LEN / 2 ? (uint8_t)(draw(3) * draw(20)) : (uint8_t) "Qz1Qz2"[i % 6];
	for (size_t at = 0; at + 40 < LEN / 2; at += 1 + draw(60))
		plant(text + at, &set.patterns[draw(set.count)]);
	for (size_t more = 0; more < 3; more++)
		compare_ways(&set, teddy, text + more, LEN - 100, LEN - more);
	free(text);
	teddy_free(teddy);
	pattern_set_free(&set);
}

Test(teddy, stops_when_the_sink_is_full)
{
	struct pattern_set set = { 0 };
	struct hit hits[3];
	struct hit_sink sink = { .hits = hits, .capacity = 3 };
	uint8_t text[400];
	struct teddy *teddy;

	add(&set, "D0 CF");
	teddy = make(&set);
	need_vectors(teddy);
	for (size_t i = 0; i < sizeof(text); i++)
		text[i] = i % 2 ? 0xCF : 0xD0;
	for (enum teddy_way way = TEDDY_AVX2; way < TEDDY_WAYS; way++) {
		if (!teddy_can(way))
			continue;
		teddy_choose(teddy, way);
		sink = (struct hit_sink){ .hits = hits, .capacity = 3 };
		teddy_find(teddy, text, sizeof(text), sizeof(text), 0, &sink);
		cr_expect(sink.full);
		cr_expect_eq(sink.count, 3);
	}
	teddy_free(teddy);
	pattern_set_free(&set);
}

/* Zeros are everywhere, and too many patterns let nearly everything pass. */
Test(teddy, refuses_what_it_is_slow_with)
{
	struct pattern_set common = { 0 }, many = { 0 };
	char text[16];

	add(&common, "00 00");
	cr_expect_null(make(&common));
	for (int i = 0; i < 200; i++) {
		snprintf(text, sizeof(text), "'w%03d'", i);
		add(&many, text);
	}
	cr_expect_null(make(&many));
	cr_expect_null(teddy_new(&many, NULL, 0));
	pattern_set_free(&common);
	pattern_set_free(&many);
}
