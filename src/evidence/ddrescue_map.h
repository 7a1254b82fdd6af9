/*
 * GNU ddrescue's mapfile, the log of a rescue: which parts of an image were read from the medium
 * and which hold only what the file was filled with.
 */
#ifndef BURIN_EVIDENCE_DDRESCUE_MAP_H
#define BURIN_EVIDENCE_DDRESCUE_MAP_H

#include "base/error.h"
#include "base/ranges.h"

/* Adds to unread every part of [0, size) that the map at path does not list as finished. Errors
 * (EXIT_IO for a file that can't be read, EXIT_USAGE for one that is not a map) name file and line.
 */
int ddrescue_map_read(struct ranges *unread, const char *path, uint64_t size, struct error *error);

#endif
