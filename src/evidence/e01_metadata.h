/* The sections of an E01 that libewf parses: the acquisition's metadata. */
#ifndef BURIN_EVIDENCE_E01_METADATA_H
#define BURIN_EVIDENCE_E01_METADATA_H

#include "evidence/e01_sections.h"

/* The content of a section with a valid checksum. */
struct e01_metadata {
	char type[17];
	uint8_t *bytes; /* freed by the owner of the struct */
	size_t len;
};

/* True when the section is one of these. */
bool e01_is_metadata(const struct e01_section *section);
/* Reads it. False when it is damaged. */
bool e01_metadata_read(int fd, const struct e01_section *section, struct e01_metadata *part);
/* Makes an E01 without any chunks from these sections. Returns its *len bytes, which the caller frees. */
uint8_t *e01_make_stub(const struct e01_metadata *parts, size_t count, size_t *len);

#endif
