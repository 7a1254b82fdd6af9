/*
 * Each piece of work has a child of its own: the list of volumes, and for each file system what it
 * uses and its files. So the one that crashes costs no other. The child has no way to the evidence
 * but by asking this process for bytes, over the same socket on which it tells what it found; what
 * it tells is checked like anything that comes from the evidence.
 */
#include "evidence/volumes.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include "base/memory.h"
#include "evidence/confined.h"
#include "evidence/owners.h"
#include "evidence/tsk_walk.h"

#define READ_MAX ((uint64_t)1 << 20)
#define VOLUMES_MAX 1024
#define PROBLEMS_MAX 16
/* Pieces in use of one file system: 64 MiB of memory. More is told by none that is not hostile. */
#define PIECES_MAX ((size_t)4 << 20)
#define ASKS_READ 0x100 /* a kind of message beside enum told: the child wants bytes */
#define POLL_MS 100
/* Both ends gather small messages: there are some for each file. */
#define BUFFER_LEN 65536

/* libtsk can be made to go round for ever by a few bytes. Millions of files take minutes, and lie in
 * large images. */
#define CPU_SECONDS_LEAST 1
#define CPU_SECONDS_MOST 600
#define BYTES_PER_CPU_SECOND ((uint64_t)64 << 20)
#define MEMORY_MAX ((uint64_t)1 << 30)
/* libtsk can also be made to wait for itself. So often it is looked at whether the child sleeps, though it has asked for
 * nothing; after so many times it never wakes up again. */
#define LOOK_USECONDS 200000
#define LOOKS_ASLEEP 3
/* What the look itself takes, and more. */
#define ASLEEP_NSECONDS 10000000

struct message {
	uint32_t kind, len; /* len: bytes that follow */
};

struct request {
	uint64_t offset, len;
};

/* A piece of work, and what the child needs for it. */
struct job {
	struct walk_host host; /* first: the host's pointer is ours */
	int fd;
	void (*walk)(struct walk_host *host, const struct volume *volume);
	const struct volume *volume;
	char unsent[BUFFER_LEN];
	size_t unsent_len;
};

struct volumes {
	struct volume *items;
	size_t count, capacity;
	char table[32];
	char *problems[PROBLEMS_MAX + 1];
	size_t problem_count;
	struct ranges in_use, unknown;
	bool any_mapped;
	struct owners *owners;
};

/* One child's work, as this process sees it. */
struct hearing {
	struct volumes *volumes;
	struct image *image;
	bool (*interrupted)(void);
	struct ranges pieces;   /* TOLD_IN_USE, rising */
	bool full;            /* there was no room for all that the child said */
	bool died;            /* the child, before its work was done */
	char problem[512];      /* "": none */
	char ahead[BUFFER_LEN]; /* what came with an earlier message */
	size_t ahead_at, ahead_len;
	_Alignas(16) char bytes[READ_MAX];
};

static void add_problem(struct volumes *volumes, char *sentence)
{
	if (volumes->problem_count < PROBLEMS_MAX)
		volumes->problems[volumes->problem_count++] = sentence;
	else
		free(sentence);
}

/* ---- in the child ------------------------------------------------------------------------------
 */

static volatile sig_atomic_t asking; /* it waits for the parent, who may be busy, and the evidence slow */

static bool flush(struct job *job)
{
	bool sent;

	asking = true;
	sent = confined_send(job->fd, job->unsent, job->unsent_len);
	asking = false;
	job->unsent_len = 0;
	return sent;
}

static bool say(struct job *job, uint32_t kind, const void *bytes, size_t len)
{
	struct message message = { kind, (uint32_t)len };

	if (job->unsent_len + sizeof(message) + len > sizeof(job->unsent) && !flush(job))
		return false;
	memcpy(job->unsent + job->unsent_len, &message, sizeof(message));
	job->unsent_len += sizeof(message);
	memcpy(job->unsent + job->unsent_len, bytes, len);
	job->unsent_len += len;
	return true;
}

/* Nanoseconds that this process has run, or was ready to run while others did; 0 where the kernel doesn't tell. */
static uint64_t awake(void)
{
	int fd = open("/proc/self/schedstat", O_RDONLY | O_CLOEXEC);
	char text[128], *end;
	ssize_t len = fd >= 0 ? read(fd, text, sizeof(text) - 1) : -1;
	uint64_t ran;

	if (fd >= 0)
		close(fd);
	if (len <= 0)
		return 0;
	text[len] = '\0';
	ran = strtoull(text, &end, 10);
	return ran + strtoull(end, NULL, 10);
}

