/* Compressed audio in RIFF files whose packets start with a field that can be checked. */
#ifndef BURIN_CARVERS_MEDIA_RIFF_PACKETS_H
#define BURIN_CARVERS_MEDIA_RIFF_PACKETS_H

#include "riff.h"
#include "predictor.h"

enum riff_packet_coding {
	RIFF_CODING_OTHER, /* its packets cannot be checked */
	RIFF_CODING_IMA,
	RIFF_CODING_MICROSOFT,
	RIFF_CODING_RATES,
};

struct riff_packets {
	enum riff_packet_coding coding;
	uint16_t channels, len; /* len: bytes of a packet, except for RIFF_CODING_RATES */
	uint8_t rate_count, rates[8],
		lens[8]; /* first bytes of packets, and how many follow them */
};

/* Reads from the chunk 'fmt ' of WAVE or QLCM how the audio is coded. */
void riff_packets_read_format(
	const struct riff *riff, const struct riff_chunk *chunk, struct riff_packets *packets);

/* Whether [start, end) is packets to its end, or foreign bytes begin at *at. For all but
 * RIFF_CODING_RATES the last packet's end cannot be checked: PREDICTOR_UNKNOWN. */
enum predictor_end riff_packets_check(struct view *view, const struct riff_packets *packets,
	uint64_t start, uint64_t end, uint64_t *at);

#endif
