#include "bench/papers/paper_data.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "bench/random.h"
#include "patterns/rarity.h"

/* ---- patterns in general ------------------------------------------------------------------- */

static void add_bytes(struct pattern_set *set, const uint8_t *bytes, size_t len)
{
	uint8_t *mask = xmalloc(len);
	struct pattern pattern;

	memset(mask, 0xff, len);
	if (pattern_from_bytes(&pattern, bytes, mask, len, NULL) == 0)
		pattern_set_add(set, &pattern);
	free(mask);
}

void paper_cut_pattern(
	struct pattern_set *set, const struct bench_text *text, uint32_t len, uint64_t seed)
{
	if (len && len <= text->len)
		add_bytes(set, text->bytes + random_next(&seed) % (text->len - len + 1), len);
}

/* ---- disks --------------------------------------------------------------------------------- */

#define BLOCK_LEN 4096
#define DRAW_BITS 16

/* A byte for each number of 16 bits; its share of them is its probability. */
static void make_draw(uint8_t draw[1 << DRAW_BITS], const float probability[256])
{
	double sum = 0;
	unsigned at = 0;

	for (unsigned byte = 0; byte < 256; byte++) {
		sum += probability[byte];
		while (at < (1 << DRAW_BITS) && at < sum * (1 << DRAW_BITS))
			draw[at++] = (uint8_t)byte;
	}
	memset(draw + at, 0, (1 << DRAW_BITS) - at);
}

static unsigned draw_kind(uint64_t *seed)
{
	float left = (float)(random_next(seed) >> 40) / (float)(1 << 24);
	unsigned kind = 0;

	while (kind + 1 < RARITY_KINDS && left >= rarity_weight[kind])
		left -= rarity_weight[kind++];
	return kind;
}

void paper_disk_text(struct bench_text *text, uint64_t seed)
{
	uint8_t(*draws)[1 << DRAW_BITS] = xmalloc(RARITY_KINDS * sizeof(*draws));
	float probability[RARITY_KINDS][256];

	rarity_bytes(probability);
	for (unsigned kind = 0; kind < RARITY_KINDS; kind++)
		make_draw(draws[kind], probability[kind]);
	for (size_t at = 0; at < text->len; at += BLOCK_LEN) {
		const uint8_t *draw = draws[draw_kind(&seed)];
		size_t len = text->len - at < BLOCK_LEN ? text->len - at : BLOCK_LEN;
		uint64_t bits = 0;

		for (size_t i = 0; i < len; i++, bits >>= DRAW_BITS) {
			if (i % 4 == 0)
				bits = random_next(&seed);
			text->bytes[at + i] = draw[bits & ((1 << DRAW_BITS) - 1)];
		}
	}
	free(draws);
}

void paper_disk_patterns(struct pattern_set *set)
{
	static const char *const texts[] = {
		"4A 47 04 0E",
		"CF C7 CB",
		"4A 47 03 0E",
		"D0 CB 00 00",
		"'GIF87a'",
		"'GIF89a'",
		"FF FC FD FE",
		"'II' 2A 00",
		"'MM' 00 2A",
		"00 00 01 BA",
		"00 00 01 B9",
		"00 00 01 B3",
		"00 00 01 B7",
		"'FWS'",
		"D0 CF 11 E0 A1 B1 1A E1 00 00",
		"D0 CF 11 E0 A1 B1",
		"'!BN' A5 6F B5 A6",
		"'!BDN'",
		"CF AD 12 FE C5 FD 74 6F",
		"'JMF9'",
		"'JMF6'",
		"'%PDF'",
		"'%EOF' 0D",
		"'%EOF' 0A",
		"'AOLVM'",
		"'PGPdMAIN' 60 01",
		"'-----BEGIN PGP'",
		"'.ra' FD",
		"'.RMF'",
		"'regf'",
		"'CREG'",
		"'PK' 03 04",
		"CA FE BA BE",
	};

	for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++) {
		struct pattern pattern;

		if (pattern_parse(&pattern, texts[i], NULL) == 0)
			pattern_set_add(set, &pattern);
	}
}

/* ---- DNA ----------------------------------------------------------------------------------- */

#define DNA_PATTERN_LEN 8
#define DNA_TRIES_MAX 10000000 /* a short text may not have enough different ones */

void paper_dna_text(struct bench_text *text, uint64_t seed)
{
	uint64_t bits = 0;

	for (size_t i = 0; i < text->len; i++, bits >>= 2) {
		if (i % 32 == 0)
			bits = random_next(&seed);
		text->bytes[i] = (uint8_t) "acgt"[bits & 3];
	}
}

void paper_dna_patterns(
	struct pattern_set *set, const struct bench_text *text, uint32_t count, uint64_t seed)
{
	for (uint32_t i = 0; set->count < count && i < DNA_TRIES_MAX; i++)
		paper_cut_pattern(set, text, DNA_PATTERN_LEN, random_next(&seed));
}

