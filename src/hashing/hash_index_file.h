/*
 * The file of a sorted index of hashes (hash_index.h), in little-endian numbers: "BURINSET", 4
 * bytes of version, 4 of zeros, 8 each of the list's length, the seconds and the nanoseconds of its
 * change; SHA-256 of its sample; 8 each of the number of MD5, SHA-1 and SHA-256; 8 of the lines
 * that held none; 4 of CRC-32 of all behind the head; zeros; at 124, CRC-32 of the 124 bytes
 * before. Then the digests of each kind, sorted.
 */
#ifndef BURIN_HASHING_HASH_INDEX_FILE_H
#define BURIN_HASHING_HASH_INDEX_FILE_H

#include <stdbool.h>

#include "hashing/hash.h"

#define HASH_INDEX_HEAD_LEN 128
#define HASH_INDEX_KINDS 3

/* In the order in which they lie in the file. */
extern const enum hash_kind hash_index_kind_order[HASH_INDEX_KINDS];
/* The place of a kind in that order. */
unsigned hash_index_kind_place(enum hash_kind kind);

struct hash_index_head {
	uint64_t list_len, seconds, nanoseconds;
	uint8_t sample[32];
	uint64_t counts[HASH_INDEX_KINDS];
	uint64_t ignored;
	uint32_t body_crc;
};

void hash_index_head_pack(const struct hash_index_head *head, uint8_t bytes[HASH_INDEX_HEAD_LEN]);
/* False: that is none of this version, or it is damaged. */
bool hash_index_head_unpack(const uint8_t bytes[HASH_INDEX_HEAD_LEN], struct hash_index_head *head);
/* Whether the counts fit a file of so many bytes, to the byte. */
bool hash_index_head_fits(const struct hash_index_head *head, uint64_t file_len);
/* Whether both say that they belong to the same list. */
bool hash_index_head_same_list(const struct hash_index_head *a, const struct hash_index_head *b);
/* Fills in what a list is told by, with counts of 0. Returns 0 or a negative errno with error
 * set. */
int hash_index_head_of(const char *list_path, struct hash_index_head *head, struct error *error);
/* Where the digests of the kind at a place in the order begin, bytes. */
uint64_t hash_index_body_at(const struct hash_index_head *head, unsigned place);

#endif
