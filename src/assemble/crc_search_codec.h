/* Searches for breaks (search_device.h), and what they find, between processes. */
#ifndef BURIN_ASSEMBLE_CRC_SEARCH_CODEC_H
#define BURIN_ASSEMBLE_CRC_SEARCH_CODEC_H

#include "assemble/search_device.h"
#include "base/codec.h"

/* False: it is too long for a message, and nothing is written. */
bool crc_search_save(const struct crc_search *search, struct codec_writer *writer);
/* Anything but a search that a device may be given fails the reader. crc_search_free must follow. */
void crc_search_load(struct crc_search *search, struct codec_reader *reader);
void crc_search_free(struct crc_search *search);

void crc_hits_save(const struct crc_hits *hits, struct codec_writer *writer);
void crc_hits_load(struct crc_hits *hits, struct codec_reader *reader);

#endif
