/* The sections of an E01 for which libewf is asked: what the acquisition says of itself. */
#ifndef BURIN_EVIDENCE_E01_PARTS_H
#define BURIN_EVIDENCE_E01_PARTS_H

#include "evidence/e01_sections.h"

/* The content of a section whose checksum was right. */
struct e01_part {
	char type[17];
	uint8_t *bytes; /* freed by whoever has the part */
	size_t len;
};

/* True when the section is one of those. */
bool e01_is_part(const struct e01_section *section);
/* Reads it. False when it is damaged. */
bool e01_read_part(int fd, const struct e01_section *section, struct e01_part *part);
/* Makes an E01 without a chunk of the parts, in memory. Returns its descriptor, or -1. */
int e01_make_abstract(const struct e01_part *parts, size_t count);

#endif
