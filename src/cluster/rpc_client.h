/* Checks and writes that the carving stage asks the workers for. */
#ifndef BURIN_CLUSTER_RPC_CLIENT_H
#define BURIN_CLUSTER_RPC_CLIENT_H

#include "carve/carving.h"
#include "cluster/transport.h"

extern const struct remote_workers rpc_client_remote;

/* An answer, in the transport's thread; with the coordinator's lock, as the next. Takes over the
 * bytes. */
void rpc_client_deliver(struct message *message);
void rpc_client_end(void);

#endif
