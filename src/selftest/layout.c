/* Plants files one after another, with fillings between them. The seed is fixed, so that the image
 * is the same wherever the test runs, and its hash can be compared. */
#include "selftest/layout.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "bench/random.h"

#define CLUSTER ((size_t)4096)
#define KINDS_MAX 16
#define SEED 20240229

struct layout_builder {
	struct layout *layout;
	const struct sample_kind *kinds[KINDS_MAX]; /* those that are planted */
	unsigned kind_count;
	enum layout_class class;
	uint64_t seed;
};

const char *layout_class_name(enum layout_class class)
{
	static const char *const names[] = { "contiguous", "unaligned", "buffer edges", "nested",
		"truncated", "damaged", "decoys" };

	return names[class];
}

/* ---- between files ------------------------------------------------------------------------- */

/* Adds zeros, words or noise. */
static void fill(struct layout_builder *builder, size_t len)
{
	struct bytes *image = &builder->layout->image;
	unsigned kind = random_below(&builder->seed, 3);
	uint8_t byte = 0;

	if (kind == 0) {
		sample_text(image, len, &builder->seed);
		return;
	}
	while (len--) {
		if (kind == 1)
			byte = (uint8_t)random_next(&builder->seed);
		bytes_add(image, &byte, 1);
	}
}

/* Fills up to the next offset that is `before` bytes before a multiple of unit. */
static void fill_to(struct layout_builder *builder, size_t unit, size_t before)
{
	size_t past = (builder->layout->image.len + before) % unit;

	if (past)
		fill(builder, unit - past);
}

/* ---- files --------------------------------------------------------------------------------- */

static void hash_bytes(const void *data, size_t len, struct hashes *hashes)
{
	struct hasher *hasher = hasher_new(HASH_SHA256);

	hasher_update(hasher, data, len);
	hasher_finish(hasher, hashes);
	hasher_free(hasher);
}

static void add_planted(
	struct layout_builder *builder, const char *type, size_t offset, size_t len, bool inner)
{
	struct layout *layout = builder->layout;
	struct planted *planted;

	layout->planted =
		xgrow(layout->planted, &layout->capacity, layout->count, sizeof(*layout->planted));
	planted = &layout->planted[layout->count++];
	*planted = (struct planted){ builder->class, type, offset, len, inner, { "", "", "" } };
	hash_bytes(layout->image.data + offset, len, &planted->hashes);
}

/* Plants a whole file. */
static void plant(struct layout_builder *builder, const struct sample_kind *kind, size_t size)
{
	struct bytes *image = &builder->layout->image;
	size_t start = image->len;

	kind->make(image, size, &builder->seed);
	add_planted(builder, kind->type, start, image->len - start, false);
}

static const struct sample_kind *next_kind(const struct layout_builder *builder, unsigned number)
{
	return builder->kinds[number % builder->kind_count];
}

static size_t some_size(struct layout_builder *builder)
{
	return 500 + random_below(&builder->seed, 12000);
}

/* ---- classes ------------------------------------------------------------------------------- */

static void lay_contiguous(struct layout_builder *builder)
{
	for (unsigned i = 0; i < 3 * builder->kind_count; i++) {
		plant(builder, next_kind(builder, i), some_size(builder));
		fill_to(builder, CLUSTER, 0);
		fill(builder, CLUSTER * random_below(&builder->seed, 4));
	}
}

static void lay_unaligned(struct layout_builder *builder)
{
	for (unsigned i = 0; i < 3 * builder->kind_count; i++) {
		fill(builder, 1 + random_below(&builder->seed, 2999));
		if (builder->layout->image.len % 512 == 0)
			fill(builder, 1);
		plant(builder, next_kind(builder, i), some_size(builder));
	}
}

/* Headers cross the edge, with 1 to 7 bytes before it; every second file crosses the next edge
 * too. */
static void lay_edges(struct layout_builder *builder)
{
	for (unsigned i = 0; i < 5 * builder->kind_count; i++) {
		fill_to(builder, LAYOUT_EDGE, 1 + i % 7);
		plant(builder, next_kind(builder, i),
			i % 2 ? LAYOUT_EDGE + 5000 : some_size(builder));
	}
}

static bool has_kind(const struct layout_builder *builder, const char *type)
{
	for (unsigned i = 0; i < builder->kind_count; i++)
		if (strcmp(builder->kinds[i]->type, type) == 0)
			return true;
	return false;
}

