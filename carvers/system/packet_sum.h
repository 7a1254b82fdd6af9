/* Captured packets: whether their checksums are right. */
#ifndef BURIN_CARVERS_PACKET_SUM_H
#define BURIN_CARVERS_PACKET_SUM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "carver.h"

#define PACKET_SUM_LEN 65535 /* bytes of the longest packet whose sum is looked at */

enum packet_sum {
	PACKET_SUM_NONE,    /* none can be checked */
	PACKET_SUM_RIGHT,   /* over all of the packet's content */
	PACKET_SUM_PARTIAL, /* over addresses and length only: the network card was to compute it */
	PACKET_SUM_WRONG,
};

/* The sum of a packet of len bytes, captured with that link type (LINKTYPE_ of pcap's registry). [*from, *to): the bytes that
 * it covers but for the addresses, if it is PACKET_SUM_RIGHT. */
enum packet_sum packet_sum(uint32_t link, const uint8_t *p, size_t len, size_t *from, size_t *to);

/* What the packets of a capture that is walked came to so far. */
struct packet_sums {
	uint64_t right, wrong; /* before the last one */
	uint64_t at;           /* where the last one begins, with its record */
	enum packet_sum last;
};

/* Adds the packet of len bytes at `at`, whose record begins at `record`, and declares what its sum proves. False: bytes of the
 * packet may be another file's, as its sum is wrong, while those before it are right. */
bool packet_sums_add(struct packet_sums *sums, struct view *view, uint32_t link, uint64_t record,
	uint64_t at, uint32_t len);

#endif
