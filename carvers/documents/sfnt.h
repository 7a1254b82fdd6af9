/* Tables of fonts: shared by sfnt.c (TrueType, OpenType, collections), woff.c and eot.c. */
#ifndef BURIN_CARVERS_DOCUMENTS_SFNT_H
#define BURIN_CARVERS_DOCUMENTS_SFNT_H

#include <stdbool.h>

#include "carver.h"

/* A table's checksum: the sum of its big-endian words. A remainder is padded with zeros. */
struct sfnt_sum {
	uint32_t sum;
	uint64_t len; /* bytes added so far */
};

/* Adds the next len bytes of the table. */
void sfnt_sum_add(struct sfnt_sum *sum, const uint8_t *bytes, size_t len);

/* Whether four bytes can be a table's tag. */
bool sfnt_is_tag(const uint8_t *p);

/* Title and date from the tables `name` and `head`, given as in a font. */
void sfnt_read_name(struct finding *finding, const uint8_t *p, size_t len);
void sfnt_read_head(struct finding *finding, const uint8_t *p, size_t len);

#endif
