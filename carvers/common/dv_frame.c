/*
 *	sequence: a header, 2 blocks of subcode, 3 of the video's auxiliary data; then 9 times a block of audio and 15 of video
 *	block:    kind in the highest 3 bits, the sequence's number in the highest 4 bits of the second byte, the number among the
 *	          blocks of its kind; data. In the first header of a frame the highest bit of the fourth byte says which
 */
#include "dv_frame.h"

enum { HEADER, SUBCODE, AUXILIARY, AUDIO, VIDEO };

unsigned dv_frame_sequences(const uint8_t *p)
{
	if (p[0] != 0x1f || (p[1] & 0xf7) != 7 || p[2] || (p[5] & 0xf8) != 0x78)
		return 0;
	return p[3] & 0x80 ? 12 : 10;
}

/* The kind and number of the block with the index in a sequence. */
static unsigned kind_of(unsigned index, unsigned *number)
{
	if (index < 6) {
		*number = index == 0 ? 0 : index < 3 ? index - 1 : index - 3;
		return index == 0 ? HEADER : index < 3 ? SUBCODE : AUXILIARY;
	}
	*number =
		(index - 6) % 16 ? (index - 6) / 16 * 15 + (index - 6) % 16 - 1 : (index - 6) / 16;
	return (index - 6) % 16 ? VIDEO : AUDIO;
}

bool dv_is_block(const uint8_t *p, unsigned index, unsigned sequence)
{
	unsigned number, kind = kind_of(index, &number);

	return (unsigned)p[0] >> 5 == kind && (unsigned)p[1] >> 4 == sequence && p[2] == number;
}
