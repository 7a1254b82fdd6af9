#include "carve/candidate.h"

struct candidate candidate_of_header(
	const struct rule *rule, uint32_t number, uint32_t pattern, uint64_t start)
{
	return (struct candidate){ .start = start,
		.length = rule->max_size,
		.rule = number,
		.pattern = pattern,
		.end = END_MAX_SIZE,
		.chop = true };
}

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
	candidate->rejection = 0;
}
