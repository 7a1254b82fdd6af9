/* The table of cases. Used by engines.c alone. */
#ifndef BURIN_TESTS_CASES_H
#define BURIN_TESTS_CASES_H

#include "engines/subject.h"

/* xorshift64*: the same everywhere for one seed. */
static uint64_t random_state;

static void random_seed(uint64_t seed)
{
	random_state = seed * 2685821657736338717ull + 88172645463325252ull;
}

static uint32_t random_below(uint32_t limit)
{
	random_state ^= random_state >> 12;
	random_state ^= random_state << 25;
	random_state ^= random_state >> 27;
	return (uint32_t)((random_state * 2685821657736338717ull) >> 32) % limit;
}

static void random_text(uint8_t *text, size_t len, const char *alphabet, uint32_t letters)
{
	for (size_t i = 0; i < len; i++)
		text[i] = alphabet ? (uint8_t)alphabet[random_below(letters)]
				   : (uint8_t)random_below(256);
}

static void add_all(struct subject *subject, const char *const *patterns)
{
	for (; *patterns; patterns++)
		subject_add(subject, *patterns);
}

#define PATTERNS(...) ((const char *const[]){ __VA_ARGS__, NULL })

/* ---- sizes ---- */

static void fill_empty(struct subject *s)
{
	add_all(s, PATTERNS("'ABCD'", "41", "'AB' ?? 'D'"));
	subject_set_text(s, "");
	s->expected = "";
}

static void fill_one_byte(struct subject *s)
{
	add_all(s, PATTERNS("'ABCD'", "41", "4?", "'AB'"));
	subject_set_text(s, "A");
	s->expected = "0:1 0:2";
}

static void fill_too_short(struct subject *s)
{
	add_all(s, PATTERNS("'ABCD'", "'BC' ????", "???? 'moov'", "'ABC' ?4 44"));
	subject_set_text(s, "ABCD");
	s->expected = "0:0";
}

static void fill_just_fits(struct subject *s)
{
	add_all(s, PATTERNS("'ABCDEFGH'", "'ABCD' ????????", "???????? 'EFGH'",
			   "?? 'B' ???????????? "));
	subject_set_text(s, "ABCDEFGH");
	s->expected = "0:0 0:1 0:2 0:3";
}

/* The anchor of each is there at an end of the text, and the rest is not. */
static void fill_over_the_edge(struct subject *s)
{
	add_all(s, PATTERNS("???????? 'moov'", "'moov' ????????", "?? 'oov' ??", "'ov' ??",
			   "?? 'mo'"));
	subject_set_text(s, "moov__moov");
	s->expected = "0:1 0:2 2:0 2:3 5:4";
}

static void fill_no_hit(struct subject *s)
{
	add_all(s, PATTERNS("'needle'", "'ne'", "i'NEEDLE' 00"));
	memset(subject_text(s, 3000, 0), 'x', 3000);
	s->expected = "";
}

/* ---- splits ---- */

static void fill_splits(struct subject *s)
{
	add_all(s, PATTERNS("'abcdefgh'", "'gh'", "'efg' ?? 'abc'", "68"));
	subject_set_text(s, "xabcdefghabcdefgh__abcdefg_abcdefghabcdefghabc");
}

/* Matches that begin or end in long runs of zeros, whose ends are anywhere. */
static void fill_runs_of_zeros(struct subject *s)
{
	uint8_t *text = subject_text(s, 700000, 0);
	static const uint32_t ends[] = { 40960, 90000, 98192, 120001, 560000, 640100 };

	add_all(s, PATTERNS("00 00 00 'AB'", "'AB' 00 00 00 00 00 00", "00 41", "42 00",
			   "00 00 ?? ?? 00 'AB'"));
	memset(text, 0, s->text_len);
	for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++)
		memcpy(text + ends[i], "AB", 2);
}

/* A pattern that is longer than a run of zeros has to be for a search to pass over it. */
static void fill_longer_than_zeros(struct subject *s)
{
	static uint8_t bytes[20000];
	uint8_t *text = subject_text(s, 200000, 0);

	memset(bytes, 'x', sizeof(bytes));
	memset(bytes + 1000, 0, 18000);
	subject_add_bytes(s, bytes, NULL, sizeof(bytes));
	add_all(s, PATTERNS("00 'xx'", "'x' 00 00"));
	memcpy(text + 100000, bytes, sizeof(bytes));
	memcpy(text + 180500, bytes, 19500); /* but for its end */
}

