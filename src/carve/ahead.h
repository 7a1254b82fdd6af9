/*
 * Coded data that is decoded ahead of its checks, elsewhere and many at a time (struct coded_scan of
 * scan/scan.h): described where headers are found, on the bytes that were just scanned; and what came of
 * it, for the checks. Its carver then reads the data all the same, and decides on everything else, but does not
 * decode it. Where nothing is known it does so; so this changes no result.
 */
#ifndef BURIN_CARVE_AHEAD_H
#define BURIN_CARVE_AHEAD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ahead;
struct carve_coded;
struct codec_writer;
struct image;
struct rule;
struct rules;
struct view;

/* What it is given must outlive it. threads: that call ahead_describe. confined: carvers describe in processes of
 * their own (carve/check_worker.h), one for each thread. */
struct ahead *ahead_new(
	const struct rules *rules, struct image *image, unsigned threads, bool confined);
/* NULL is fine. */
void ahead_free(struct ahead *ahead);

/* Whether any rule has coded data. */
bool ahead_wanted(const struct ahead *ahead);
/* Whether there may be such data after a hit of the pattern. */
bool ahead_describes(const struct ahead *ahead, uint32_t pattern);
/* A candidate whose header is at the hit, and its data. */
struct ahead_item {
	uint64_t hit;
	uint32_t pattern;
	struct carve_coded *
		coded; /* out: the caller frees it with free(); NULL: there is none that can be told */
	uint64_t picture, data; /* out: where it and its data begin, in the image */
};
/* At most as many are given at a time. */
#define AHEAD_ITEMS_MAX 32

/* Describes their data. bytes: the image's [offset, offset + len), which hold the hits. From any thread; worker: its
 * number. */
void ahead_describe(struct ahead *ahead, unsigned worker, const uint8_t *bytes, uint64_t offset,
	size_t len, struct ahead_item *items, size_t count);
/* For the process that describes: writes whether it can describe the data of a candidate, at which its view was pointed,
 * and how (coded_codec). */
void ahead_describe_for(struct view *view, const struct rule *rule, struct codec_writer *writer);
/* Units of work for the segments before the data. */
#define AHEAD_WORK_MAX (1u << 20)

/* The data at `data`, of the picture at `picture`, is valid up to the marker at `end`. Of many the oldest are
 * forgotten. From any thread, as the others. */
void ahead_add(struct ahead *ahead, uint64_t picture, uint64_t data, uint64_t end);
/* False: nothing is known of the picture. */
bool ahead_find(const struct ahead *ahead, uint64_t picture, uint64_t *data, uint64_t *end);
/* 0: it is not known. */
uint64_t ahead_end(const struct ahead *ahead, uint64_t picture, uint64_t data);

#endif
