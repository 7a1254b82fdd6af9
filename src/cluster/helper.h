/* A helper's side of what is said between processes: the second half of struct run_cluster. */
#ifndef BURIN_CLUSTER_HELPER_H
#define BURIN_CLUSTER_HELPER_H

#include "cluster/post.h"
#include "run/run_cluster.h"

void helper_init(void);

int helper_join(const struct run_join *join, struct error *error);
int helper_unit(bool wait, struct range *unit, bool *last);
int helper_give(const struct run_piece *piece);
void helper_fail(const struct error *error);
void helper_leave(void);
bool helper_image(size_t *number);
int helper_combine(struct run_combined *combined, struct error *error);
void helper_carved(int code, const struct run_sums *sums);

/* Whether it has told the conductor anything. */
bool helper_has_spoken(void);
/* A message, in the thread of the post. Takes over the bytes. */
void helper_deliver(struct post *post);

/* serve.c: checks and writes, in the pool. */
int serve_begin(const struct run_join *join, const char *mark, struct error *error);
/* In the thread of the post. Takes over the bytes. */
void serve_deliver(struct post *post);
void serve_cancel(void);
/* What starts before this is hidden. */
void serve_hide(uint64_t until);
/* Waits for all of them. */
void serve_end(void);

#endif
