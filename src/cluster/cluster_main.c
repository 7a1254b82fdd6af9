/*
 * burin-mpi: burin as one of several processes that MPI has started. MPI's calls are made here, in
 * the main thread; the program itself runs in another, as it does alone, and finds the others
 * through run_cluster. Rank 0 is the conductor, and speaks to people. The others keep their
 * messages to themselves, but for warnings, and the last error, which they tell the conductor.
 */
#include <dirent.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"
#include "base/memory.h"
#include "base/thread.h"
#include "cli/dispatch.h"
#include "cluster/conductor.h"
#include "cluster/helper.h"
#include "run/run.h"

struct program {
	int argc, code;
	char **argv;
};

static atomic_bool program_done, leaving;
static char last_error[1024];
static struct run_cluster cluster;

/* ---- messages ------------------------------------------------------------------------------ */

static bool is_for_ask(enum post_kind kind)
{
	return kind == POST_CHECKED || kind == POST_REACHED || kind == POST_WRITTEN;
}

static void deliver(struct post *post)
{
	void (*take)(struct post *) = post->kind == POST_PIECE     ? deal_deliver
				      : is_for_ask(post->kind)     ? ask_deliver
				      : post->kind == POST_COMBINE ? combine_deliver
				      : post->kind == POST_CARVED  ? images_deliver
								   : meet_deliver;

	if (post->kind == POST_LEAVE)
		atomic_store(&leaving, true);
	if (post->kind >= POST_BEGIN) {
		helper_deliver(post);
		return;
	}
	pthread_mutex_lock(&conductor.lock);
	take(post);
	pthread_cond_signal(&conductor.changed);
	pthread_mutex_unlock(&conductor.lock);
}

static bool is_done(void)
{
	return atomic_load(&program_done) && atomic_load(&leaving);
}

/* ---- what this process says ---------------------------------------------------------------- */

static void take_message(enum log_level level, const char *text)
{
	if (level == LOG_ERROR)
		snprintf(last_error, sizeof(last_error), "%s", text);
	else if (level == LOG_WARN)
		fprintf(stderr, "burin: rank %u (%s): warning: %s\n", post_rank(),
			post_host(post_rank()), text);
}

/* The conductor may be waiting for a helper that came to nothing, or has left a measurement. */
static void tell_end(int code)
{
	struct error error = { .code = code ? code : EXIT_IO };

	if (helper_has_spoken() && !code)
		return;
	snprintf(error.text, sizeof(error.text), "%s",
		*last_error ? last_error : "it ended before the others");
	helper_fail(&error);
}

static void *run_program(void *arg)
{
	struct program *program = arg;

	program->code = program_run(program->argc, program->argv);
	if (post_rank())
		tell_end(program->code);
	else
		for (unsigned rank = 0; rank < post_count(); rank++)
			post_send(rank, POST_LEAVE, NULL);
	atomic_store(&program_done, true);
	post_wake();
	return NULL;
}

/* ---- this process's share of its host ------------------------------------------------------ */

/* Where each process may run on all processors, they are shared out. */
static unsigned share_of_processors(void)
{
	long online = sysconf(_SC_NPROCESSORS_ONLN);
	cpu_set_t set;

	if (post_local_count() < 2 || sched_getaffinity(0, sizeof(set), &set) ||
		CPU_COUNT(&set) < online)
		return 0;
	return online > (long)post_local_count() ? (unsigned)(online / post_local_count()) : 1;
}

/* Without a call of CUDA, which would take hold of a device. */
static unsigned count_gpus(void)
{
	const char *visible = getenv("CUDA_VISIBLE_DEVICES");
	DIR *dir = visible ? NULL : opendir("/dev");
	const struct dirent *entry;
	unsigned count = visible && *visible;

	for (; visible && *visible; visible++)
		count += *visible == ',';
	while (dir && (entry = readdir(dir)))
		count += strncmp(entry->d_name, "nvidia", 6) == 0 &&
			 strspn(entry->d_name + 6, "0123456789") == strlen(entry->d_name + 6) &&
			 entry->d_name[6];
	if (dir)
		closedir(dir);
	return count;
}

/* One a process, in turn. */
static const char *own_gpu(void)
{
	static char list[16];
	unsigned count = count_gpus();

	if (count < 2)
		return NULL;
	snprintf(list, sizeof(list), "%u,", post_local_rank() % count);
	return list;
}

static void fill_cluster(void)
{
	static char summary[80];

	snprintf(summary, sizeof(summary), "%u %s on %u %s", post_count(),
		post_count() == 1 ? "process" : "processes", post_hosts(),
		post_hosts() == 1 ? "host" : "hosts");
	cluster = (struct run_cluster){
		.rank = post_rank(),
		.count = post_count(),
		.threads = share_of_processors(),
		.gpus = own_gpu(),
		.summary = summary,
		.begin = meet_begin,
		.next = deal_next,
		.carving = &ask_remote,
		.spent = meet_spent,
		.engine = meet_engine,
		.end = meet_end,
		.join = helper_join,
		.unit = helper_unit,
		.give = helper_give,
		.fail = helper_fail,
		.leave = helper_leave,
		.carve = images_carve,
		.image = helper_image,
		.carved = helper_carved,
		.combine = helper_combine,
	};
	run_cluster = &cluster;
}

static void init_conductor(void)
{
	thread_cond_init(&conductor.changed);
	conductor.peers = xcalloc(post_count(), sizeof(*conductor.peers));
	for (unsigned rank = 0; rank < post_count(); rank++)
		conductor.peers[rank].end = &conductor.peers[rank].first;
}

static void free_peers(void)
{
	for (unsigned rank = 0; rank < post_count(); rank++) {
		free(conductor.peers[rank].hello_bytes); /* it may have come when all had ended */
		free(conductor.peers[rank].engine);
	}
	free(conductor.peers);
}

int main(int argc, char **argv)
{
	struct program program = { .code = EXIT_IO };
	pthread_t thread;

	if (post_open(&argc, &argv)) {
		log_error("MPI can't be had with threads; start burin-mpi with mpirun or srun");
		return EXIT_IO;
	}
	program.argc = argc;
	program.argv = argv;
	fill_cluster();
	init_conductor();
	helper_init();
	if (post_rank())
		log_set_taker(take_message);
	if (pthread_create(&thread, NULL, run_program, &program)) {
		log_error("cannot start any thread");
		return EXIT_IO;
	}
	post_run(deliver, is_done);
	pthread_join(thread, NULL);
	free_peers();
	post_close();
	return post_rank() ? EXIT_CLEAN : program.code;
}
