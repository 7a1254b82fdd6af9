/* Descriptions of coded data (carvers/coded.h) between processes. */
#ifndef BURIN_CARVE_CODED_CODEC_H
#define BURIN_CARVE_CODED_CODEC_H

#include "base/codec.h"

struct carve_coded;

void coded_save(const struct carve_coded *coded, struct codec_writer *writer);
/* What it fills in is what functions of coded.h, and kernels, may be given. Anything else fails the reader. */
void coded_load(struct carve_coded *coded, struct codec_reader *reader);

#endif
