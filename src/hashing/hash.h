/* Hashes of carved files and of evidence, by libcrypto. */
#ifndef BURIN_HASHING_HASH_H
#define BURIN_HASHING_HASH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

enum hash_kind { HASH_MD5 = 1, HASH_SHA1 = 2, HASH_SHA256 = 4 };
/* Their names for options, from bit 0. */
#define HASH_CHOICES "md5|sha1|sha256"

/* Finished digests in hex, lower case; "" for one that was not computed. */
struct hashes {
	char md5[33], sha1[41], sha256[65];
};

/* Reads "md5,sha1,sha256" or "none". -EINVAL with the known names in error. */
int hash_mask_parse(const char *text, uint32_t *mask, struct error *error);

/* Whether they differ in a digest that both have. */
bool hashes_differ(const struct hashes *a, const struct hashes *b);

/* Copies the digests that from has to into. */
void hashes_merge(struct hashes *into, const struct hashes *from);

/* -ENOTSUP, with the reason in error, where this system refuses to compute one of them. */
int hash_kinds_check(uint32_t mask, struct error *error);

struct hasher;

/* mask: enum hash_kind or-ed together; 0 makes a hasher that computes nothing. Never NULL. One
 * thread at a time. */
struct hasher *hasher_new(uint32_t mask);
/* Starts a new message; called by hasher_new. */
void hasher_reset(struct hasher *hasher);
void hasher_update(struct hasher *hasher, const void *bytes, size_t len);
void hasher_finish(struct hasher *hasher, struct hashes *hashes);
/* The digests of the message so far, which goes on. */
void hasher_peek(const struct hasher *hasher, struct hashes *hashes);
/* NULL is fine. */
void hasher_free(struct hasher *hasher);

#endif
