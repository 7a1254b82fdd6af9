/*
 * The codes of a deflate stream, without what they stand for: where the stream ends or becomes invalid, and from where
 * on it is likely foreign (habits.h, evenness.h). It needs no window of what was decompressed, so it goes on from any code with
 * a few kilobytes of state. Only where files in pieces are put together: inflating is much faster.
 */
#ifndef BURIN_CARVERS_COMMON_DEFLATE_CODES_H
#define BURIN_CARVERS_COMMON_DEFLATE_CODES_H

#include "carver.h"
#include "evenness.h"
#include "habits.h"

enum codes_state {
	CODES_END,     /* of the stream */
	CODES_BAD,     /* it is invalid */
	CODES_FOREIGN, /* it is not the file's own any more */
	CODES_CUT,     /* it goes on after the view's end, or the check has to end */
};

/* What came before a symbol. */
struct deflate_past {
	uint8_t context, before;      /* classes of the last symbols */
	uint16_t last, last_distance; /* symbols, for how often they came in a row: */
	uint32_t repeats;
	uint64_t output_len;
};

/* Plain data. Zero-initialise, but for member and bit. */
struct deflate_codes {
	uint64_t member; /* the caller's: where what the stream is in begins */
	uint64_t bit;    /* the next one, from the start of the view */
	uint64_t stop;   /* a bit at which the walk ends, as if it were cut there; 0: none */
	uint64_t block;  /* the first bit of the block's codes' lengths; 0: a block begins at bit */
	uint8_t kind;    /* of that block */
	bool is_last;
	bool is_own; /* the bytes are taken for the file's own, whatever their habits are */
	bool ended;  /* the stream */
	uint64_t restarted,
		valid; /* bytes: where habits were last learnt anew, 0: nowhere; and what was valid then */
	struct deflate_past past;
	struct habits habits;
	struct evenness evenness;
};

/* Goes on to the stream's end. Saves states of it between two codes now and then, if the view wants them. */
enum codes_state deflate_codes_walk(struct view *view, struct deflate_codes *codes);
/* Takes the codes from a state. False: it is no state of theirs. */
bool deflate_codes_load(struct deflate_codes *codes, const struct carve_state *state);
/* Saves plain data that describes codes up to a bit. */
void codes_save(struct view *view, uint64_t bit, const void *codes, size_t len);
/* Whether a walk from a state, of the bytes before `offset`, that ended before the stream shows that what is after them
 * is wrong. Where it doubts the bytes before already, or has followed the habits for long, the file's own may
 * have changed. */
bool deflate_codes_are_sure(const struct deflate_codes *codes, uint64_t offset);
/* After CODES_FOREIGN: what follows is walked as content of another kind, whose habits are learnt anew. If it has them for some
 * kilobytes, it is the file's own, and what was doubted, too; of 498 wrong joints in fonts that is so of 31. False: the bytes are no codes at
 * all, or what followed the last restart has no habits. */
bool deflate_codes_restart(struct deflate_codes *codes);
/* The byte up to which the codes are likely the file's own. */
uint64_t deflate_codes_valid(const struct deflate_codes *codes);

/* Walks codes to the view's end, and keeps how they may go on after it (struct carve_codes). NULL: that is not among the symbols of
 * a block, or too little is known of them; or out of memory (view_no_memory). */
struct deflate_break *deflate_break_new(struct view *view, struct deflate_codes *codes);
/* As struct carve_codes has it. */
unsigned deflate_break_ask(const void *broken, const uint8_t *bytes, size_t len, uint64_t *work);
void deflate_break_free(void *broken);

#endif
