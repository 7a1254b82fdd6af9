/* burin-carver's own: what it was given, and how it talks to burin. */
#ifndef BURIN_CHECKER_CHECKER_H
#define BURIN_CHECKER_CHECKER_H

#include "base/channel.h"
#include "carve/check_messages.h"
#include "carve/defer.h"
#include "evidence/image.h"
#include "rules/rules.h"

struct checker {
	struct channel channel;
	int searches[CHECK_SEARCHES]; /* other sockets, for a device */
	struct check_shared *shared;
	struct image *image;
	struct rules rules;
	bool nested;
	struct defer *defer;     /* shared with all that check; NULL: there is none */
	unsigned threads;        /* that put files together; 0: it checks */
	_Atomic uint64_t number; /* of the check under way, or CHECK_ASSEMBLING */
};

extern struct checker checker;

/* When burin is gone, so is the work: these end the process then. */
void checker_transmit(uint32_t kind, struct codec_writer *body);
void checker_receive(uint32_t *kind, struct codec_reader *body);
/* Any thread: asks, and lets `take` read the answer, of which the status is read; NULL: there is no more. body
 * is emptied. Returns the status. */
int checker_ask(uint32_t kind, struct codec_writer *body,
	void (*take)(void *context, struct codec_reader *answer), void *context);
/* The same over another socket that is free, or will be: a device answers several at a time. */
int checker_ask_device(uint32_t kind, struct codec_writer *body,
	void (*take)(void *context, struct codec_reader *answer), void *context);
/* Whether what is under way is to be given up. */
bool checker_is_stopped(void);
/* Memory ran out. before, which may be NULL, is called if burin is to be told. */
_Noreturn void checker_end_without_memory(void (*before)(void));

struct search_tool;
extern const struct search_tool asked_device;

/* Serve burin until it is gone (checking.c, assembling.c). */
_Noreturn void check_batches(void);
_Noreturn void assemble_files(void);

#endif
