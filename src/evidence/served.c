/*
 * The messages between burin and the process that works:
 *
 *     burin -> READ offset len       worker -> DONE status       the bytes are in shared->data
 *     worker -> WANT offset len      burin -> GIVEN status       the bytes are in shared->outer
 *
 * A worker that dies may leave answers to it in the socket, which its successor reads: so each WANT has
 * a number of its own, and only the GIVEN with that number answers it.
 */
#include "evidence/served.h"

#include <errno.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/memory.h"
#include "base/ranges.h"

#define DATA_LEN ((size_t)1 << 20)
#define NAMES_LEN 16384
/* Crashes per image; each loses a block. */
#define RESTARTS 100
/* For one request, which reads at most DATA_LEN bytes. */
#define REQUEST_CPU_SECONDS 60
/* Libraries read sector by sector, and each reading of the outer image changes the process twice. */
#define CACHE_BLOCK_LEN ((size_t)256 << 10)
#define CACHE_BLOCKS 16

enum message_kind { MESSAGE_READ, MESSAGE_DONE, MESSAGE_WANT, MESSAGE_GIVEN };

struct message {
	uint32_t kind;
	int32_t status;
	uint64_t number, offset, len;
};

/* What the processes share. */
struct shared {
	atomic_bool opened, busy; /* busy: a request is not answered yet */
	atomic_uint_fast64_t wants;
	uint64_t size;
	uint32_t sector_size;
	char reason[512]; /* why it can't be opened */
	char how[256];
	char names[NAMES_LEN];
	uint8_t data[DATA_LEN], outer[CACHE_BLOCK_LEN];
};

struct cache_block {
	uint64_t at, used; /* used: 0 for an empty one */
	size_t len;
	uint8_t bytes[CACHE_BLOCK_LEN];
};

struct served {
	const struct served_image *image;
	struct shared *shared;
	int fd;
	bool has_pending;
	struct message pending; /* a READ that came while it waited for something else */
	struct cache_block *cache;
	uint64_t uses;
};

struct served_process {
	struct shared *shared;
	struct sandbox_child *child;
	bool lists;           /* it is started only to list names */
	pthread_mutex_t lock; /* over what follows, the child and shared */
	/* Reading bad units again would cost time, or a restart, so they are remembered. */
	struct ranges bad;
};

/* ---- in the process that works ------------------------------------------------------------- */

void served_set_size(struct served *served, uint64_t size, uint32_t sector_size)
{
	served->shared->size = size;
	served->shared->sector_size = sector_size;
}

void served_set_how(struct served *served, const char *how)
{
	snprintf(served->shared->how, sizeof(served->shared->how), "%s", how);
}

void served_refuse(struct served *served, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(served->shared->reason, sizeof(served->shared->reason), format, args);
	va_end(args);
}

void served_name(struct served *served, const char *name)
{
	size_t len = strlen(served->shared->names);

	if (len + strlen(name) + 2 <= NAMES_LEN)
		snprintf(served->shared->names + len, NAMES_LEN - len, "%s\n", name);
}

uint64_t served_outer_size(const struct served *served)
{
	return served->image->length;
}

/* Messages are all of one size. When burin is gone, so is the work. */
static void receive(struct served *served, struct message *message)
{
	if (!sandbox_receive(served->fd, message, sizeof(*message)))
		_exit(0);
	if (message->kind == MESSAGE_READ)
		atomic_store(&served->shared->busy, true);
}

static int want(struct served *served, uint64_t offset, size_t len)
{
	struct message want = { .kind = MESSAGE_WANT,
		.number = atomic_fetch_add(&served->shared->wants, 1) + 1,
		.offset = offset,
		.len = len };
	struct message message;

	if (!sandbox_send(served->fd, &want, sizeof(want)))
		_exit(0);
	for (;;) {
		receive(served, &message);
		if (message.kind == MESSAGE_GIVEN && message.number == want.number)
			return message.status;
		if (message.kind == MESSAGE_READ) {
			served->pending = message;
			served->has_pending = true;
		}
	}
}

/* The block that begins at a multiple of its length; NULL when not all of it can be read. */
static const struct cache_block *find_block(struct served *served, uint64_t at)
{
	struct cache_block *oldest = served->cache;
	uint64_t left = served->image->length - at;

	for (size_t i = 0; i < CACHE_BLOCKS; i++) {
		struct cache_block *block = &served->cache[i];

		if (block->used && block->at == at) {
			block->used = ++served->uses;
			return block;
		}
		if (block->used < oldest->used)
			oldest = block;
	}
	oldest->used = 0;
	oldest->at = at;
	oldest->len = left < CACHE_BLOCK_LEN ? (size_t)left : CACHE_BLOCK_LEN;
	if (want(served, at, oldest->len))
		return NULL;
	memcpy(oldest->bytes, served->shared->outer, oldest->len);
	oldest->used = ++served->uses;
	return oldest;
}

