/* The outcome of hashing the evidence itself, as a word and as a sentence. */
#ifndef BURIN_HASHING_EVIDENCE_VERDICT_H
#define BURIN_HASHING_EVIDENCE_VERDICT_H

#include "hashing/hash.h"

/* The outcome of hashing the evidence itself. */
enum evidence_state {
	EVIDENCE_NOT_HASHED,
	EVIDENCE_HASHED,   /* it stores no hash to compare with */
	EVIDENCE_MATCH,    /* equal to every stored hash that was computed */
	EVIDENCE_MISMATCH, /* different from a stored one */
	EVIDENCE_PARTIAL,  /* not all of it was read, so nothing can be concluded */
};

/* "none", "hashed", "match", "mismatch", "partial" */
const char *evidence_state_name(enum evidence_state state);
/* The state with this name; EVIDENCE_NOT_HASHED for any other word. */
enum evidence_state evidence_state_find(const char *name);

struct evidence_record {
	enum evidence_state state;
	struct hashes hashes; /* "" where not computed, and all when not all was read */
	char sentence[200];   /* the outcome in words */
};

/* Compares the hashes of the whole evidence with those that it stores (hex in lower case, or ""),
 * and words the outcome. unread: bytes of it that could not be read. */
void evidence_compare(struct evidence_record *record, const char *stored_md5,
	const char *stored_sha1, const struct hashes *computed, uint64_t unread);

#endif
