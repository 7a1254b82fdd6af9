/* The coordinator's side of searching: deals units to the workers and hands out their results in
 * order of the image. */
#ifndef BURIN_CLUSTER_SCHEDULER_H
#define BURIN_CLUSTER_SCHEDULER_H

#include "cluster/transport.h"
#include "run/cluster.h"

/* All workers have joined. With the coordinator's lock, as scheduler_deliver and scheduler_end. */
void scheduler_begin(const struct cluster_begin *begin);
/* struct cluster's `next`. */
int scheduler_next(struct cluster_result *result, struct error *error);
/* What starts before this is hidden: workers that may be busy there are told. Thread-safe. */
void scheduler_hide(uint64_t until);
/* A result, in the transport's thread. Takes over the bytes. */
void scheduler_deliver(struct message *message);
void scheduler_end(void);

#endif
