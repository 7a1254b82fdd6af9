/*
 * What an engine says of photographs that it decodes (scan/scan.h) against the same functions called for one
 * thread after the other (photos_case.h): random data that the tables of tests/golden's pictures can have, in
 * chunks whose borders are anywhere, as it is and damaged. Used by engine_tests.c alone.
 */
#ifndef BURIN_TESTS_PHOTOGRAPHS_H
#define BURIN_TESTS_PHOTOGRAPHS_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "carve/view.h"
#include "photos_case.h"
#include "scan/scan.h"

#define PHOTOGRAPHS_MAX 64
#define PHOTOGRAPHS_CHUNKS 8
#define PHOTOGRAPHS_CHUNK ((size_t)1 << 20)
#define PHOTOGRAPHS_TAIL 2
#define PHOTOGRAPHS_LEN_MIN 16384 /* fewer bytes may be left to the carver */

struct photographs {
	const struct scan_engine *engine;
	void (*judge)(const char *name, const char *what);
	uint64_t random;
	uint8_t *image;
	size_t len, room;
	struct coded_scan scans[PHOTOGRAPHS_MAX];
	uint64_t ends[PHOTOGRAPHS_MAX]; /* that the engine gave */
	size_t count;
	unsigned valid, found;
};

static uint32_t photographs_draw(struct photographs *all, uint32_t below)
{
	all->random = all->random * 6364136223846793005u + 1442695040888963407u;
	return (uint32_t)((all->random >> 33) % below);
}

/* ---- making -------------------------------------------------------------------------------- */

struct photographs_bits {
	struct photographs *all;
	uint32_t held, count;
};

static void photographs_put(struct photographs_bits *bits, uint32_t value, uint32_t count)
{
	struct photographs *all = bits->all;

	while (count--) {
		bits->held = bits->held << 1 | (value >> count & 1);
		if (++bits->count % 8)
			continue;
		all->image[all->len++] = (uint8_t)bits->held;
		if ((bits->held & 0xff) == 0xff)
			all->image[all->len++] = 0;
	}
}

/* Draws a code of the table that is not -1, and puts it. */
static int photographs_put_code(struct photographs_bits *bits, const struct coded_table *table)
{
	for (;;) {
		uint32_t drawn = photographs_draw(bits->all, 1u << 16);
		struct photo_bits held = { (uint64_t)drawn << 48, 64, NULL };
		int code = photo_take(table, &held);

		if (code < 0)
			continue;
		photographs_put(bits, drawn >> (16 - (64 - held.count)), 64 - held.count);
		return code;
	}
}

/* The code of EOB, by the table's own order. */
static void photographs_put_eob(struct photographs_bits *bits, const struct coded_table *table)
{
	for (uint32_t drawn = 0; drawn < 1u << 16; drawn += 1u << (16 - CODED_BITS)) {
		struct photo_bits held = { (uint64_t)drawn << 48, 64, NULL };

		if (photo_take(table, &held) != 0)
			continue;
		photographs_put(bits, drawn >> (16 - (64 - held.count)), 64 - held.count);
		return;
	}
}

static void photographs_put_block(struct photographs_bits *bits, const struct carve_coded *coded,
	const struct coded_block *block, int32_t *dc)
{
	const struct coded_table *ac = &coded->tables[block->ac];
	uint32_t most = 1 + photographs_draw(bits->all, 20);
	int size = photographs_put_code(bits, &coded->tables[block->dc]);
	uint32_t value;

	/* It goes back to the middle, whatever the sizes are. */
	value = size ? (uint32_t)(*dc > 0 ? 0 : 1) << (size - 1) : 0;
	if (size > 1)
		value |= photographs_draw(bits->all, 1u << (size - 1));
	photographs_put(bits, value, (uint32_t)size);
	if (size)
		*dc += (int32_t)value < 1 << (size - 1) ? (int32_t)value - (1 << size) + 1
							: (int32_t)value;
	for (uint32_t k = 1; k < 64 - 16 && most; most--) {
		int code = photographs_put_code(bits, ac);

		if (code == 0)
			return;
		photographs_put(
			bits, photographs_draw(bits->all, 1u << (code & 15)), (uint32_t)code & 15);
		k += ((uint32_t)code >> 4) + 1;
	}
	photographs_put_eob(bits, ac);
}

