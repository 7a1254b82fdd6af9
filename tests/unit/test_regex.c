/* Regexes: what is accepted, how wide it is, and that the canonical text means what PCRE2 makes of
 * the original. */
#define PCRE2_CODE_UNIT_WIDTH 8
#include <criterion/criterion.h>
#include <pcre2.h>

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <stdio.h>
#include <string.h>

#include "patterns/regex.h"
#include "tier.h"

static struct regex *make(const char *source, bool nocase)
{
	struct regex *regex = NULL;
	struct error error = { 0 };

	cr_assert_eq(regex_new(&regex, source, strlen(source), nocase, 1, &error), 0, "%s: %s",
		source, error.text);
	return regex;
}

static void expect_width(const char *source, uint32_t min, uint32_t max)
{
	struct regex *regex = make(source, false);

	cr_assert_eq(regex_min_len(regex), min, "%s: min %u", source, regex_min_len(regex));
	cr_assert_eq(regex_max_len(regex), max, "%s: max %u", source, regex_max_len(regex));
	regex_free(regex);
}

static void expect_error(const char *source, const char *part)
{
	struct regex *regex = NULL;
	struct error error = { 0 };

	cr_assert_eq(regex_new(&regex, source, strlen(source), false, 1, &error), -EINVAL,
		"%s was taken", source);
	cr_assert_eq(error.code, EXIT_USAGE);
	cr_assert_not_null(
		strstr(error.text, part), "%s: '%s' lacks '%s'", source, error.text, part);
	cr_assert_null(regex);
}

Test(regex, widths)
{
	expect_width("abc", 3, 3);
	expect_width("a?b", 1, 2);
	expect_width("a{2,5}", 2, 5);
	expect_width("(ab|c){3}", 3, 6);
	expect_width("(?:a|bcd)?.[^x]{1,2}?", 2, 6);
	expect_width("\\x00\\d\\.", 3, 3);
	expect_width(".{4096}", 4096, 4096);
	expect_width("((a{1,4}){1,8}){1,128}", 1, 4096);
}

Test(regex, refuses_what_is_unbounded_or_has_no_width)
{
	expect_error("ab*", "at column 3 of the pattern: * repeats without bound; write {0,N}");
	expect_error("ab+", "+ repeats without bound; write {1,N}");
	expect_error("ab{3,}", "at column 3 of the pattern: {3,} repeats without bound");
	expect_error("^a", "at column 1 of the pattern: ^ matches a position, not a byte");
	expect_error("a$", "$ matches a position");
	expect_error("a\\b", "\\b matches a position");
	expect_error("\\<a", "\\< matches a position");
	expect_error("a(?=b)", "lookaround");
	expect_error("a(?<!b)", "lookaround");
	expect_error("(a)\\1", "back-reference");
	expect_error("a?", "can match the empty string");
	expect_error("(a?|b)", "can match the empty string");
	expect_error(".{4097}", "can match 4097 bytes; at most 4096");
	expect_error(".{4000}.{97}", "can match 4097 bytes");
	expect_error("((.{4096}){65535}){65535}", "at most 4096");
}

Test(regex, refuses_malformed_expressions)
{
	expect_error(
		"(ab", "at column 1 of the pattern: the group that starts here has no closing");
	expect_error("ab)", "at column 3 of the pattern: unmatched )");
	expect_error(
		"a[bc", "at column 2 of the pattern: the class that starts here has no closing");
	expect_error("[]", "no closing ]");
	expect_error("[b-a]", "the range's end comes before its start");
	expect_error("[a-\\d]", "a range goes from one byte to another");
	expect_error("[[:foo:]]", "unknown class after [:");
	expect_error("[^\\x00-\\xff]", "matches no byte");
	expect_error("a{3,2}", "the maximum is less than the minimum");
	expect_error("a{0}", "repeats 0 times");
	expect_error("a{", "expected {m} or {m,n}");
	expect_error("a{99999}", "expected {m} or {m,n}, at most 65535");
	expect_error("{3}", "{ has nothing to repeat");
	expect_error("a|", "expected something to match");
	expect_error("()", "expected something to match");
	expect_error("", "expected something to match");
	expect_error("\\x1", "two hex digits after \\x");
	expect_error("a\\", "backslash at the end");
	expect_error("\\q", "\\q is not a known escape");
	expect_error("\\v", "\\v is not a known escape");
	expect_error("a{2}{3}", "a repeat of a repeat");
	expect_error("a?+", "possessive");
	expect_error("(?i)a", "flags and comments");
	expect_error("(?P<n>a)", "named groups");
	expect_error("(?>a)", "atomic");
}

Test(regex, depth_is_bounded)
{
	char source[1001];

	memset(source, '(', 500);
	memset(source + 500, ')', 500);
	source[1000] = '\0';
	expect_error(source, "nested groups");
}

