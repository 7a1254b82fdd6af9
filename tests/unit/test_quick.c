/* The quick rejection of weak headers is the check's own: wherever it rejects, the check does, with the
 * same reason and work, however few of the bytes were at hand. */
#include <criterion/criterion.h>
#include <dirent.h>
#include <stdio.h>
#include <string.h>

#include "carve/quick.h"
#include "run/sift.h"
#include "memory_image.h"

#define SIZE ((size_t)3 << 20)
#define PLANTED ((size_t)1 << 20) /* noise with headers; after it files */

static uint8_t *content; /* no array: at each test's end the leak sanitizer reads what is static */

static struct memory_image evidence = MEMORY_IMAGE(NULL, SIZE);

static void begin(void)
{
	evidence.bytes = content = malloc(SIZE);
}

TestSuite(quick, .init = begin);

static uint32_t random_state;

static uint32_t next_random(uint32_t below)
{
	random_state = random_state * 1664525 + 1013904223;
	return (uint32_t)(((uint64_t)random_state * below) >> 32);
}

static size_t add_files(const char *folder, size_t at)
{
	DIR *dir = opendir(folder);
	struct dirent *entry;

	cr_assert_not_null(dir, "%s", folder);
	while ((entry = readdir(dir))) {
		char path[512];
		FILE *file;

		if (entry->d_name[0] == '.' || strstr(entry->d_name, ".expected"))
			continue;
		snprintf(path, sizeof(path), "%s/%s", folder, entry->d_name);
		file = fopen(path, "rb");
		at += fread(content + at, 1, SIZE - at, file);
		fclose(file);
	}
	closedir(dir);
	return at;
}

static void plant(const struct pattern *pattern, size_t at)
{
	for (uint32_t i = 0; i < pattern->len; i++)
		content[at + i] = (uint8_t)((content[at + i] & ~pattern->mask[i]) |
					    (pattern->bytes[i] & pattern->mask[i]));
}

static void fill(const struct rules *rules, const struct quick *quick)
{
	static const char *const folders[] = { "tests/golden/adts", "tests/golden/mp3",
		"tests/golden/jxl", "tests/golden/pe", "tests/golden/mz", "tests/golden/ico" };
	size_t at = PLANTED;

	random_state = 19;
	for (size_t i = 0; i < SIZE; i++)
		content[i] = i % 8192 < 2048 ? 0 : (uint8_t)next_random(256);
	for (size_t i = 0, p = 0; i + 4096 < PLANTED; i += 40 + next_random(150)) {
		do
			p = (p + 1) % rules->patterns.count;
		while (quick_rule(quick, (uint32_t)p) == UINT32_MAX);
		plant(&rules->patterns.patterns[p], i);
	}
	for (size_t i = 0; i < sizeof(folders) / sizeof(*folders); i++)
		at = add_files(folders[i], at);
}

static bool matches(const struct pattern *pattern, size_t at)
{
	return !pattern->regex && pattern_match_len(pattern, content + at, SIZE - at);
}

struct fixture {
	struct rules *rules;
	struct rejections *rejections;
	struct quick *quick;
	struct view *view;
	unsigned rejected;
};

/* Tries the candidate at a hit with the bytes [from, to). */
static struct outcome noted(const struct rejections *rejections, uint32_t note)
{
	struct outcome outcome = { 0 };

	rejections_outcome(rejections, note, &outcome);
	return outcome;
}

static void try(struct fixture *f, size_t hit, uint32_t pattern, size_t from, size_t to)
{
	uint32_t number = quick_rule(f->quick, pattern);
	const struct rule *rule = &f->rules->rules[number];
	struct outcome outcome, quick;
	struct candidate candidate;
	char reason[128];
	uint32_t note = quick_try(f->quick, 0, content + from, from, to - from, hit, pattern);

	if (!note)
		return;
	candidate = candidate_of_header(rule, number, pattern, hit - rule->header_offset);
	check_candidate(f->view, &evidence.image, rule, &candidate, UINT64_MAX, &outcome);
	quick = noted(f->rejections, note);
	cr_assert_eq(
		outcome.verdict, CARVE_REJECT, "%s at %zu: %s", rule->name, hit, quick.finding.why);
	rejection_reason(outcome.finding.why, reason, sizeof(reason));
	cr_assert_str_eq(quick.finding.why, reason, "%s at %zu", rule->name, hit);
	cr_assert_eq(quick.work, outcome.work, "%s at %zu, %s: %lu and %lu", rule->name, hit,
		reason, (unsigned long)quick.work, (unsigned long)outcome.work);
	cr_assert_eq(outcome.part_count, 0);
	outcome_free(&outcome);
	f->rejected++;
}

