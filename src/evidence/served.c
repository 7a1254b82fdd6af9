#include "evidence/served.h"

#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/memory.h"
#include "base/ranges.h"
#include "base/text.h"
#include "evidence/evidence_process.h"
#include "evidence/served_limits.h"

/* Crashes per process; each loses a unit. */
#define RESTARTS 100

/* A unit whose request ended the process. */
struct loss {
	uint64_t offset; /* of the unit */
	char how[64];
};

struct served_process {
	struct served_shared *shared;
	int shared_fd;
	pthread_mutex_t lock;        /* over what follows, and shared */
	struct sandbox_child *child; /* NULL: it died */
	bool broke_protocol;         /* which is why it is ended */
	unsigned restarts;
	/* Reading bad units again would cost time, or a restart, so they are remembered. */
	struct ranges bad, unlisted;
	struct loss losses[RESTARTS];
	size_t loss_count;
};

/* Passes on bytes of the outer image. The worker is trusted as little as the evidence. */
static bool give(struct served_image *served, const struct served_message *want)
{
	struct served_message given = { .kind = SERVED_GIVEN };
	uint64_t size = served->length;

	if (want->len > SERVED_BLOCK_LEN || want->offset > size ||
		want->len > size - want->offset || !served->image.outer)
		return false;
	given.status = image_read_at(served->image.outer, served->begin + want->offset,
		served->process->shared->outer, (size_t)want->len);
	return sandbox_send_to(served->process->child, &given, sizeof(given));
}

/* Until the worker has done what it does. False: it is gone, or broke the protocol. */
static bool await_done(struct served_image *served, struct served_message *done)
{
	while (sandbox_receive_from(served->process->child, done, sizeof(*done))) {
		if (done->kind == SERVED_DONE)
			return true;
		served->process->broke_protocol = done->kind != SERVED_WANT || !give(served, done);
		if (served->process->broke_protocol)
			break;
	}
	return false;
}

/* Its own limit of processor time comes first. */
static struct sandbox_patience patience_for(const struct served_image *served, unsigned cpu_seconds)
{
	return (struct sandbox_patience){ .cpu_seconds = cpu_seconds + 1,
		.sleeps = served->image.outer ? served_limits.sleeps : served_limits.sleeps_reading,
		.interrupted = served->image.interrupted };
}

/* Why it gave up, in its own words or by how it ended. */
static void end_child(struct served_process *process, char *reason, size_t reason_len)
{
	char *how = sandbox_end(process->child);

	process->child = NULL;
	process->shared->reason[sizeof(process->shared->reason) - 1] = 0;
	snprintf(reason, reason_len, "%s",
		*process->shared->reason  ? process->shared->reason
		: process->broke_protocol ? "it broke the protocol"
		: how                     ? how
					  : "it ended without an answer");
	process->broke_protocol = false;
	free(how);
}

/* Starts a child, and waits until it has opened the image, or listed the names. 0 or a negative errno with
 * the reason; there is no child then. */
static int start_child(
	struct served_image *served, enum evidence_work work, char *reason, size_t reason_len)
{
	struct served_process *process = served->process;
	struct evidence_job job = { .work = work,
		.size = served->length,
		.argument_len = served->arg_len,
		.limits.cpu_seconds = served->open_cpu_seconds ? served->open_cpu_seconds
							       : served_limits.cpu_seconds };
	const struct sandbox_patience patience = patience_for(served, job.limits.cpu_seconds);
	struct served_message done;
	bool answered;
	int status;

	snprintf(job.kind, sizeof(job.kind), "%s", served->kind);
	*process->shared->reason = 0;
	status = evidence_process_start(&process->child, &job, &patience, served->arg,
		served->needs_secret, process->shared_fd, reason, reason_len);
	if (status)
		return status;
	answered = await_done(served, &done);
	if (answered && !done.status)
		return 0;
	status = answered && done.status == -EMEDIUMTYPE ? -EMEDIUMTYPE : -EIO;
	end_child(process, reason, reason_len);
	return status;
}

static bool was_interrupted(const struct served_image *served)
{
	return served->image.interrupted && served->image.interrupted();
}

/* The unit can't be read, or listed, and how that ended the process; NULL: it did not. */
static void note_bad(struct served_image *served, uint32_t kind, uint64_t unit, const char *how)
{
	struct served_process *process = served->process;
	struct loss *loss = &process->losses[process->loss_count];

	ranges_add(kind == SERVED_LIST ? &process->unlisted : &process->bad, unit * served->unit,
		served->unit);
	if (!how || process->loss_count == RESTARTS)
		return;
	loss->offset = unit * served->unit;
	text_clean(how, loss->how, sizeof(loss->how));
	process->loss_count++;
}

/* What killed the child counts as unreadable. The next request starts another one. first, last: the units that it
 * is for; if it spans several, smaller requests follow it, which show the bad one. *len: of what it answers. */
