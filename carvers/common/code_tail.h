/* Where codes of which any bits are some symbols break off (struct carve_codes): the code that is cut, and looks at what may
 * go on with it. */
#ifndef BURIN_CARVERS_COMMON_CODE_TAIL_H
#define BURIN_CARVERS_COMMON_CODE_TAIL_H

#include "carver.h"
#include "evenness.h"
#include "habits.h"

#define CODE_TAIL_MAX 16         /* bytes */
#define CODE_TAIL_KNOWN 500      /* symbols from which habits are known */
#define CODE_TAIL_LIKELY_BITS 7u /* that speak for bytes that likely go on */

struct code_tail {
	uint8_t bytes[CODE_TAIL_MAX];
	size_t len;
	unsigned bit; /* of the first byte, where the code begins */
};

/* The view's bytes from that bit on, CODE_TAIL_MAX at most. False: they could not be read. */
bool code_tail_read(struct code_tail *tail, struct view *view, uint64_t bit);

/* Gives the trial the symbols of bytes that begin with the tail's, and counts them. False: they are not likely the
 * file's own. */
typedef bool code_tail_decode(const void *broken, const uint8_t *bytes, size_t len,
	struct habits_trial *trial, uint32_t *symbols);

/* Answers ask of struct carve_codes, by what the codes before the break are like. */
unsigned code_tail_ask(const struct code_tail *tail, const struct evenness *evenness,
	const struct habits *habits, code_tail_decode *decode, const void *broken,
	const uint8_t *bytes, size_t len, uint64_t *work);

#endif
