/* What a text's own bytes are like, and how well they go on where two parts of it meet. */
#ifndef BURIN_ASSEMBLE_TEXT_MODEL_H
#define BURIN_ASSEMBLE_TEXT_MODEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TEXT_CONTEXT 5 /* bytes before a joint that are looked at, at most... */
#define TEXT_AFTER 10  /* ...and after it */
#define TEXT_CHANGE_LEN 1024

/* All numbers of bits are FINE_LOG_BITs (fine_log.h). */
struct text_model;

/* Of what strings are counted: of any texts around; of those like the text; of a part of it that is known. */
enum text_strings { TEXT_ANY, TEXT_LIKE, TEXT_PART, TEXT_STRINGS };

/* Never NULL. fine_log_get_ready was called. */
struct text_model *text_model_new(void);
void text_model_forget(struct text_model *model, enum text_strings which);
/* Learns the strings of bytes that follow one another. */
void text_model_learn(
	struct text_model *model, enum text_strings which, const uint8_t *bytes, size_t len);
/* Learns how they go on, but not by the first and last ones, as joints are judged by these. */
void text_model_learn_contexts(struct text_model *model, const uint8_t *bytes, size_t len);
/* The bits by which the bytes rather are of the one than of the other, for the first `step` of them, for twice as many, ... and in the
 * end for all. was_learnt: as `which`, once. */
void text_model_compare(const struct text_model *model, enum text_strings which,
	enum text_strings other, const uint8_t *bytes, size_t len, size_t step, bool was_learnt,
	int64_t *bits);
/* By how many hundredths the strings of what ends at `left` and of what begins at `right`, len bytes each, TEXT_CHANGE_LEN at most, are known on their own
 * side rather than on the other one: 0 or less where nothing changes, 200 at most. */
int text_model_change(const uint8_t *left, const uint8_t *right, size_t len);
/* What the first len bytes after a joint, TEXT_AFTER at most, take by themselves. */
int64_t text_model_alone(const struct text_model *model, const uint8_t *right, size_t len);
/* The same after those that end at `left`, TEXT_CONTEXT of them; or what the first few take, where that is more than `most`. Adds
 * to *count, of the bytes that were looked at. */
int64_t text_model_after(const struct text_model *model, const uint8_t *left, const uint8_t *right,
	size_t len, int64_t most, size_t *count);
void text_model_free(struct text_model *model);

#endif
