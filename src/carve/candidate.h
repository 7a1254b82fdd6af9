/* A possible file: what pairing produces, checks examine and the decider keeps or drops. */
#ifndef BURIN_CARVE_CANDIDATE_H
#define BURIN_CARVE_CANDIDATE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/codec.h"
#include "report/file_end.h"
#include "rules/rules.h"

struct candidate {
	uint64_t start;  /* of the file, in the image */
	uint64_t length; /* bytes that the pairing allows; may reach past the image's end */
	uint32_t rule, pattern;
	enum file_end end;  /* END_FOOTER, END_NEXT or END_MAX_SIZE: what determined the length */
	bool chop;          /* Scalpel's column: cut at max_size, with no footer in range */
	uint32_t rejection; /* a note (carve/rejections.h) of its check, which was made where the
			       hit was found (carve/quick.h); 0: none was made, or it rejected
			       nothing */
};

/* Whether a is decided on before b: by start, then rule. */
static inline bool candidate_is_before(const struct candidate *a, const struct candidate *b)
{
	return a->start != b->start ? a->start < b->start : a->rule < b->rule;
}

/* A candidate whose length no footer determines. */
struct candidate candidate_of_header(
	const struct rule *rule, uint32_t number, uint32_t pattern, uint64_t start);

/* For a checkpoint, or another process. The rejection is not kept: the check will be made again. */
void candidate_save(const struct candidate *candidate, struct codec_writer *writer);
/* limit: the image's size; every file starts before it. Invalid values fail the reader. */
void candidate_load(struct candidate *candidate, const struct rules *rules, uint64_t limit,
	struct codec_reader *reader);

#endif
