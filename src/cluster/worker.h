/* A process's part in a run that several share: it searches the units that it is given, sends what it
 * found, and checks and writes what it is asked to. */
#ifndef BURIN_CLUSTER_WORKER_H
#define BURIN_CLUSTER_WORKER_H

#include "run/cluster.h"

/* struct cluster's `work`. */
int worker_run(const struct run_options *options, const char *image_path, const char *output);

/* The coordinator's own worker, in a thread. Returns 0 or a negative errno with error set. */
int worker_start(const struct cluster_begin *begin, struct error *error);
/* Waits for it, if it was started. */
void worker_join(void);

#endif
