/* Whole images that other processes carve, one after another. */
#ifndef BURIN_CLUSTER_CLUSTER_IMAGES_H
#define BURIN_CLUSTER_CLUSTER_IMAGES_H

#include "cluster/transport.h"
#include "run/run_options.h"

/* struct cluster's `carve`. */
int images_carve(unsigned rank, size_t number, struct run_sums *sums);
/* In the transport's thread; with the coordinator's lock. Takes over the bytes. */
void images_deliver(struct message *message);

#endif
