#include "cluster/passes.h"

#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/memory.h"
#include "carve/checker_process.h"
#include "cluster/coordinator.h"
#include "run/signals.h"

/* What a rank's part of the pass under way came to. */
struct part {
	uint8_t *message;     /* NULL: it has not come yet */
	const uint8_t *bytes; /* in it */
	size_t len;
};

/* Under the coordinator's lock. */
static struct {
	struct part *parts; /* one a rank; NULL: no passes were dealt out */
	bool was_left;      /* by a rank */
} passes;

static void forget_parts(void)
{
	for (unsigned rank = 0; rank < transport_count(); rank++) {
		free(passes.parts[rank].message);
		passes.parts[rank] = (struct part){ 0 };
	}
}

void passes_end(void)
{
	if (passes.parts)
		forget_parts();
	free(passes.parts);
	passes.parts = NULL;
	passes.was_left = false;
}

void passes_deliver(struct message *message)
{
	struct codec_reader reader = codec_reader_from(message->bytes, message->len);
	struct part *part = passes.parts ? &passes.parts[message->from] : NULL;

	if (!part || codec_get_flag(&reader)) {
		passes.was_left = part != NULL; /* else they are over */
		free(message->bytes);
		return;
	}
	free(part->message);
	part->message = message->bytes;
	part->bytes = codec_get_bytes(&reader, &part->len);
}

/* Waits for the parts of all other ranks. */
static bool have_come(void)
{
	struct error error = { 0 };

	for (;;) {
		unsigned count = 1;

		if (coordinator_failure(&error))
			log_warn("%s", error.text);
		if (error.code || passes.was_left)
			log_warn("the other processes do not go on with files in pieces: this one "
				 "does so "
				 "alone");
		if (error.code || passes.was_left || signals_caught())
			return false;
		for (unsigned rank = 1; rank < transport_count(); rank++)
			count += passes.parts[rank].message != NULL;
		if (count == transport_count())
			return true;
		coordinator_wait();
	}
}

/* What all ranks but that one have given. */
static void put_parts(struct codec_writer *writer, const struct codec_writer *own, unsigned but)
{
	for (unsigned rank = 0; rank < transport_count(); rank++) {
		const struct part *part = &passes.parts[rank];

		if (rank == but)
			continue;
		if (rank)
			codec_put_bytes(writer, part->bytes, part->len);
		else
			codec_put_bytes(writer, own->bytes, own->len);
	}
}

static bool exchange(void *context, const struct codec_writer *own, struct codec_writer *theirs)
{
	bool works;

	(void)context;
	pthread_mutex_lock(&coordinator.lock);
	works = have_come();
	for (unsigned rank = 1; rank < transport_count() && works; rank++) {
		struct codec_writer writer = { 0 };

		put_parts(&writer, own, rank);
		transport_send(rank, MESSAGE_PARTS, &writer);
	}
	if (works)
		put_parts(theirs, own, 0);
	forget_parts();
	pthread_mutex_unlock(&coordinator.lock);
	return works;
}

const struct assemble_others *passes_deal(const struct codec_writer *task)
{
	static struct assemble_others others = { .exchange = exchange,
		.keep = checker_keep_extension };

	others.parts = transport_count();
	pthread_mutex_lock(&coordinator.lock);
	passes.parts = xcalloc(transport_count(), sizeof(*passes.parts));
	for (unsigned rank = 1; rank < transport_count(); rank++) {
		struct codec_writer writer = { 0 };

		codec_append(&writer, task);
		transport_send(rank, MESSAGE_PASSES, &writer);
	}
	pthread_mutex_unlock(&coordinator.lock);
	return &others;
}
