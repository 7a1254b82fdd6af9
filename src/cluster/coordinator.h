/* The coordinator's view of the workers, which the files of its side share under one lock. */
#ifndef BURIN_CLUSTER_COORDINATOR_H
#define BURIN_CLUSTER_COORDINATOR_H

#include <pthread.h>

#include "base/error.h"
#include "base/memory.h"
#include "cluster/transport.h"
#include "report/record.h"

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

struct coordinator {
	pthread_mutex_t lock; /* over all of it, and over the state of scheduler.c, rpc_client.c,
				 reduction.c and cluster_images.c */
	pthread_cond_t changed;
	struct peer *peers;        /* as many as processes */
	struct strpool extensions; /* that outcomes point to; a few dozen different ones */
};

extern struct coordinator coordinator;

/* After transport_open, and before transport_close. */
void coordinator_init(void);
void coordinator_free(void);

/* What follows needs the lock. */

/* The same text, which lives until coordinator_reset. */
const char *coordinator_keep(const char *extension);
/* The run has ended: the peers may join another. */
void coordinator_reset(void);
/* Words a worker's failure, with its rank and host. Returns a negative errno. */
int coordinator_blame(unsigned rank, const struct error *theirs, struct error *error);
/* The first worker that has failed: as coordinator_blame. 0 when none has. */
int coordinator_failure(struct error *error);
/* Until something has changed, or a tenth of a second. */
void coordinator_wait(void);

#endif
