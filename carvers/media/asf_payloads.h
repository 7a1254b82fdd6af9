/*
 * What is in the packets of ASF: payloads, parts of media objects. Where a file is put together they show what belongs together.
 */
#ifndef BURIN_CARVERS_MEDIA_ASF_PAYLOADS_H
#define BURIN_CARVERS_MEDIA_ASF_PAYLOADS_H

#include <stdbool.h>

#include "carver.h"

#define ASF_STREAMS 8 /* others are not followed */

/* What a packet begins with. */
struct asf_packet {
	size_t head_len;  /* up to the payloads */
	bool corrected;   /* it begins with error correction data */
	uint8_t lengths;  /* of fields of the packet, and whether it has several payloads */
	uint8_t flags;    /* lengths of the payloads' fields */
	uint32_t len;     /* 0: the usual one */
	uint32_t padding; /* bytes at the end */
	uint32_t time;    /* when it is sent, in milliseconds */
};

/* The last object of a stream. */
struct asf_stream {
	uint8_t number;
	bool sized;           /* size and time are known */
	uint32_t object, end; /* where its last payload ended in it */
	uint32_t size, time;
	uint64_t sizes; /* of its objects: a bit for each of 64 classes */
};

#define ASF_JOINTS 64

/* Of a joint in it the heads on both sides show that it is right. */
struct asf_joint {
	uint64_t from, to;
	unsigned bits;
};

/* All zero before the first packet. Without pointers. */
struct asf_payloads {
	struct asf_stream streams[ASF_STREAMS];
	unsigned count;
	uint32_t time;  /* of the last packet */
	uint64_t known; /* heads were read up to there */
	unsigned joint_count;
	struct asf_joint joints[ASF_JOINTS];
};

/* Follows the payloads of the packet at [at, at + len). False: one does not go on where the last one of its stream ended, or they
 * do not fill the packet, which was noticed at *wrong.*/
bool asf_follow_packet(struct view *view, struct asf_payloads *payloads,
	const struct asf_packet *packet, uint64_t at, uint64_t len, uint64_t *wrong);

/* After the last packet: declares what is proved of joints (view_proved). */
void asf_payloads_prove(struct view *view, const struct asf_payloads *payloads);

#endif
