/*
 * The stage in a checkpoint. What lies between the cursors is saved as it was given: files that
 * were decided on and not reported, by their records, and candidates that were not decided on.
 * Checks and writes under way are not waited for; they will be done again.
 */
#include "carve/carving_state.h"

#include <stdlib.h>

#include "evidence/extent_image.h"

static uint64_t count_kept(struct carving *carving)
{
	uint64_t count = 0;

	for (uint64_t n = carving->retired; n < carving->decided; n++)
		count += ticket_at(carving, n)->keep;
	return count;
}

void carving_save(struct carving *carving, struct codec_writer *writer)
{
	codec_put(writer, carving->files);
	codec_put(writer, carving->bytes);
	codec_put(writer, carving->unreadable);
	codec_put(writer, carving->known);
	codec_put(writer, carving->alert);
	decider_save(carving->decider, writer);
	record_builder_save(carving->record_builder, writer);
	codec_put(writer, count_kept(carving));
	for (uint64_t n = carving->retired; n < carving->decided; n++)
		if (ticket_at(carving, n)->keep) {
			candidate_save(&ticket_at(carving, n)->candidate, writer);
			file_record_save(&ticket_at(carving, n)->record, writer);
		}
	codec_put(writer, carving->offered - carving->decided);
	for (uint64_t n = carving->decided; n < carving->offered; n++)
		candidate_save(&ticket_at(carving, n)->candidate, writer);
}

/* A run that was killed may have come to it: its file is made anew. */
static int write_again(
	struct carving *carving, const struct candidate *candidate, struct file_record *record)
{
	int status;

	if (!carving->options.dry_run)
		output_dir_discard(carving->options.output_dir, record->path);
	status = carving_add_record(carving, record);
	if (!status)
		ticket_at(carving, carving->offered - 1)->candidate = *candidate;
	return status;
}

static int load_records(struct carving *carving, uint64_t limit, struct codec_reader *reader)
{
	struct image *evidence = extent_image_evidence(carving->options.image);
	uint64_t evidence_limit = image_info(evidence)->size;
	uint64_t count = codec_get(reader, carving->ring_len);
	int status = 0;

	for (uint64_t i = 0; i < count && !status && codec_ok(reader); i++) {
		struct candidate candidate;
		struct file_record record;

		candidate_load(&candidate, carving->options.rules, limit, reader);
		file_record_load(
			&record, carving->options.rules, evidence_limit, &carving->texts, reader);
		if (codec_ok(reader))
			status = write_again(carving, &candidate, &record);
		free(record.path);
		free(record.runs);
	}
	return status;
}

static int load_candidates(struct carving *carving, uint64_t limit, struct codec_reader *reader)
{
	uint64_t count =
		codec_get(reader, carving->ring_len - (carving->offered - carving->retired));
	int status = 0;

	for (uint64_t i = 0; i < count && !status && codec_ok(reader); i++) {
		struct candidate candidate;

		candidate_load(&candidate, carving->options.rules, limit, reader);
		if (codec_ok(reader))
			status = carving_offer(carving, &candidate);
	}
	return status;
}

static bool is_later(void *context, const char *folder, const char *name)
{
	return record_builder_is_later(context, folder, name);
}

void carving_remove_leftovers(struct carving *carving)
{
	output_dir_sweep(carving->options.output_dir, is_later, carving->record_builder);
}

int carving_load(struct carving *carving, struct codec_reader *reader)
{
	uint64_t limit = image_info(carving->options.image)->size;
	int status;

	carving->files = codec_get(reader, UINT64_MAX);
	carving->bytes = codec_get(reader, UINT64_MAX);
	carving->unreadable = codec_get(reader, UINT64_MAX);
	carving->known = codec_get(reader, UINT64_MAX);
	carving->alert = codec_get(reader, UINT64_MAX);
	decider_load(carving->decider, limit, reader);
	record_builder_load(carving->record_builder, reader);
	if (!codec_ok(reader))
		return 0;
	carving_remove_leftovers(carving);
	status = load_records(carving, limit, reader);
	return status ? status : load_candidates(carving, limit, reader);
}
