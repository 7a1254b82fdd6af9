#include "cluster/wire.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

void wire_put_candidate(struct pack *pack, const struct candidate *candidate)
{
	pack_number(pack, candidate->start);
	pack_number(pack, candidate->length);
	pack_number(pack, candidate->rule);
	pack_number(pack, candidate->pattern);
	pack_number(pack, candidate->end);
	pack_number(pack, candidate->chop);
}

void wire_get_candidate(struct unpack *unpack, struct candidate *candidate)
{
	candidate->start = unpack_number(unpack);
	candidate->length = unpack_number(unpack);
	candidate->rule = (uint32_t)unpack_number(unpack);
	candidate->pattern = (uint32_t)unpack_number(unpack);
	candidate->end = (enum file_end)unpack_number(unpack);
	candidate->chop = unpack_number(unpack);
}

void wire_put_outcome(struct pack *pack, const struct outcome *outcome)
{
	const struct finding *finding = &outcome->finding;

	pack_number(pack, outcome->verdict);
	pack_number(pack, outcome->length);
	pack_number(pack, outcome->end);
	pack_number(pack, finding->length);
	pack_number(pack, finding->extension != NULL);
	pack_text(pack, finding->extension);
	pack_text(pack, finding->title);
	pack_number(pack, (uint64_t)finding->time);
	pack_text(pack, finding->why);
	pack_bytes(pack, outcome->parts, outcome->part_count * sizeof(*outcome->parts));
	pack_bytes(pack, outcome->embedded, outcome->embedded_count * sizeof(*outcome->embedded));
}

static uint64_t *get_offsets(struct unpack *unpack, size_t *count)
{
	uint64_t *offsets;
	size_t len;
	const void *bytes = unpack_bytes(unpack, &len);

	*count = len / sizeof(*offsets);
	if (!*count)
		return NULL;
	offsets = xmalloc(*count * sizeof(*offsets));
	memcpy(offsets, bytes, *count * sizeof(*offsets));
	return offsets;
}

void wire_get_outcome(
	struct unpack *unpack, struct outcome *outcome, const char *(*keep)(const char *text))
{
	struct finding *finding = &outcome->finding;
	bool has_extension;
	char *extension;

	*outcome = (struct outcome){ .verdict = (enum verdict)unpack_number(unpack) };
	outcome->length = unpack_number(unpack);
	outcome->end = (enum file_end)unpack_number(unpack);
	finding->length = unpack_number(unpack);
	has_extension = unpack_number(unpack);
	extension = unpack_text_new(unpack);
	if (has_extension)
		finding->extension = keep(extension);
	free(extension);
	unpack_text(unpack, finding->title, sizeof(finding->title));
	finding->time = (int64_t)unpack_number(unpack);
	unpack_text(unpack, finding->why, sizeof(finding->why));
	outcome->parts = get_offsets(unpack, &outcome->part_count);
	outcome->embedded = get_offsets(unpack, &outcome->embedded_count);
}

void wire_put_file(struct pack *pack, const struct file_record *record)
{
	pack_text(pack, record->path);
	pack_bytes(pack, record->runs, record->run_count * sizeof(*record->runs));
}

void wire_get_file(struct unpack *unpack, struct file_record *record)
{
	const void *runs;
	size_t len;

	*record = (struct file_record){ .path = unpack_text_new(unpack) };
	runs = unpack_bytes(unpack, &len);
	record->run_count = (uint32_t)(len / sizeof(*record->runs));
	record->runs = xmalloc(len + 1);
	if (len)
		memcpy(record->runs, runs, len);
}

void wire_put_written(struct pack *pack, const struct file_record *record)
{
	pack_number(pack, record->unreadable);
	pack_text(pack, record->hashes.md5);
	pack_text(pack, record->hashes.sha1);
	pack_text(pack, record->hashes.sha256);
}

void wire_get_written(struct unpack *unpack, struct file_record *record)
{
	record->unreadable = unpack_number(unpack);
	unpack_text(unpack, record->hashes.md5, sizeof(record->hashes.md5));
	unpack_text(unpack, record->hashes.sha1, sizeof(record->hashes.sha1));
	unpack_text(unpack, record->hashes.sha256, sizeof(record->hashes.sha256));
}