static void look(int signal_number)
{
	static uint64_t before;
	static int asleep;
	uint64_t now = awake();

	asleep = now && !asking && now - before < ASLEEP_NSECONDS ? asleep + 1 : 0;
	before = now;
	if (asleep < LOOKS_ASLEEP)
		return;
	signal(signal_number, SIG_DFL);
	kill(getpid(), signal_number);
}

static void look_now_and_then(void)
{
	const struct sigaction action = { .sa_handler = look, .sa_flags = SA_RESTART };
	const struct itimerval often = { { 0, LOOK_USECONDS }, { 0, LOOK_USECONDS } };

	sigaction(SIGALRM, &action, NULL);
	setitimer(ITIMER_REAL, &often, NULL);
}

static bool ask(struct walk_host *host, uint64_t offset, void *buffer, size_t len)
{
	struct job *job = (struct job *)host;
	struct request request = { offset, len };
	bool good;

	if (!say(job, ASKS_READ, &request, sizeof(request)) || !flush(job))
		return false;
	asking = true;
	good = confined_receive(job->fd, buffer, len);
	asking = false;
	return good;
}

/* What is told is small: TOLD_RANGES ranges are the largest. */
static bool pass_on(struct walk_host *host, enum told what, const void *bytes, size_t len)
{
	return say((struct job *)host, what, bytes, len);
}

static int work(int fd, void *arg)
{
	struct job *job = arg;

	job->fd = fd;
	look_now_and_then();
	job->walk(&job->host, job->volume);
	return flush(job) ? 0 : 1;
}

/* ---- what the child says -----------------------------------------------------------------------
 */

static bool serve(struct hearing *hearing, int fd, size_t len)
{
	struct request request;

	if (len != sizeof(request))
		return false;
	memcpy(&request, hearing->bytes, sizeof(request));
	if (request.len > READ_MAX || request.offset > image_info(hearing->image)->size ||
		request.len > image_info(hearing->image)->size - request.offset)
		return false;
	image_read_around(hearing->image, request.offset, hearing->bytes, (size_t)request.len);
	return confined_send(fd, hearing->bytes, (size_t)request.len);
}

#define END_TEXT(text) ((text)[sizeof(text) - 1] = 0)

static bool take_volume(struct hearing *hearing, size_t len)
{
	struct volumes *volumes = hearing->volumes;
	uint64_t size = image_info(hearing->image)->size;
	struct volume volume;

	if (len != sizeof(volume) || volumes->count == VOLUMES_MAX)
		return false;
	memcpy(&volume, hearing->bytes, sizeof(volume));
	if (volume.offset > size || volume.length > size - volume.offset ||
		volume.kind > VOLUME_POOLED)
		return false;
	END_TEXT(volume.description);
	END_TEXT(volume.file_system);
	END_TEXT(volume.label);
	END_TEXT(volume.id);
	END_TEXT(volume.note);
	volume.mapped = false;
	volumes->items =
		xgrow(volumes->items, &volumes->capacity, volumes->count, sizeof(*volumes->items));
	volumes->items[volumes->count++] = volume;
	return true;
}

/* False when a range is not inside the image. */
static bool check_ranges(const struct hearing *hearing, const struct range *ranges, size_t count)
{
	uint64_t size = image_info(hearing->image)->size;

	for (size_t i = 0; i < count; i++)
		if (ranges[i].offset > size || ranges[i].length > size - ranges[i].offset)
			return false;
	return true;
}

static bool take_ranges(struct hearing *hearing, enum told what, size_t len)
{
	const struct range *ranges = (const struct range *)hearing->bytes;
	size_t count = len / sizeof(*ranges);

	if (len % sizeof(*ranges) || count > TOLD_RANGES)
		return false;
	if (!check_ranges(hearing, ranges, count))
		return false;
	if (what == TOLD_RUNS)
		return owners_runs(hearing->volumes->owners, ranges, count);
	for (size_t i = 0; i < count; i++)
		ranges_add(&hearing->pieces, ranges[i].offset, ranges[i].length);
	return hearing->pieces.count <= PIECES_MAX;
}

static void take_problem(struct hearing *hearing, size_t len)
{
	snprintf(hearing->problem, sizeof(hearing->problem), "%.*s", (int)len, hearing->bytes);
}

static void take_table(struct hearing *hearing, size_t len)
{
	snprintf(hearing->volumes->table, sizeof(hearing->volumes->table), "%.*s", (int)len,
		hearing->bytes);
}

