/* What the files of the coordinator share: its view of the workers. Nobody else includes this. */
#ifndef BURIN_CLUSTER_COORDINATOR_H
#define BURIN_CLUSTER_COORDINATOR_H

#include <pthread.h>

#include "cluster/messages.h"
#include "cluster/transport.h"
#include "run/cluster.h"

/* A result that arrived and was not used yet. */
struct parcel {
	struct parcel *next;
	uint8_t *bytes;
	size_t len;
};

struct peer {
	bool hello, joined, failed; /* what has arrived from it */
	struct error error;         /* failed: why */
	struct codec_reader traits; /* in hello_bytes */
	uint8_t *hello_bytes;
	char *engine;
	unsigned threads;
	unsigned jobs; /* requests that it has not answered */
	uint64_t jobs_done;
	double jobs_wait;            /* seconds that the answers took, summed up */
	struct rank_record spent;    /* on the units that were used */
	struct parcel *first, **end; /* results that were not used yet */
};

/* A unit that was dealt to a worker, and whose results were not all used. */
struct dealt {
	uint64_t offset, length;
	unsigned rank;
};

struct coordinator {
	pthread_mutex_t lock; /* over all of it */
	pthread_cond_t changed;
	struct peer *peers; /* as many as processes */
	bool dealing;
	uint64_t next, finish, unit_len;
	struct dealt *units; /* unit n is units[n % unit_room] */
	uint64_t units_dealt, units_used;
	size_t unit_room;
	struct parcel *in_hand;   /* the result that was handed out last */
	struct message_room room; /* what it was decoded into */
	uint64_t hidden_sent;     /* scheduler_hide: the workers know of this */
	bool cancelled;           /* the workers know */
};

extern struct coordinator coordinator;

/* Words a worker's failure, with its rank and host. */
int coordinator_blame(unsigned rank, const struct error *theirs, struct error *error);
/* The first worker that has failed: as coordinator_blame. 0 when none has. With the lock. */
int coordinator_failure(struct error *error);
/* Until something has changed, or a tenth of a second. With the lock. */
void coordinator_wait(void);

/* handshake.c */
int handshake_begin(const struct cluster_begin *begin, const char **engine, struct error *error);
void handshake_spent(unsigned rank, struct rank_record *record);
void handshake_end(void);
/* scheduler.c */
void scheduler_begin(const struct cluster_begin *begin);
int scheduler_next(struct cluster_result *result, struct error *error);
void scheduler_end(void);
/* What starts before this is hidden: workers that may be busy there are told. Thread-safe. */
void scheduler_hide(uint64_t until);
/* rpc_client.c */
extern const struct remote_workers rpc_client_remote;
/* The same text, which lives until rpc_client_end. With the lock. */
const char *rpc_client_keep(const char *extension);
void rpc_client_end(void);
/* reduction.c: 0, or a negative errno with error set: some process has failed. */
int reduction_failure(struct error *error);
/* cluster_images.c */
int images_carve(unsigned rank, size_t number, struct run_sums *sums);

/* Messages, in the transport's thread; with the lock. They take over the bytes. */
void handshake_deliver(struct message *message);
void scheduler_deliver(struct message *message);
void rpc_client_deliver(struct message *message);
void reduction_deliver(struct message *message);
void images_deliver(struct message *message);

#endif
