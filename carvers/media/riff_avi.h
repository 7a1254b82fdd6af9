/* AVI's part of a RIFF file. */
#ifndef BURIN_CARVERS_MEDIA_RIFF_AVI_H
#define BURIN_CARVERS_MEDIA_RIFF_AVI_H

#include "riff.h"

enum riff_avi_state { RIFF_AVI_INTACT, RIFF_AVI_CUT, RIFF_AVI_BROKEN };

/* Walks the list 'movi' from [*at on, end): *at is after the last chunk that another one follows,
 * or at the end. */
enum riff_avi_state riff_avi_walk_movi(const struct riff *riff, uint64_t *at, uint64_t end);

/* Whether an index 'idx1' describes the chunks of the list 'movi' whose type is at movi. */
bool riff_avi_index_matches(const struct riff *riff, const struct riff_chunk *index, uint64_t movi);

/* The date in a chunk IDIT, or 0. */
int64_t riff_avi_date(const struct riff *riff, const struct riff_chunk *chunk);

/* What its index says of a file in pieces. */
extern const struct carve_map riff_avi_map;

#endif
