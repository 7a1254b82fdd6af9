/* The files that broke off, and starts of what may be one all the same: what the scan leaves to be put together. */
#ifndef BURIN_ASSEMBLE_BROKEN_H
#define BURIN_ASSEMBLE_BROKEN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "assemble/clusters.h"
#include "base/codec.h"
#include "rules/rules.h"

/* A file that the scan could not follow to its end. */
struct broken {
	uint64_t start;  /* in the evidence */
	uint64_t length; /* bytes from there that the carver validated */
	uint32_t rule;
	uint32_t verdict;
	bool is_weak; /* it was not kept: rejected, or said to be a part of another file */
};

/* In order of start. Zero-initialise. */
struct broken_files {
	struct broken *items;
	size_t count, capacity;
	size_t weak_count; /* of these */
	uint64_t left_out; /* of which no more could be kept in mind */
};

void broken_files_free(struct broken_files *files);
/* Where there are too many it is counted, unless it is weak. */
void broken_files_add(struct broken_files *files, const struct broken *broken);
/* After the scan: weak ones that were rejected, and are inside another file or start where one was found. */
void broken_files_drop_false(struct broken_files *files, const struct clusters *clusters);
/* One that must not be tried. False: it is not among them. */
bool broken_files_leave_out(struct broken_files *files, uint64_t start, uint32_t rule);
void broken_files_save(const struct broken_files *files, struct codec_writer *writer);
/* Into an empty list. size: of the evidence. Invalid values fail the reader. */
void broken_files_load(struct broken_files *files, uint64_t size, const struct rules *rules,
	struct codec_reader *reader);

#endif