static int read_outer_part(void *state, uint64_t offset, uint8_t *to, size_t *len)
{
	struct served *served = state;
	size_t inside = (size_t)(offset % CACHE_BLOCK_LEN);
	const struct cache_block *block = find_block(served, offset - inside);

	if (CACHE_BLOCK_LEN - inside < *len)
		*len = CACHE_BLOCK_LEN - inside;
	if (block)
		memcpy(to, block->bytes + inside, *len);
	else if (want(served, offset, *len))
		return -EIO;
	else
		memcpy(to, served->shared->outer, *len);
	return 0;
}

int served_outer_read(struct served *served, uint64_t offset, void *buffer, size_t len)
{
	uint64_t size = served->image->length;

	if (offset > size || len > size - offset)
		return -EIO;
	return image_read_parts(served, offset, buffer, len, read_outer_part);
}

/* The processor time used so far counts too. */
static void allow_time(unsigned seconds)
{
	struct rlimit limit;
	struct rusage usage;

	if (getrusage(RUSAGE_SELF, &usage) || getrlimit(RLIMIT_CPU, &limit))
		return;
	limit.rlim_cur = (rlim_t)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) + seconds;
	setrlimit(RLIMIT_CPU, &limit);
}

static bool answer(int fd, int32_t status)
{
	const struct message done = { .kind = MESSAGE_DONE, .status = status };

	return sandbox_send(fd, &done, sizeof(done));
}

static void next_request(struct served *served, struct message *request)
{
	if (served->has_pending)
		*request = served->pending;
	else
		do
			receive(served, request);
		while (request->kind != MESSAGE_READ);
	served->has_pending = false;
}

/* Until there are no more requests. The first worker reports that the image is open. */
static int work(struct served *served)
{
	const struct served_kind *kind = served->image->kind;
	struct shared *shared = served->shared;
	void *handle;

	allow_time(kind->open_cpu_seconds ? kind->open_cpu_seconds : REQUEST_CPU_SECONDS);
	if (served->image->process->lists) {
		kind->list(served, served->image->arg);
		return answer(served->fd, 0) ? 0 : 1;
	}
	handle = kind->open(served, served->image->arg);
	if (!handle)
		return 1;
	if (!atomic_exchange(&shared->opened, true) && !answer(served->fd, 0))
		return 0;
	for (;;) {
		struct message request;
		int status;

		next_request(served, &request);
		allow_time(REQUEST_CPU_SECONDS);
		status = kind->read_at(handle, request.offset, shared->data, (size_t)request.len);
		atomic_store(&shared->busy, false);
		if (!answer(served->fd, status))
			return 0;
	}
}

static void confine_work(const struct served_image *image)
{
	const struct served_kind *kind = image->kind;
	char *folder = kind->folder ? kind->folder(image->arg) : NULL;
	const char *const readable[] = { folder, NULL };

	if (!kind->confines_itself)
		confine(&(struct confine_rights){ .readable = folder ? readable : NULL });
	free(folder);
}

static int start_work(int fd, const struct served_image *image)
{
	struct served served = { .image = image, .shared = image->process->shared, .fd = fd };

	served.cache = xcalloc(CACHE_BLOCKS, sizeof(*served.cache));
	confine_work(image);
	return work(&served);
}

/* ---- in the process that watches ----------------------------------------------------------- */

static void note_crash(struct shared *shared, int status)
{
	if (WIFSIGNALED(status))
		snprintf(shared->reason, sizeof(shared->reason), "its library crashed (SIG%s)",
			sigabbrev_np(WTERMSIG(status)));
}

static int supervise(int fd, void *arg)
{
	const struct served_image *image = arg;
	struct shared *shared = image->process->shared;

	for (int restarts = 0; restarts < RESTARTS; restarts++) {
		pid_t pid = fork();
		int status = 0;

		if (pid == 0)
			_exit(start_work(fd, image));
		if (pid < 0)
			return 1;
		while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
			;
		if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
			return 0;
		if (!atomic_load(&shared->opened)) {
			note_crash(shared, status);
			return 1;
		}
		if (atomic_exchange(&shared->busy, false) && !answer(fd, -EIO))
			return 0;
	}
	return 1;
}

/* ---- in burin ------------------------------------------------------------------------------ */

