#include "run/traits.h"

#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/strbuf.h"
#include "base/version.h"
#include "hashing/hash.h"
#include "run/carve_options.h"

/* Bytes of the image's beginning and end, and of SAMPLES places between them, that are hashed. */
#define SAMPLE_LEN ((size_t)65536)
#define SAMPLES 16

/* Takes over both. */
static void add(struct traits *traits, char *name, char *value)
{
	assert(traits->count < TRAITS_MAX);
	traits->names[traits->count] = name;
	traits->values[traits->count++] = value;
}

static void add_number(struct traits *traits, const char *name, uint64_t number)
{
	add(traits, xstrdup(name), xasprintf("%" PRIu64, number));
}

/* A hash of samples of the image's bytes, at `offset` and each `step` after it; "" when they can't be read. */
static char *sample(struct image *image, uint64_t offset, uint64_t step, unsigned count)
{
	uint64_t size = image_info(image)->size;
	struct hasher *hasher = hasher_new(HASH_SHA256);
	uint8_t *bytes = xmalloc(SAMPLE_LEN);
	struct hashes hashes = { 0 };
	bool good = true;

	for (unsigned i = 0; i < count && good; i++, offset += step) {
		uint64_t left = size - offset;
		size_t len = left < SAMPLE_LEN ? (size_t)left : SAMPLE_LEN;

		good = image_read_at(image, offset, bytes, len) == 0;
		hasher_update(hasher, bytes, good ? len : 0);
	}
	if (good)
		hasher_finish(hasher, &hashes);
	hasher_free(hasher);
	free(bytes);
	return xstrdup(hashes.sha256);
}

static void add_image(struct traits *traits, struct image *image)
{
	const struct image_info *info = image_info(image);
	uint64_t last = info->size > SAMPLE_LEN ? info->size - SAMPLE_LEN : 0;

	add(traits, xstrdup("the image's format"), xstrdup(info->format));
	add_number(traits, "the image's size", info->size);
	add(traits, xstrdup("the image's stored MD5"), xstrdup(info->stored_md5));
	add(traits, xstrdup("the image's stored SHA-1"), xstrdup(info->stored_sha1));
	add(traits, xstrdup("the image's beginning"), sample(image, 0, 0, 1));
	add(traits, xstrdup("the image's content"),
		sample(image, last / (SAMPLES + 1), last / (SAMPLES + 1), SAMPLES));
	add(traits, xstrdup("the image's end"), sample(image, last, 0, 1));
}

static void add_rules(struct traits *traits, const struct rules *rules)
{
	struct hasher *hasher = hasher_new(HASH_SHA256);
	struct hashes hashes;

	for (uint32_t r = 0; r < rules->count; r++) {
		const struct rule *rule = &rules->rules[r];

		hasher_update(hasher, rule->name, strlen(rule->name) + 1);
		if (rule->kinds_off)
			hasher_update(hasher, rule->kinds_off,
				((size_t)rule->kind_count + 1) * sizeof(*rule->kinds_off));
	}
	hasher_finish(hasher, &hashes);
	hasher_free(hasher);
	add(traits, xstrdup("the content of the rule files"), xstrdup(rules->sha256));
	add(traits, xstrdup("the format of the rules"), xstrdup(rules_format_name(rules->format)));
	add(traits, xstrdup("the choice of types (--types)"), xstrdup(hashes.sha256));
	add_number(traits, "the number of patterns", rules->patterns.count);
}

/* None: not "", which differs from nothing. */
static void add_plugins(struct traits *traits, const struct plugin_record *plugin)
{
	struct strbuf sums = { 0 };

	for (; plugin && plugin->path; plugin++)
		strbuf_print(&sums, "%s%s", sums.len ? ", " : "", plugin->hashes.sha256);
	add(traits, xstrdup("the content of the plug-ins"),
		sums.len ? sums.bytes : xstrdup("none"));
}

static void add_options(struct traits *traits, const struct run_options *options)
{
	for (const struct option_row *row = carve_option_rows; row->name; row++)
		if (row->result)
			add(traits, xasprintf("--%s", row->name), option_text(row, options));
	/* Not "", which differs from nothing. */
	add(traits, xstrdup("--known and --alert"),
		options->sets ? hash_sets_summary(options->sets) : xstrdup("none"));
}

void traits_find(struct traits *traits, const struct run_options *options, struct image *evidence)
{
	add(traits, xstrdup("burin's version"), xstrdup(burin_version));
	add_image(traits, evidence);
	add_plugins(traits, options->plugins);
	add_rules(traits, options->rules);
	add_options(traits, options);
}

bool traits_differ(const struct traits *traits, size_t number, const char *value)
{
	const char *own = traits->values[number];

	return *value && *own && strcmp(value, own) != 0;
}

void traits_free(struct traits *traits)
{
	while (traits->count) {
		free(traits->names[--traits->count]);
		free(traits->values[traits->count]);
	}
}