static void lay_nested(struct layout_builder *builder)
{
	struct bytes *image = &builder->layout->image;

	if (!has_kind(builder, "zip"))
		return;
	for (unsigned i = 0; i < 2 * builder->kind_count; i++) {
		const struct sample_kind *kind = next_kind(builder, i);
		struct bytes inner = { 0 };
		size_t start, place;

		if (strcmp(kind->type, "zip") == 0)
			continue;
		fill_to(builder, CLUSTER, 0);
		kind->make(&inner, some_size(builder), &builder->seed);
		start = image->len;
		sample_zip_around(image, &inner, &builder->seed, &place);
		add_planted(builder, "zip", start, image->len - start, false);
		add_planted(builder, kind->type, place, inner.len, true);
		bytes_free(&inner);
	}
}

/* The last third is missing. */
static void lay_truncated(struct layout_builder *builder)
{
	struct bytes *image = &builder->layout->image;

	for (unsigned i = 0; i < 2 * builder->kind_count; i++) {
		const struct sample_kind *kind = next_kind(builder, i);
		size_t start, len;

		if (!kind->notices_cut)
			continue;
		fill_to(builder, CLUSTER, 0);
		start = image->len;
		kind->make(image, 12000, &builder->seed);
		len = (image->len - start) * 2 / 3;
		image->len = start + len;
		add_planted(builder, kind->type, start, len, false);
		fill(builder, 3 * CLUSTER);
	}
}

static void lay_damaged(struct layout_builder *builder)
{
	struct bytes *image = &builder->layout->image;

	for (unsigned i = 0; i < 2 * builder->kind_count; i++) {
		const struct sample_kind *kind = next_kind(builder, i);
		size_t start;

		if (!kind->notices_change)
			continue;
		fill_to(builder, CLUSTER, 0);
		start = image->len;
		kind->make(image, 6000, &builder->seed);
		image->data[start + (image->len - start) / 2] ^= 0x20;
		add_planted(builder, kind->type, start, image->len - start, false);
		fill(builder, CLUSTER);
	}
}

/* Starts like a file, for the length of a header, and continues with words. */
static void lay_decoys(struct layout_builder *builder)
{
	struct bytes *image = &builder->layout->image;

	for (unsigned i = 0; i < 2 * builder->kind_count; i++) {
		const struct sample_kind *kind = next_kind(builder, i);
		struct bytes whole = { 0 };
		size_t start;

		fill_to(builder, CLUSTER, 0);
		kind->make(&whole, 500, &builder->seed);
		start = image->len;
		bytes_add(image, whole.data, 16);
		add_planted(builder, kind->type, start, 16, false);
		sample_text(image, 2 * CLUSTER, &builder->seed);
		bytes_free(&whole);
	}
}

/* ---- all ----------------------------------------------------------------------------------- */

static void choose_kinds(struct layout_builder *builder, const struct rules *rules)
{
	for (const struct sample_kind *kind = sample_kinds; kind->type; kind++)
		for (uint32_t i = 0; i < rules->count; i++)
			if (strcmp(rules->rules[i].name, kind->type) == 0 &&
				rules->rules[i].carver && builder->kind_count < KINDS_MAX) {
				builder->kinds[builder->kind_count++] = kind;
				break;
			}
}

int layout_make(struct layout *layout, const struct rules *rules, struct error *error)
{
	static void (*const lay[CLASSES])(struct layout_builder *) = { lay_contiguous,
		lay_unaligned, lay_edges, lay_nested, lay_truncated, lay_damaged, lay_decoys };
	struct layout_builder builder = { .layout = layout, .seed = SEED };

	choose_kinds(&builder, rules);
	if (!builder.kind_count)
		return error_set(error, EXIT_USAGE, EINVAL,
			"'%s' has no rule with a carver for a type that the selftest can plant: "
			"png, jpeg, gz, zip, bmp, wav or pdf",
			rules->path);
	fill(&builder, CLUSTER);
	for (int class = 0; class < CLASSES; class ++) {
		size_t start = layout->image.len;

		builder.class = (enum layout_class) class;
		lay[class](&builder);
		fill_to(&builder, CLUSTER, 0);
		fill(&builder, CLUSTER);
		layout->parts[class] = (struct range){ start, layout->image.len - start };
	}
	hash_bytes(layout->image.data, layout->image.len, &layout->hashes);
	return 0;
}

void layout_free(struct layout *layout)
{
	bytes_free(&layout->image);
	free(layout->planted);
	*layout = (struct layout){ 0 };
}
