/* The other end is evidence/served.c. */
#include "confined/served_work.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/memory.h"
#include "evidence/backend.h"
#include "evidence/container_job.h"
#include "evidence/served_limits.h"

#define CACHE_BLOCKS 16

struct cache_block {
	uint64_t at, used; /* used: 0 for an empty one */
	size_t len;
	uint8_t bytes[SERVED_BLOCK_LEN];
};

struct served {
	struct served_shared *shared;
	uint64_t size; /* of the image around this one, or its part */
	struct cache_block *cache;
	uint64_t uses;
	int errnum; /* why it can't be opened */
};

static const struct served_kind *find_kind(const struct served_kind *const *kinds, const char *name)
{
	while (*kinds && strcmp((*kinds)->name, name) != 0)
		kinds++;
	return *kinds;
}

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

void served_answer_open(struct served *served, const void *bytes, size_t len)
{
	memcpy(served->shared->data, bytes, len);
}

void served_set_errno(struct served *served, int errnum)
{
	served->errnum = errnum;
}

void served_name(struct served *served, const char *name)
{
	size_t len = strlen(served->shared->names);

	if (len + strlen(name) + 2 <= SERVED_NAMES_LEN)
		snprintf(served->shared->names + len, SERVED_NAMES_LEN - len, "%s\n", name);
}

uint64_t served_outer_size(const struct served *served)
{
	return served->size;
}

/* Messages are all of one size. When burin is gone, so is the work. */
static void receive(struct served_message *message)
{
	if (!sandbox_receive(SANDBOX_FD, message, sizeof(*message)))
		_exit(0);
}

static void send_message(const struct served_message *message)
{
	if (!sandbox_send(SANDBOX_FD, message, sizeof(*message)))
		_exit(0);
}

static int want(uint64_t offset, size_t len)
{
	struct served_message message = { .kind = SERVED_WANT, .offset = offset, .len = len };

	send_message(&message);
	do
		receive(&message);
	while (message.kind != SERVED_GIVEN);
	return message.status;
}

/* The block that begins at a multiple of its length; NULL when not all of it can be read. */
static const struct cache_block *find_block(struct served *served, uint64_t at)
{
	struct cache_block *oldest = served->cache;
	uint64_t left = served->size - at;

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
	oldest->len = left < SERVED_BLOCK_LEN ? (size_t)left : SERVED_BLOCK_LEN;
	if (want(at, oldest->len))
		return NULL;
	memcpy(oldest->bytes, served->shared->outer, oldest->len);
	oldest->used = ++served->uses;
	return oldest;
}

static int read_outer_part(void *state, uint64_t offset, uint8_t *to, size_t *len)
{
	struct served *served = state;
	size_t inside = (size_t)(offset % SERVED_BLOCK_LEN);
	const struct cache_block *block = find_block(served, offset - inside);

	if (SERVED_BLOCK_LEN - inside < *len)
		*len = SERVED_BLOCK_LEN - inside;
	if (block)
		memcpy(to, block->bytes + inside, *len);
	else if (want(offset, *len))
		return -EIO;
	else
		memcpy(to, served->shared->outer, *len);
	return 0;
}

int served_outer_read(struct served *served, uint64_t offset, void *buffer, size_t len)
{
	uint64_t size = served->size;

	if (offset > size || len > size - offset)
		return -EIO;
	return image_read_parts(served, offset, buffer, len, read_outer_part);
}

int served_read_memory(void *handle, uint64_t offset, void *buffer, size_t len)
{
	memcpy(buffer, (const uint8_t *)handle + offset, len);
	return 0;
}

char *served_container_folder(const void *argument)
{
	const struct container *container = argument;
	const char *slash = strrchr(container->path, '/');

	return xasprintf("%.*s", slash ? (int)(slash - container->path) + 1 : 0, container->path);
}

static void answer(int32_t status, size_t len)
{
	send_message(&(struct served_message){ .kind = SERVED_DONE, .status = status, .len = len });
}

static void answer_request(struct served *served, const struct served_kind *kind, void *handle,
	const struct served_message *request)
{
	uint8_t *data = served->shared->data;

	if (request->kind == SERVED_LIST && kind->list_at)
		answer(0, kind->list_at(handle, request->offset, request->len, data));
	else if (request->kind == SERVED_READ && request->len <= SERVED_DATA_LEN)
		answer(kind->read_at(handle, request->offset, data, (size_t)request->len),
			(size_t)request->len);
	else
		_exit(1);
}

/* Until burin is gone. */
static _Noreturn void serve(struct served *served, const struct served_kind *kind, void *handle)
{
	for (;;) {
		struct served_message request;

		receive(&request);
		sandbox_allow_time(served_limits.cpu_seconds);
		answer_request(served, kind, handle, &request);
	}
}

static void confine_work(const struct served_kind *kind, const void *argument)
{
	char *folder = kind->folder ? kind->folder(argument) : NULL;
	const char *const readable[] = { folder, NULL };

	if (!kind->confines_itself)
		confine(&(struct confine_rights){ .readable = folder ? readable : NULL });
	free(folder);
}

int served_work(
	const struct evidence_job *job, void *argument, const struct served_kind *const *kinds)
{
	const struct served_kind *kind = find_kind(kinds, job->kind);
	struct served served = { .size = job->size, .errnum = EIO };
	void *handle;

	served.shared = mmap(NULL, sizeof(*served.shared), PROT_READ | PROT_WRITE, MAP_SHARED,
		SANDBOX_SHARED_FD, 0);
	if (served.shared == MAP_FAILED)
		return 1;
	if (!kind || !kind->open) {
		served_refuse(&served, "burin was built without the library for it");
		return 1;
	}
	served.cache = xcalloc(CACHE_BLOCKS, sizeof(*served.cache));
	sandbox_limit(&(struct sandbox_limits){ .memory = kind->memory });
	sandbox_allow_time(job->limits.cpu_seconds);
	confine_work(kind, argument);
	if (job->work == EVIDENCE_SERVE_NAMES) {
		kind->list(&served, argument);
		answer(*served.shared->reason ? -EIO : 0, 0);
		return 0;
	}
	handle = kind->open(&served, argument);
	if (!handle) {
		answer(-served.errnum, 0);
		return 1;
	}
	answer(0, 0);
	serve(&served, kind, handle);
}
