/* Each request is a job of the helper's pool, which searches too; its answer goes back as soon as
 * it is done. */
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/memory.h"
#include "base/pool.h"
#include "carve/defer.h"
#include "carve/copy.h"
#include "cluster/helper.h"
#include "cluster/wire.h"
#include "evidence/extent_image.h"
#include "output/output_dir.h"

struct room {
	struct view *view;
	struct copier copier;
	uint64_t request, start; /* what is being checked */
	uint64_t tell_at;        /* bytes; the conductor hears when it has read so many */
};

struct work {
	struct pool_job job; /* first: a job's address is its work's */
	struct post post;
};

static struct {
	struct image *image;
	const struct rules *rules;
	struct pool *pool;
	struct output_dir *output_dir;
	struct room *rooms; /* one a thread of the pool */
	unsigned room_count;
	struct defer *defer;
	atomic_bool cancelled;
	pthread_mutex_t lock;
	pthread_cond_t done;
	uint64_t jobs; /* that are not done */
} serve = { .lock = PTHREAD_MUTEX_INITIALIZER, .done = PTHREAD_COND_INITIALIZER };

/* ---- beginning and end --------------------------------------------------------------------- */

/* Candidates inside a file that is being checked may be with other helpers by now. */
static void tell_reached(struct room *room, uint64_t reached)
{
	struct pack pack = { 0 };

	pack_number(&pack, room->request);
	pack_number(&pack, room->start);
	pack_number(&pack, reached);
	post_send(0, POST_REACHED, &pack);
	room->tell_at = 2 * (reached - room->start);
}

static bool go_on(void *context, uint64_t reached)
{
	struct room *room = context;

	if (reached - room->start >= room->tell_at)
		tell_reached(room, reached);
	return defer_progress(serve.defer, (unsigned)(room - serve.rooms), reached);
}

/* The folder must be the conductor's own, not one of its name. */
static int open_folder(const char *output, const char *mark, struct error *error)
{
	char *path = xasprintf("%s/%s", output, mark);
	int status = access(path, F_OK) ? -errno : 0;

	free(path);
	if (status)
		return error_set(error, EXIT_IO, -status,
			"the output folder '%s' is not the one that rank 0 has: it must lie on "
			"storage that all hosts share (%s)",
			output, strerror(-status));
	status = output_dir_share(&serve.output_dir, output, error);
	if (!status)
		output_dir_set_part(serve.output_dir, post_rank() + 1);
	return status;
}

int serve_begin(const struct run_join *join, const char *mark, struct error *error)
{
	int status = join->output ? open_folder(join->output, mark, error) : 0;

	if (status)
		return status;
	serve.image = join->image;
	serve.rules = join->rules;
	serve.pool = join->pool;
	serve.room_count = pool_threads(join->pool);
	serve.rooms = xcalloc(serve.room_count, sizeof(*serve.rooms));
	pthread_mutex_lock(&serve.lock);
	serve.defer = defer_new(serve.room_count, false, (uint32_t)join->rules->count);
	pthread_mutex_unlock(&serve.lock);
	for (unsigned i = 0; i < serve.room_count; i++) {
		serve.rooms[i].view = view_new();
		view_watch(serve.rooms[i].view, go_on, &serve.rooms[i]);
		copier_init(&serve.rooms[i].copier, join->hash_mask);
	}
	return 0;
}

void serve_cancel(void)
{
	atomic_store(&serve.cancelled, true);
}

void serve_hide(uint64_t until)
{
	pthread_mutex_lock(&serve.lock);
	if (serve.defer)
		defer_hide(serve.defer, until);
	pthread_mutex_unlock(&serve.lock);
}

void serve_end(void)
{
	pthread_mutex_lock(&serve.lock);
	while (serve.jobs)
		pthread_cond_wait(&serve.done, &serve.lock);
	defer_free(serve.defer);
	serve.defer = NULL;
	pthread_mutex_unlock(&serve.lock);
	for (unsigned i = 0; i < serve.room_count; i++) {
		view_free(serve.rooms[i].view);
		copier_free(&serve.rooms[i].copier);
	}
	free(serve.rooms);
	serve.rooms = NULL;
	serve.room_count = 0;
	output_dir_close(serve.output_dir);
	serve.output_dir = NULL;
}

