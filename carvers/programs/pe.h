/* PE files: what pe.c (headers and verdict), pe_parts.c (structures that prove the end), pe_code.c and
 * pe_resource.c share. */
#ifndef BURIN_CARVERS_PROGRAMS_PE_H
#define BURIN_CARVERS_PROGRAMS_PE_H

#include <stdbool.h>

#include "carver.h"

#define PE_SECTIONS_MAX 96
#define PE_DIRECTORIES 16
/* Machines. */
#define PE_X86 0x14c
#define PE_X64 0x8664

enum pe_directory {
	PE_RESOURCES = 2,
	PE_EXCEPTIONS = 3,
	PE_CERTIFICATES = 4,
	PE_RELOCATIONS = 5,
	PE_DEBUG = 6,
	PE_CLR = 14,
};

struct pe_section {
	uint32_t address, memory_len, at, len, flags;
};

struct pe {
	struct view *view;
	struct finding *finding;
	uint64_t head;     /* of the COFF header */
	uint64_t head_end; /* after the section headers */
	uint16_t machine, flags, subsystem;
	uint32_t time, checksum, image_len, align, file_align;
	uint64_t checksum_at;
	uint64_t base; /* the image's address */
	uint64_t symbols_at, symbol_count;
	uint32_t section_count;
	struct pe_section sections[PE_SECTIONS_MAX];
	struct {
		uint32_t address, len;
	} directories[PE_DIRECTORIES];
	uint64_t end; /* after everything that the headers describe */
	bool wide;
	bool reproducible; /* the time stamp is not a time */
};

/* The offset of an address in the file: false when it is in no section, or its len bytes are not
 * all in the section's bytes. */
bool pe_offset(const struct pe *pe, uint32_t address, uint32_t len, uint64_t *at);

/* Each walks a structure: true when it is there and valid, with *end after it. *broken_at is the
 * offset where it is invalid. */
bool pe_relocations(const struct pe *pe, uint64_t *end, uint64_t *broken_at);
bool pe_symbols(const struct pe *pe, uint64_t *end, uint64_t *broken_at);
bool pe_certificates(const struct pe *pe, uint64_t *end, uint64_t *broken_at);

/* The tree of resources and the last one; also sets title and extension from the version. */
bool pe_resources(struct pe *pe, uint64_t *end, uint64_t *broken_at);

/* Whether the code has what relocations and unwind data say of it, each ignored where it is invalid, and looks like one program's
 * (code_calls.h). False: *wrong_at is the first place that has or does not. */
bool pe_code_fits(const struct pe *pe, uint64_t *wrong_at);

/* Whether the header's checksum is that of [0, end). */
bool pe_checksum_matches(const struct pe *pe, uint64_t end);

#endif
