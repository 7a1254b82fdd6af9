/*
 * Searching: slots go from the reader to the engine, and the hits of finished chunks come out in
 * order of the image. What becomes of the hits is the caller's business.
 *
 * When an engine breaks down, the next one of the table searches again whatever the caller has not
 * got yet; the caller sees nothing of it but a problem in the report.
 */
#ifndef BURIN_RUN_SEARCH_H
#define BURIN_RUN_SEARCH_H

#include "base/error.h"
#include "carve/ahead.h"
#include "content_map/content_map.h"
#include "evidence/reader.h"
#include "report/record.h"
#include "run/evidence_hash.h"
#include "run/problems.h"
#include "run/run_options.h"
#include "run/scope.h"
#include "run/sift.h"
#include "scan/scan.h"

struct search;

struct search_options {
	const struct run_options *options;
	const struct scope *scope;
	struct pool *pool;
	struct problems *problems;
	struct sift *sift;   /* gives hits their notes; NULL: none */
	struct ahead *ahead; /* learns what the engine decodes; NULL: nothing is decoded */
	bool shared;         /* other processes are to read the reader's ring */
	bool keeps_text;     /* files in pieces are searched for on the GPUs afterwards */
	/* Another engine may search until the one that `auto` prefers has started, and all of what is
	 * short. Not with keeps_text. */
	bool may_start_late;
};

/* What options point to must outlive the search. All functions are called by one thread. */
struct search *search_new(const struct search_options *options);

/* Picks the engine that is to search length bytes (0: not known). Before search_open. Returns 0 or a negative errno with error
 * set, as do all that return int. */
int search_pick_engine(struct search *search, uint64_t length, struct error *error);
/* Opens reader and engine and starts reading: length bytes of the image from offset on. */
int search_open(struct search *search, uint64_t offset, uint64_t length, struct error *error);
/* The slots will go to these two as well (each may be NULL). After search_open. */
void search_attach(struct search *search, struct evidence_hash *hash, struct content_map *map);
/* Queues another range, after those so far. */
void search_add(struct search *search, struct range range);

/* Waits for the next finished chunk, in order of the image: its bytes, and its hits in
 * [from, until). When until is less than len, the rest of it comes next. 1: *chunk is valid until
 * search_done; 0: all ranges were searched, or a signal was caught. */
int search_next(struct search *search, const struct chunk **chunk, struct error *error);
/* The caller needs the chunk's bytes and hits no more. search_next does it otherwise. */
void search_done(struct search *search);
/* All ranges were searched, and the caller is done with all chunks. */
bool search_is_complete(const struct search *search);

/* What GPUs keep of the image that is searched, or NULL. As long as the search is. */
const struct kept_text *search_kept_text(const struct search *search);

/* Bytes of a match in the chunk. */
uint32_t search_match_len(
	const struct search *search, const struct chunk *chunk, const struct hit *hit);
/* The caller is done with all chunks before `position`. What starts at the result or later stays in
 * memory for a while: checks that read it should not fall further behind. */
uint64_t search_near(const struct search *search, uint64_t position);

/* What the reader could not read so far, in offsets of the image. */
const struct ranges *search_unreadable(const struct search *search);
struct reader *search_reader(const struct search *search);
unsigned search_slots(const struct search *search);            /* of the reader */
const char *search_engine_name(const struct search *search);   /* after search_pick_engine */
const char *search_engine_reason(const struct search *search); /* why this one: for people */
const char *search_kernel(const struct search *search); /* "" for none; valid until search_close */
/* Whether the engine that is open, or will be, is of this name. */
bool search_will_use(const struct search *search, const char *engine);
/* What each engine has searched, in the order in which they were used; valid until search_close. The result is their
 * number. */
size_t search_shares(struct search *search, const struct engine_share **shares);
/* The engine or kernel that was asked for does not support such rules. */
bool search_is_unsuited(const struct search *search);
/* Seconds that search_next has waited for the reader, and for the engine. */
void search_waits(const struct search *search, double *read, double *scan);

/* Whatever is in flight is waited for. The hash and the map must hold no slot any more. NULL is
 * fine. */
void search_close(struct search *search);

#endif