/* Adds a picture of golden's kind, of other height and width, with random data; the scan describes it. */
static void photographs_add(struct photographs *all, const char *path, struct coded_scan *scan)
{
	struct carve_coded *coded = xcalloc(1, sizeof(*coded));
	struct photographs_bits bits = { .all = all };
	uint8_t *start = all->image + all->len, *frame;
	FILE *file = fopen(path, "rb");
	struct view *view;
	int32_t dc[4] = { 0 };
	size_t len = file ? fread(start, 1, 4096, file) : 0;

	if (file)
		fclose(file);
	frame = memmem(start, len, "\xff\xc0", 2);
	coded->begins = true;
	if (frame) {
		frame[5] = (uint8_t)(1 + photographs_draw(all, 3));
		frame[7] = (uint8_t)(1 + photographs_draw(all, 3));
	}
	view = view_new_memory(start, len);
	if (!frame || !carver_find("jpeg")->coded(view, NULL, coded)) {
		fprintf(stderr, "engines: %s is no picture\n", path);
		exit(2);
	}
	view_free(view);
	scan->picture = all->len;
	scan->data = all->len += coded->data;
	scan->coded = coded;
	for (uint64_t mcu = 0; mcu < coded->mcus; mcu++)
		for (uint32_t i = 0; i < coded->block_count; i++)
			photographs_put_block(
				&bits, coded, &coded->blocks[i], &dc[coded->blocks[i].component]);
	while (bits.count % 8)
		photographs_put(&bits, 1, 1);
	all->image[all->len++] = 0xff;
	all->image[all->len++] = 0xd9;
}

static void photographs_damage(struct photographs *all, uint64_t from)
{
	uint64_t at = from + photographs_draw(all, (uint32_t)(all->len - from));
	size_t most = all->len - at, len = 1 + photographs_draw(all, 300);

	len = len < most ? len : most;
	switch (photographs_draw(all, 5)) {
	case 0:
		all->image[at] ^= (uint8_t)(1u << photographs_draw(all, 8));
		break;
	case 1:
		memset(all->image + at, 0, len);
		break;
	case 2:
		memmove(all->image + at, all->image + at + len, most - len);
		break;
	case 3:
		for (size_t i = 0; i < len; i++)
			all->image[at + i] = (uint8_t)photographs_draw(all, 256);
		break;
	case 4:
		all->image[at] = 0xff;
		if (most > 1)
			all->image[at + 1] = (uint8_t)(0xc0 + photographs_draw(all, 64));
		break;
	}
}

static void photographs_make(struct photographs *all)
{
	static const char *const paths[] = { "tests/golden/jpeg/422.jpg",
		"tests/golden/jpeg/444.jpg", "tests/golden/jpeg/grey.jpg",
		"tests/golden/jpeg/baseline.jpg", "tests/golden/jpeg/optimized.jpg" };

	while (all->count < PHOTOGRAPHS_MAX && all->room - all->len > PHOTOGRAPHS_CHUNK * 2) {
		struct coded_scan *scan = &all->scans[all->count++];

		photographs_add(all, paths[photographs_draw(all, 5)], scan);
		if (!photographs_draw(all, 3))
			photographs_damage(all, scan->data);
		for (uint32_t i = photographs_draw(all, 5000); i; i--)
			all->image[all->len++] = (uint8_t)photographs_draw(all, 256);
	}
}

/* ---- asking -------------------------------------------------------------------------------- */

