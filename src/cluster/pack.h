/* Numbers and texts one behind the other in a message. All processes are of one program on machines
 * of one kind, so numbers keep their form. */
#ifndef BURIN_CLUSTER_PACK_H
#define BURIN_CLUSTER_PACK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Zero-initialise; whoever sends it takes it over. */
struct pack {
	uint8_t *bytes;
	size_t len, capacity;
};

/* As they are. */
void pack_raw(struct pack *pack, const void *bytes, size_t len);
void pack_number(struct pack *pack, uint64_t number);
/* With their number. */
void pack_bytes(struct pack *pack, const void *bytes, size_t len);
/* NULL is sent as "". */
void pack_text(struct pack *pack, const char *text);

/* A message that is read. What is missing reads as zeros and empty texts. */
struct unpack {
	const uint8_t *bytes;
	size_t left;
	bool bad; /* something was missing */
};

void unpack_raw(struct unpack *unpack, void *bytes, size_t len);
uint64_t unpack_number(struct unpack *unpack);
/* They lie in the message, at any address. */
const void *unpack_bytes(struct unpack *unpack, size_t *len);
/* Into a buffer of len bytes, cut if need be. */
void unpack_text(struct unpack *unpack, char *buffer, size_t len);
/* The caller frees it. */
char *unpack_text_new(struct unpack *unpack);

#endif