static int request(struct served_image *served, const struct served_message *message,
	uint64_t first, uint64_t last, uint64_t *len)
{
	const struct sandbox_patience patience = patience_for(served, served_limits.cpu_seconds);
	struct served_process *process = served->process;
	struct served_message done;
	char reason[512] = "";
	bool answered;

	if (!process->child && (process->restarts++ >= RESTARTS ||
				       start_child(served, EVIDENCE_SERVE, reason, sizeof(reason))))
		return -EIO;
	sandbox_expect(process->child, &patience);
	answered = sandbox_send_to(process->child, message, sizeof(*message)) &&
		   await_done(served, &done);
	if (answered && !done.status) {
		*len = done.len;
		return 0;
	}
	if (!answered)
		end_child(process, reason, sizeof(reason));
	if (first == last && !was_interrupted(served))
		note_bad(served, message->kind, first, answered ? NULL : reason);
	return -EIO;
}

static int request_part(void *state, uint64_t offset, uint8_t *to, size_t *len)
{
	struct served_image *served = state;
	struct served_process *process = served->process;
	struct served_message message = { .kind = SERVED_READ, .offset = offset };
	uint64_t answer_len;
	int status;

	if (*len > SERVED_DATA_LEN)
		*len = SERVED_DATA_LEN;
	message.len = *len;
	pthread_mutex_lock(&process->lock);
	if (ranges_overlap(&process->bad, offset, *len)) {
		pthread_mutex_unlock(&process->lock);
		return -EIO;
	}
	status = request(served, &message, offset / served->unit,
		(offset + *len - 1) / served->unit, &answer_len);
	if (!status)
		memcpy(to, process->shared->data, *len);
	pthread_mutex_unlock(&process->lock);
	return status;
}

int served_list_at(
	struct served_image *served, uint64_t offset, size_t effort, void *to, size_t *len)
{
	const struct served_message message = {
		.kind = SERVED_LIST, .offset = offset, .len = effort
	};
	struct served_process *process = served->process;
	uint64_t unit = offset / served->unit;
	uint64_t answer_len;
	int status;

	pthread_mutex_lock(&process->lock);
	status = ranges_overlap(&process->unlisted, offset, 1)
			 ? -EIO
			 : request(served, &message, unit, unit + (effort > 1), &answer_len);
	if (!status && answer_len > *len)
		status = -EIO;
	if (!status) {
		*len = (size_t)answer_len;
		memcpy(to, process->shared->data, *len);
	}
	pthread_mutex_unlock(&process->lock);
	return status;
}

int served_read_at(struct image *image, uint64_t offset, void *buffer, size_t len)
{
	return image_read_parts(image, offset, buffer, len, request_part);
}

char *served_why(struct image *image, uint64_t offset)
{
	const struct served_image *served = (const struct served_image *)image;
	struct served_process *process = served->process;
	uint64_t unit = offset - offset % served->unit;
	char *why = NULL;

	pthread_mutex_lock(&process->lock);
	for (size_t i = 0; i < process->loss_count && !why; i++)
		if (process->losses[i].offset == unit)
			why = xasprintf(
				"the process that read it was lost: %s", process->losses[i].how);
	if (!why && process->restarts > RESTARTS)
		why = xasprintf("the process that reads the image was lost %d times", RESTARTS);
	pthread_mutex_unlock(&process->lock);
	return why;
}

/* 0, or a negative errno with the reason. */
static int start_process(
	struct served_image *served, enum evidence_work work, char *reason, size_t reason_len)
{
	struct served_process *process = xcalloc(1, sizeof(*process));
	const char *why;

	served->process = process;
	pthread_mutex_init(&process->lock, NULL);
	*reason = 0;
	process->shared = sandbox_memory(sizeof(*process->shared), &process->shared_fd, &why);
	if (process->shared)
		return start_child(served, work, reason, reason_len);
	snprintf(reason, reason_len, "%s", why);
	return -ENOMEM;
}

int served_open(struct served_image *served, char *reason, size_t reason_len)
{
	int status = start_process(served, EVIDENCE_SERVE, reason, reason_len);

	if (status)
		return status;
	served->image.info.size = served->process->shared->size;
	served->image.info.sector_size = served->process->shared->sector_size;
	if (!served->image.info.sector_size)
		served->image.info.sector_size = 512;
	if (served->image.info.size && served->image.info.size <= INT64_MAX)
		return 0;
	snprintf(reason, reason_len, "it says that it holds %" PRIu64 " bytes",
		served->image.info.size);
	return -EIO;
}

void served_answer(const struct served_image *served, void *to, size_t len)
{
	memcpy(to, served->process->shared->data, len);
}

/* It is copied, because the process may still write to it. */
char *served_how(const struct served_image *served)
{
	const struct served_shared *shared = served->process->shared;

	return xasprintf("%.*s", (int)sizeof(shared->how) - 1, shared->how);
}

/* Copied, too. */
char *served_names(const struct served_image *served)
{
	return xasprintf("%.*s", SERVED_NAMES_LEN - 1, served->process->shared->names);
}

char *served_list(struct served_image *served, char *reason, size_t reason_len)
{
	if (start_process(served, EVIDENCE_SERVE_NAMES, reason, reason_len))
		return NULL;
	return served_names(served);
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
		if (process->shared_fd >= 0)
			close(process->shared_fd);
		pthread_mutex_destroy(&process->lock);
		ranges_free(&process->bad);
		ranges_free(&process->unlisted);
		free(process);
	}
	free(served->arg);
	free(served);
}
