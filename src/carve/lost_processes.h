/*
 * Processes for checks (burin-carver) that were lost: it crashed, say, or did not end. What it did is done again, so the loss
 * may cost nothing but time; but people should know. Each is told at once as a warning, and those that no file that was left
 * out explains become a problem of the run. All functions are thread-safe but those for a checkpoint.
 */
#ifndef BURIN_CARVE_LOST_PROCESSES_H
#define BURIN_CARVE_LOST_PROCESSES_H

#include "base/codec.h"
#include "rules/rules.h"

enum lost_task { LOST_CHECKING, LOST_ASSEMBLING };

/* The file that was under way. */
struct lost_place {
	bool known; /* else it is not known */
	uint32_t rule;
	uint64_t start; /* in the evidence */
};

/* What is given must outlive it. Never NULL. */
struct lost_processes *lost_processes_new(const char *image_path, const struct rules *rules);
/* how: in words that follow "the process", as struct checker_process has. The warning is given once for a file, and for few.
 * lost NULL: nothing is noted. */
void lost_processes_note(struct lost_processes *lost, enum lost_task task,
	const struct lost_place *place, const char *how);
/* A file is left out, and told of, as it is to blame: for the losses at this place, or for all of the task, place NULL. */
void lost_processes_explain(
	struct lost_processes *lost, enum lost_task task, const struct lost_place *place);
/* About those that nothing explains, for the caller to free; NULL: there are none. */
char *lost_processes_sentence(struct lost_processes *lost);
/* Where nobody notes any. load: into a new one. */
void lost_processes_save(const struct lost_processes *lost, struct codec_writer *writer);
void lost_processes_load(struct lost_processes *lost, struct codec_reader *reader);
/* NULL is fine. */
void lost_processes_free(struct lost_processes *lost);

#endif
