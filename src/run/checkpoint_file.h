/*
 * Keeps a run's latest checkpoint in the output folder. A new one is written under a temporary
 * name; before it takes the place of the last, all that it says was done must be on the disk
 * itself, and waiting for that is a thread's work, while the run goes on.
 */
#ifndef BURIN_RUN_CHECKPOINT_FILE_H
#define BURIN_RUN_CHECKPOINT_FILE_H

#include "output/output_dir.h"

struct keeper;

/* The sink must outlive it. Never NULL. All functions are called by one thread. */
struct keeper *keeper_new(struct sink *sink);
/* Whether the disk is still busy with the last. */
bool keeper_is_busy(struct keeper *keeper);
/* Begins a new one. Returns its descriptor, -EBUSY while the last is on its way to the disk, or
 * another negative errno. One of the next two must follow. */
int keeper_begin(struct keeper *keeper);
/* It is written. sync: it replaces the last when it and everything else in the folder are on the
 * disk; otherwise at once. */
void keeper_commit(struct keeper *keeper, bool sync);
void keeper_drop(struct keeper *keeper);
/* Waits until the last one is in its place. Returns 0, or the negative errno of the first that
 * failed to get there. */
int keeper_wait(struct keeper *keeper);
/* The run has come to its end and needs none any more. sync: when everything else is on the
 * disk. */
void keeper_remove(struct keeper *keeper, bool sync);
/* Waits. NULL is fine. */
void keeper_free(struct keeper *keeper);

#endif