#define STARTERS_MAX 128

/* The patterns of quick rules that begin with a byte. */
struct starters {
	uint32_t patterns[256][STARTERS_MAX], counts[256];
};

static void find_starters(
	struct starters *starters, const struct rules *rules, const struct quick *quick)
{
	for (uint32_t p = 0; p < rules->patterns.count; p++) {
		const struct pattern *pattern = &rules->patterns.patterns[p];

		if (quick_rule(quick, p) == UINT32_MAX)
			continue;
		for (unsigned byte = 0; byte < 256; byte++)
			if (((byte ^ *pattern->bytes) & *pattern->mask) == 0) {
				cr_assert_lt(starters->counts[byte], STARTERS_MAX);
				starters->patterns[byte][starters->counts[byte]++] = p;
			}
	}
}

Test(quick, rejects_what_the_check_rejects_with_its_reason_and_work)
{
	struct error error;
	struct fixture f = { .rejections = rejections_new(), .view = view_new() };
	struct quick_options options = { .image = &evidence.image, .threads = 1 };
	struct starters *starters = calloc(1, sizeof(*starters));
	unsigned hits = 0;

	cr_assert_eq(rules_load(&f.rules, "conf/burin.conf", RULES_AUTO, NULL, &error), 0);
	options.rules = f.rules;
	f.quick = quick_new(&options, f.rejections);
	fill(f.rules, f.quick);
	find_starters(starters, f.rules, f.quick);
	for (size_t at = 0; at < SIZE; at++)
		for (uint32_t i = 0; i < starters->counts[content[at]]; i++) {
			uint32_t p = starters->patterns[content[at]][i];
			size_t left = SIZE - at;

			if (!matches(&f.rules->patterns.patterns[p], at))
				continue;
			hits++;
			try(&f, at, p, 0, SIZE);
			try(&f, at, p, at, at + (left < 100 ? left : 100));
			try(&f, at, p, at,
				at + 1 + next_random(left < 5000 ? (uint32_t)left : 5000));
		}
	cr_expect_gt(hits, 5000);
	cr_expect_gt(f.rejected, hits, "%u of 3 times %u", f.rejected, hits);
	free(starters);
	quick_free(f.quick);
	rejections_free(f.rejections);
	rules_free(f.rules);
	view_free(f.view);
}

/* As for an engine that does not sift. */
Test(quick, a_chunk_is_sifted_by_many_threads)
{
	static struct hit hits[20000];
	struct error error;
	struct fixture f = { .rejections = rejections_new() };
	struct quick_options options = { .image = &evidence.image, .threads = 3 };
	struct chunk chunk = { .data = content, .len = SIZE, .hits = hits };
	struct pool *pool = pool_new(3);
	struct sift *sift;
	unsigned noted = 0, same = 0;

	cr_assert_eq(rules_load(&f.rules, "conf/burin.conf", RULES_AUTO, NULL, &error), 0);
	options.rules = f.rules;
	f.quick = quick_new(&options, f.rejections);
	sift = sift_new(&options, f.rejections, pool);
	fill(f.rules, f.quick);
	for (size_t at = 0; at < SIZE; at++)
		for (uint32_t p = 0; content[at] == 0xff && p < f.rules->patterns.count &&
				     chunk.hit_count < 20000;
			p++)
			if (quick_rule(f.quick, p) != UINT32_MAX &&
				matches(&f.rules->patterns.patterns[p], at))
				hits[chunk.hit_count++] = (struct hit){ at, p, 77 };
	cr_assert_gt(chunk.hit_count, 1500);
	for (int round = 0; round < 3; round++)
		sift_chunk(sift, &chunk);
	for (size_t i = 0; i < chunk.hit_count; i++) {
		uint32_t note =
			quick_try(f.quick, 0, content, 0, SIZE, hits[i].offset, hits[i].pattern);

		cr_assert_neq(hits[i].note, 77);
		noted += hits[i].note != 0;
		same += hits[i].note == note;
		cr_assert(!note || !hits[i].note || note == hits[i].note);
	}
	/* How many depends on which thread takes which hits: each tries a rule less often that seldom
	 * rejects. */
	cr_expect_gt(noted, 0);
	cr_expect_gt(same, 0);
	chunk.hit_count = 0;
	sift_chunk(sift, &chunk);
	sift_free(sift);
	pool_free(pool);
	quick_free(f.quick);
	rejections_free(f.rejections);
	rules_free(f.rules);
}