/* ---- packets ------------------------------------------------------------------------------- */

#define SNORT_COUNT 1998
#define SNORT_LONGEST 243
#define SNORT_SHARING 64 /* per cent of the patterns begin like an earlier one */
/* The published bandwidths mean 1.03 to 1.15 lookups a byte: about 8 more for each match. */
#define ATTACK_LONGEST 13

/* What packets are made of: no capital letter, no brace, no byte above 0x9F. */
static const char packet_bytes[] = "abcdefghijklmnopqrstuvwxyz0123456789 /.:;=&?-_%\r\n\"<>,()";

void paper_packets_text(struct bench_text *text, uint64_t seed)
{
	size_t at = 0;

	while (at < text->len) {
		/* A header of binary, then a run of text, as in a packet. */
		uint32_t header = 40, len = 200 + random_below(&seed, 1200);

		for (uint32_t i = 0; i < header + len && at < text->len; i++) {
			uint32_t value =
				random_below(&seed, i < header ? 0x20 : sizeof(packet_bytes) - 1);

			text->bytes[at++] =
				i < header ? (uint8_t)value : (uint8_t)packet_bytes[value];
		}
	}
}

/* 21 bytes on average, as in the paper; one in 200 a single byte, one in 100 long. */
static uint32_t snort_len(uint64_t *seed)
{
	uint32_t kind = random_below(seed, 200);

	if (kind < 1)
		return 1;
	if (kind < 3)
		return 100 + random_below(seed, SNORT_LONGEST - 99);
	return 4 + random_below(seed, 16) + random_below(seed, 18);
}

/* How many first bytes a pattern shares with an earlier one. Most share some: 41,997 characters make
 * 27,754 states. */
static uint32_t snort_shared(uint32_t len, uint64_t *seed)
{
	uint32_t shared = random_below(seed, 100) < SNORT_SHARING ? 1 + random_below(seed, 28) : 0;

	return shared < len ? shared : len - 1;
}

void paper_packets_patterns(struct pattern_set *set, uint64_t seed)
{
	while (set->count < SNORT_COUNT) {
		uint8_t bytes[SNORT_LONGEST];
		uint32_t len = snort_len(&seed), shared;
		bool binary = random_below(&seed, 4) == 0;

		for (uint32_t i = 0; i < len; i++)
			bytes[i] = binary ? (uint8_t)random_below(&seed, 0xa0)
					  : (uint8_t)packet_bytes[random_below(
						    &seed, sizeof(packet_bytes) - 1)];
		/* No packet has a byte that begins a pattern: the published bandwidths mean 0.99 to
		 * 1.00 lookups a byte. Those of a single byte have one that no other pattern has. */
		bytes[0] = (uint8_t)(len == 1 ? 0xf0 + random_below(&seed, 0x10)
				     : binary ? 0xa0 + random_below(&seed, 0x50)
					      : 'A' + random_below(&seed, 26));
		shared = snort_shared(len, &seed);
		if (shared && set->count) {
			const struct pattern *other =
				&set->patterns[random_below(&seed, set->count)];

			if (other->len > 1)
				memcpy(bytes, other->bytes,
					shared < other->len ? shared : other->len);
		}
		add_bytes(set, bytes, len);
	}
}

/* The matches in the first bytes of the packets with attacks, as published. */
static const struct {
	double mb; /* of 192 */
	double matches;
} attacks[] = { { 0, 0 }, { 2, 28312 }, { 4, 58660 }, { 8, 107433 }, { 16, 215428 }, { 32, 458491 },
	{ 64, 840956 }, { 128, 933759 }, { 192, 1025876 } };

/* Where the published capture has its n-th match, in MB. */
static double attack_place(double n)
{
	size_t i = 1;

	while (i + 1 < sizeof(attacks) / sizeof(*attacks) && n >= attacks[i].matches)
		i++;
	return attacks[i - 1].mb + (n - attacks[i - 1].matches) *
					   (attacks[i].mb - attacks[i - 1].mb) /
					   (attacks[i].matches - attacks[i - 1].matches);
}

void paper_packets_attacks(struct bench_text *text, const struct pattern_set *set, uint64_t seed)
{
	const double mb = 1 << 20, all = attacks[sizeof(attacks) / sizeof(*attacks) - 1].matches;
	/* A shorter text has the same densities in the same shares of it. */
	double scale = (double)text->len / (192 * mb);
	uint64_t count = (uint64_t)(all * scale);
	size_t end = 0;

	for (uint64_t i = 0; i < count; i++) {
		size_t at = (size_t)(attack_place((double)i / scale) * scale * mb);
		const struct pattern *pattern;

		do {
			pattern = &set->patterns[random_below(&seed, set->count)];
		} while (pattern->len > ATTACK_LONGEST || pattern->len < 2);
		at = at < end ? end : at; /* never over the one before */
		if (at + pattern->len > text->len)
			break;
		memcpy(text->bytes + at, pattern->bytes, pattern->len);
		end = at + pattern->len;
	}
}

