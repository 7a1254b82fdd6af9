/*
 * Asks the device for burin-carver, which puts files together and can't open one. What it asks for is checked before it
 * reaches the device, and of the image only bytes are copied: nothing is parsed here.
 */
#ifndef BURIN_ASSEMBLE_DEVICE_SERVER_H
#define BURIN_ASSEMBLE_DEVICE_SERVER_H

#include "assemble/assemble.h"

struct device_server;

/* What it is given must outlive it. NULL: there is no device. */
struct device_server *device_server_new(const struct assemble_options *options);
/* NULL is fine. */
void device_server_free(struct device_server *server);
/* Thread-safe: writes the answer to a question: CHECK_KEEP, CHECK_FIND_BREAKS, CHECK_FIND_WORDS or CHECK_FIND_CODED (carve/check_messages.h). False: it
 * is not a valid one. */
bool device_server_answer(struct device_server *server, uint32_t kind,
	struct codec_reader *question, struct codec_writer *answer);

#endif