/* False: there is no room for that, or it makes no sense; the child is heard no longer. */
static bool take(struct hearing *hearing, int fd, uint32_t kind, size_t len)
{
	struct owners *owners = hearing->volumes->owners;

	switch (kind) {
	case ASKS_READ:
		return serve(hearing, fd, len);
	case TOLD_TABLE:
		take_table(hearing, len);
		return true;
	case TOLD_VOLUME:
		return take_volume(hearing, len);
	case TOLD_IN_USE:
	case TOLD_RUNS:
		return take_ranges(hearing, (enum told)kind, len);
	case TOLD_FOLDER:
		return owners_folder(owners, hearing->bytes, len);
	case TOLD_FILE:
		return len > 0 &&
		       owners_file(owners, hearing->bytes + 1, len - 1, hearing->bytes[0] != 0);
	case TOLD_PROBLEM:
		take_problem(hearing, len);
		return true;
	default:
		return false;
	}
}

/* Waits for the child's next word. False: somebody wants to end the run. */
static bool listen_for(struct hearing *hearing, int fd)
{
	struct pollfd wait = { .fd = fd, .events = POLLIN };

	while (!hearing->interrupted || !hearing->interrupted())
		if (poll(&wait, 1, POLL_MS) > 0)
			return true;
	snprintf(hearing->problem, sizeof(hearing->problem), "interrupted");
	return false;
}

/* All of len bytes; false at the end of what the child says. */
static bool receive(struct hearing *hearing, int fd, void *bytes, size_t len)
{
	char *to = bytes;

	while (len) {
		size_t ready = hearing->ahead_len - hearing->ahead_at;
		size_t part_len = ready < len ? ready : len;
		ssize_t n;

		memcpy(to, hearing->ahead + hearing->ahead_at, part_len);
		hearing->ahead_at += part_len;
		to += part_len;
		len -= part_len;
		if (!len)
			break;
		if (!listen_for(hearing, fd))
			return false;
		n = recv(fd, hearing->ahead, sizeof(hearing->ahead), 0);
		if (n <= 0)
			return false;
		hearing->ahead_at = 0;
		hearing->ahead_len = (size_t)n;
	}
	return true;
}

/* Until the child has said all. */
static void hear(struct hearing *hearing, int fd)
{
	struct message message;

	hearing->ahead_at = hearing->ahead_len = 0;
	while (receive(hearing, fd, &message, sizeof(message))) {
		if (message.len > sizeof(hearing->bytes) ||
			!receive(hearing, fd, hearing->bytes, message.len))
			return;
		if (!take(hearing, fd, message.kind, message.len)) {
			hearing->full = true;
			if (!*hearing->problem)
				snprintf(hearing->problem, sizeof(hearing->problem),
					"there is more of it than burin keeps in memory");
			return;
		}
	}
}

static struct confined_limits limits_for(uint64_t size)
{
	uint64_t seconds = CPU_SECONDS_LEAST + size / BYTES_PER_CPU_SECOND;

	return (struct confined_limits){
		.cpu_seconds = seconds < CPU_SECONDS_MOST ? (unsigned)seconds : CPU_SECONDS_MOST,
		.memory = MEMORY_MAX,
	};
}

/* Has a child do the work. hearing->problem says what went wrong, if anything did. */
static void have_done(struct hearing *hearing,
	void (*walk)(struct walk_host *host, const struct volume *volume),
	const struct volume *volume)
{
	const struct image_info *info = image_info(hearing->image);
	struct confined_limits limits = limits_for(info->size);
	struct job *job = xcalloc(1, sizeof(*job));
	struct confined *child;
	char *how;
	int status;

	job->host = (struct walk_host){
		.size = info->size, .sector_size = info->sector_size, .read = ask, .tell = pass_on
	};
	job->walk = walk;
	job->volume = volume;
	*hearing->problem = 0;
	hearing->full = hearing->died = false;
	hearing->pieces.count = 0;
	status = confined_start(&child, work, job, &limits);
	free(job);
	if (status) {
		snprintf(hearing->problem, sizeof(hearing->problem), "no process for it: %s",
			strerror(-status));
		return;
	}
	hear(hearing, confined_fd(child));
	how = confined_end(child);
	hearing->died = how && !hearing->full;
	if (how && !*hearing->problem)
		snprintf(hearing->problem, sizeof(hearing->problem), "%s", how);
	free(how);
}

/* ---- the pieces of work ------------------------------------------------------------------------
 */

