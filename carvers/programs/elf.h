/* ELF files: what elf.c (headers and verdict) and elf_content.c (contents of sections and segments)
 * share. */
#ifndef BURIN_CARVERS_PROGRAMS_ELF_H
#define BURIN_CARVERS_PROGRAMS_ELF_H

#include <stdbool.h>

#include "carver.h"

enum {
	ELF_REL = 1,
	ELF_EXEC = 2,
	ELF_DYN = 3,
	ELF_CORE = 4,

	ELF_LOAD = 1,
	ELF_DYNAMIC = 2,
	ELF_INTERP = 3,
	ELF_NOTE = 4,

	ELF_PROGBITS = 1,
	ELF_SYMTAB = 2,
	ELF_STRTAB = 3,
	ELF_DYNAMICS = 6,
	ELF_NOTES = 7,
	ELF_NOBITS = 8,
	ELF_DYNSYM = 11,

	ELF_ALLOC = 2, /* flag of a section */
};

struct elf {
	struct view *view;
	struct finding *finding;
	bool wide, big_endian;
	bool appimage;
	uint16_t type;
	uint64_t segments_at, sections_at;
	uint64_t segment_count, section_count, names_index;
	uint64_t head_end;      /* after the header and the program headers */
	uint64_t segments_end;  /* after the last segment */
	uint64_t segment_align; /* the largest of the loaded ones */
	uint64_t names_len;     /* length of the table of section names */
	bool interp;
	uint64_t dynamic, dynamic_len;
	uint64_t note, note_len; /* the first of them */
};

struct elf_section {
	uint32_t name, type;
	uint64_t flags, address, at, len, entry_len, align;
	uint32_t link;
};

/* The word at p, of 4 bytes or, in 64-bit files, 8, in the byte order of the file. */
uint64_t elf_word(const struct elf *elf, const uint8_t *p);

/* Reads entry `index` of the section table. False when it is not readable. */
bool elf_section(const struct elf *elf, uint64_t index, struct elf_section *section);

/* What is wrong with a section's contents, or NULL; *where is the offset. */
const char *elf_content(const struct elf *elf, const struct elf_section *section, uint64_t *where);

/* Whether a section consists of notes, each with the name of its owner, of which the last ends where the section does. */
bool elf_notes_fill(const struct elf *elf, const struct elf_section *section);

/* Whether a section consists of dynamic entries, the segment's own, and zeros that begin less than a sector before it ends. */
bool elf_entries_fill(const struct elf *elf, const struct elf_section *section);

/* Sets extension and title. */
void elf_details(const struct elf *elf);

/* The end of the signature that follows a kernel module at `end`; `end` if there is none. */
uint64_t elf_signature_end(struct view *view, uint64_t end);

#endif
