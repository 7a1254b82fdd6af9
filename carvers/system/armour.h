/* Blocks of base64 between lines "-----BEGIN label-----" and "-----END label-----", or those with four hyphens and a
 * blank: PEM, OpenPGP, SSH2. */
#ifndef BURIN_CARVERS_SYSTEM_ARMOUR_H
#define BURIN_CARVERS_SYSTEM_ARMOUR_H

#include "lines.h"

#define ARMOUR_HEAD 4096

struct armour {
	char label[64];
	uint64_t valid_end;        /* after the last line that is part of it */
	bool closed;               /* its last line is there, with its line end */
	bool open_line;            /* its last line is there, without its line end */
	bool encrypted;            /* according to a field */
	uint64_t data_len;         /* decoded bytes */
	uint8_t head[ARMOUR_HEAD]; /* the first of them */
	unsigned data_lines;
	bool field_goes_on;      /* on the next line */
	bool has_crc, crc_wrong; /* OpenPGP's CRC-24 */
};

/* Whether the line opens a block; if so, reads its label. */
bool armour_opens(const struct line *line, char label[64]);

/* Reads the block at `at`: false when none starts there. */
bool armour_read(struct view *view, uint64_t at, struct armour *armour);

#endif