/* Each zero is a match. */
static void fill_zeros_that_match(struct subject *s)
{
	add_all(s, PATTERNS("00 00 00 00", "00 41"));
	memset(subject_text(s, 70000, 0), 0, 70000);
}

/* Any place at which a long text is cut lies in a match. */
static void fill_dense_long(struct subject *s)
{
	uint8_t *text = subject_text(s, 1500000, 0);

	add_all(s, PATTERNS("'0123456789abcdef'", "'cdef0123' ???? '67'", "'f012'"));
	for (size_t i = 0; i < s->text_len; i++)
		text[i] = (uint8_t) "0123456789abcdef"[i % 16];
	s->large = true;
}

/* ---- relations between patterns ---- */

static void fill_overlapping(struct subject *s)
{
	add_all(s, PATTERNS("'a'", "'aa'", "'aaa'", "'aaaa'", "'aaaaaaaa'", "'aaaab'"));
	subject_set_text(s, "aaaaaaaaaaaaabaaaaaaaaaaaabb");
}

static void fill_nested(struct subject *s)
{
	add_all(s, PATTERNS("'abcabcabc'", "'bcab'", "'cabc'", "'abca'", "'abc'", "'bc'", "'c'"));
	subject_set_text(s, "abcabcabcabcab_cabcabcabcabcx");
}

static void fill_prefixes(struct subject *s)
{
	add_all(s, PATTERNS("FFD8FF", "FFD8FFE0", "FFD8FFE000104A464946", "FFD8FFE1",
			   "FFD8FF??????45786966", "FFD8FF??????4A464946", "FFD8",
			   "FFD8FFE000104A46494600"));
	static const uint8_t text[] = "\xff\xd8\xff\xe0\x00\x10JFIF\0\xff\xd8\xff\xe1\x12\x34"
				      "Exif\xff\xd8\xff\xd8\xff\xe0\x00\x10JFI";
	memcpy(subject_text(s, sizeof(text) - 1, 0), text, sizeof(text) - 1);
}

/* ---- masks ---- */

static void fill_wild(struct subject *s)
{
	add_all(s,
		PATTERNS("???????? 'moov'", "'moov' ????????", "'mo' ???? 'mo'", "?? 'o' ?? 'v' ??",
			"'RIFF' ???????? 'AVI'", "?? 'WPC'", "'BM' ???? 000000"));
	static const uint8_t text[] = "moov__moov1234RIFF\x01\x02\n\0AVI WPCBM\n\n\0\0\0\0moovmoov";
	memcpy(subject_text(s, sizeof(text) - 1, 0), text, sizeof(text) - 1);
}

static void fill_nibbles(struct subject *s)
{
	add_all(s,
		PATTERNS("?A", "A?", "?1 2?", "4? ?? ?2", "?F ?F ?F ?F ?F", "1? 2? 3? 4? 5? 6?"));
	random_seed(1);
	random_text(subject_text(s, 3000, 0), 3000, "\x1a\xa1\x12\x21\x4f\x22\xff\x0a", 8);
}

static void fill_bits(struct subject *s)
{
	random_seed(2);
	for (int i = 0; i < 60; i++) {
		uint8_t bytes[6], mask[6];

		random_text(bytes, 6, NULL, 0);
		random_text(mask, 6, NULL, 0);
		subject_add_bytes(s, bytes, mask, 1 + random_below(6));
	}
	random_text(subject_text(s, 4000, 0), 4000, NULL, 0);
}

static void fill_nocase(struct subject *s)
{
	add_all(s, PATTERNS("i'<html'", "i'</html>'", "i'ab' 'CD' i'ef'", "'html'", "i'z'",
			   "'<H' i'tml'", "40 i'k' 5b 7b"));
	subject_set_text(s, "<html><HTML></HtMl>abCDef ABCDEF abCDEF abcdef zZ @k[{ `k[{ @K{[");
}

