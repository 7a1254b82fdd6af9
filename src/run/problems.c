#include "run/problems.h"

#include <stdio.h>
#include <stdlib.h>

#define SENTENCE_MAX ((size_t)1 << 16)

void problems_add(struct problems *problems, char *sentence)
{
	if (problems->count == PROBLEMS_MAX) {
		free(sentence);
		return;
	}
	problems->sentences[problems->count++] = sentence;
}

void problems_join(const struct problems *problems, char *text, size_t len)
{
	size_t used = 0;

	for (size_t i = 0; i < problems->count && used < len; i++)
		used += (size_t)snprintf(
			text + used, len - used, "%s%s", i ? "; " : "", problems->sentences[i]);
}

void problems_save(const struct problems *problems, struct codec_writer *writer)
{
	codec_put(writer, problems->count);
	for (size_t i = 0; i < problems->count; i++)
		codec_put_text(writer, problems->sentences[i]);
}

void problems_load(struct problems *problems, struct codec_reader *reader)
{
	uint64_t count = codec_get(reader, PROBLEMS_MAX);

	for (uint64_t i = 0; i < count && codec_ok(reader); i++)
		problems_add(problems, codec_get_text(reader, SENTENCE_MAX));
}

void problems_free(struct problems *problems)
{
	while (problems->count)
		free(problems->sentences[--problems->count]);
}