static void list_work(struct walk_host *host, const struct volume *volume)
{
	(void)volume;
	walk_list(host);
}

static void read_list(struct hearing *hearing)
{
	have_done(hearing, list_work, NULL);
	if (*hearing->problem)
		add_problem(hearing->volumes,
			xasprintf("the image's volumes could not all be listed: %s",
				hearing->problem));
}

static void say_of(struct hearing *hearing, struct volume *volume, const char *what)
{
	add_problem(hearing->volumes,
		xasprintf("%s of the file system at byte %llu (%s): %s", what,
			(unsigned long long)volume->offset, volume->file_system, hearing->problem));
	if (!*volume->note)
		snprintf(volume->note, sizeof(volume->note), "%s: %.200s", what, hearing->problem);
}

/* What the file system uses is known whole or not at all. */
static void read_map(struct hearing *hearing, struct volume *volume)
{
	struct volumes *volumes = hearing->volumes;

	have_done(hearing, walk_map, volume);
	if (*hearing->problem) {
		say_of(hearing, volume, "what is in use is not known");
		return;
	}
	volume->mapped = true;
	volumes->any_mapped = true;
	for (size_t i = 0; i < hearing->pieces.count; i++)
		ranges_add(&volumes->in_use, hearing->pieces.items[i].offset,
			hearing->pieces.items[i].length);
}

static void read_files(struct hearing *hearing, struct volume *volume)
{
	owners_mark(hearing->volumes->owners);
	have_done(hearing, walk_files, volume);
	if (hearing->died)
		owners_take_back(hearing->volumes->owners);
	if (*hearing->problem)
		say_of(hearing, volume, "not all names are known");
}

/* What lies in no file system that was read, but in a volume. */
static void note_unknown(struct volumes *volumes)
{
	for (size_t i = 0; i < volumes->count; i++) {
		const struct volume *volume = &volumes->items[i];

		if (volume->kind != VOLUME_POOLED && !volume->mapped)
			ranges_add(&volumes->unknown, volume->offset, volume->length);
	}
}

static void read_depth(struct hearing *hearing, enum volumes_depth depth)
{
	struct volumes *volumes = hearing->volumes;

	read_list(hearing);
	for (size_t i = 0; i < volumes->count && depth == VOLUMES_MAP; i++) {
		struct volume *volume = &volumes->items[i];

		if (hearing->interrupted && hearing->interrupted())
			return;
		if (volume->type && volume->kind != VOLUME_POOLED)
			read_map(hearing, volume);
		if (volume->type && strcmp(volume->file_system, "APFS container"))
			read_files(hearing, volume);
	}
	note_unknown(volumes);
	owners_finish(volumes->owners);
}

struct volumes *volumes_read(
	struct image *image, enum volumes_depth depth, bool (*interrupted)(void))
{
	struct volumes *volumes = xcalloc(1, sizeof(*volumes));
	struct hearing *hearing;

	volumes->owners = owners_new();
	if (depth == VOLUMES_OFF)
		return volumes;
	hearing = xcalloc(1, sizeof(*hearing));
	hearing->volumes = volumes;
	hearing->image = image;
	hearing->interrupted = interrupted;
	read_depth(hearing, depth);
	ranges_free(&hearing->pieces);
	free(hearing);
	return volumes;
}

/* ---- answers -----------------------------------------------------------------------------------
 */

const struct volume *volumes_list(const struct volumes *volumes, size_t *count)
{
	*count = volumes->count;
	return volumes->items;
}

const char *volumes_table(const struct volumes *volumes)
{
	return *volumes->table ? volumes->table : NULL;
}

const char *volumes_problem(const struct volumes *volumes, size_t index)
{
	return index < volumes->problem_count ? volumes->problems[index] : NULL;
}

const struct ranges *volumes_in_use(const struct volumes *volumes)
{
	return volumes->any_mapped ? &volumes->in_use : NULL;
}

bool volumes_unknown(const struct volumes *volumes, uint64_t offset, uint64_t length)
{
	return ranges_overlap(&volumes->unknown, offset, length) > 0;
}

const char *volumes_owner(struct volumes *volumes, uint64_t offset)
{
	return owners_find(volumes->owners, offset);
}

void volumes_free(struct volumes *volumes)
{
	if (!volumes)
		return;
	for (size_t i = 0; i < volumes->problem_count; i++)
		free(volumes->problems[i]);
	ranges_free(&volumes->in_use);
	ranges_free(&volumes->unknown);
	owners_free(volumes->owners);
	free(volumes->items);
	free(volumes);
}
