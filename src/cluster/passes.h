/*
 * Passes over files in pieces, dealt out to all processes: rank n makes part n of each pass. The coordinator's side; that
 * of a worker is in worker.c and worker_link.c.
 */
#ifndef BURIN_CLUSTER_PASSES_H
#define BURIN_CLUSTER_PASSES_H

#include "assemble/assemble.h"
#include "cluster/transport.h"

/* As in struct cluster. */
const struct assemble_others *passes_deal(const struct codec_writer *task);
/* What a part came to. In the transport's thread; with the coordinator's lock, as the next. Takes over the bytes. */
void passes_deliver(struct message *message);
void passes_end(void);

#endif
