/* Whether a 7z archive's packed streams are intact. */
#ifndef BURIN_CARVERS_ARCHIVES_SEVENZIP_STREAMS_H
#define BURIN_CARVERS_ARCHIVES_SEVENZIP_STREAMS_H

#include "sevenzip_header.h"

/* Checks the streams of an archive whose headers are intact, and names what nothing verified
 * (view_unverified). Returns where the first damaged stream starts, 0: none is; *noticed: up to where that can be
 * unpacked. */
uint64_t sevenzip_streams_check(struct view *view, const struct sevenzip *head, uint64_t *noticed);

/* How far what follows the start header can be LZMA with the usual properties, at most to `end`. */
uint64_t sevenzip_lzma_end(struct view *view, uint64_t end);

#endif
