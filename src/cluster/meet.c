/*
 * Before a run begins, all helpers say what they have before them: burin's version, the image, the
 * rules, the options. What must be alike is compared, and a difference ends the run with the host
 * that it is on. Then each proves that it sees the conductor's output folder, by a file in it: one
 * that has a folder of the same name on a disk of its own would keep files for itself.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/memory.h"
#include "base/thread.h"
#include "cluster/conductor.h"
#include "output/output_dir.h"
#include "run/run.h"

struct conductor conductor = { .lock = PTHREAD_MUTEX_INITIALIZER };

/* ---- what all files of the conductor use --------------------------------------------------- */

void conductor_wait(pthread_cond_t *condition)
{
	thread_cond_wait(condition, &conductor.lock, 0.1);
}

int conductor_blame(unsigned rank, const struct error *theirs, struct error *error)
{
	return error_set(error, (enum exit_code)theirs->code, EIO, "rank %u (%s): %.900s", rank,
		post_host(rank), theirs->text);
}

int conductor_failure(struct error *error)
{
	for (unsigned rank = 0; rank < post_count(); rank++)
		if (conductor.peers[rank].failed)
			return conductor_blame(rank, &conductor.peers[rank].error, error);
	return 0;
}

/* ---- what arrives -------------------------------------------------------------------------- */

static void take_hello(struct peer *peer, struct post *post)
{
	struct unpack unpack = { post->bytes, post->len, false };

	free(peer->hello_bytes);
	free(peer->engine);
	peer->hello_bytes = post->bytes;
	peer->threads = (unsigned)unpack_number(&unpack);
	if (!peer->threads)
		peer->threads = 1;
	peer->engine = unpack_text_new(&unpack);
	peer->traits = unpack;
	peer->hello = true;
}

static void take_failure(struct peer *peer, const struct post *post)
{
	struct unpack unpack = { post->bytes, post->len, false };

	if (peer->failed)
		return;
	peer->failed = true;
	peer->error.code = (int)unpack_number(&unpack);
	unpack_text(&unpack, peer->error.text, sizeof(peer->error.text));
	if (!peer->error.code)
		peer->error.code = EXIT_IO;
}

void meet_deliver(struct post *post)
{
	struct peer *peer = &conductor.peers[post->from];

	if (post->kind == POST_HELLO) {
		take_hello(peer, post);
		return;
	}
	if (post->kind == POST_JOINED)
		peer->joined = true;
	else
		take_failure(peer, post);
	free(post->bytes);
}

/* ---- comparing ----------------------------------------------------------------------------- */

static int wait_for_all(bool (*there)(const struct peer *peer), struct error *error)
{
	for (;;) {
		unsigned count = 0;
		int status = conductor_failure(error);

		if (status)
			return status;
		if (run_caught_signal())
			return error_set(error, (enum exit_code)(128 + run_caught_signal()), EINTR,
				"interrupted before all processes were ready");
		for (unsigned rank = 0; rank < post_count(); rank++)
			count += there(&conductor.peers[rank]);
		if (count == post_count())
			return 0;
		conductor_wait(&conductor.changed);
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

static int differs(
	unsigned rank, const char *name, const char *here, const char *there, struct error *error)
{
	return error_set(error, EXIT_USAGE, EINVAL,
		"rank %u (%s) can't take part: %s differs: it is '%s' there, and '%s' on rank 0 "
		"(%s)",
		rank, post_host(rank), name, there, here, post_host(0));
}

/* "" stands for what is not known. */
static int compare(unsigned rank, const struct run_alike *own, struct error *error)
{
	struct unpack traits = conductor.peers[rank].traits;
	uint64_t count = unpack_number(&traits);
	int status = 0;

	for (size_t i = 0; i < own->count && !status; i++) {
		char *there = i < count ? unpack_text_new(&traits) : xstrdup("unknown");

		if (*there && *own->values[i] && strcmp(there, own->values[i]) != 0)
			status = differs(rank, own->names[i], own->values[i], there, error);
		free(there);
	}
	return status;
}

static int compare_all(const struct run_alike *own, struct error *error)
{
	int status = 0;

	for (unsigned rank = 0; rank < post_count() && !status; rank++)
		status = compare(rank, own, error);
	return status;
}

/* ---- the folder ---------------------------------------------------------------------------- */

/* The name of a file that all must see; swept away like any temporary file if this run is killed
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

static void tell_all(const char *mark)
{
	for (unsigned rank = 0; rank < post_count(); rank++) {
		struct pack pack = { 0 };

		pack_text(&pack, mark);
		post_send(rank, POST_BEGIN, &pack);
	}
}

/* With the lock. */
static int show_folder(struct output_dir *output_dir, struct error *error)
{
	char *mark = output_dir ? make_mark(output_dir, error) : xstrdup("");
	int status;

	if (!mark)
		return -EIO;
	tell_all(mark);
	status = wait_for_all(has_joined, error);
	if (output_dir)
		output_dir_discard(output_dir, mark);
	free(mark);
	return status;
}

int meet_begin(const struct run_begin *begin, struct error *error)
{
	int status;

	pthread_mutex_lock(&conductor.lock);
	status = wait_for_all(has_said_hello, error);
	if (!status)
		status = compare_all(&begin->alike, error);
	if (!status)
		status = show_folder(begin->output_dir, error);
	if (!status)
		deal_begin(begin);
	pthread_mutex_unlock(&conductor.lock);
	return status;
}

const char *meet_engine(void)
{
	return conductor.peers[0].engine;
}

void meet_spent(unsigned rank, struct rank_record *record)
{
	const struct peer *peer = &conductor.peers[rank];

	pthread_mutex_lock(&conductor.lock);
	*record = peer->spent;
	record->host = post_host(rank);
	record->jobs = peer->jobs_done;
	record->jobs_wait = peer->jobs_wait;
	pthread_mutex_unlock(&conductor.lock);
}

void meet_end(void)
{
	pthread_mutex_lock(&conductor.lock);
	for (unsigned rank = 0; rank < post_count(); rank++) {
		struct peer *peer = &conductor.peers[rank];

		post_send(rank, POST_END, NULL);
		free(peer->hello_bytes);
		free(peer->engine);
		peer->hello_bytes = NULL;
		peer->engine = NULL;
		peer->hello = peer->joined = false;
	}
	deal_end();
	ask_end();
	pthread_mutex_unlock(&conductor.lock);
}
