#include "carve/checker_process.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include "base/memory.h"
#include "base/program.h"
#include "base/sandbox.h"
#include "base/version.h"
#include "carve/check_limits.h"
#include "evidence/extent_image.h"
#include "rules/rules_codec.h"

#define PROGRAM "burin-carver"
/* Extensions that processes may name. */
#define EXTENSIONS_MAX 512

struct check_workers *check_workers_new(struct image *image, const struct rules *rules, bool nested,
	unsigned threads, struct defer *defer, unsigned worker_count)
{
	struct check_workers *workers = xcalloc(1, sizeof(*workers));

	workers->image = image;
	workers->rules = rules;
	workers->defer = defer;
	workers->share = image_share_new(image);
	codec_put(&workers->start, confine_mode());
	codec_put(&workers->start, nested);
	codec_put(&workers->start, threads);
	codec_put(&workers->start, worker_count);
	rules_save_checks(rules, &workers->start);
	image_share_save(workers->share, &workers->start);
	return workers;
}

void check_workers_free(struct check_workers *workers)
{
	if (!workers)
		return;
	image_share_free(workers->share);
	free(workers->start.bytes);
	free(workers);
}

bool checker_fail(struct checker_process *process, const char *how)
{
	snprintf(process->how, sizeof(process->how), "%s", how);
	return false;
}

static void close_searches(struct checker_process *process)
{
	while (process->search_count)
		close(process->searches[--process->search_count]);
}

void checker_end(struct checker_process *process)
{
	char *how;

	close_searches(process);
	if (!process->child)
		return;
	how = sandbox_end(process->child);
	process->child = NULL;
	if (!*process->how)
		checker_fail(process, !how                      ? "ended without an outcome"
				      : !strncmp(how, "it ", 3) ? how + 3
								: how);
	free(how);
}

void checker_free(struct checker_process *process)
{
	checker_end(process);
	if (process->shared) {
		munmap(process->shared, sizeof(*process->shared));
		close(process->shared_fd);
	}
	channel_free(&process->channel);
	free(process->writer.bytes);
	*process = (struct checker_process){ 0 };
}

/* It waits for the other end this long, for either purpose. */
static void set_patience(int fd)
{
	const struct timeval receive = { .tv_usec = (suseconds_t)(CHECKER_WATCH_SECONDS * 1e6) };
	const struct timeval transmit = { .tv_sec = 10 };

	setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &receive, sizeof(receive));
	setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &transmit, sizeof(transmit));
}

/* Makes the other sockets, and gives it their other ends. */
static bool give_searches(struct checker_process *process, size_t count)
{
	int theirs[CHECK_SEARCHES], ends[2];
	size_t made = 0;
	bool given;

	while (made < count && !socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends)) {
		process->searches[process->search_count++] = ends[0];
		theirs[made++] = ends[1];
	}
	given = made == count && sandbox_send_descriptors(process->channel.fd, theirs, count);
	while (made)
		close(theirs[--made]);
	return given;
}

static bool give_start(struct checker_process *process, const struct check_workers *given)
{
	size_t count;
	const int *descriptors = image_share_descriptors(given->share, &count);
	int ring = image_share_ring(given->share);
	int board = given->defer ? defer_descriptor(given->defer) : -1;

	codec_append(&process->writer, &given->start);
	return sandbox_send_descriptors(process->channel.fd, descriptors, count) &&
	       sandbox_send_descriptors(process->channel.fd, &ring, ring >= 0) &&
	       sandbox_send_descriptors(process->channel.fd, &board, board >= 0) &&
	       give_searches(process, given->has_searches ? CHECK_SEARCHES : 0) &&
	       channel_send(&process->channel, CHECK_START, &process->writer);
}

static bool await_ready(struct checker_process *process)
{
	struct codec_reader body;
	uint32_t kind;

	return channel_receive(&process->channel, &kind, &body) > 0 && kind == CHECK_READY;
}

bool checker_program_is_there(char *reason, size_t reason_len)
{
	char *program = program_find(PROGRAM, reason, reason_len);

	free(program);
	return program != NULL;
}

int checker_start(
	struct checker_process *process, const struct check_workers *given, struct error *error)
{
	char reason[4400];
	char *program = program_find(PROGRAM, reason, sizeof(reason));
	const char *const arguments[] = { program, burin_version, burin_commit, NULL };
	const char *why;
	int status = -ENOMEM;

	if (!program)
		return error_set(error, EXIT_IO, ENOENT, "%s", reason);
	if (!process->shared)
		process->shared =
			sandbox_memory(sizeof(*process->shared), &process->shared_fd, &why);
	if (process->shared) {
		status = sandbox_execute(&process->child, arguments, process->shared_fd);
		why = strerror(-status);
	}
	free(program);
	if (status)
		return error_set(
			error, EXIT_IO, -status, "no process can be started for checks: %s", why);
	channel_reset(&process->channel, sandbox_socket(process->child));
	*process->how = 0;
	/* Until then it has read nothing of the evidence, and may take its time. */
	if (give_start(process, given) && await_ready(process)) {
		set_patience(process->channel.fd);
		return 0;
	}
	checker_end(process);
	return error_set(error, EXIT_IO, EIO,
		"the process for checks, " PROGRAM ", did not start: it %s", process->how);
}

bool checker_answer(struct checker_process *process, int status)
{
	codec_put(&process->writer, (uint64_t)-status);
	return channel_send(&process->channel, CHECK_ANSWER, &process->writer) ||
	       checker_fail(process, "broke the protocol");
}

bool checker_give_bytes(
	struct checker_process *process, struct image *image, struct codec_reader *body, bool *cut)
{
	struct image *evidence = extent_image_evidence(image);
	uint64_t size = image_info(evidence)->size, offset = codec_get(body, size), len;
	bool bad;

	len = codec_get(body, size - offset < SHARED_ASK_MAX ? size - offset : SHARED_ASK_MAX);
	if (!codec_at_end(body))
		return checker_fail(process, "broke the protocol");
	bad = image_read_around(evidence, offset, process->shared->data, (size_t)len);
	*cut = image_was_cut(evidence);
	return checker_answer(process, bad || *cut ? -EIO : 0);
}

void checker_begin(struct checker_process *process)
{
	process->sleeps = 0;
	checker_note_progress(process);
}

void checker_note_progress(struct checker_process *process)
{
	process->used_before = -1;
}

bool checker_measure(struct checker_process *process, double seconds)
{
	double used = sandbox_time_used(process->child);

	if (process->used_before < 0)
		process->used_before = used;
	process->sleeps += !sandbox_is_awake(process->child);
	/* Which of both comes first may depend on how busy the machine is. */
	return (process->sleeps <= check_limits.sleeps &&
		       used - process->used_before <= check_limits.cpu_seconds + seconds) ||
	       checker_fail(process, "did not end");
}

/* Of letters and digits: it becomes a part of a file's name. */
const char *checker_keep_extension(const char *text)
{
	static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
	static struct strpool pool;
	const char *kept = NULL;
	size_t len = strlen(text);

	if (text[0] == '.' ||
		strspn(text,
			"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._+-") !=
			len)
		return NULL;
	pthread_mutex_lock(&lock);
	kept = strpool_keep(&pool, text);
	if (pool.count > EXTENSIONS_MAX)
		kept = NULL;
	pthread_mutex_unlock(&lock);
	return kept;
}

bool checker_memory_is_short(void)
{
	void *memory = mmap(
		NULL, CHECK_MEMORY, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (memory == MAP_FAILED)
		return true;
	munmap(memory, CHECK_MEMORY);
	return false;
}
