/* How sure a layout is that was accepted: which other breaks and gaps would be accepted, too. */
#ifndef BURIN_ASSEMBLE_JOINING_H
#define BURIN_ASSEMBLE_JOINING_H

#include "assemble/field.h"

/* What a carver declares of a joint at least when a decoder ended exactly where it should. */
#define EXACT_BITS 8

/* How soon the carver notices wrong bytes after a joint: counted over layouts that were refused. */
struct notice {
	uint64_t trials, late; /* those; and of them those refused for something before the joint */
	uint64_t bytes;        /* after the joint that were accepted in all others */
};

/* The last trial was refused; its last joint is at `at`. */
void notice_add(struct notice *notice, const struct workbench *bench, uint64_t at);
/* So many clusters were refused after that many bytes of them, before any trial. */
void notice_add_refused(struct notice *notice, uint64_t count, uint64_t bytes);
/* The bits by which wrong data would not have been accepted for as many bytes as follow a joint, if it
 * is as likely to be noticed at each byte as it was in the trials. 0: they show nothing. */
uint32_t notice_bits(const struct notice *notice, uint64_t bytes);
#define LIKELY_TRIALS 6 /* fewer do not even show what is likely */
/* The bits that likely speak for it, after a few trials, too: how often an exponentially distributed length is as long, of which
 * only those in the trials are known (its predictive distribution; A. Gelman et al., Bayesian Data Analysis, section 2.6). Good
 * enough to decide what is tried first. */
uint32_t notice_likely_bits(const struct notice *notice, uint64_t bytes);

/* A layout that was accepted, and accepted again by a thorough check. */
struct joining {
	struct extents extents;
	struct outcome outcome;
	uint32_t bits;                 /* of the joint that has the fewest... */
	struct joint_bits *joint_bits; /* ...and of each */
	bool is_proved;                /* no other layout needs to be tried */
};

void joining_free(struct joining *joining);
/* Tries a step from a partial file. True: it is COMPLETE; the joining is the caller's to free. */
bool joining_try(struct workbench *bench, const struct partial *partial, const struct step *step,
	struct joining *joining);
/* Makes the checks of joining_try that come to nothing, for bench->noted. */
void joining_look_ahead(
	struct workbench *bench, const struct partial *partial, const struct step *step);
/* Tries other breaks at each joint, and other gaps at the last one: may choose other breaks. False:
 * other gaps would do as well. True: assembly has the evidence and what is in doubt. partial: what
 * the last piece was a step from. */
bool joining_judge(struct workbench *bench, const struct partial *partial, struct joining *joining,
	struct assembly *assembly);

#endif
