/* The part of a RIFF file that only films have. */
#ifndef BURIN_CARVERS_MEDIA_RIFF_FILM_H
#define BURIN_CARVERS_MEDIA_RIFF_FILM_H

#include "riff.h"

enum film_state { FILM_SOUND, FILM_CUT, FILM_BROKEN };

/* Walks the list 'movi' from [*at on, end): *at is behind the last chunk that another one stands
 * behind, or behind all. */
enum film_state film_walk(const struct riff *riff, uint64_t *at, uint64_t end);

/* Whether an index 'idx1' describes the chunks of the list 'movi' whose type stands at movi. */
bool film_index(const struct riff *riff, const struct riff_chunk *index, uint64_t movi);

/* The date in a chunk IDIT, or 0. */
int64_t film_date(const struct riff *riff, const struct riff_chunk *chunk);

#endif
