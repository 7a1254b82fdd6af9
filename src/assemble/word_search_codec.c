#include "assemble/word_search_codec.h"

void word_question_save(const struct word_question *question, struct codec_writer *writer)
{
	const struct word_set *words = question->words;

	codec_put(writer, words->count);
	for (size_t i = 0; i < words->count; i++) {
		codec_put_bytes(writer, words->words[i].bytes, words->words[i].len);
		codec_put(writer, words->words[i].key_at);
	}
	codec_put(writer, question->count);
	for (size_t i = 0; i < question->count; i++) {
		codec_put(writer, question->stretches[i].offset);
		codec_put(writer, question->stretches[i].length);
	}
}

static void load_words(struct word_set *words, struct codec_reader *reader)
{
	for (size_t left = (size_t)codec_get(reader, WORDS_MAX); left && codec_ok(reader); left--) {
		size_t len;
		const uint8_t *bytes = codec_get_bytes(reader, &len);
		size_t key_at = (size_t)codec_get(reader, WORD_KEY_AT_MAX);

		if (!codec_ok(reader) || !word_set_add(words, bytes, len, key_at))
			codec_fail(reader);
	}
}

static void load_stretch(struct range *stretch, struct codec_reader *reader)
{
	stretch->offset = codec_get(reader, INT64_MAX);
	stretch->length = codec_get(reader, WORD_STRETCH_MAX);
	if (!stretch->length)
		codec_fail(reader);
}

void asked_words_load(struct asked_words *asked, struct codec_reader *reader)
{
	struct word_question *question = &asked->question;

	load_words(&asked->words, reader);
	question->words = &asked->words;
	question->stretches = asked->stretches;
	question->count = (size_t)codec_get(reader, WORD_STRETCHES_MAX);
	for (size_t i = 0; i < question->count && codec_ok(reader); i++)
		load_stretch(&asked->stretches[i], reader);
}

void word_answer_save(const struct word_answer *hits, struct codec_writer *writer)
{
	codec_put(writer, hits->answered);
	codec_put(writer, hits->count);
	codec_put_bytes(writer, hits->items, hits->count * sizeof(*hits->items));
}

void word_answer_load(struct word_answer *hits, struct codec_reader *reader)
{
	hits->answered = codec_get(reader, UINT64_MAX);
	hits->count = (size_t)codec_get(reader, WORD_HITS_MAX);
	codec_copy_bytes(reader, hits->items, hits->count * sizeof(*hits->items));
}
