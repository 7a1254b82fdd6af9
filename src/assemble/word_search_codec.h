/* Questions about words (search_device.h), and their hits, between processes. */
#ifndef BURIN_ASSEMBLE_WORD_SEARCH_CODEC_H
#define BURIN_ASSEMBLE_WORD_SEARCH_CODEC_H

#include "assemble/search_device.h"
#include "assemble/word_search.h"
#include "base/codec.h"
#include "base/ranges.h"

void word_question_save(const struct word_question *question, struct codec_writer *writer);

/* A question as it came. */
struct asked_words {
	struct word_set words;
	struct range stretches[WORD_STRETCHES_MAX];
	struct word_question question; /* about them */
};

/* asked: zeros. Anything but a question that a device may be asked fails the reader. */
void asked_words_load(struct asked_words *asked, struct codec_reader *reader);

void word_answer_save(const struct word_answer *hits, struct codec_writer *writer);
void word_answer_load(struct word_answer *hits, struct codec_reader *reader);

#endif
