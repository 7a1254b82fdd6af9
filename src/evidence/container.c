/*
 * AFF, VMDK, VHD and VHDX through The Sleuth Kit's image layer, which passes each to a library of
 * its own (libafflib, libvmdk, libvhdi). These parse what an attacker may have written, so they run
 * in a process of their own: a request goes over a socket, the bytes come back in shared memory.
 * That process supervises another one that does the work, and restarts it when it dies: the request
 * that killed it is answered as unreadable, and the rest of the image stays readable.
 *
 * libtsk's own lock lets one thread read at a time, so nothing is lost by one request at a time.
 */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <tsk/libtsk.h>

#include "base/memory.h"
#include "base/ranges.h"
#include "base/text.h"
#include "evidence/aff.h"
#include "evidence/backend.h"
#include "base/sandbox.h"
#include "evidence/container_format.h"

#define DATA_LEN ((size_t)1 << 20)
/* libtsk reads in blocks of this size, all of which is lost if any of it is bad. */
#define BLOCK_LEN 65536
/* Crashes per image; each loses a block. */
#define RESTARTS 100
/* For one request, which reads at most DATA_LEN bytes. */
#define REQUEST_CPU_SECONDS 60
/* libafflib would keep 32 pages of 16 MiB. */
#define AFF_PAGES "2"

static const struct sandbox_limits limits = { .memory = (uint64_t)1 << 30 };

struct request {
	uint64_t offset, len;
};

/* What the processes share. */
struct shared {
	atomic_bool opened, busy; /* busy: a request is not answered yet */
	uint64_t size;
	uint32_t sector_size;
	char reason[512]; /* why it can't be opened */
	uint8_t data[DATA_LEN];
};

struct container {
	struct image image;
	struct container_format format;
	char *path; /* absolute: libafflib would take some words in front for a protocol */
	struct shared *shared;
	struct sandbox_child *child;
	pthread_mutex_t lock; /* over what follows, the child and shared */
	/* Bytes that are compressed together, so that all of them are lost if any is bad.
	 * Decompressing them again would cost time, or a restart, so bad ones are remembered. */
	uint64_t unit;
	struct ranges bad;
};

/* ---- in the process that works ------------------------------------------------------------- */

/* The processor time used so far counts too. */
static void allow_time(void)
{
	struct rlimit limit;
	struct rusage usage;

	if (getrusage(RUSAGE_SELF, &usage) || getrlimit(RLIMIT_CPU, &limit))
		return;
	limit.rlim_cur =
		(rlim_t)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) + REQUEST_CPU_SECONDS;
	setrlimit(RLIMIT_CPU, &limit);
}

static TSK_IMG_INFO *open_library(struct container *container)
{
	static const TSK_IMG_TYPE_ENUM types[] = { [CONTAINER_AFF] = TSK_IMG_TYPE_AFF_ANY,
		[CONTAINER_VMDK] = TSK_IMG_TYPE_VMDK_VMDK,
		[CONTAINER_VHD] = TSK_IMG_TYPE_VHD_VHD };
	struct shared *shared = container->shared;
	TSK_IMG_INFO *info;

	setenv("AFFLIB_CACHE_PAGES", AFF_PAGES, 1);
	allow_time();
	info = tsk_img_open_utf8_sing(container->path, types[container->format.library], 0);
	if (!info) {
		snprintf(shared->reason, sizeof(shared->reason), "%s", tsk_error_get_errstr());
		return NULL;
	}
	shared->size = info->size > 0 ? (uint64_t)info->size : 0;
	shared->sector_size = info->sector_size;
	return info;
}

static int answer(int fd, int32_t status)
{
	return sandbox_send(fd, &status, sizeof(status)) ? 0 : 1;
}

static int32_t read_request(
	TSK_IMG_INFO *info, struct shared *shared, const struct request *request)
{
	size_t len = (size_t)request->len;

	allow_time();
	if (tsk_img_read(info, (TSK_OFF_T)request->offset, (char *)shared->data, len) !=
		(ssize_t)len)
		return -EIO;
	return 0;
}

/* Until there are no more requests. The first worker reports that the image is open. */
static int serve(int fd, struct container *container)
{
	struct shared *shared = container->shared;
	TSK_IMG_INFO *info = open_library(container);
	struct request request;

	if (!info)
		return 1;
	if (!atomic_exchange(&shared->opened, true) && answer(fd, 0))
		return 0;
	while (sandbox_receive(fd, &request, sizeof(request))) {
		int32_t status;

		atomic_store(&shared->busy, true);
		status = read_request(info, shared, &request);
		atomic_store(&shared->busy, false);
		if (answer(fd, status))
			break;
	}
	return 0;
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
	struct container *container = arg;
	struct shared *shared = container->shared;

	for (int restarts = 0; restarts < RESTARTS; restarts++) {
		pid_t pid = fork();
		int status = 0;

		if (pid == 0)
			_exit(serve(fd, container));
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
		if (atomic_exchange(&shared->busy, false) && answer(fd, -EIO))
			return 0;
	}
	return 1;
}

