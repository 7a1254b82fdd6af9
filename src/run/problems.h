/* What went wrong in a run without ending it: sentences for the report, the log and the exit code. */
#ifndef BURIN_RUN_PROBLEMS_H
#define BURIN_RUN_PROBLEMS_H

#include <stddef.h>

#include "base/codec.h"

#define PROBLEMS_MAX 15

/* Zero-initialise; problems_free when done. One thread. */
struct problems {
	char *sentences[PROBLEMS_MAX + 1]; /* ended by NULL */
	size_t count;
};

/* Takes over the sentence. Those beyond PROBLEMS_MAX are dropped. */
void problems_add(struct problems *problems, char *sentence);
/* All of them in one line, cut to len bytes. */
void problems_join(const struct problems *problems, char *text, size_t len);
/* For a checkpoint. problems_load adds what was saved. */
void problems_save(const struct problems *problems, struct codec_writer *writer);
void problems_load(struct problems *problems, struct codec_reader *reader);
void problems_free(struct problems *problems);

#endif
