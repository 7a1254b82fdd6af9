/*
 * Texts and dictionaries like those that the papers searched, as nearly as they can be made: none
 * of them was published. The same seed gives the same data.
 */
#ifndef BURIN_BENCH_PAPERS_PAPER_DATA_H
#define BURIN_BENCH_PAPERS_PAPER_DATA_H

#include "bench/search_text.h"
#include "patterns/pattern_set.h"

/* Zha and Sahni: a disk image, by the built-in model of disk content (patterns/rarity.h): kinds
 * of content in blocks of 4 KiB, bytes drawn by what is frequent in each. */
void paper_disk_text(struct bench_text *text, uint64_t seed);
/* 33 headers and footers of Scalpel's rules without wild bytes, 3 to 14 bytes long. */
void paper_disk_patterns(struct pattern_set *set);

/* Kouzinopoulos and others: the letters a, c, g, t; `count` different patterns of 8 letters, cut
 * out of the text. */
void paper_dna_text(struct bench_text *text, uint64_t seed);
void paper_dna_patterns(
	struct pattern_set *set, const struct bench_text *text, uint32_t count, uint64_t seed);

/* Lin and others: packets in which none of the patterns occurs, and 1,998 different patterns of 1
 * to 243 bytes, 42,000 together, like the content strings of Snort's rules: words and numbers, some
 * binary. They share first bytes, so that a trie of them has about the published 27,754 states. No
 * packet has a byte that begins a pattern. */
void paper_packets_text(struct bench_text *text, uint64_t seed);
void paper_packets_patterns(struct pattern_set *set, uint64_t seed);
/* Puts patterns into the packets: in the first 2, 4, 8, ... of 192 MB as many as published. */
void paper_packets_attacks(struct bench_text *text, const struct pattern_set *set, uint64_t seed);

/* Tran, Lee and Choi: prose of made-up words with the frequencies of a language (Zipf's law), and
 * `count` words of 7 and more letters as they occur in it: the set has each of them once, and as many
 * states as the published automata. */
void paper_prose_text(struct bench_text *text, uint64_t seed);
void paper_prose_patterns(struct pattern_set *set, uint32_t count, uint64_t seed);
/* Dict_Input: the patterns of the set one after the other in random order, as often as fits. */
void paper_dictionary_text(struct bench_text *text, const struct pattern_set *set, uint64_t seed);
/* The length of one such round. */
size_t paper_dictionary_len(const struct pattern_set *set);

/* Han: one pattern of len bytes cut out of the text. */
void paper_cut_pattern(
	struct pattern_set *set, const struct bench_text *text, uint32_t len, uint64_t seed);

#endif
