#include "assemble/broken.h"

#include <stdlib.h>

#include "base/memory.h"
#include "carve/check.h"

#define BROKEN_MAX ((size_t)1 << 18) /* that are kept in mind... */
#define WEAK_MAX ((size_t)1 << 16)   /* ...and those of them that were not kept */

void broken_files_free(struct broken_files *files)
{
	free(files->items);
	*files = (struct broken_files){ 0 };
}

void broken_files_add(struct broken_files *files, const struct broken *broken)
{
	if (broken->is_weak && files->weak_count == WEAK_MAX)
		return;
	if (files->count == BROKEN_MAX) {
		files->left_out++;
		return;
	}
	files->weak_count += broken->is_weak;
	files->items = xgrow(files->items, &files->capacity, files->count, sizeof(*files->items));
	files->items[files->count++] = *broken;
}

/* Whether a weak head is inside another file, or starts where one was found. */
static bool is_false_head(
	const struct broken_files *files, const struct clusters *clusters, size_t index)
{
	uint64_t start = files->items[index].start;

	if (start % clusters->size != clusters->origin || !clusters_are_free(clusters, start, 1))
		return true;
	for (size_t i = index; i > 0 && files->items[i - 1].start == start; i--)
		if (!files->items[i - 1].is_weak)
			return true;
	for (size_t i = index + 1; i < files->count && files->items[i].start == start; i++)
		if (!files->items[i].is_weak)
			return true;
	return false;
}

void broken_files_drop_false(struct broken_files *files, const struct clusters *clusters)
{
	bool *drop = xcalloc(files->count, sizeof(*drop));
	size_t count = 0;

	for (size_t i = 0; i < files->count; i++)
		drop[i] = files->items[i].verdict == CARVE_REJECT &&
			  is_false_head(files, clusters, i);
	for (size_t i = 0; i < files->count; i++)
		if (!drop[i])
			files->items[count++] = files->items[i];
	files->count = count;
	free(drop);
}

bool broken_files_leave_out(struct broken_files *files, uint64_t start, uint32_t rule)
{
	size_t count = 0, before = files->count;

	for (size_t i = 0; i < before; i++)
		if (files->items[i].start != start || files->items[i].rule != rule)
			files->items[count++] = files->items[i];
	files->count = count;
	return count != before;
}

void broken_files_save(const struct broken_files *files, struct codec_writer *writer)
{
	codec_put(writer, files->left_out);
	codec_put(writer, files->count);
	for (size_t i = 0; i < files->count; i++) {
		const struct broken *broken = &files->items[i];

		codec_put(writer, broken->start);
		codec_put(writer, broken->length);
		codec_put(writer, broken->rule);
		codec_put(writer, broken->verdict);
		codec_put(writer, broken->is_weak);
	}
}

void broken_files_load(struct broken_files *files, uint64_t size, const struct rules *rules,
	struct codec_reader *reader)
{
	uint64_t count;

	files->left_out = codec_get(reader, UINT64_MAX);
	count = codec_get(reader, BROKEN_MAX);
	for (uint64_t i = 0; i < count && codec_ok(reader); i++) {
		struct broken broken = { .start = codec_get(reader, size - 1) };

		broken.length = codec_get(reader, size - broken.start);
		broken.rule = (uint32_t)codec_get(reader, rules->count - 1);
		broken.verdict = (uint32_t)codec_get(reader, CARVE_UNVERIFIED);
		broken.is_weak = codec_get(reader, 1);
		if (!rules->rules[broken.rule].carver)
			codec_fail(reader); /* nothing could follow its files */
		if (codec_ok(reader))
			broken_files_add(files, &broken);
	}
}
