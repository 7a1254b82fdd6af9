#include "rules/rules_codec.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "carvers/carver.h"
#include "rules/plugins.h"

/* Bytes. */
#define TEXT_MAX ((size_t)1 << 16)

static void save_musts(const struct rule *rule, struct codec_writer *writer)
{
	codec_put(writer, rule->must_count);
	for (uint32_t i = 0; i < rule->must_count; i++) {
		const struct must *must = &rule->musts[i];

		codec_put(writer, must->at);
		codec_put_bytes(writer, must->pattern.bytes, must->pattern.len);
		codec_put_bytes(writer, must->pattern.mask, must->pattern.len);
	}
}

static void load_musts(struct rule *rule, struct codec_reader *reader)
{
	uint64_t count = codec_get(reader, UINT32_MAX);
	size_t room = 0;

	while (rule->must_count < count && codec_ok(reader)) {
		struct must must = { .at = codec_get(reader, UINT64_MAX) };
		size_t len, mask_len;
		const uint8_t *bytes = codec_get_bytes(reader, &len);
		const uint8_t *mask = codec_get_bytes(reader, &mask_len);

		if (!len || mask_len != len || len > UINT32_MAX) {
			codec_fail(reader);
			return;
		}
		must.pattern.len = must.pattern.min_len = (uint32_t)len;
		must.pattern.bytes = memcpy(xmalloc(len), bytes, len);
		must.pattern.mask = memcpy(xmalloc(len), mask, len);
		rule->musts = xgrow(rule->musts, &room, rule->must_count, sizeof(*rule->musts));
		rule->musts[rule->must_count++] = must;
	}
}

static void save_kinds(const struct rule *rule, struct codec_writer *writer)
{
	codec_put(writer, rule->kind_count);
	for (uint32_t i = 0; i < rule->kind_count; i++)
		codec_put_text(writer, rule->kinds[i]);
	codec_put(writer, rule->kinds_off != NULL);
	for (uint32_t i = 0; rule->kinds_off && i <= rule->kind_count; i++)
		codec_put(writer, rule->kinds_off[i]);
}

static void load_kinds(struct rule *rule, struct codec_reader *reader)
{
	uint64_t count = codec_get(reader, UINT32_MAX);
	size_t room = 0;

	while (rule->kind_count < count && codec_ok(reader)) {
		rule->kinds = xgrow(rule->kinds, &room, rule->kind_count, sizeof(*rule->kinds));
		rule->kinds[rule->kind_count++] = codec_get_text(reader, TEXT_MAX);
	}
	if (!codec_get_flag(reader))
		return;
	rule->kinds_off = xcalloc((size_t)rule->kind_count + 1, sizeof(*rule->kinds_off));
	for (uint32_t i = 0; i <= rule->kind_count; i++)
		rule->kinds_off[i] = codec_get_flag(reader);
}

static void save_rule(const struct rule *rule, struct codec_writer *writer)
{
	codec_put_text(writer, rule->name);
	codec_put_text(writer, rule->extension);
	codec_put_text(writer, rule->carver ? rule->carver->name : "");
	codec_put(writer, rule->min_size);
	codec_put(writer, rule->max_size);
	codec_put(writer, rule->length.at);
	codec_put(writer, rule->length.width);
	codec_put(writer, rule->length.big_endian);
	codec_put(writer, rule->length.multiply);
	codec_put(writer, (uint64_t)rule->length.add);
	save_musts(rule, writer);
	save_kinds(rule, writer);
}

static void load_rule(struct rule *rule, struct codec_reader *reader)
{
	char *carver;

	rule->name = codec_get_text(reader, TEXT_MAX);
	rule->extension = codec_get_text(reader, TEXT_MAX);
	carver = codec_get_text(reader, TEXT_MAX);
	if (*carver && !(rule->carver = rule_carver_find(carver)))
		codec_fail(reader);
	free(carver);
	rule->min_size = codec_get(reader, UINT64_MAX);
	rule->max_size = codec_get(reader, UINT64_MAX);
	rule->length.at = codec_get(reader, UINT64_MAX);
	rule->length.width = (uint8_t)codec_get(reader, 8);
	rule->length.big_endian = codec_get_flag(reader);
	rule->length.multiply = codec_get(reader, UINT64_MAX);
	rule->length.add = (int64_t)codec_get(reader, UINT64_MAX);
	load_musts(rule, reader);
	load_kinds(rule, reader);
}

void rules_save_checks(const struct rules *rules, struct codec_writer *writer)
{
	plugins_save(writer);
	codec_put(writer, rules->count);
	codec_put(writer, rules->patterns.count);
	for (uint32_t i = 0; i < rules->count; i++)
		save_rule(&rules->rules[i], writer);
}

void rules_load_checks(struct rules *rules, struct codec_reader *reader)
{
	uint64_t count;
	size_t room = 0;

	plugins_load(reader);
	count = codec_get(reader, UINT32_MAX);
	rules->patterns.count = (uint32_t)codec_get(reader, UINT32_MAX);
	while (rules->count < count && codec_ok(reader)) {
		rules->rules = xgrow(rules->rules, &room, rules->count, sizeof(*rules->rules));
		rules->rules[rules->count] = (struct rule){ 0 };
		load_rule(&rules->rules[rules->count++], reader);
	}
}