/* ---- in burin ------------------------------------------------------------------------------ */

static bool container_probe(const struct image_ends *ends)
{
	struct container_format format;

	return container_format_find(ends, &format);
}

/* A request that spans several units does not show which one is bad; smaller requests follow it. */
static void note_bad(struct container *container, uint64_t offset, size_t len)
{
	uint64_t first = offset / container->unit, last = (offset + len - 1) / container->unit;

	if (first == last)
		ranges_add(&container->bad, first * container->unit, container->unit);
}

static int request_part(struct container *container, uint64_t offset, void *buffer, size_t len)
{
	struct request request = { offset, len };
	int fd = sandbox_socket(container->child);
	int32_t status = -EIO;

	pthread_mutex_lock(&container->lock);
	if (ranges_overlap(&container->bad, offset, len)) {
		pthread_mutex_unlock(&container->lock);
		return -EIO;
	}
	if (!sandbox_send(fd, &request, sizeof(request)) ||
		!sandbox_receive(fd, &status, sizeof(status)))
		status = -EIO;
	if (status)
		note_bad(container, offset, len);
	else
		memcpy(buffer, container->shared->data, len);
	pthread_mutex_unlock(&container->lock);
	return status;
}

static int container_read_at(struct image *image, uint64_t offset, void *buffer, size_t len)
{
	uint8_t *to = buffer;

	while (len) {
		size_t part_len = len < DATA_LEN ? len : DATA_LEN;
		int status = request_part((struct container *)image, offset, to, part_len);

		if (status)
			return status;
		offset += part_len;
		to += part_len;
		len -= part_len;
	}
	return 0;
}

static void container_close(struct image *image)
{
	struct container *container = (struct container *)image;

	if (container->child)
		free(sandbox_end(container->child));
	if (container->shared)
		munmap(container->shared, sizeof(*container->shared));
	pthread_mutex_destroy(&container->lock);
	ranges_free(&container->bad);
	free(container->path);
	free(container);
}

/* libtsk's message is "what file: path: what", and where a library of its own knows more,
 * "(cause\nits effect...)" after it, the cause with its function's name in front. */
static void extract_reason(const char *said, char *reason, size_t len)
{
	const char *cause = strstr(said, "(lib"), *last = cause ? cause : said, *next;
	char line[512];

	while ((next = strstr(last, ": "))) {
		last = next + 2;
		if (cause)
			break;
	}
	snprintf(line, sizeof(line), "%s", last);
	line[strcspn(line, "\n")] = 0;
	text_clean(line, reason, len);
}

static int refuse_image(const struct container *container, const char *path, struct error *error)
{
	char reason[512];

	extract_reason(container->shared->reason, reason, sizeof(reason));
	return error_set(error, EXIT_IO, EIO, "%s looks like %s but can't be read as such%s%s",
		path, container->format.name, *reason ? "; its library says: " : "", reason);
}

/* Starts the child and waits until it reports that the image is open. */
static int start_child(struct container *container, const char *path, struct error *error)
{
	struct shared *shared;
	int32_t status = 0;
	int failure;

	shared = mmap(
		NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (shared == MAP_FAILED)
		return error_set(error, EXIT_IO, ENOMEM, "no memory to read %s", path);
	container->shared = shared;
	failure = sandbox_start(&container->child, supervise, container, &limits);
	if (failure)
		return error_set(error, EXIT_IO, -failure, "no process to read %s: %s", path,
			strerror(-failure));
	if (!sandbox_receive(sandbox_socket(container->child), &status, sizeof(status)) || status ||
		!shared->size)
		return refuse_image(container, path, error);
	return 0;
}

static int container_open(
	struct image **image, const char *path, const struct image_ends *ends, struct error *error)
{
	struct container *container = xcalloc(1, sizeof(*container));
	struct image_info *info = &container->image.info;
	int status;

	container->image.backend = &container_backend;
	container->image.read_unit = BLOCK_LEN;
	container->path = realpath(path, NULL);
	if (!container->path)
		container->path = xstrdup(path);
	pthread_mutex_init(&container->lock, NULL);
	container_format_find(ends, &container->format);
	info->format = container->format.name;
	container->unit = BLOCK_LEN;
	if (container->format.library == CONTAINER_AFF) {
		uint64_t page_len;

		aff_describe(path, info, &page_len);
		if (page_len > BLOCK_LEN)
			container->unit = page_len;
	}
	status = container_format_check(path, &container->format, ends, info, error);
	if (!status)
		status = start_child(container, path, error);
	if (status) {
		image_close(&container->image);
		return status;
	}
	info->size = container->shared->size;
	info->sector_size = container->shared->sector_size ? container->shared->sector_size : 512;
	*image = &container->image;
	return 0;
}

const struct image_backend container_backend = {
	.name = "container",
	.probe = container_probe,
	.open = container_open,
	.read_at = container_read_at,
	.close = container_close,
};