/* ---- prose --------------------------------------------------------------------------------- */

#define VOCABULARY 100000u
#define WORD_MAX 24

static const char *const syllables[] = { "a", "an", "ar", "al", "ba", "be", "con", "de", "dis", "e",
	"en", "er", "ex", "fa", "for", "ga", "ge", "he", "i", "in", "ka", "la", "le", "li", "lo",
	"ma", "me", "mi", "men", "mo", "na", "ne", "ni", "no", "o", "on", "or", "pa", "per", "pre",
	"pro", "ra", "re", "ri", "ro", "sa", "se", "si", "so", "sta", "su", "ta", "te", "ter", "ti",
	"to", "tra", "tu", "u", "un", "va", "ve", "vi", "wa", "we", "wi", "the", "thi", "ship" };
static const char *const endings[] = { "", "", "s", "ed", "ing", "er", "ly", "tion" };

#define SYLLABLES (sizeof(syllables) / sizeof(*syllables))
#define ENDINGS (sizeof(endings) / sizeof(*endings))

/* The word of a rank, the frequent ones short. Different ranks may have the same word. */
static size_t make_word(char word[WORD_MAX], uint32_t rank)
{
	size_t len = 0;
	uint32_t left = rank;

	do {
		len += (size_t)snprintf(
			word + len, WORD_MAX - len, "%s", syllables[left % SYLLABLES]);
		left /= SYLLABLES;
	} while (left);
	if (rank >= SYLLABLES)
		len += (size_t)snprintf(word + len, WORD_MAX - len, "%s", endings[rank % ENDINGS]);
	return len;
}

/* By Zipf's law: the probability of a rank is as one over it. */
static uint32_t draw_rank(uint64_t *seed)
{
	return (uint32_t)exp(random_share(seed) * log(VOCABULARY));
}

void paper_prose_text(struct bench_text *text, uint64_t seed)
{
	char word[WORD_MAX];
	size_t at = 0;

	while (at < text->len) {
		size_t len = make_word(word, draw_rank(&seed)), room = text->len - at;

		word[len++] = random_below(&seed, 12) ? ' ' : '\n';
		memcpy(text->bytes + at, word, len < room ? len : room);
		at += len;
	}
}

/*
 * The published automata have 573, 8,606 and 26,369 states for 100, 5,000 and 50,000 patterns. A word
 * has a state of its own at its end, so that 50,000 different ones have more: most of their patterns
 * were equal. That is what words drawn from running text are, and with the numbers below (the least and
 * the greatest rank, the exponent of Zipf's law, the shortest word) the automata have about as many
 * states as theirs, and the words as many letters: 7.58, 8.28 and 8.58.
 */
#define DRAWN_RANK_MIN SYLLABLES
#define DRAWN_RANK_MAX 11000u
#define DRAWN_EXPONENT 1.3
#define DRAWN_LEN_MIN 7

static uint32_t draw_pattern_rank(uint64_t *seed)
{
	const double power = 1 - DRAWN_EXPONENT, first = pow(DRAWN_RANK_MIN, power);

	return (uint32_t)pow(
		first + random_share(seed) * (pow(DRAWN_RANK_MAX, power) - first), 1 / power);
}

void paper_prose_patterns(struct pattern_set *set, uint32_t count, uint64_t seed)
{
	for (uint32_t drawn = 0; drawn < count;) {
		char word[WORD_MAX];
		size_t len = make_word(word, draw_pattern_rank(&seed));

		if (len < DRAWN_LEN_MIN)
			continue;
		add_bytes(set, (const uint8_t *)word, len); /* once, however often it is drawn */
		drawn++;
	}
}

size_t paper_dictionary_len(const struct pattern_set *set)
{
	size_t len = 0;

	for (uint32_t i = 0; i < set->count; i++)
		len += set->patterns[i].len;
	return len;
}

static void shuffle(uint32_t *order, uint32_t count, uint64_t *seed)
{
	for (uint32_t i = 0; i < count; i++)
		order[i] = i;
	for (uint32_t i = count; i > 1; i--) {
		uint32_t other = random_below(seed, i), kept = order[i - 1];

		order[i - 1] = order[other];
		order[other] = kept;
	}
}

void paper_dictionary_text(struct bench_text *text, const struct pattern_set *set, uint64_t seed)
{
	uint32_t *order = xcalloc(set->count, sizeof(*order));
	size_t at = 0;

	while (set->count && at < text->len) {
		shuffle(order, set->count, &seed);
		for (uint32_t i = 0; i < set->count && at < text->len; i++) {
			const struct pattern *pattern = &set->patterns[order[i]];
			size_t room = text->len - at;

			memcpy(text->bytes + at, pattern->bytes,
				pattern->len < room ? pattern->len : room);
			at += pattern->len;
		}
	}
	free(order);
}