/* Passes on bytes of the outer image. The worker is trusted as little as the evidence. */
static bool give(struct served_image *served, const struct message *want)
{
	struct message given = { .kind = MESSAGE_GIVEN, .number = want->number };
	uint64_t size = served->length;

	if (want->len > CACHE_BLOCK_LEN || want->offset > size || want->len > size - want->offset ||
		!served->image.outer)
		return false;
	given.status = image_read_at(served->image.outer, served->begin + want->offset,
		served->process->shared->outer, (size_t)want->len);
	return sandbox_send(sandbox_socket(served->process->child), &given, sizeof(given));
}

/* Until the worker has done what it does. */
static int await_done(struct served_image *served)
{
	int fd = sandbox_socket(served->process->child);
	struct message message;

	while (sandbox_receive(fd, &message, sizeof(message))) {
		if (message.kind == MESSAGE_DONE)
			return message.status;
		if (message.kind != MESSAGE_WANT || !give(served, &message))
			break;
	}
	return -EIO;
}

/* A request that spans several units does not show which one is bad; smaller requests follow it. */
static void note_bad(struct served_image *served, uint64_t offset, size_t len)
{
	uint64_t first = offset / served->unit, last = (offset + len - 1) / served->unit;

	if (first == last)
		ranges_add(&served->process->bad, first * served->unit, served->unit);
}

static int request_part(void *state, uint64_t offset, uint8_t *to, size_t *len)
{
	struct served_image *served = state;
	struct served_process *process = served->process;
	struct message request = { .kind = MESSAGE_READ, .offset = offset };
	int status = -EIO;

	if (*len > DATA_LEN)
		*len = DATA_LEN;
	request.len = *len;
	pthread_mutex_lock(&process->lock);
	if (ranges_overlap(&process->bad, offset, *len)) {
		pthread_mutex_unlock(&process->lock);
		return -EIO;
	}
	if (sandbox_send(sandbox_socket(process->child), &request, sizeof(request)))
		status = await_done(served);
	if (status)
		note_bad(served, offset, *len);
	else
		memcpy(to, process->shared->data, *len);
	pthread_mutex_unlock(&process->lock);
	return status;
}

int served_read_at(struct image *image, uint64_t offset, void *buffer, size_t len)
{
	return image_read_parts(image, offset, buffer, len, request_part);
}

/* 0, or a negative errno with the reason. */
static int start_process(struct served_image *served, bool lists, char *reason, size_t reason_len)
{
	const struct sandbox_limits limits = { .memory = served->kind->memory };
	struct served_process *process = xcalloc(1, sizeof(*process));
	struct shared *shared = mmap(
		NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	int status;

	served->process = process;
	pthread_mutex_init(&process->lock, NULL);
	process->lists = lists;
	*reason = 0;
	if (shared == MAP_FAILED) {
		snprintf(reason, reason_len, "no memory");
		return -ENOMEM;
	}
	process->shared = shared;
	status = sandbox_start(&process->child, supervise, served, &limits);
	if (status) {
		snprintf(reason, reason_len, "no process: %s", strerror(-status));
		return status;
	}
	status = await_done(served);
	if (status) {
		shared->reason[sizeof(shared->reason) - 1] = 0;
		snprintf(reason, reason_len, "%s", shared->reason);
	}
	return status;
}

int served_open(struct served_image *served, char *reason, size_t reason_len)
{
	int status = start_process(served, false, reason, reason_len);

	if (status)
		return status;
	served->image.info.size = served->process->shared->size;
	served->image.info.sector_size = served->process->shared->sector_size;
	if (!served->image.info.sector_size)
		served->image.info.sector_size = 512;
	return served->image.info.size && served->image.info.size <= INT64_MAX ? 0 : -EIO;
}

const char *served_how(const struct served_image *served)
{
	struct shared *shared = served->process->shared;

	shared->how[sizeof(shared->how) - 1] = 0;
	return shared->how;
}

char *served_list(struct served_image *served, char *reason, size_t reason_len)
{
	if (start_process(served, true, reason, reason_len))
		return NULL;
	return xasprintf("%.*s", NAMES_LEN - 1, served->process->shared->names);
}

void served_close(struct image *image)
{
	struct served_image *served = (struct served_image *)image;
	struct served_process *process = served->process;

	if (process) {
		if (process->child)
			free(sandbox_end(process->child));
		if (process->shared)
			munmap(process->shared, sizeof(*process->shared));
		pthread_mutex_destroy(&process->lock);
		ranges_free(&process->bad);
		free(process);
	}
	free(served->arg);
	free(served);
}