/* 0xdf on what is not a letter: '@' and '`' alike, '[' and '{'. */
static void fill_bit5(struct subject *s)
{
	static const uint8_t mask[] = { 0xdf, 0xdf, 0xdf, 0xdf, 0xdf };

	subject_add_bytes(s, (const uint8_t *)"@[AZ\x01", mask, 5);
	subject_add_bytes(s, (const uint8_t *)"AZBY", mask, 4);
	subject_set_text(s, "@[AZ\x01`{az!@{aZ!azbyAZBYazBy");
}

static void fill_zero_prefix(struct subject *s)
{
	add_all(s, PATTERNS("000001BA", "000001", "00", "000005800000", "00000000000000000000",
			   "0001??00"));
	static const uint8_t text[] =
		"\0\0\1\xba\0\0\0\1\xba\0\0\5\x80\0\0\0\0\0\0\0\0\0\0\0\0\1\xba";
	memcpy(subject_text(s, sizeof(text) - 1, 0), text, sizeof(text) - 1);
}

/* ---- floods ---- */

static void fill_flood(struct subject *s)
{
	add_all(s, PATTERNS("00", "0000", "0?", "00000000", "?0 ?? 00"));
	subject_text(s, 30000, 0);
	s->large = true;
}

static void fill_flood_islands(struct subject *s)
{
	uint8_t *text = subject_text(s, 400000, 'x');

	add_all(s, PATTERNS("00", "'needle'", "0000000000"));
	memset(text + 100000, 0, 30000);
	memset(text + 250001, 0, 7);
	memset(text + 399000, 0, 1000);
	for (size_t i = 0; i < s->text_len - 6; i += 9973)
		memcpy(text + i, "needle", 6);
	s->large = true;
}

/* More patterns match at one place than a buffer of the CPU engines holds. */
static void fill_many_at_once(struct subject *s)
{
	uint8_t bytes[8], mask[8];

	random_seed(3);
	memset(bytes, 0x55, sizeof(bytes));
	for (int i = 0; i < 20000; i++) {
		random_text(mask, sizeof(mask), NULL, 0);
		subject_add_bytes(s, bytes, mask, sizeof(mask));
	}
	subject_text(s, 11, 0x55);
	s->large = true;
}

/* ---- regexes ---- */

static void fill_regex(struct subject *s)
{
	add_all(s, PATTERNS("/abc|abcdef|bcd/", "/a.{0,3}b/", "/[0-9]{1,4}x/", "/ab?c/i", "'abc'"));
	subject_set_text(s, "abcdef aXXb 12345x ABC AC");
	s->expected = "0:0 0:1 0:3 0:4 1:0 7:1 13:2 14:2 15:2 16:2 19:3 23:3";
}

static void fill_regex_overlap(struct subject *s)
{
	add_all(s,
		PATTERNS("/aa/", "/a{2,5}/", "/(?:ab|a)(?:b|a)/", "/.a/", "/[^a]/", "/a.{1,6}b/"));
	random_seed(4);
	random_text(subject_text(s, 70, 0), 70, "aaab\n", 5);
}

static void fill_regex_wide(struct subject *s)
{
	uint8_t *text = subject_text(s, 60000, 0);

	add_all(s, PATTERNS("/begin.{0,4000}end/", "/x.{100}y/", "'begin'", "/[\\x00-\\x03]{20}/"));
	random_seed(5);
	random_text(text, s->text_len, "abcxyz\n \1\2", 10);
	for (int i = 0; i < 40; i++) {
		memcpy(text + random_below(59000), "begin", 5);
		memcpy(text + random_below(59000), "end", 3);
	}
	s->large = true;
}

/* Hyperscan refuses the first one for its size. */
static void fill_regex_huge(struct subject *s)
{
	uint8_t *text = subject_text(s, 3000, 'x');

	add_all(s, PATTERNS("/(?:[a-f][x-z]{0,30}c){120}d/", "'cacd'"));
	for (int i = 0; i < 120; i++)
		memcpy(text + 1000 + 2 * i, "ac", 2);
	text[1240] = 'd';
	s->expected = "1000:0 1237:1";
	s->large = true;
}

