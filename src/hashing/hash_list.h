/*
 * Reads lists of hashes, told apart by their content:
 *
 * - plain text: the first word of a line that is a MD5, SHA-1 or SHA-256 in hex, so what
 *   sha256sum, md5deep, PowerShell and others print will do, also "MD5 (name) = hash" of BSD.
 *   Empty lines and those with # or % in front are passed over;
 * - tables with a first line that names their columns (commas, semicolons or tabs; quotes or
 *   none), as NSRLFile.txt of NIST's NSRL RDS 2 and hashdeep's output: of each row the strongest
 *   hash that is there is taken;
 * - SQLite, as RDS 3: the same of the table FILE or METADATA, or else of the first table with such
 *   columns.
 *
 * Text may be UTF-8 or UTF-16 with a byte order mark, and its lines end as Unix or Windows like.
 * Nothing in a list is believed: a line may have any length, a database may be made to do harm.
 */
#ifndef BURIN_HASHING_HASH_LIST_H
#define BURIN_HASHING_HASH_LIST_H

#include <stdbool.h>

#include "hashing/hash.h"

/* The bytes of a kind's digest, 0 for what is no kind. */
size_t hash_digest_len(enum hash_kind kind);
/* hex: as many digits as the kind has; either case. False when it is none. */
bool hash_digest_parse(const char *hex, size_t hex_len, enum hash_kind *kind, uint8_t digest[32]);

struct hash_list_reader {
	/* Returns 0, or a negative errno that ends the reading. */
	int (*take)(void *context, enum hash_kind kind, const uint8_t *digest);
	void *context;
	uint64_t ignored; /* lines or rows that held no hash */
};

/* Reads the list, a plain file. path: for messages, and to open a database. Returns 0 or a negative
 * errno with error set (EXIT_USAGE, or EXIT_IO); what take returned is handed on without words. */
int hash_list_read(const char *path, struct hash_list_reader *reader, struct error *error);

/* hash_list_sqlite.c: the same for a database. */
int hash_list_read_sqlite(const char *path, struct hash_list_reader *reader, struct error *error);

#endif
