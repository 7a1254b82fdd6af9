/* Date and title from EXIF data, which is the same in JPEG, TIFF, WebP, PNG and HEIF. */
#ifndef BURIN_CARVERS_COMMON_EXIF_H
#define BURIN_CARVERS_COMMON_EXIF_H

#include <stdbool.h>

#include "tiff_ifd.h"

/* Sets date and title from the EXIF data (from its TIFF head on) at [base, base + len), as far as
 * it has them. Cameras write local time without a zone; it is taken as UTC. False when there is no
 * TIFF head; else that is declared as embedded (view_embedded). */
bool exif_read(struct view *view, uint64_t base, uint64_t len, struct finding *finding);

/* The same from a TIFF file that is open. */
void exif_read_tiff(const struct tiff *tiff, struct finding *finding);

#endif
