/*
 * How much work (units as in carve/view.h) the passes over files in pieces may take: bounded by the image's size, however many
 * files an image holds.
 */
#ifndef BURIN_ASSEMBLE_PASS_WORK_H
#define BURIN_ASSEMBLE_PASS_WORK_H

#include <stdint.h>

/* That a pass may spend on each of `files` files, at least 1, of an image of `size` bytes. share: percent of the usual work
 * that its strategy has. */
uint64_t pass_work(uint64_t size, uint64_t files, unsigned share);
/* That of all files together, at the usual budget and share. */
uint64_t pass_work_most(uint64_t size);

#endif
