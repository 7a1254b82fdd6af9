/* The sections of an EWF segment file: finding them, also behind a damaged one. */
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
	bool resumed;    /* something in front of it is damaged, and may have been more sections */
};

enum e01_ending {
	E01_ENDS_BROKEN, /* the list breaks off */
	E01_ENDS_NEXT,   /* another segment follows */
	E01_ENDS_DONE,   /* none does */
};

/* What a walk found out about the list as a whole. */
struct e01_walk {
	enum e01_ending ending;
	bool damaged; /* a section's head was damaged or led nowhere */
};

/* True when head, the first len bytes of a file, is that of an EWF segment (E01, S01). */
bool e01_probe(const uint8_t *head, size_t len);

/* Calls visit for each section of the file (size bytes), in order, but for the last, which says
 * whether there is another segment. A section whose head is damaged is not visited; the search
 * for the next good one costs one pass over the bytes between. */
struct e01_walk e01_walk_sections(int fd, uint64_t size,
	void (*visit)(void *arg, const struct e01_section *section), void *arg);

/* True when a section that is not the chunks themselves says that it is larger than any is, and
 * *section with its own word for its length, or that of where the next one starts: libewf takes as
 * much memory as it is told. */
bool e01_claims_too_much(int fd, uint64_t size, struct e01_section *section);

/* Writes a section's head to `head`: type, where the next section starts, its own length and the
 * checksum. */
void e01_make_section_head(
	uint8_t head[E01_SECTION_HEAD_LEN], const char *type, uint64_t next, uint64_t len);

/* The checksum (Adler-32) of len bytes is the little-endian number behind them. */
bool e01_sum_holds(const uint8_t *bytes, size_t len);

#endif