/* ---- many and long patterns ---- */

static void fill_short_200(struct subject *s)
{
	uint8_t *text = subject_text(s, 20000, 0), bytes[3];

	random_seed(11);
	random_text(text, s->text_len, "\x01\x02\x03\x04\x05\x06\x07", 7);
	for (int i = 0; i < 200; i++) {
		random_text(bytes, 3, "\x01\x02\x03\x04\x05\x06\x07", 7);
		subject_add_bytes(s, bytes, NULL, 2 + random_below(2));
	}
	s->large = true;
}

/* Literals that are found everywhere: few, and too many to be searched apart. */
static void fill_common(struct subject *s, int count)
{
	uint8_t *text = subject_text(s, 5000, 0), bytes[7];

	for (int i = 0; i < 300; i++)
		text[random_below(5000)] = (uint8_t)random_below(9);
	for (int i = 0; i < count; i++) {
		memset(bytes, 0, sizeof(bytes));
		bytes[random_below(7)] = (uint8_t)random_below(9);
		subject_add_bytes(s, bytes, NULL, 4 + random_below(4));
	}
	subject_add(s, "07 08");
	s->large = true;
}

static void fill_common_few(struct subject *s)
{
	random_seed(12);
	fill_common(s, 20);
}

static void fill_common_many(struct subject *s)
{
	random_seed(13);
	fill_common(s, 400);
}

static void fill_words(struct subject *s, uint32_t count, size_t text_len)
{
	uint8_t *text = subject_text(s, text_len, 0), word[16];

	random_text(text, text_len, "abcdefghijkl", 12);
	while (s->set.count < count) {
		size_t len = 5 + random_below(10);

		random_text(word, len, "abcdefghijkl", 12);
		subject_add_bytes(s, word, NULL, len);
		if (s->set.count % 16 == 0)
			memcpy(text + random_below((uint32_t)(text_len - len)), word, len);
	}
	s->large = true;
}

static void fill_words_100(struct subject *s)
{
	random_seed(6);
	fill_words(s, 100, 20000);
}

static void fill_words_5000(struct subject *s)
{
	random_seed(7);
	fill_words(s, 5000, 1500);
}

static void fill_words_50000(struct subject *s)
{
	random_seed(8);
	fill_words(s, 50000, 200);
}

static void fill_masks_500(struct subject *s)
{
	random_seed(9);
	for (int i = 0; i < 500; i++) {
		uint8_t bytes[8], mask[8];

		random_text(bytes, 8, NULL, 0);
		random_text(mask, 8, "\xff\xf0\x0f\xff\x00", 5);
		subject_add_bytes(s, bytes, mask, 3 + random_below(6));
	}
	random_text(subject_text(s, 6000, 0), 6000, NULL, 0);
	s->large = true;
}

static void fill_long(struct subject *s)
{
	static uint8_t bytes[5000], mask[5000];
	uint8_t *text = subject_text(s, 30000, 0);

	random_seed(10);
	random_text(bytes, sizeof(bytes), NULL, 0);
	memset(mask, 0xff, sizeof(mask));
	subject_add_bytes(s, bytes, mask, sizeof(bytes)); /* all of it */
	memset(mask + 10, 0, sizeof(mask) - 20);
	subject_add_bytes(s, bytes, mask, sizeof(bytes)); /* its ends */
	memset(mask, 0, 10);
	subject_add_bytes(s, bytes, mask, sizeof(bytes)); /* its end alone */
	memset(mask, 0xf0, sizeof(mask));
	subject_add_bytes(s, bytes, mask, sizeof(bytes)); /* all, by halves */
	random_text(text, s->text_len, NULL, 0);
	memcpy(text + 1000, bytes, sizeof(bytes));
	memcpy(text + 15000, bytes, sizeof(bytes));
	memcpy(text + s->text_len - sizeof(bytes), bytes, sizeof(bytes));
	s->large = true;
}

static void fill_nothing(struct subject *s)
{
	subject_set_text(s, "there is no pattern");
	s->expected = "";
}

/* ---- random ---- */