/* ---- in the pool's threads ----------------------------------------------------------------- */

static void put_status(struct pack *pack, int status, const struct error *error)
{
	pack_number(pack, (uint64_t)status);
	pack_number(pack, (uint64_t)error->code);
	pack_text(pack, error->text);
}

/* False: it was put off. */
static bool check_one(
	const struct candidate *candidate, bool force, unsigned worker, struct outcome *outcome)
{
	struct room *room = &serve.rooms[worker];

	room->start = candidate->start;
	room->tell_at = DEFER_LONG_CHECK;
	return defer_check(serve.defer, worker, room->view, serve.image,
		&serve.rules->rules[candidate->rule], candidate, force, outcome);
}

static void answer_check(struct unpack *unpack, unsigned worker, struct pack *pack)
{
	static const struct error none;
	uint64_t count;

	defer_hide(serve.defer, unpack_number(unpack));
	count = unpack_number(unpack);
	put_status(pack, atomic_load(&serve.cancelled) ? -ECANCELED : 0, &none);
	for (uint64_t i = 0; i < count && !atomic_load(&serve.cancelled); i++) {
		bool force = unpack_number(unpack), checked;
		struct candidate candidate;
		struct outcome outcome;

		wire_get_candidate(unpack, &candidate);
		checked = check_one(&candidate, force, worker, &outcome);
		pack_number(pack, !checked);
		if (!checked)
			continue;
		wire_put_outcome(pack, &outcome);
		outcome_free(&outcome);
	}
}

static int write_one(struct unpack *unpack, unsigned worker, struct pack *written, bool cancelled,
	struct error *error)
{
	struct file_record record;
	int status = -ECANCELED;

	wire_get_file(unpack, &record);
	if (!cancelled && !atomic_load(&serve.cancelled))
		status = copy_file(&serve.rooms[worker].copier, extent_image_evidence(serve.image),
			serve.output_dir, &record, &serve.cancelled, error);
	pack_number(written, (uint64_t)status);
	wire_put_written(written, &record);
	free(record.path);
	free(record.runs);
	return status;
}

/* Behind the first that fails none is written. */
static void answer_write(struct unpack *unpack, unsigned worker, struct pack *pack)
{
	uint64_t count = unpack_number(unpack);
	struct pack written = { 0 };
	struct error error = { 0 };
	int status = 0;

	for (uint64_t i = 0; i < count && !unpack->bad; i++) {
		int one = write_one(unpack, worker, &written, status, &error);

		status = status ? status : one;
	}
	put_status(pack, status, &error);
	pack_raw(pack, written.bytes, written.len);
	free(written.bytes);
}

static void run_work(struct pool_job *job, unsigned worker)
{
	struct work *work = (struct work *)job;
	struct unpack unpack = { work->post.bytes, work->post.len, false };
	bool check = work->post.kind == POST_CHECK;
	struct pack pack = { 0 };

	serve.rooms[worker].request = unpack_number(&unpack);
	pack_number(&pack, serve.rooms[worker].request);
	if (check)
		answer_check(&unpack, worker, &pack);
	else
		answer_write(&unpack, worker, &pack);
	post_send(0, check ? POST_CHECKED : POST_WRITTEN, &pack);
	free(work->post.bytes);
	free(work);
	pthread_mutex_lock(&serve.lock);
	serve.jobs--;
	pthread_cond_signal(&serve.done);
	pthread_mutex_unlock(&serve.lock);
}

void serve_deliver(struct post *post)
{
	struct work *work = xcalloc(1, sizeof(*work));
	bool check = post->kind == POST_CHECK;

	work->post = *post;
	work->job.run = run_work;
	pthread_mutex_lock(&serve.lock);
	serve.jobs++;
	pthread_mutex_unlock(&serve.lock);
	pool_submit(serve.pool, check ? POOL_CHECK : POOL_WRITE, &work->job);
}
