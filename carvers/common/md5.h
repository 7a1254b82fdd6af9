/* MD5 (RFC 1321) and MD4 (RFC 1320), for files that store one of their contents. They differ in how a block is added. */
#ifndef BURIN_CARVERS_COMMON_MD5_H
#define BURIN_CARVERS_COMMON_MD5_H

#include <stdbool.h>

#include "carver.h"

#define MD5_LEN 16

struct md5 {
	void (*add_block)(uint32_t state[4], const uint8_t *block);
	uint32_t state[4];
	uint64_t len;
	uint8_t block[64]; /* the first len % 64 bytes are pending */
};

/* Begin a digest; md5_add adds bytes to either. Nothing is allocated. */
void md5_start(struct md5 *md5);
void md4_start(struct md5 *md4);
void md5_add(struct md5 *md5, const uint8_t *bytes, size_t len);

/* The same for [start, end) of the view. False when it is not all inside the view, or the budget is
 * spent. */
bool md5_add_view(struct md5 *md5, struct view *view, uint64_t start, uint64_t end);
void md5_end(struct md5 *md5, uint8_t digest[MD5_LEN]);

#endif
