/*
 * Packets of compressed audio in RIFF files:
 *
 *	IMA ADPCM (Microsoft, Multimedia Standards Update; WAVE's 11): of each channel the first
 *	        sample (2 bytes), the index of a step (0 to 88), 0
 *	Microsoft ADPCM (the same; WAVE's 2): of each channel the number of a predictor, of 7
 *	QCELP, EVRC, SMV (RFC 3625; QLCM): a byte for the rate, and as many bytes as 'fmt ' states
 *	        for it
 *
 * ADPCM blocks have equal lengths. Invalid blocks at the end, after valid ones, are not part of the
 * file. Packets with rates have to follow each other up to the end.
 */
#include "riff_packets.h"

#include "bytes.h"
#include "predictor.h"

#define QLCM_FORMAT_LEN 130
#define QLCM_RATES 110
#define IMA_STEPS 89
#define PREDICTORS 7
/* Valid blocks in a row: those before them are not checked. One of 36 is valid by chance. */
#define ENOUGH 4

static void read_rates(const uint8_t *p, struct riff_packets *packets)
{
	uint32_t count = le32(p + QLCM_RATES);

	if (!count || count > sizeof(packets->rates))
		return;
	packets->coding = RIFF_CODING_RATES;
	packets->rate_count = (uint8_t)count;
	for (uint32_t i = 0; i < count; i++) {
		packets->lens[i] = p[QLCM_RATES + 4 + 2 * i];
		packets->rates[i] = p[QLCM_RATES + 5 + 2 * i];
	}
}

void riff_packets_read_format(
	const struct riff *riff, const struct riff_chunk *chunk, struct riff_packets *packets)
{
	bool voice = riff_is(riff->form, "QLCM");
	size_t len = voice ? QLCM_FORMAT_LEN : 22;
	const uint8_t *p = chunk->len < len || riff->big_endian
				   ? NULL
				   : view_peek(riff->view, chunk->data, len);

	*packets = (struct riff_packets){ .coding = RIFF_CODING_OTHER };
	if (!p)
		return;
	if (voice) {
		read_rates(p, packets);
		return;
	}
	packets->channels = le16(p + 2);
	packets->len = le16(p + 12);
	if (!packets->channels || packets->len < 7 * packets->channels)
		return;
	if (le16(p) == 0x11)
		packets->coding = RIFF_CODING_IMA;
	else if (le16(p) == 2 && le16(p + 20) == PREDICTORS)
		packets->coding = RIFF_CODING_MICROSOFT;
}

static bool is_valid_block(struct view *view, const struct riff_packets *packets, uint64_t at)
{
	size_t step = packets->coding == RIFF_CODING_IMA ? 4 : 1;
	const uint8_t *p = view_peek(view, at, step * packets->channels);

	for (unsigned i = 0; p && i < packets->channels; i++, p += step) {
		if (packets->coding == RIFF_CODING_IMA && (p[2] >= IMA_STEPS || p[3]))
			return false;
		if (packets->coding == RIFF_CODING_MICROSOFT && p[0] >= PREDICTORS)
			return false;
	}
	return p != NULL;
}

static enum predictor_end check_blocks(struct view *view, const struct riff_packets *packets,
	uint64_t start, uint64_t end, uint64_t *at)
{
	unsigned good = 0;

	*at = end;
	for (uint64_t i = (end - start) / packets->len; i-- && good < ENOUGH;) {
		uint64_t block = start + i * packets->len;

		if (is_valid_block(view, packets, block)) {
			good++;
		} else {
			good = 0;
			*at = block;
		}
	}
	return *at < end && good ? PREDICTOR_FOREIGN : PREDICTOR_UNKNOWN;
}

static enum predictor_end check_rates(struct view *view, const struct riff_packets *packets,
	uint64_t start, uint64_t end, uint64_t *at)
{
	for (*at = start; *at < end;) {
		const uint8_t *p = view_peek(view, *at, 1);
		unsigned i = 0;

		while (p && i < packets->rate_count && packets->rates[i] != *p)
			i++;
		if (!p || i == packets->rate_count || packets->lens[i] >= end - *at)
			return *at > start ? PREDICTOR_FOREIGN : PREDICTOR_UNKNOWN;
		*at += UINT64_C(1) + packets->lens[i];
	}
	return PREDICTOR_CONTINUOUS;
}

enum predictor_end riff_packets_check(struct view *view, const struct riff_packets *packets,
	uint64_t start, uint64_t end, uint64_t *at)
{
	switch (packets->coding) {
	case RIFF_CODING_IMA:
	case RIFF_CODING_MICROSOFT:
		return check_blocks(view, packets, start, end, at);
	case RIFF_CODING_RATES:
		return check_rates(view, packets, start, end, at);
	case RIFF_CODING_OTHER:
		break;
	}
	return PREDICTOR_UNKNOWN;
}
