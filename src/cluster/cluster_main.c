/*
 * burin-mpi: burin as one of several processes that MPI has started. The main thread makes MPI's
 * calls; the program itself runs in another, as it does without MPI, and finds the other processes
 * through the_cluster. Rank 0 is the coordinator, and the one that logs. All other ranks print warnings
 * only, and send their last error to the coordinator.
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
#include "cli/dispatch.h"
#include "cluster/cluster_images.h"
#include "cluster/coordinator.h"
#include "cluster/handshake.h"
#include "cluster/passes.h"
#include "cluster/reduction.h"
#include "cluster/rpc_client.h"
#include "cluster/scheduler.h"
#include "cluster/worker.h"
#include "cluster/worker_link.h"
#include "run/cluster.h"

#define PROCESSORS_OF_CORE 2

struct program {
	int argc, code;
	char **argv;
};

static atomic_bool program_done, leaving;
static char last_error[1024];
static struct cluster cluster;

/* ---- messages ------------------------------------------------------------------------------ */

static void deliver_to_coordinator(struct message *message)
{
	switch (message->kind) {
	case MESSAGE_RESULT:
		scheduler_deliver(message);
		break;
	case MESSAGE_CHECKED:
	case MESSAGE_REACHED:
	case MESSAGE_WRITTEN:
		rpc_client_deliver(message);
		break;
	case MESSAGE_REDUCE:
		reduction_deliver(message);
		break;
	case MESSAGE_PART:
		passes_deliver(message);
		break;
	case MESSAGE_CARVED:
		images_deliver(message);
		break;
	default:
		handshake_deliver(message);
		break;
	}
}

static void deliver(struct message *message)
{
	if (message->kind == MESSAGE_LEAVE)
		atomic_store(&leaving, true);
	if (message->kind >= MESSAGE_BEGIN) {
		link_deliver(message);
		return;
	}
	pthread_mutex_lock(&coordinator.lock);
	deliver_to_coordinator(message);
	pthread_cond_signal(&coordinator.changed);
	pthread_mutex_unlock(&coordinator.lock);
}

static bool is_done(void)
{
	return atomic_load(&program_done) && atomic_load(&leaving);
}

/* ---- what a worker logs -------------------------------------------------------------------- */

static void log_of_worker(enum log_level level, const char *text)
{
	if (level == LOG_ERROR)
		snprintf(last_error, sizeof(last_error), "%s", text);
	else if (level == LOG_WARN)
		fprintf(stderr, "burin: rank %u (%s): warning: %s\n", transport_rank(),
			transport_host(transport_rank()), text);
}

/* The coordinator may be waiting for a worker that never joined, or that left a measurement. */
static void report_end(int code)
{
	struct error error = { .code = code ? code : EXIT_IO };

	if (link_was_used() && !code)
		return;
	snprintf(error.text, sizeof(error.text), "%s",
		*last_error ? last_error : "it ended before the other processes");
	link_fail(&error);
}

static void *run_program(void *arg)
{
	struct program *program = arg;

	program->code = program_run(program->argc, program->argv);
	if (transport_rank())
		report_end(program->code);
	else
		for (unsigned rank = 0; rank < transport_count(); rank++)
			transport_send(rank, MESSAGE_LEAVE, NULL);
	atomic_store(&program_done, true);
	transport_wake();
	return NULL;
}

/* ---- this process's share of its host ------------------------------------------------------ */

/* Where every process may run on all processors, each gets an equal share; 0: no limit. */
static unsigned share_of_processors(void)
{
	long online = sysconf(_SC_NPROCESSORS_ONLN);
	cpu_set_t set;

	if (transport_local_count() < 2 || sched_getaffinity(0, sizeof(set), &set) ||
		CPU_COUNT(&set) < online)
		return 0;
	return online > (long)transport_local_count() ? (unsigned)(online / transport_local_count())
						      : 1;
}

/* Open MPI's mpirun binds up to two processes to one core each. */
static void warn_of_binding(void)
{
	long online = sysconf(_SC_NPROCESSORS_ONLN);
	cpu_set_t set;

	if (!transport_local_rank() && getenv("OMPI_COMM_WORLD_SIZE") &&
		!sched_getaffinity(0, sizeof(set), &set) && CPU_COUNT(&set) <= PROCESSORS_OF_CORE &&
		online > (long)transport_local_count() * PROCESSORS_OF_CORE)
		log_warn("mpirun lets each process use only %d of this host's %ld processors: "
			 "start it "
			 "with --bind-to none",
			CPU_COUNT(&set), online);
}

/* Without CUDA, whose calls would open a device. */
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

/* For --gpus: one for each process, in turn; NULL where there is no choice. */
static const char *own_gpu(void)
{
	static char list[16];
	unsigned count = count_gpus();

	if (count < 2)
		return NULL;
	snprintf(list, sizeof(list), "%u,", transport_local_rank() % count);
	return list;
}

static void fill_cluster(void)
{
	static char summary[80];

	snprintf(summary, sizeof(summary), "%u %s on %u %s", transport_count(),
		transport_count() == 1 ? "process" : "processes", transport_hosts(),
		transport_hosts() == 1 ? "host" : "hosts");
	cluster = (struct cluster){
		.rank = transport_rank(),
		.count = transport_count(),
		.threads = share_of_processors(),
		.gpus = own_gpu(),
		.summary = summary,
		.begin = handshake_begin,
		.next = scheduler_next,
		.carving = &rpc_client_remote,
		.deal_passes = passes_deal,
		.spent = handshake_spent,
		.end = handshake_end,
		.work = worker_run,
		.carve = images_carve,
		.image = link_next_image,
		.carved = link_image_carved,
		.reduce = link_reduce,
		.total = transport_total,
	};
	the_cluster = &cluster;
}

int main(int argc, char **argv)
{
	struct program program = { .code = EXIT_IO };
	pthread_t thread;

	if (transport_open(&argc, &argv)) {
		log_error("MPI is not available with threads; start burin-mpi with mpirun or srun");
		return EXIT_IO;
	}
	program.argc = argc;
	program.argv = argv;
	fill_cluster();
	coordinator_init();
	link_init();
	if (transport_rank())
		log_redirect(log_of_worker);
	warn_of_binding();
	if (pthread_create(&thread, NULL, run_program, &program)) {
		log_error("cannot start a thread");
		return EXIT_IO;
	}
	transport_run(deliver, is_done);
	pthread_join(thread, NULL);
	coordinator_free();
	transport_close();
	return transport_rank() ? EXIT_CLEAN : program.code;
}
