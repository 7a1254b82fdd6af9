/* Serves the sockets over which burin-carver asks a device, each by a thread of its own: what is asked over several is
 * answered at the same time. */
#ifndef BURIN_ASSEMBLE_SEARCHES_SERVED_H
#define BURIN_ASSEMBLE_SEARCHES_SERVED_H

#include "assemble/device_server.h"

struct searches_served;

/* The sockets stay the caller's, and are of no use afterwards. Never NULL. */
struct searches_served *searches_served_new(
	struct device_server *device, const int *sockets, size_t count);
/* Whether one of them is answered just now. */
bool searches_served_are_answered(const struct searches_served *served);
/* Whether what came over one was no question. */
bool searches_served_failed(const struct searches_served *served);
/* Waits until no thread uses the sockets any more. */
void searches_served_free(struct searches_served *served);

#endif
