/* Threads that have no file left to search for help those that have: they do parts of one's work, in any
 * order. */
#ifndef BURIN_ASSEMBLE_HELPERS_H
#define BURIN_ASSEMBLE_HELPERS_H

#include <stddef.h>

#include "carve/view.h"

struct helpers;

/* Never NULL. */
struct helpers *helpers_new(void);
/* NULL is fine. */
void helpers_free(struct helpers *helpers);
/* A thread has files to search for: before helpers_end, which waits and helps until no thread has any. */
void helpers_begin(struct helpers *helpers);
void helpers_end(struct helpers *helpers, struct view *view);
/* How many threads wait for work at the moment. 0 also without helpers, as NULL. */
unsigned helpers_idle(const struct helpers *helpers);
/* Does all parts, each once, together with those that wait; view: the calling thread's. */
void helpers_share(struct helpers *helpers, struct view *view, size_t count,
	void (*run)(void *context, size_t part, struct view *view), void *context);

#endif
