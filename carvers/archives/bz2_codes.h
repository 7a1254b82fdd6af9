/*
 * The codes of a bzip2 stream, without sorting back what they stand for: where it ends or becomes invalid, and from
 * where on it is likely foreign (habits.h, evenness.h). A block of up to 900,000 bytes decodes whatever its bits are; only its CRC
 * shows at its end that some were foreign. Only where files in pieces are put together.
 */
#ifndef BURIN_CARVERS_ARCHIVES_BZ2_CODES_H
#define BURIN_CARVERS_ARCHIVES_BZ2_CODES_H

#include "carver.h"
#include "deflate_codes.h"

/* Plain data. Zero-initialise, but for stream and bit: the one after the stream's header. */
struct bz2_codes {
	uint64_t stream; /* the caller's: where it begins */
	uint64_t bit;    /* the next one, from the start of the view */
	uint64_t block;  /* of the block's first bit after its magic; 0: a block begins at bit */
	uint64_t stop;   /* a bit after which the walk ends, as if it were cut there; 0: none */
	uint32_t group, in_group; /* of 50 codes that have the same table */
	uint8_t context, before;  /* classes of the last symbols */
	uint32_t run;             /* symbols of a repetition's length, in a row */
	bool is_own; /* the bytes are taken for the file's own, whatever their habits are */
	bool ended;  /* the stream */
	struct habits habits;
	struct evenness evenness;
};

/* Goes on to the stream's end: bit is then after its CRC. Saves states as deflate_codes_walk does. */
enum codes_state bz2_codes_walk(struct view *view, struct bz2_codes *codes);
/* Takes the codes from a state. False: it is no state of theirs. */
bool bz2_codes_load(struct bz2_codes *codes, const struct carve_state *state);
/* The byte up to which the codes are likely the file's own. */
uint64_t bz2_codes_valid(const struct bz2_codes *codes);

/* What was walked is the file's own, all the same. */
void bz2_codes_forgive(struct bz2_codes *codes);

/* The same as deflate_break_new, _ask and _free. */
struct bz2_break *bz2_break_new(struct view *view, struct bz2_codes *codes);
unsigned bz2_break_ask(const void *broken, const uint8_t *bytes, size_t len, uint64_t *work);
void bz2_break_free(void *broken);

#endif
