/*
 *	frame: 0B 77, ..., version at 5 (5 bits: 8 and less AC-3, 16 E-AC-3), audio, CRC-16
 *	AC-3:  CRC of the first 5/8 of the frame (2), sample rate (2 bits), length (6 bits: a row of the table of
 *	       bit rates, and its lowest bit)
 *	E-AC-3: kind of stream (2 bits), number (3), length in pairs of bytes less one (11)
 */
#include "ac3_frame.h"

#include "bytes.h"

bool ac3_frame_read(const uint8_t *p, struct ac3_frame *frame)
{
	static const uint16_t kilobits[] = { 32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224,
		256, 320, 384, 448, 512, 576, 640 };
	unsigned row = p[4] >> 1 & 31;

	if (p[0] != 0x0b || p[1] != 0x77)
		return false;
	*frame = (struct ac3_frame){ .version = p[5] >> 3, .rate = p[4] >> 6 };
	if (frame->version > 10 && frame->version <= 16) {
		frame->len = ((be16(p + 2) & 0x7ffu) + 1) * 2;
		return frame->len > 16 && p[2] >> 6 < 3;
	}
	if (frame->version > 8 || frame->rate == 3 || row >= sizeof(kilobits) / sizeof(*kilobits))
		return false;
	frame->len = frame->rate == 0   ? kilobits[row] * 4u
		     : frame->rate == 1 ? (kilobits[row] * 96000u / 44100 + (p[4] & 1)) * 2
					: kilobits[row] * 6u;
	return true;
}
