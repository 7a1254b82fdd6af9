/* Checks and writes that the coordinator asks a worker for: jobs of the worker's pool, which
 * searches too. Answers go back as soon as they are complete. */
#ifndef BURIN_CLUSTER_RPC_SERVER_H
#define BURIN_CLUSTER_RPC_SERVER_H

#include "base/error.h"
#include "base/pool.h"
#include "cluster/transport.h"
#include "evidence/image.h"
#include "rules/rules.h"

struct rpc_server_options {
	struct image *image; /* what is searched */
	const struct rules *rules;
	struct pool *pool;
	const char *output; /* NULL: no files are written */
	uint32_t hash_mask;
	bool confined; /* checks are made in other processes (carve/check_worker.h), ... */
	struct lost_processes *lost; /* ...of which those that are lost are noted */
};

/* mark: a file that the coordinator has made in the output folder. Returns 0 or a negative errno
 * with error set. */
int rpc_server_begin(
	const struct rpc_server_options *options, const char *mark, struct error *error);
/* In the transport's thread. Takes over the bytes. */
void rpc_server_deliver(struct message *message);
/* Nothing that was asked for is wanted any more. */
void rpc_server_cancel(void);
/* Whether that was said. Thread-safe. */
bool rpc_server_is_cancelled(void);
/* What starts before this is hidden. */
void rpc_server_hide(uint64_t until);
/* Waits for all jobs. */
void rpc_server_end(void);

#endif
