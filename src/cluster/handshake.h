/* The beginning and the end of a run on the coordinator's side. */
#ifndef BURIN_CLUSTER_HANDSHAKE_H
#define BURIN_CLUSTER_HANDSHAKE_H

#include "cluster/transport.h"
#include "run/cluster.h"

/* As in struct cluster. */
int handshake_begin(const struct cluster_begin *begin, const char **engine, struct error *error);
void handshake_spent(unsigned rank, struct rank_record *record);
void handshake_end(void);

/* A message, in the transport's thread; with the coordinator's lock. Takes over the bytes. */
void handshake_deliver(struct message *message);

#endif
