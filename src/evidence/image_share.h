/* Gives an image that is open here to another process (evidence/shared_image.h). */
#ifndef BURIN_EVIDENCE_IMAGE_SHARE_H
#define BURIN_EVIDENCE_IMAGE_SHARE_H

#include "base/codec.h"
#include "evidence/image.h"

struct image_share;

/* Of an image that stays as it is now; part of an evidence (evidence/extent_image.h), or all of it. Never
 * NULL. Its descriptors are for reading only, and apart from the image's own. */
struct image_share *image_share_new(struct image *image);
const int *image_share_descriptors(const struct image_share *share, size_t *count);
/* What image_set_ring said last; -1: none. */
int image_share_ring(const struct image_share *share);
void image_share_save(const struct image_share *share, struct codec_writer *writer);
/* NULL is fine. */
void image_share_free(struct image_share *share);

#endif
