/* RIFF, the chunks that WebP, WAV, AVI and animated cursors are made of. */
#ifndef BURIN_CARVERS_COMMON_RIFF_H
#define BURIN_CARVERS_COMMON_RIFF_H

#include <stdbool.h>

#include "carver.h"

/* A walk over consecutive chunks. */
struct riff {
	struct view *view;
	uint64_t at;  /* the next chunk */
	uint64_t end; /* of all of them, by the size in the head */
	char form[5]; /* 'WEBP', 'WAVE', ...; of a list its type */
	bool big_endian;
	uint64_t data_len; /* of the chunk 'data' in an RF64, or 0 */
};

struct riff_chunk {
	uint64_t at;        /* its id; the length is at + 4, the data at + 8 */
	uint64_t data, end; /* [data, end) is its data; a byte of padding may follow */
	uint32_t len;
	char id[5];
};

enum riff_step {
	RIFF_CHUNK,  /* read, and the walk is past it: maybe past the view */
	RIFF_END,    /* the end was reached exactly */
	RIFF_CUT,    /* the view ends before the next chunk's head does */
	RIFF_BROKEN, /* no chunk starts at riff->at, or it is longer than its parent */
};

/* Reads the head at `at`: 'RIFF' ('RIFX' is big-endian, 'RF64' long), size, form. False when there
 * is none. */
bool riff_open(struct riff *riff, struct view *view, uint64_t at);

/* Starts a walk over the chunks inside a chunk 'LIST', or of another kind that contains chunks after
 * head_len bytes of its own (4 for a list: its type). */
bool riff_enter(const struct riff *riff, const struct riff_chunk *chunk, uint32_t head_len,
	struct riff *inside);

enum riff_step riff_next(struct riff *riff, struct riff_chunk *chunk);

/* Whether a chunk's id (or a form) is this. */
bool riff_is(const char *id, const char *other);

/* Sets the title if the chunk is an INAM. */
void riff_read_title(
	const struct riff *riff, const struct riff_chunk *chunk, struct finding *finding);

#endif
