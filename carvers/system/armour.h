/* Blocks of base64 between lines "-----BEGIN label-----" and "-----END label-----": PEM,
 * OpenPGP. */
#ifndef BURIN_CARVERS_SYSTEM_ARMOUR_H
#define BURIN_CARVERS_SYSTEM_ARMOUR_H

#include "lines.h"

#define ARMOUR_HEAD 4096

struct armour {
	char label[64];
	uint64_t sound;            /* behind the last line that is part of it */
	bool closed;               /* it has its last line, and that is ended */
	bool open_line;            /* it has, but for the line's end */
	bool encrypted;            /* a field says so */
	uint64_t data_len;         /* decoded bytes */
	uint8_t head[ARMOUR_HEAD]; /* the first of them */
	unsigned data_lines;
	bool has_crc, crc_wrong; /* OpenPGP's CRC-24 */
};

/* Whether the line opens a block; its label then. */
bool armour_opens(const struct line *line, char label[64]);

/* Reads the block at `at`: false when none opens there. */
bool armour_read(struct view *view, uint64_t at, struct armour *armour);

#endif
