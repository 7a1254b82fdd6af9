/* What the files of the conductor share: its picture of the helpers. Nobody else includes this. */
#ifndef BURIN_CLUSTER_CONDUCTOR_H
#define BURIN_CLUSTER_CONDUCTOR_H

#include <pthread.h>

#include "cluster/post.h"
#include "run/run_cluster.h"

struct parcel {
	struct parcel *next;
	uint8_t *bytes;
	size_t len;
};

/* A helper. */
struct peer {
	bool hello, joined, failed; /* what has come from it */
	struct error error;         /* failed: why */
	struct unpack traits;       /* in hello_bytes */
	uint8_t *hello_bytes;
	char *engine;
	unsigned threads;
	unsigned jobs; /* checks and writes that it was asked for, and has not answered */
	uint64_t jobs_done;
	double jobs_wait;            /* seconds: how long that took, one added to another */
	struct rank_record spent;    /* on the units that were used */
	struct parcel *first, **end; /* pieces that were not used yet */
};

/* Dealt to a helper, and not all of its hits used. */
struct dealt {
	uint64_t offset, length;
	unsigned rank;
};

struct conductor {
	pthread_mutex_t lock; /* over all of it */
	pthread_cond_t changed;
	struct peer *peers; /* as many as processes */
	bool dealing;
	uint64_t next, finish, unit_len;
	struct dealt *units; /* number n is at n modulo unit_room */
	uint64_t units_dealt, units_used;
	size_t unit_room;
	struct parcel *in_hand;       /* the piece that was given last */
	uint64_t hidden_told;         /* deal_hide: so much do the helpers know */
	bool cancelled;               /* the helpers know */
	struct run_outcome *outcomes; /* of the piece that was given last */
	size_t outcome_room;
};

extern struct conductor conductor;

/* Words a helper's failure, with its rank and host. */
int conductor_blame(unsigned rank, const struct error *theirs, struct error *error);
/* The first helper that has failed: as conductor_blame. 0 when none has. With the lock. */
int conductor_failure(struct error *error);
/* Until something has changed, or a tenth of a second. With the lock. */
void conductor_wait(pthread_cond_t *condition);

/* meet.c */
int meet_begin(const struct run_begin *begin, struct error *error);
const char *meet_engine(void);
void meet_spent(unsigned rank, struct rank_record *record);
void meet_end(void);
/* deal.c */
void deal_begin(const struct run_begin *begin);
int deal_next(struct run_piece *piece, struct error *error);
void deal_end(void);
/* What starts before this is hidden: whoever may be looking at it hears of it. Thread-safe. */
void deal_hide(uint64_t until);
/* ask.c */
extern const struct remote_workers ask_remote;
/* The same text, which lives until ask_end. With the lock. */
const char *ask_keep(const char *extension);
void ask_end(void);
/* combine.c */
void combine_deliver(struct post *post);
/* 0, or a negative errno with error set: some process has failed. */
int combine_failure(struct error *error);
/* images.c */
int images_carve(unsigned rank, size_t number, struct run_sums *sums);

/* Messages, in the thread of the post; with the lock. They take over the bytes. */
void meet_deliver(struct post *post);
void deal_deliver(struct post *post);
void ask_deliver(struct post *post);
void images_deliver(struct post *post);

#endif
