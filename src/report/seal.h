/*
 * The seal of an output folder: the SHA-256 of every file in it, in a manifest that `sha256sum -c` reads,
 * and a signature of the manifest that `minisign -V` verifies (Ed25519).
 */
#ifndef BURIN_REPORT_SEAL_H
#define BURIN_REPORT_SEAL_H

#include "hashing/hash.h"
#include "report/minisign.h"
#include "report/verify.h"

#define SEAL_MANIFEST "seal.sha256"
#define SEAL_SIGNATURE "seal.sha256.minisig"
#define SEAL_PUBLIC_KEY "seal.pub"
/* A time stamp of the manifest (RFC 3161) that somebody may put beside it. */
#define SEAL_TIME_STAMP "seal.sha256.tsr"

struct seal_counts {
	uint64_t files, bytes;        /* that were hashed */
	struct hashes manifest;       /* of the manifest: SHA-256 */
	char key_id[MINISIGN_ID_LEN]; /* of the key that signed it; "" for none */
};

/* Writes the manifest of a folder and, with a private key (PEM, Ed25519), the signature and the public
 * key. All or nothing. Errors: EXIT_USAGE when the folder is sealed already, the key is not one, or there is
 * a file that cannot be listed; EXIT_IO. */
int seal_write(
	const char *folder, const char *key_path, struct seal_counts *counts, struct error *error);

enum seal_signature {
	SEAL_UNSIGNED,
	SEAL_OWN_KEY, /* valid for the public key in the folder, which proves nothing about who made it */
	SEAL_GIVEN_KEY, /* valid for the key that was given */
	SEAL_INVALID,   /* of another manifest, or by another key */
};

/* Who made a time stamp, and when, is for `openssl ts -verify`; what it was made of is seen by the digest in it. */
enum seal_stamp {
	SEAL_UNSTAMPED,
	SEAL_STAMPED,      /* of this manifest: by its SHA-256, SHA-384 or SHA-512 */
	SEAL_STAMPED_ELSE, /* of something else */
};

struct seal_check {
	bool sealed;        /* there is a manifest */
	uint64_t different; /* files that are not as it says, missing ones and new ones included */
	enum seal_signature signature;
	enum seal_stamp stamp;
	struct seal_counts counts;
};

/* Compares a folder with its manifest, if it has one (a folder that can't be opened has none). key_path: a public key (minisign's, or PEM), or
 * NULL. each: as for verify_folder, for files that differ from the manifest. Returns 0 whatever was found;
 * a negative errno when the manifest or the key can't be read. */
int seal_verify(const char *folder, const char *key_path,
	void (*each)(void *context, const char *name, enum verify_state state, const char *detail),
	void *context, struct seal_check *check, struct error *error);

#endif
