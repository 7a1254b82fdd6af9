/*
 * How surely samples go on at a joint. A wrong joint is no special place in either of the signals that meet there: any other place in
 * what is before, and any in what is after, would fit as well. So the joint is compared with all such pairs of places, and the
 * samples themselves show how often chance makes two of them fit.
 */
#ifndef BURIN_ASSEMBLE_SAMPLE_JOINT_H
#define BURIN_ASSEMBLE_SAMPLE_JOINT_H

#include <stddef.h>
#include <stdint.h>

#include "carvers/carver.h"

struct sample_joint;

/* A place in a file, and what is around it. */
struct sample_place {
	uint64_t at; /* in the file */
	const uint8_t *before, *after;
	size_t before_len, after_len;
};

/* stored: samples, with CONTENT_CHANNELS at most. Never NULL. */
struct sample_joint *sample_joint_new(const struct carve_stored *stored);
/* Bytes on each side of a place that are looked at, at most. */
size_t sample_joint_reach(const struct sample_joint *joint);
/* CONTENT_BITs: bytes that do not belong there go on as well once in 2^bits times. Adds the units of work to *work. */
int64_t sample_joint_bits(
	struct sample_joint *joint, const struct sample_place *place, uint64_t *work);
/* The same from fewer places around it, for less work, and from fewer still. */
int64_t sample_joint_half_bits(
	struct sample_joint *joint, const struct sample_place *place, uint64_t *work);
int64_t sample_joint_near_bits(
	struct sample_joint *joint, const struct sample_place *place, uint64_t *work);
/* CONTENT_BITs: sound that goes on breaks off as much at a place once in 2^bits times. */
int64_t sample_joint_end_bits(
	struct sample_joint *joint, const struct sample_place *place, uint64_t *work);
/* NULL is fine. */
void sample_joint_free(struct sample_joint *joint);

#endif