/* Has the engine decode what begins in the chunk that it has given back, and what was cut in the one before. */
static void photographs_ask(struct photographs *all, struct scan *scan, const struct chunk *chunk)
{
	struct coded_scan asked[PHOTOGRAPHS_MAX];
	struct coded_batch *batch;
	size_t numbers[PHOTOGRAPHS_MAX], count = 0;

	for (size_t i = 0; i < all->count; i++) {
		uint64_t data = all->scans[i].data;

		if (data < chunk->offset ? !all->scans[i].cut : data >= chunk->offset + chunk->len)
			continue;
		numbers[count] = i;
		asked[count++] = all->scans[i];
	}
	batch = count ? all->engine->decode_begin(scan, asked, count) : NULL;
	if (batch)
		all->engine->decode_end(scan, batch);
	for (size_t i = 0; i < count; i++) {
		struct coded_scan *own = &all->scans[numbers[i]];

		own->cut = asked[i].cut && own->data >= chunk->offset;
		all->ends[numbers[i]] = asked[i].end;
	}
}

static const char *photographs_run(struct photographs *all, size_t chunk_len)
{
	struct pattern_set set = { 0 };
	struct pattern pattern;
	struct error error = { 0 };
	struct hit hits[1024];
	struct scan *scan;
	struct scan_options options = {
		.chunk_len = chunk_len + PHOTOGRAPHS_TAIL, .chunks = 2, .decodes = true
	};

	if (pattern_parse(&pattern, "FF D8 FF", &error))
		return "a pattern";
	pattern_set_add(&set, &pattern);
	if (all->engine->open(&scan, &set, &options, &error))
		return "an engine that can't be opened";
	for (size_t at = 0; at < all->len; at += chunk_len) {
		size_t left = all->len - at, len = left < chunk_len ? left : chunk_len;
		struct chunk chunk = { .data = all->image + at,
			.offset = at,
			.len = len,
			.tail_len = left - len < PHOTOGRAPHS_TAIL ? left - len : PHOTOGRAPHS_TAIL,
			.hits = hits,
			.hit_capacity = 1024 };
		struct chunk *reaped;

		if (all->engine->submit(scan, &chunk) || all->engine->reap(scan, &reaped) ||
			chunk.status)
			return "a chunk that is not searched";
		photographs_ask(all, scan, &chunk);
	}
	all->engine->close(scan);
	pattern_set_free(&set);
	return NULL;
}

/* What the same functions say of the same two chunks. */
static uint64_t photographs_expect(
	const struct photographs *all, const struct coded_scan *scan, size_t chunk_len)
{
	uint64_t from = scan->data / chunk_len * chunk_len, end;
	size_t left = all->len - from, len = left < 2 * chunk_len ? left : 2 * chunk_len;
	struct photo_text text =
		photo_text_on_host(all->image + from, (uint32_t)len, (uint32_t)len, from);
	bool cut;

	end = photo_decode_on_host(&text, 1, scan->data, scan->coded, &cut);
	free((void *)text.tiles);
	return end;
}

/* An engine that decodes nothing passes. */
static void photographs_test(const struct scan_engine *engine, uint64_t seed, unsigned rounds,
	void (*judge)(const char *name, const char *what))
{
	struct photographs *all = xcalloc(1, sizeof(*all));

	all->engine = engine;
	all->room = PHOTOGRAPHS_CHUNKS * PHOTOGRAPHS_CHUNK;
	all->image = xmalloc(all->room);
	for (unsigned round = 0; round < rounds && engine->decode_begin; round++) {
		size_t chunk_len;
		const char *what;

		all->random = seed + round;
		all->len = all->count = 0;
		photographs_make(all);
		chunk_len = 4096 * (64 + photographs_draw(all, 192)) +
			    (photographs_draw(all, 2) ? photographs_draw(all, 4096) : 0);
		what = photographs_run(all, chunk_len);
		for (size_t i = 0; i < all->count; i++) {
			const struct coded_scan *scan = &all->scans[i];
			uint64_t end = photographs_expect(all, scan, chunk_len);

			if (end && end - scan->data >= 2 * PHOTOGRAPHS_LEN_MIN) {
				all->valid++;
				all->found += all->ends[i] != 0;
			}
			if (!what && all->ends[i] && all->ends[i] != end)
				what = "a photograph that is not valid";
			free((void *)scan->coded);
		}
		judge("photographs", what);
	}
	/* Few are left to the carver. */
	if (engine->decode_begin)
		judge("photographs found",
			all->found < all->valid * 9 / 10 || !all->valid ? "too few" : NULL);
	free(all->image);
	free(all);
}

#endif