static void expect_source(const char *source, bool nocase, const char *canonical)
{
	struct regex *regex = make(source, nocase);

	cr_assert_str_eq(regex_source(regex), canonical);
	regex_free(regex);
}

Test(regex, canonical_text_needs_no_flags)
{
	expect_source("a.", false, "a[\\x00-\\xff]");
	expect_source("aB1-", true, "[Aa][Bb]1\\x2d");
	expect_source("\\s", false, "[\\x09-\\x0d\\x20]");
	expect_source("a|b", false, "(?:a|b)");
	expect_source("(a|b)?c{2}?d{1,2}?", false, "(?:a|b)?c{2}d{1,2}?");
	expect_source("[^\\n]", false, "[\\x00-\\x09\\x0b-\\xff]");
	expect_source("[]a-]", false, "[\\x2d\\x5da]");
	expect_source("[^b]", true, "[\\x00-AC-ac-\\xff]");
	expect_source("\\0\\012\\/", false, "\\x00\\x0a\\x2f");
	expect_source("[[:digit:]_]", false, "[0-9\\x5f]");
	expect_source("\xe4", false, "\\xe4");
}

static size_t match(const char *source, const char *text)
{
	struct regex *regex = make(source, false);
	size_t len = regex_match_len(regex, (const uint8_t *)text, strlen(text));

	regex_free(regex);
	return len;
}

Test(regex, matches_anchored_leftmost_alternative_greedy)
{
	cr_assert_eq(match("a|ab", "ab"), 1);
	cr_assert_eq(match("ab|a", "ab"), 2);
	cr_assert_eq(match("a{1,3}", "aaaa"), 3);
	cr_assert_eq(match("a{1,3}?", "aaaa"), 1);
	cr_assert_eq(match("b", "ab"), 0);
	cr_assert_eq(match("a.", "a\n"), 2);
	cr_assert_eq(match("abc", "ab"), 0);
}

Test(regex, chance_is_an_estimate_from_above)
{
	struct regex *regex = make("a[bc](d|e)f?", false);
	double expected = 1.0 / 256 * 2 / 256 * 2 / 256;

	cr_assert(regex_chance(regex) > expected * 0.999 && regex_chance(regex) < expected * 1.001);
	regex_free(regex);
}

/* Backtracking would take forever; a hit is found all the same, and so is the absence of one. */
Test(regex, limits_do_not_lose_hits, .timeout = TEST_HANGS)
{
	struct regex *regex = make("(a|a|ab){30}(c|d)", false);
	char text[64];

	memset(text, 'a', sizeof(text));
	cr_assert_eq(regex_match_len(regex, (uint8_t *)text, sizeof(text)), 0);
	cr_assert_eq(
		regex_find(regex, (uint8_t *)text, 0, sizeof(text), sizeof(text)), sizeof(text));
	regex_free(regex);
	regex = make("(a{1,2}){28}c", false);
	text[40] = 'c';
	cr_assert_eq(regex_match_len(regex, (uint8_t *)text, 41), 41);
	cr_assert_eq(regex_match_len(regex, (uint8_t *)text, 40), 0);
	cr_assert_eq(regex_find(regex, (uint8_t *)text, 3, 50, sizeof(text)), 3);
	cr_assert_eq(regex_find(regex, (uint8_t *)text, 13, 50, sizeof(text)), 50);
	regex_free(regex);
}

/* Against trying each start. */
static void check_find(const struct regex *regex, const uint8_t *text, size_t len)
{
	for (size_t from = 0; from <= len; from++) {
		size_t to = from + (size_t)rand() % (len - from + 1), expected = from;

		while (expected < to && !regex_match_len(regex, text + expected, len - expected))
			expected++;
		cr_assert_eq(regex_find(regex, text, from, to, len), expected,
			"/%s/ in '%.*s' from %zu to %zu", regex_source(regex), (int)len, text, from,
			to);
	}
}

Test(regex, finds_the_starts_of_matches)
{
	struct regex *regex = make("b?a{2,3}", false);

	cr_assert_eq(regex_find(regex, (const uint8_t *)"xxbaaab", 0, 7, 7), 2);
	cr_assert_eq(regex_find(regex, (const uint8_t *)"xxbaaab", 3, 7, 7), 3);
	cr_assert_eq(regex_find(regex, (const uint8_t *)"xxbaaab", 5, 7, 7), 7);
	cr_assert_eq(regex_find(regex, (const uint8_t *)"xxbaaab", 0, 2, 7), 2);
	cr_assert_eq(regex_find(regex, (const uint8_t *)"xxbaaab", 4, 4, 7), 4);
	check_find(regex, (const uint8_t *)"baabaaabab", 10);
	regex_free(regex);
}

