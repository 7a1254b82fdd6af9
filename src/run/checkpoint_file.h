/*
 * Keeps a run's latest checkpoint in the output folder. A new one is written under a temporary
 * name; before it takes the place of the last, all that it says was done must be on the disk
 * itself, and waiting for that is a thread's work, while the run goes on.
 */
#ifndef BURIN_RUN_CHECKPOINT_FILE_H
#define BURIN_RUN_CHECKPOINT_FILE_H

#include "output/output_dir.h"

struct checkpoint_file;

/* The output_dir must outlive it. Never NULL. All functions are called by one thread. */
struct checkpoint_file *checkpoint_file_new(struct output_dir *output_dir);
/* Whether the disk is still busy with the last. */
bool checkpoint_file_is_busy(struct checkpoint_file *checkpoint_file);
/* Begins a new one. Returns its descriptor, -EBUSY while the last is on its way to the disk, or
 * another negative errno. One of the next two must follow. */
int checkpoint_file_begin(struct checkpoint_file *checkpoint_file);
/* It is written. sync: it replaces the last when it and everything else in the folder are on the
 * disk; otherwise at once. */
void checkpoint_file_commit(struct checkpoint_file *checkpoint_file, bool sync);
void checkpoint_file_drop(struct checkpoint_file *checkpoint_file);
/* Waits until the last one is in its place. Returns 0, or the negative errno of the first that
 * failed to get there. */
int checkpoint_file_wait(struct checkpoint_file *checkpoint_file);
/* The run has come to its end and needs none any more. sync: when everything else is on the
 * disk. */
void checkpoint_file_remove(struct checkpoint_file *checkpoint_file, bool sync);
/* Waits. NULL is fine. */
void checkpoint_file_free(struct checkpoint_file *checkpoint_file);

#endif
