/* The sections of an EWF segment file: finding them, also after a damaged one. */
#ifndef BURIN_EVIDENCE_E01_SECTIONS_H
#define BURIN_EVIDENCE_E01_SECTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Bytes of a segment file's head, and of the head that each section starts with. */
#define E01_FILE_HEAD_LEN 13
#define E01_SECTION_HEAD_LEN 76

struct e01_section {
	char type[17];   /* "volume", "table", ... */
	uint64_t offset; /* of the section in the file */
	uint64_t len;    /* bytes, the section's head included; cut at the file's end */
	bool resumed;    /* what precedes it is damaged, and may have been more sections */
};

enum e01_ending {
	E01_ENDS_BROKEN, /* the list breaks off */
	E01_ENDS_NEXT,   /* another segment follows */
	E01_ENDS_DONE,   /* none does */
};

/* What a walk found out about the list of sections as a whole. */
struct e01_walk {
	enum e01_ending ending;
	bool damaged; /* a section's head was damaged or led nowhere */
};

/* True when head, the first len bytes of a file, is that of an EWF segment (E01, S01). */
bool e01_probe(const uint8_t *head, size_t len);

/* Calls visit for each section of the file (size bytes), in order, except the last, which shows
 * whether another segment follows. Sections with a damaged head are skipped; the search for the
 * next valid one costs one pass over the bytes between. */
struct e01_walk e01_walk_sections(int fd, uint64_t size,
	void (*visit)(void *arg, const struct e01_section *section), void *arg);

/* True when a section other than the chunks claims to be larger than any real one; *section has the
 * length that it claims, or the distance to the next one: libewf allocates as much memory as it is
 * told to. */
bool e01_claims_too_much(int fd, uint64_t size, struct e01_section *section);

/* Writes a section's head to `head`: type, where the next section starts, its own length and the
 * checksum. */
void e01_make_section_head(
	uint8_t head[E01_SECTION_HEAD_LEN], const char *type, uint64_t next, uint64_t len);

/* True when the little-endian number after len bytes is their checksum (Adler-32). */
bool e01_sum_holds(const uint8_t *bytes, size_t len);

#endif
