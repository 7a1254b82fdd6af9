/* What the check of a candidate found, in this process, another one, or on another host. */
#ifndef BURIN_CARVE_OUTCOME_H
#define BURIN_CARVE_OUTCOME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/codec.h"
#include "base/ranges.h"
#include "carve/candidate.h"
#include "carvers/carver.h"
#include "report/file_end.h"

/* The result of a check. Offsets are in the image. */
struct outcome {
	enum verdict verdict; /* CARVE_REJECT: finding.why says why */
	uint64_t length;      /* bytes, inside the image; 0 when rejected */
	enum file_end end;
	struct finding finding;
	uint64_t *parts; /* what the carver named as parts of this file (view_part), rising */
	size_t part_count;
	uint64_t *embedded; /* the same for view_embedded, in any order */
	size_t embedded_count;
	bool agrees;              /* an unverified one: see view_agrees */
	struct ranges unverified; /* of a complete file: what nothing verifies (view_unverified) */
	struct ranges held;       /* in which all that starts is embedded (view_holds) */
	uint64_t work;            /* units that the check took; UINT64_MAX: more than it may */
	bool crashed;             /* so did the process that made it; finding.why says how */
	bool no_memory;           /* memory ran out: there is no result */
};

/* Whether all that the format can show agrees from the first byte to the last. */
bool outcome_is_whole(const struct outcome *outcome);
/* Frees what it owns, not the outcome itself. */
void outcome_free(struct outcome *outcome);
/* A deep copy. */
struct outcome outcome_copy(const struct outcome *outcome);
/* Bytes that it owns beside itself. */
size_t outcome_extra_len(const struct outcome *outcome);

/* For another process. no_memory is not kept: then there is no outcome. */
void outcome_save(const struct outcome *outcome, struct codec_writer *writer);
/* keep: returns an extension that lives as long as the run; NULL: it can't be one. Invalid values fail the
 * reader. outcome_free must follow. */
void outcome_load(struct outcome *outcome, const char *(*keep)(const char *text),
	struct codec_reader *reader);
/* Whether it can be the outcome of a check of the candidate, in an image of that size: what comes from a
 * process that the candidate may have taken over. */
bool outcome_fits(
	const struct outcome *outcome, const struct candidate *candidate, uint64_t image_size);

#endif
