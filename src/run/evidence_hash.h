/*
 * Hashes of the evidence, computed in the pass that searches it, and compared with the ones that it
 * stores. The search gives each slot that it has read; the hash holds the slot until its threads
 * (hashing/media_hash.h) are done with it.
 */
#ifndef BURIN_RUN_EVIDENCE_HASH_H
#define BURIN_RUN_EVIDENCE_HASH_H

#include "evidence/reader.h"
#include "hashing/hash.h"
#include "run/problems.h"
#include "run/run_options.h"
#include "run/scope.h"

struct evidence_hash;

/* The hashes of the evidence's first len bytes, 0 for none: what a run has searched, and finds again when it is resumed. */
struct evidence_beginning {
	uint64_t len;
	struct hashes hashes;
};

struct evidence_hash_options {
	const struct run_options *options;
	const struct scope *scope;
	struct reader *reader; /* whose slots will be given; NULL: none will */
	unsigned slots;        /* of the reader */
	uint64_t position; /* of the first slot: what lies before is read once more for the hash */
	struct evidence_record *record;             /* the verdict, or why there is none */
	const struct evidence_beginning *beginning; /* as it was; len at most position */
	struct problems *problems;
};

/* *hash is NULL where nothing is to be hashed. A beginning that has changed is an error; a problem where not all of
 * it can be read, or several processes search already. Returns 0 or a negative errno with error set. All
 * functions are called by one thread, and accept NULL. */
int evidence_hash_start(struct evidence_hash **hash, const struct evidence_hash_options *options,
	struct error *error);
/* The next slot in order. */
void evidence_hash_give(struct evidence_hash *hash, struct reader_slot *slot);
/* Releases the slots that were hashed. searched: how many of those given the engine is done with. */
void evidence_hash_release(struct evidence_hash *hash, uint64_t searched);
/* Waits until the oldest slot that is held can be released, if one is held. */
void evidence_hash_wait(struct evidence_hash *hash);
/* The longest beginning of at most until bytes whose hashes are known. *beginning stays where there is none longer.
 * wait: for what is being hashed, unless that would take long. */
void evidence_hash_beginning(struct evidence_hash *hash, uint64_t until, bool wait,
	struct evidence_beginning *beginning);
/* Writes the verdict and frees the hash. whole: all of the evidence was given; failed: the run ends
 * early. */
void evidence_hash_finish(struct evidence_hash *hash, bool whole, bool failed);

#endif
