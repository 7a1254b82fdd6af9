/*
 * Trials of one file that were refused, for a later pass that makes them again: there they cost next to nothing. Each has one
 * slot, which a later one may take.
 */
#ifndef BURIN_ASSEMBLE_KNOWN_TRIALS_H
#define BURIN_ASSEMBLE_KNOWN_TRIALS_H

#include <stddef.h>
#include <stdint.h>

#include "base/codec.h"
#include "carvers/carver.h"

struct known_trials;

struct known_trial {
	uint64_t key;  /* of the layout up to its last piece */
	uint64_t hash; /* of the layout as far as was looked at */
	uint64_t reached, seen;
	enum verdict verdict;
	unsigned proof; /* of its last joint */
};

/* For that many at most; at least one. */
struct known_trials *known_trials_new(size_t most);
void known_trials_free(struct known_trials *known);
/* What it was made for; 0 if it is NULL. */
size_t known_trials_most(const struct known_trials *known);
/* NULL: it is not known, or there is nothing that knows. Threads may ask as long as none adds. */
const struct known_trial *known_trials_find(const struct known_trials *known, uint64_t key);
/* known may be NULL. */
void known_trials_add(struct known_trials *known, const struct known_trial *trial);
void known_trials_save(const struct known_trials *known, struct codec_writer *writer);
/* Takes as much as it is for from *room, which must have it. NULL: invalid values have failed the reader. */
struct known_trials *known_trials_load(uint64_t *room, struct codec_reader *reader);

#endif
