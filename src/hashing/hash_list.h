/*
 * Reads lists of hashes; the format is detected from the content:
 *
 * - plain text: the first word of a line that is an MD5, SHA-1 or SHA-256 in hex, so the output of
 *   sha256sum, md5deep, PowerShell and others will do, also "MD5 (name) = hash" of BSD. Empty lines
 *   and those that start with # or % are ignored;
 * - tables whose first line names the columns (commas, semicolons or tabs; with or without quotes),
 *   such as NSRLFile.txt of NIST's NSRL RDS 2 and hashdeep's output: the strongest hash of each row;
 * - SQLite, such as RDS 3: the same of the table FILE or METADATA, or else of the first table with
 *   such columns.
 *
 * Text may be UTF-8 or UTF-16 with a byte order mark, and its lines end as on Unix or Windows.
 * Lists are not trusted: a line may have any length, a database may be hostile.
 */
#ifndef BURIN_HASHING_HASH_LIST_H
#define BURIN_HASHING_HASH_LIST_H

#include <stdbool.h>

#include "hashing/hash.h"

/* The bytes of a kind's digest, 0 for an unknown kind. */
size_t hash_digest_len(enum hash_kind kind);
/* hex: as many digits as the kind has; either case. False when it is not a digest. */
bool hash_digest_parse(const char *hex, size_t hex_len, enum hash_kind *kind, uint8_t digest[32]);

struct hash_list_reader {
	/* Returns 0, or a negative errno that ends the reading. */
	int (*take)(void *context, enum hash_kind kind, const uint8_t *digest);
	void *context;
	uint64_t ignored; /* lines or rows that held no hash */
};

/* Reads the list, a plain file. path: for messages, and to open a database. Returns 0 or a negative
 * errno with error set (EXIT_USAGE, or EXIT_IO); what take returned is passed on without setting
 * error. */
int hash_list_read(const char *path, struct hash_list_reader *reader, struct error *error);

/* hash_list_sqlite.c: the same for a database. */
int hash_list_read_sqlite(const char *path, struct hash_list_reader *reader, struct error *error);

#endif
