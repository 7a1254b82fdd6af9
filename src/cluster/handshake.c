/*
 * Before a run begins, each worker sends the traits of what it has opened: burin's version, the
 * image, the rules, the options. A difference ends the run, and the message names the host. Then
 * each proves that it sees the coordinator's output folder, by a file in it: a worker with a folder
 * of the same name on a disk of its own would keep files there.
 */
#include "cluster/handshake.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/memory.h"
#include "cluster/coordinator.h"
#include "cluster/messages.h"
#include "cluster/passes.h"
#include "cluster/rpc_client.h"
#include "cluster/scheduler.h"
#include "cluster/worker.h"
#include "output/output_dir.h"
#include "run/signals.h"

#define TEXT_MAX ((size_t)1 << 16)

/* ---- what arrives -------------------------------------------------------------------------- */

static void note_hello(struct peer *peer, struct message *message)
{
	struct codec_reader reader = codec_reader_from(message->bytes, message->len);

	free(peer->hello_bytes);
	free(peer->engine);
	peer->hello_bytes = message->bytes;
	peer->threads = (unsigned)codec_get(&reader, UINT16_MAX);
	if (!peer->threads)
		peer->threads = 1;
	peer->engine = codec_get_text(&reader, TEXT_MAX);
	peer->traits = reader;
	peer->hello = true;
}

static void note_failure(struct peer *peer, const struct message *message)
{
	struct codec_reader reader = codec_reader_from(message->bytes, message->len);

	if (peer->failed)
		return;
	peer->failed = true;
	message_get_error(&reader, &peer->error);
	if (!peer->error.code)
		peer->error.code = EXIT_IO;
}

void handshake_deliver(struct message *message)
{
	struct peer *peer = &coordinator.peers[message->from];

	if (message->kind == MESSAGE_HELLO) {
		note_hello(peer, message);
		return;
	}
	if (message->kind == MESSAGE_JOINED)
		peer->joined = true;
	else
		note_failure(peer, message);
	free(message->bytes);
}

/* ---- comparing ----------------------------------------------------------------------------- */

static int wait_for_all(bool (*is_ready)(const struct peer *peer), struct error *error)
{
	for (;;) {
		unsigned count = 0;
		int status = coordinator_failure(error);

		if (status)
			return status;
		if (signals_caught())
			return error_set(error, (enum exit_code)(128 + signals_caught()), EINTR,
				"interrupted before all processes were ready");
		for (unsigned rank = 0; rank < transport_count(); rank++)
			count += is_ready(&coordinator.peers[rank]);
		if (count == transport_count())
			return 0;
		coordinator_wait();
	}
}

static bool has_said_hello(const struct peer *peer)
{
	return peer->hello;
}

static bool has_joined(const struct peer *peer)
{
	return peer->joined;
}

static int compare(unsigned rank, const struct traits *own, struct error *error)
{
	struct codec_reader theirs = coordinator.peers[rank].traits;
	uint64_t count = codec_get(&theirs, TRAITS_MAX);
	int status = 0;

	for (size_t i = 0; i < own->count && !status; i++) {
		char *value = i < count ? codec_get_text(&theirs, TEXT_MAX) : xstrdup("unknown");

		if (traits_differ(own, i, value))
			status = error_set(error, EXIT_USAGE, EINVAL,
				"rank %u (%s) can't take part: %s differs: it is '%s' there, and "
				"'%s' on rank 0 (%s)",
				rank, transport_host(rank), own->names[i], value, own->values[i],
				transport_host(0));
		free(value);
	}
	return status;
}

static int compare_all(const struct traits *own, struct error *error)
{
	int status = 0;

	for (unsigned rank = 0; rank < transport_count() && !status; rank++)
		status = compare(rank, own, error);
	return status;
}

/* ---- the folder ---------------------------------------------------------------------------- */

/* The name of a file that all must see; it is removed like any temporary file if this run is killed
 * now. The caller frees it. */
static char *make_mark(struct output_dir *output_dir, struct error *error)
{
	char *name =
		xasprintf(OUTPUT_DIR_TEMPORARY_PREFIX "cluster-%jx-%lx" OUTPUT_DIR_TEMPORARY_SUFFIX,
			(intmax_t)time(NULL), (long)getpid());
	int fd = output_dir_create(output_dir, name, error);

	if (fd >= 0) {
		close(fd);
		return name;
	}
	free(name);
	return NULL;
}

/* With the lock. */
static int show_folder(struct output_dir *output_dir, struct error *error)
{
	char *mark = output_dir ? make_mark(output_dir, error) : xstrdup("");
	int status;

	if (!mark)
		return -EIO;
	for (unsigned rank = 0; rank < transport_count(); rank++) {
		struct codec_writer writer = { 0 };

		codec_put_text(&writer, mark);
		transport_send(rank, MESSAGE_BEGIN, &writer);
	}
	status = wait_for_all(has_joined, error);
	if (output_dir)
		output_dir_discard(output_dir, mark);
	free(mark);
	return status;
}

/* ---- the interface ------------------------------------------------------------------------- */

int handshake_begin(const struct cluster_begin *begin, const char **engine, struct error *error)
{
	int status = worker_start(begin, error);

	if (status)
		return status;
	pthread_mutex_lock(&coordinator.lock);
	status = wait_for_all(has_said_hello, error);
	if (!status)
		status = compare_all(begin->traits, error);
	if (!status)
		status = show_folder(begin->output_dir, error);
	if (!status) {
		scheduler_begin(begin);
		*engine = coordinator.peers[0].engine;
	}
	pthread_mutex_unlock(&coordinator.lock);
	return status;
}

void handshake_spent(unsigned rank, struct rank_record *record)
{
	const struct peer *peer = &coordinator.peers[rank];

	pthread_mutex_lock(&coordinator.lock);
	*record = peer->spent;
	record->host = transport_host(rank);
	record->jobs = peer->jobs_done;
	record->jobs_wait = peer->jobs_wait;
	pthread_mutex_unlock(&coordinator.lock);
}

void handshake_end(void)
{
	pthread_mutex_lock(&coordinator.lock);
	for (unsigned rank = 0; rank < transport_count(); rank++)
		transport_send(rank, MESSAGE_END, NULL);
	scheduler_end();
	rpc_client_end();
	passes_end();
	coordinator_reset();
	pthread_mutex_unlock(&coordinator.lock);
	worker_join();
}