/* How many tries at a hit reject it before no more are made. */
static unsigned count_tries(struct fixture *f, unsigned worker, size_t hit, uint32_t pattern)
{
	unsigned count = 0;

	while (count < 100000 && quick_try(f->quick, worker, content, 0, SIZE, hit, pattern))
		count++;
	return count;
}

/* A header of JPEG XL that is decoded at length before it is rejected. Each try takes some 41,000 units; for all there are
 * 64 Mi, and 16 more for each byte up to the hit. */
Test(quick, tries_that_take_much_work_are_made_a_bounded_number_of_times)
{
	struct error error;
	struct fixture f = { .rejections = rejections_new() };
	struct quick_options options = { .image = &evidence.image, .threads = 2 };
	FILE *file = fopen("tests/golden/jxl/prefix.jxl", "rb");
	unsigned near, far;
	uint32_t jxl = 0;

	cr_assert_eq(fread(content, 1, 64, file), 64);
	fclose(file);
	for (size_t at = 64; at < SIZE; at++)
		content[at] = content[at - 64];
	cr_assert_eq(rules_load(&f.rules, "conf/burin.conf", RULES_AUTO, NULL, &error), 0);
	options.rules = f.rules;
	f.quick = quick_new(&options, f.rejections);
	while (quick_rule(f.quick, jxl) == UINT32_MAX ||
		strcmp(f.rules->rules[quick_rule(f.quick, jxl)].name, "jxl") != 0 ||
		!matches(&f.rules->patterns.patterns[jxl], 0))
		jxl++;
	near = count_tries(&f, 0, 0, jxl);
	cr_expect(near > 500 && near < 5000, "%u", near);
	cr_expect_eq(count_tries(&f, 0, 0, jxl), 0);
	cr_expect_eq(count_tries(&f, 1, 0, jxl), near, "each thread has its share");
	far = count_tries(&f, 0, SIZE / 2 / 64 * 64, jxl);
	cr_expect(far > near / 5 && far < near, "%u", far);
	quick_free(f.quick);
	rejections_free(f.rejections);
	rules_free(f.rules);
}

static struct outcome rejected(const char *why, uint64_t work)
{
	struct outcome outcome = { .verdict = CARVE_REJECT, .work = work };

	snprintf(outcome.finding.why, sizeof(outcome.finding.why), "%s", why);
	return outcome;
}

Test(quick, a_note_holds_reason_and_work)
{
	struct rejections *rejections = rejections_new();
	struct outcome first = rejected("no frame at 12 after 3 others", 164);
	struct outcome second = rejected("no frame at 4711 after 3 others", 165);
	struct outcome bytes = rejected("expected 4D 5A at offset 60, found 00 00", 0);
	struct outcome long_work = rejected("no frame at 12 after 3 others", (uint64_t)1 << 20);
	uint32_t note = rejections_note(rejections, 7, &first), other, third;

	other = rejections_note(rejections, 7, &second);
	third = rejections_note(rejections, 8, &bytes);
	cr_expect_neq(note, 0);
	cr_expect_neq(note, other);
	cr_expect_eq(rejections_note(rejections, 7, &first), note);
	cr_expect_neq(rejections_note(rejections, 6, &first), note, "of another rule");
	cr_expect_eq(noted(rejections, note).work, 164);
	cr_expect_eq(noted(rejections, other).work, 165);
	cr_expect_str_eq(noted(rejections, other).finding.why, "no frame at N after N others");
	cr_expect_str_eq(noted(rejections, third).finding.why, "expected 4D 5A at offset N");
	cr_expect_eq(rejections_note(rejections, 7, &long_work), 0, "too much work to be noted");
	rejections_free(rejections);
}

Test(quick, reasons_beyond_the_table_get_no_note)
{
	struct rejections *rejections = rejections_new();
	unsigned noted = 0;

	for (uint32_t rule = 0; rule < 5000; rule++) {
		struct outcome outcome = rejected("no header", 1);

		noted += rejections_note(rejections, rule, &outcome) != 0;
	}
	cr_expect_eq(noted, 4095);
	rejections_free(rejections);
}
