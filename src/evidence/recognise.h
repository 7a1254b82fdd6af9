/* Whether a file is an image, by its content alone: for folders that are searched for images. */
#ifndef BURIN_EVIDENCE_RECOGNISE_H
#define BURIN_EVIDENCE_RECOGNISE_H

#include <stdbool.h>

/* True for a file in a format of images, also one that image_open refuses by name, and for one that
 * begins as a disk or a volume does: with a partition table, or a file system. True as well for a file
 * that can't be read, so that opening it says why. */
bool recognise_image(const char *path);

#endif
