#include "cluster/messages.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

#define TEXT_MAX ((size_t)1 << 16)

/* ---- files --------------------------------------------------------------------------------- */

static size_t get_ranges(struct codec_reader *reader, struct range **ranges, size_t *room)
{
	uint64_t expected = codec_get(reader, UINT32_MAX);
	size_t count = 0;

	for (; count < expected && codec_ok(reader); count++) {
		*ranges = xgrow(*ranges, room, count, sizeof(**ranges));
		(*ranges)[count].offset = codec_get(reader, UINT64_MAX);
		(*ranges)[count].length = codec_get(reader, UINT64_MAX);
	}
	return count;
}

void message_put_file(struct codec_writer *writer, const struct file_record *record)
{
	codec_put_text(writer, record->path);
	runs_save(record->runs, record->run_count, writer);
	codec_put(writer, (uint64_t)record->file_time);
}

void message_get_file(struct codec_reader *reader, struct file_record *record)
{
	size_t room = 0;

	*record = (struct file_record){ .path = codec_get_text(reader, TEXT_MAX) };
	record->run_count = (uint32_t)get_ranges(reader, &record->runs, &room);
	record->file_time = (int64_t)codec_get(reader, UINT64_MAX);
}

void message_put_written(struct codec_writer *writer, const struct file_record *record)
{
	codec_put(writer, record->unreadable);
	codec_put(writer, record->unreadable_at);
	codec_put_text(writer, record->hashes.md5);
	codec_put_text(writer, record->hashes.sha1);
	codec_put_text(writer, record->hashes.sha256);
}

void message_get_written(struct codec_reader *reader, struct file_record *record)
{
	record->unreadable = codec_get(reader, UINT64_MAX);
	record->unreadable_at = codec_get(reader, UINT64_MAX);
	codec_copy_text(reader, record->hashes.md5, sizeof(record->hashes.md5));
	codec_copy_text(reader, record->hashes.sha1, sizeof(record->hashes.sha1));
	codec_copy_text(reader, record->hashes.sha256, sizeof(record->hashes.sha256));
}

void message_put_error(struct codec_writer *writer, const struct error *error)
{
	codec_put(writer, (uint64_t)error->code);
	codec_put_text(writer, error->text);
}

void message_get_error(struct codec_reader *reader, struct error *error)
{
	error->code = (int)codec_get(reader, INT32_MAX);
	codec_copy_text(reader, error->text, sizeof(error->text));
}

/* ---- results ------------------------------------------------------------------------------- */

static void put_hits(struct codec_writer *writer, const struct cluster_result *result)
{
	uint64_t before = 0;

	codec_put(writer, result->hit_count);
	for (size_t i = 0; i < result->hit_count; i++) {
		codec_put(writer, result->hits[i].offset - before);
		codec_put(writer, result->hits[i].pattern);
		codec_put(writer, result->hits[i].len);
		before = result->hits[i].offset;
	}
}

static void get_hits(
	struct codec_reader *reader, struct message_room *room, struct cluster_result *result)
{
	uint64_t expected = codec_get(reader, UINT32_MAX), before = 0;

	for (; result->hit_count < expected && codec_ok(reader); result->hit_count++) {
		struct cluster_hit *hit;

		room->hits =
			xgrow(room->hits, &room->hit_room, result->hit_count, sizeof(*room->hits));
		hit = &room->hits[result->hit_count];
		hit->offset = before + codec_get(reader, UINT64_MAX - before);
		hit->pattern = (uint32_t)codec_get(reader, UINT32_MAX);
		hit->len = (uint32_t)codec_get(reader, UINT32_MAX);
		before = hit->offset;
	}
	result->hits = room->hits;
}

static void get_outcomes(struct codec_reader *reader, struct message_room *room,
	struct cluster_result *result, const char *(*keep)(const char *text))
{
	uint64_t expected = codec_get(reader, UINT32_MAX);

	for (; result->outcome_count < expected && codec_ok(reader); result->outcome_count++) {
		struct cluster_outcome *outcome;

		room->outcomes = xgrow(room->outcomes, &room->outcome_room, result->outcome_count,
			sizeof(*room->outcomes));
		outcome = &room->outcomes[result->outcome_count];
		outcome->start = codec_get(reader, UINT64_MAX);
		outcome->rule = (uint32_t)codec_get(reader, UINT32_MAX);
		outcome_load(&outcome->outcome, keep, reader);
	}
	result->outcomes = room->outcomes;
}

void message_put_result(struct codec_writer *writer, const struct cluster_result *result)
{
	codec_put(writer, result->ends_unit);
	codec_put(writer, result->until);
	if (result->ends_unit)
		codec_put_bytes(writer, &result->spent, sizeof(result->spent));
	put_hits(writer, result);
	runs_save(result->unread, result->unread_count, writer);
	codec_put_bytes(writer, result->classes, result->classes_len);
	codec_put(writer, result->outcome_count);
	for (size_t i = 0; i < result->outcome_count; i++) {
		codec_put(writer, result->outcomes[i].start);
		codec_put(writer, result->outcomes[i].rule);
		outcome_save(&result->outcomes[i].outcome, writer);
	}
}

void message_get_result(struct codec_reader *reader, struct message_room *room,
	struct cluster_result *result, const char *(*keep)(const char *text))
{
	*result = (struct cluster_result){ .ends_unit = codec_get_flag(reader) };
	result->until = codec_get(reader, UINT64_MAX);
	if (result->ends_unit)
		codec_copy_bytes(reader, &result->spent, sizeof(result->spent));
	get_hits(reader, room, result);
	result->unread_count = get_ranges(reader, &room->unread, &room->unread_room);
	result->unread = room->unread;
	result->classes = codec_get_bytes(reader, &result->classes_len);
	get_outcomes(reader, room, result, keep);
}

bool message_ends_unit(struct codec_reader *reader)
{
	return codec_get_flag(reader);
}

void message_room_free(struct message_room *room)
{
	free(room->hits);
	free(room->unread);
	free(room->outcomes);
	*room = (struct message_room){ 0 };
}