static void *match_often(void *regex)
{
	uint8_t text[] = "xx-12345-yy";
	size_t sum = 0;

	for (int i = 0; i < 20000; i++)
		sum += regex_match_len(regex, text + i % 4, sizeof(text) - 1 - (size_t)(i % 4));
	return (void *)sum;
}

Test(regex, threads_share_one)
{
	struct regex *regex = make("-\\d{1,9}-", false);
	pthread_t threads[4];

	for (int i = 0; i < 4; i++)
		cr_assert_eq(pthread_create(&threads[i], NULL, match_often, regex), 0);
	for (int i = 0; i < 4; i++) {
		void *sum;

		pthread_join(threads[i], &sum);
		cr_assert_eq((size_t)sum, 5000u * 7);
	}
	regex_free(regex);
}

/* ---- against PCRE2 itself ------------------------------------------------------------------ */

static unsigned seed;

static void random_part(char *out, size_t *len, int depth);

static void put(char *out, size_t *len, const char *text)
{
	memcpy(out + *len, text, strlen(text) + 1);
	*len += strlen(text);
}

static void random_atom(char *out, size_t *len, int depth)
{
	static const char *const atoms[] = { "a", "b", "B", "C", ".", "\\d", "\\w", "\\S", "[ab]",
		"[^a]", "[B-D1]", "\\x62", "\\.", "[\\d-]", "1", " ", "\\s", "[[:upper:]]",
		"[^\\Wb]" };

	if (depth < 3 && rand() % 4 == 0) {
		put(out, len, rand() % 2 ? "(" : "(?:");
		random_part(out, len, depth + 1);
		while (rand() % 2) {
			put(out, len, "|");
			random_part(out, len, depth + 1);
		}
		put(out, len, ")");
	} else {
		put(out, len, atoms[(size_t)rand() % (sizeof(atoms) / sizeof(*atoms))]);
	}
}

static void random_part(char *out, size_t *len, int depth)
{
	static const char *const repeats[] = { "?", "??", "{2}", "{1,3}", "{0,2}", "{1,2}?" };

	for (int count = 1 + rand() % 3; count > 0; count--) {
		random_atom(out, len, depth);
		if (rand() % 3 == 0)
			put(out, len, repeats[rand() % 6]);
	}
}

/* PCRE2 gave up, after ten million steps: it does not know. */
#define UNKNOWN SIZE_MAX

static size_t pcre_len(pcre2_code *code, const uint8_t *text, size_t len)
{
	pcre2_match_data *data = pcre2_match_data_create_from_pattern(code, NULL);
	int result = pcre2_match(code, text, len, 0, 0, data, NULL);
	size_t match_len = result == PCRE2_ERROR_MATCHLIMIT ? UNKNOWN
			   : result < 0                     ? 0
							    : pcre2_get_ovector_pointer(data)[1];

	pcre2_match_data_free(data);
	return match_len;
}

static void compare(const char *source, bool nocase)
{
	static const char letters[] = "aabBcCd1 9.\n-\xe4";
	struct regex *regex = NULL;
	struct error error = { 0 };
	int code_error;
	PCRE2_SIZE at;
	pcre2_code *code = pcre2_compile((PCRE2_SPTR)source, PCRE2_ZERO_TERMINATED,
		PCRE2_ANCHORED | PCRE2_DOTALL | (nocase ? PCRE2_CASELESS : 0), &code_error, &at,
		NULL);

	cr_assert_not_null(code, "seed %u: %s", seed, source);
	if (regex_new(&regex, source, strlen(source), nocase, 1, &error)) {
		cr_assert_not_null(strstr(error.text, "empty string"), "seed %u: %s: %s", seed,
			source, error.text);
		pcre2_code_free(code);
		return;
	}
	for (int i = 0; i < 60; i++) {
		uint8_t text[12];
		size_t expected, len = (size_t)rand() % sizeof(text);

		for (size_t k = 0; k < sizeof(text); k++)
			text[k] = (uint8_t)letters[(size_t)rand() % (sizeof(letters) - 1)];
		expected = pcre_len(code, text, len);
		if (expected == UNKNOWN)
			continue;
		cr_assert_eq(regex_match_len(regex, text, len), expected,
			"seed %u: /%s/ on '%.*s' (%zu)", seed, source, (int)len, text, len);
		cr_assert(!expected || (expected >= regex_min_len(regex) &&
					       expected <= regex_max_len(regex)),
			"seed %u: /%s/", seed, source);
		if (i < 10)
			check_find(regex, text, len);
	}
	regex_free(regex);
	pcre2_code_free(code);
}

Test(regex, means_what_pcre2_makes_of_it, .timeout = TEST_HANGS)
{
	seed = (unsigned)test_seed();
	printf("seed %u\n", seed);
	srand(seed);
	for (int round = 0; round < 2000; round++) {
		char source[4096];
		size_t len = 0;

		random_part(source, &len, 0);
		compare(source, rand() % 2);
	}
}
