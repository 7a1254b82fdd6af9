/*
 * burin-filesystems sends messages, a head and the bytes that follow, to request bytes and to report what it
 * found. Both ends combine small ones. It is trusted as little as the evidence: lengths and offsets are
 * checked here, the meaning by the receiver.
 */
#include "evidence/walk_process.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "evidence/backend.h"
#include "evidence/evidence_process.h"
#include "evidence/image_share.h"

/* libtsk never sleeps. Some waiting that only looks like it is forgiven. */
#define SLEEPS_MAX 10
/* A few bytes can put libtsk into an endless loop. Millions of files take minutes, and are on large
 * images. */
#define CPU_SECONDS_MIN 1
#define CPU_SECONDS_MAX 600
#define BYTES_PER_CPU_SECOND ((uint64_t)64 << 20)
#define MEMORY_MAX ((uint64_t)1 << 30)

struct listener {
	const struct walk_process *process;
	struct walk_end *end;
	bool done;                    /* it can go on with another walk */
	bool refused;                 /* one of its messages was not accepted */
	char buffer[WALK_BUFFER_LEN]; /* what came with an earlier message */
	size_t buffer_at, buffer_len;
	_Alignas(16) char bytes[WALK_READ_MAX];
};

static void set_problem(struct listener *listener, const char *text)
{
	snprintf(listener->end->problem, sizeof(listener->end->problem), "%s", text);
}

/* Zeros are in its place. */
static void ignore_unread(void *arg, uint64_t offset, size_t len)
{
	(void)arg;
	(void)offset;
	(void)len;
}

/* Not what the scan's reader has in memory: a walk may go on while that is freed. */
static bool serve(struct listener *listener, size_t len)
{
	struct image *image = listener->process->image;
	uint64_t size = image_info(image)->size;
	struct walk_read request;

	if (len != sizeof(request))
		return false;
	memcpy(&request, listener->bytes, sizeof(request));
	if (request.len > WALK_READ_MAX || request.offset > size ||
		request.len > size - request.offset)
		return false;
	if (image_read_at(image, request.offset, listener->bytes, (size_t)request.len))
		image_read_units(image, request.offset, listener->bytes, (size_t)request.len,
			ignore_unread, NULL);
	/* Where it can't be sent, nothing is received either. */
	sandbox_send_to(*listener->process->child, listener->bytes, (size_t)request.len);
	return true;
}

static bool handle_message(struct listener *listener, uint32_t kind, size_t len)
{
	const struct walk_process *process = listener->process;

	if (kind == WALK_READ_REQUEST)
		return serve(listener, len);
	if (kind != WALK_PROBLEM)
		return process->on_message(
			process->context, (enum walk_message)kind, listener->bytes, len);
	snprintf(listener->end->problem, sizeof(listener->end->problem), "%.*s", (int)len,
		listener->bytes);
	return true;
}

/* Receives all of len bytes; false at the end of the child's messages. */
static bool receive(struct listener *listener, void *bytes, size_t len)
{
	char *to = bytes;

	while (len) {
		size_t ready = listener->buffer_len - listener->buffer_at;
		size_t part_len = ready < len ? ready : len;

		memcpy(to, listener->buffer + listener->buffer_at, part_len);
		listener->buffer_at += part_len;
		to += part_len;
		len -= part_len;
		if (!len)
			break;
		listener->buffer_at = 0;
		listener->buffer_len = sandbox_receive_some(
			*listener->process->child, listener->buffer, sizeof(listener->buffer));
		if (!listener->buffer_len)
			return false;
	}
	return true;
}

/* Until the child has sent everything. */
static void receive_messages(struct listener *listener)
{
	struct walk_head message;

	while (receive(listener, &message, sizeof(message))) {
		if (message.len > sizeof(listener->bytes) ||
			!receive(listener, listener->bytes, message.len))
			return;
		listener->done = message.kind == WALK_DONE;
		if (listener->done)
			return;
		if (!handle_message(listener, message.kind, message.len)) {
			listener->refused = true;
			if (!*listener->end->problem)
				set_problem(listener, "it has more than burin keeps in memory");
			return;
		}
	}
}

static struct sandbox_limits limits_for(uint64_t size)
{
	uint64_t seconds = CPU_SECONDS_MIN + size / BYTES_PER_CPU_SECOND;

	return (struct sandbox_limits){
		.cpu_seconds = seconds < CPU_SECONDS_MAX ? (unsigned)seconds : CPU_SECONDS_MAX,
		.memory = MEMORY_MAX,
	};
}

/* For this walk and those that follow. That the child is gone is noticed when its reports are read. */
static void give_image(const struct walk_process *process)
{
	struct image_share *share = image_share_new(process->image);
	struct codec_writer saved = { 0 };
	size_t count;
	const int *descriptors = image_share_descriptors(share, &count);
	uint64_t len;

	image_share_save(share, &saved);
	len = saved.len;
	if (sandbox_send_descriptors(sandbox_socket(*process->child), descriptors, count) &&
		sandbox_send_to(*process->child, &len, sizeof(len)))
		sandbox_send_to(*process->child, saved.bytes, saved.len);
	free(saved.bytes);
	image_share_free(share);
}

static int start_walk(const struct walk_process *process, struct walk_end *end)
{
	const struct image_info *info = image_info(process->image);
	const struct evidence_job job = { .work = process->work,
		.size = info->size,
		.sector_size = info->sector_size,
		.argument_len = process->volume ? sizeof(*process->volume) : 0,
		.limits = limits_for(info->size) };
	/* Its own limit comes first. */
	const struct sandbox_patience patience = { .cpu_seconds = job.limits.cpu_seconds + 1,
		.sleeps = SLEEPS_MAX,
		.interrupted = process->interrupted };
	int status;

	if (*process->child) {
		evidence_process_continue(*process->child, &job, &patience, process->volume);
		return 0;
	}
	status = evidence_process_start(process->child, &job, &patience, process->volume, false, -1,
		end->problem, sizeof(end->problem));
	if (!status)
		give_image(process);
	return status;
}

void walk_process_end(struct sandbox_child *child)
{
	if (child)
		free(sandbox_end(child));
}

void walk_process_run(const struct walk_process *process, struct walk_end *end)
{
	struct listener *listener;
	char *how;

	*end = (struct walk_end){ 0 };
	if (start_walk(process, end))
		return;
	listener = xcalloc(1, sizeof(*listener));
	listener->process = process;
	listener->end = end;
	receive_messages(listener);
	if (!listener->done) {
		how = sandbox_end(*process->child);
		*process->child = NULL;
		end->died = how && !listener->refused;
		if (how && !*end->problem)
			set_problem(listener, how);
		free(how);
	}
	free(listener);
}