static void subject_random(struct subject *s, uint64_t seed)
{
	static const char *const alphabets[] = { "ab", "aAbB", "\0\1\xff", "abcdefgh", "\0" };
	static const uint32_t sizes[] = { 2, 4, 3, 8, 1 };
	uint32_t which, count, len;

	random_seed(seed);
	which = random_below(5);
	len = 1 + random_below(random_below(4) ? 70 : 3000);
	random_text(subject_text(s, len, 0), len, alphabets[which], sizes[which]);
	count = 1 + random_below(30);
	for (uint32_t i = 0; i < count; i++) {
		uint8_t bytes[48], mask[48];

		len = 1 + random_below(random_below(3) ? 6 : 48);
		random_text(bytes, len, alphabets[which], sizes[which]);
		random_text(mask, len, "\xff\xff\xff\xff\xdf\x0f\xf0\x00", random_below(3) ? 4 : 8);
		subject_add_bytes(s, bytes, mask, len);
	}
}

/* Few short patterns that are alike, and long texts in which next to nothing matches, but something
 * at the end: where a fast search skips ahead, and may skip too much. */
static void subject_sparse(struct subject *s, uint64_t seed)
{
	uint8_t bytes[5], *text;
	uint32_t count, len;

	random_seed(seed);
	len = 60 + random_below(700);
	text = subject_text(s, len, 0);
	for (uint32_t i = 0; i < len; i++)
		text[i] = (uint8_t)random_below(64);
	count = 1 + random_below(4);
	for (uint32_t i = 0; i < count; i++) {
		uint32_t pattern_len = 1 + random_below(5), at;

		random_text(bytes, 5, "EFHQ", 4);
		subject_add_bytes(s, bytes, NULL, pattern_len);
		at = random_below(2) ? len - pattern_len - random_below(40)
				     : random_below(len - pattern_len);
		memcpy(text + at, bytes, pattern_len);
	}
}

static void fill_sparse_end(struct subject *s)
{
	uint8_t *text = subject_text(s, 140, 0);

	add_all(s, PATTERNS("'FH'", "'FE'"));
	memset(text, '.', 140);
	memcpy(text + 131, "FE", 2);
	memcpy(text + 138, "FH", 2);
	s->expected = "131:1 138:0";
}

static const struct subject_case {
	const char *name;
	void (*fill)(struct subject *subject);
	bool slow; /* left out by --quick */
} subject_cases[] = {
	{ "empty text", fill_empty, false },
	{ "one byte", fill_one_byte, false },
	{ "text too short", fill_too_short, false },
	{ "text just fits", fill_just_fits, false },
	{ "over the edge", fill_over_the_edge, false },
	{ "no hit", fill_no_hit, false },
	{ "no pattern", fill_nothing, false },
	{ "splits", fill_splits, false },
	{ "dense and long", fill_dense_long, true },
	{ "runs of zeros", fill_runs_of_zeros, true },
	{ "longer than zeros", fill_longer_than_zeros, true },
	{ "zeros that match", fill_zeros_that_match, true },
	{ "overlapping", fill_overlapping, false },
	{ "nested", fill_nested, false },
	{ "prefixes", fill_prefixes, false },
	{ "wild bytes", fill_wild, false },
	{ "nibbles", fill_nibbles, false },
	{ "bits", fill_bits, false },
	{ "without case", fill_nocase, false },
	{ "bit 5", fill_bit5, false },
	{ "zero prefix", fill_zero_prefix, false },
	{ "flood", fill_flood, false },
	{ "islands of flood", fill_flood_islands, false },
	{ "many at once", fill_many_at_once, false },
	{ "regex", fill_regex, false },
	{ "regex overlapping", fill_regex_overlap, false },
	{ "regex wide", fill_regex_wide, false },
	{ "regex too large", fill_regex_huge, true },
	{ "200 short ones", fill_short_200, false },
	{ "few common ones", fill_common_few, false },
	{ "many common ones", fill_common_many, true },
	{ "100 words", fill_words_100, false },
	{ "5,000 words", fill_words_5000, true },
	{ "50,000 words", fill_words_50000, true },
	{ "500 masks", fill_masks_500, false },
	{ "long patterns", fill_long, true },
	{ "at the end alone", fill_sparse_end, false },
	{ NULL, NULL, false },
};

#endif
