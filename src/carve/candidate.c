#include "carve/candidate.h"

void candidate_save(const struct candidate *candidate, struct codec_writer *writer)
{
	codec_put(writer, candidate->start);
	codec_put(writer, candidate->length);
	codec_put(writer, candidate->rule);
	codec_put(writer, candidate->pattern);
	codec_put(writer, candidate->end);
	codec_put(writer, candidate->chop);
}

void candidate_load(struct candidate *candidate, const struct rules *rules, uint64_t limit,
	struct codec_reader *reader)
{
	candidate->start = codec_get(reader, limit - 1);
	candidate->length = codec_get(reader, UINT64_MAX);
	candidate->rule = (uint32_t)codec_get(reader, rules->count - 1);
	candidate->pattern = (uint32_t)codec_get(reader, rules->patterns.count - 1);
	candidate->end = (enum file_end)codec_get(reader, END_IMAGE);
	candidate->chop = codec_get_flag(reader);
}
