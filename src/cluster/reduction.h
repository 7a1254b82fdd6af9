/* Sums and maxima over all processes: each sends its own to rank 0, which sends the result to all. */
#ifndef BURIN_CLUSTER_REDUCTION_H
#define BURIN_CLUSTER_REDUCTION_H

#include "base/error.h"
#include "cluster/transport.h"

/* On rank 0. In the transport's thread; with the coordinator's lock. Takes over the bytes. */
void reduction_deliver(struct message *message);
/* On rank 0: why the result may never come. 0, or a negative errno with error set. */
int reduction_failure(struct error *error);

#endif
