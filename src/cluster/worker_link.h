/* A worker's side of the messages with the coordinator. */
#ifndef BURIN_CLUSTER_WORKER_LINK_H
#define BURIN_CLUSTER_WORKER_LINK_H

#include "cluster/rpc_server.h"
#include "cluster/transport.h"
#include "run/cluster.h"

/* What a worker joins a run with. */
struct link_join {
	const struct traits *traits;
	struct rpc_server_options serve;
	const char *engine; /* its name */
	/* It was decided that what starts before this is hidden. Called in any thread, until
	 * link_leave. */
	void (*hide)(void *context, uint64_t until);
	void *context;
};

void link_init(void);

/* Waits until the coordinator has begun. 1: checks and writes are done in the pool from now on; 0:
 * there is no run; else a negative errno with error set. */
int link_join(const struct link_join *join, struct error *error);
/* The next unit to search. 1; 0: there are no more; -EAGAIN: none has come yet. */
int link_next_unit(bool wait, struct range *unit, bool *last);
/* Waits until the coordinator has room for it. -ECANCELED: results are no longer wanted. */
int link_send_result(const struct cluster_result *result);
/* Waits for the task of passes over files in pieces (assembler_save_task), whose bytes are the caller's. False: there are none. */
bool link_next_passes(struct message *task);
/* As in struct assemble_others. */
bool link_exchange(void *context, const struct codec_writer *own, struct codec_writer *theirs);
void link_give_up(void *context);
/* The run can't go on. */
void link_fail(const struct error *error);
/* Waits until the coordinator has ended the run, and for all checks and writes. */
void link_leave(void);

/* As in struct cluster. */
bool link_next_image(size_t *number);
void link_image_carved(int code, const struct run_sums *sums);
int link_reduce(struct cluster_reduced *reduced, struct error *error);

/* Whether this process has sent the coordinator anything. */
bool link_was_used(void);
/* A message, in the transport's thread. Takes over the bytes. */
void link_deliver(struct message *message);

#endif
