/*
 * Has the engine decode pictures' coded data while it has the chunks (scan/scan.h), so that it is known
 * when their checks come (carve/ahead.h). Pictures that end in the next chunk wait for that.
 */
#ifndef BURIN_RUN_DECODING_H
#define BURIN_RUN_DECODING_H

#include "base/pool.h"
#include "carve/ahead.h"
#include "scan/scan.h"

struct decoding;

/* What it is given must outlive it; ahead was made for the pool's threads. All functions are called by one
 * thread. */
struct decoding *decoding_new(struct ahead *ahead, struct pool *pool);
/* All batches have ended. NULL is fine. */
void decoding_free(struct decoding *decoding);

/* The engine, which decodes, has just given back the chunk of that number: begins to decode what begins in it;
 * and the rest of what began in the one before, if that is held still. */
void decoding_begin(struct decoding *decoding, const struct scan_engine *engine, struct scan *scan,
	const struct chunk *chunk, uint64_t number, bool before_held);
/* Waits for what was begun with chunks up to that number; then it is known. */
void decoding_end(struct decoding *decoding, const struct scan_engine *engine, struct scan *scan,
	uint64_t number);

#endif
