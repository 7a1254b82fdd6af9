/*
 * burin-carver: the program that checks candidates for a thread of burin (carve/check_worker.h), which gives it
 * a socket, memory that they share, descriptors of the image, and no environment. It confines itself before it
 * reads the first byte of the image: whatever a candidate makes of it can compute, and nothing else.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/channel.h"
#include "base/clock.h"
#include "base/fatal.h"
#include "base/sandbox.h"
#include "base/version.h"
#include "carve/check_messages.h"
#include "carve/defer.h"
#include "evidence/shared_ring.h"
#include "rules/rules_codec.h"

/* Outcomes wait for others so long, or until there are so many bytes of them. */
#define FLUSH_SECONDS 0.001
#define FLUSH_LEN ((size_t)64 << 10)

static struct {
	struct channel channel;
	struct check_shared *shared;
	struct image *image;
	struct rules rules;
	struct view *view;
	struct defer *defer;          /* of the batch */
	uint64_t number;              /* of the check under way */
	uint64_t work;                /* of the checks of the batch that have ended */
	struct codec_writer outcomes; /* not sent yet */
	double sent;
	int memory_fd; /* says how much memory this process has */
} checker;

/* ---- asking burin -------------------------------------------------------------------------- */

/* When burin is gone, so is the work. */
static void transmit(uint32_t kind, struct codec_writer *body)
{
	if (!channel_send(&checker.channel, kind, body))
		_exit(0);
}

static void receive(uint32_t kind, struct codec_reader *body)
{
	uint32_t came;

	if (channel_receive(&checker.channel, &came, body) <= 0 || came != kind)
		_exit(0);
}

static int ask(uint32_t kind, struct codec_writer *question)
{
	struct codec_reader body;

	transmit(kind, question);
	receive(CHECK_ANSWER, &body);
	return -(int)codec_get(&body, INT32_MAX);
}

static int ask_for_bytes(uint64_t offset, void *buffer, size_t len)
{
	struct codec_writer question = { 0 };
	int status;

	codec_put(&question, offset);
	codec_put(&question, len);
	status = ask(CHECK_READ, &question);
	free(question.bytes);
	if (!status)
		memcpy(buffer, checker.shared->data, len);
	return status;
}

/* A view's. */
static bool reserve(void *context, uint64_t bytes)
{
	struct codec_writer question = { 0 };
	int status;

	(void)context;
	codec_put(&question, bytes);
	status = ask(CHECK_RESERVE, &question);
	free(question.bytes);
	return !status;
}

static bool is_stopped(void)
{
	return atomic_load_explicit(&checker.shared->stop, memory_order_relaxed) == checker.number;
}

/* The view's watcher. */
static bool may_go_on(void *context, uint64_t reached)
{
	(void)context;
	atomic_store_explicit(&checker.shared->reached, reached, memory_order_relaxed);
	atomic_store_explicit(&checker.shared->work, checker.work + view_work_done(checker.view),
		memory_order_relaxed);
	return defer_progress(checker.defer, 0, reached) && !is_stopped();
}

/* ---- checking ------------------------------------------------------------------------------ */

static void flush_outcomes(void)
{
	if (!checker.outcomes.len)
		return;
	transmit(CHECK_OUTCOMES, &checker.outcomes);
	checker.sent = clock_seconds();
}

/* Whether so much of its memory is in use that its own limit, and not the machine, is what it met. */
static bool took_too_much(void)
{
	char text[128] = "";
	unsigned long pages = 0;

	if (pread(checker.memory_fd, text, sizeof(text) - 1, 0) > 0)
		(void)sscanf(text, "%*u %*u %*u %*u %*u %lu", &pages);
	return pages * (uint64_t)sysconf(_SC_PAGESIZE) > CHECK_MEMORY / 4 * 3;
}

static _Noreturn void end_without_memory(void)
{
	if (took_too_much())
		_exit(SANDBOX_TOO_MUCH_MEMORY);
	flush_outcomes();
	transmit(CHECK_NO_MEMORY, NULL);
	_exit(EXIT_FAILURE);
}

static void end_fatally(const char *sentence)
{
	(void)sentence;
	end_without_memory();
}

static void check_one(struct codec_reader *request)
{
	bool force = codec_get_flag(request), checked;
	uint64_t work_max = codec_get(request, UINT64_MAX), waited;
	struct candidate candidate;
	struct outcome outcome;

	candidate_load(&candidate, &checker.rules, image_info(checker.image)->size, request);
	if (!codec_ok(request))
		_exit(EXIT_FAILURE);
	checked = defer_check(checker.defer, 0, checker.view, checker.image,
		&checker.rules.rules[candidate.rule], &candidate, work_max, force, &outcome,
		&waited);
	if (checked && outcome.no_memory)
		end_without_memory();
	/* It was stopped where the image can't be read: the next one is not. */
	if (!checked)
		image_forget_cut(checker.image);
	codec_put(&checker.outcomes, !checked);
	if (checked) {
		outcome_save(&outcome, &checker.outcomes);
		checker.work += outcome.work == UINT64_MAX ? 0 : outcome.work;
		outcome_free(&outcome);
	}
}

static void check_batch(struct codec_reader *batch)
{
	uint64_t first = codec_get(batch, UINT64_MAX), count;

	/* What was found before counts where decisions are made. */
	defer_end(checker.defer, 0, 0);
	defer_hide(checker.defer, codec_get(batch, UINT64_MAX));
	count = codec_get(batch, UINT32_MAX);
	checker.work = 0;
	checker.sent = clock_seconds();
	for (uint64_t i = 0; i < count; i++) {
		checker.number = first + i;
		atomic_store(&checker.shared->work, checker.work);
		atomic_store(&checker.shared->number, checker.number);
		check_one(batch);
		if (checker.outcomes.len > FLUSH_LEN ||
			clock_seconds() - checker.sent > FLUSH_SECONDS)
			flush_outcomes();
	}
	flush_outcomes();
}

/* ---- starting ------------------------------------------------------------------------------ */

static void receive_descriptors(int *descriptors, size_t *count)
{
	if (!sandbox_receive_descriptors(SANDBOX_FD, descriptors, count))
		_exit(EXIT_FAILURE);
}

/* What was just scanned need not be read again. */
static void use_ring(const int *descriptor, size_t count)
{
	struct shared_ring *ring = count ? shared_ring_open(*descriptor) : NULL;

	if (ring)
		image_set_cache(checker.image, shared_ring_copy, ring);
}

static void prepare(void)
{
	int descriptors[SANDBOX_DESCRIPTORS], ring;
	size_t count = SANDBOX_DESCRIPTORS, ring_count = 1;
	struct codec_reader start;
	bool nested;

	checker.channel.fd = SANDBOX_FD;
	checker.memory_fd = open("/proc/self/statm", O_RDONLY | O_CLOEXEC);
	checker.shared = mmap(NULL, sizeof(*checker.shared), PROT_READ | PROT_WRITE, MAP_SHARED,
		SANDBOX_SHARED_FD, 0);
	if (checker.shared == MAP_FAILED)
		_exit(EXIT_FAILURE);
	receive_descriptors(descriptors, &count);
	receive_descriptors(&ring, &ring_count);
	receive(CHECK_START, &start);
	confine_set_mode((enum confine_mode)codec_get(&start, CONFINE_OFF));
	nested = codec_get_flag(&start);
	rules_load_checks(&checker.rules, &start);
	checker.image = shared_image_open(&start, descriptors, count, ask_for_bytes, is_stopped);
	if (!codec_at_end(&start))
		_exit(EXIT_FAILURE);
	use_ring(&ring, ring_count);
	checker.defer = defer_new(1, nested, checker.rules.count);
	checker.view = view_new();
	view_watch(checker.view, may_go_on, NULL);
	view_reserve_by(checker.view, reserve);
}

static _Noreturn void work(void)
{
	struct codec_reader batch;

	prepare();
	fatal_redirect(end_fatally);
	sandbox_limit(&(struct sandbox_limits){ .memory = CHECK_MEMORY });
	confine(&(struct confine_rights){ 0 });
	transmit(CHECK_READY, NULL);
	for (;;) {
		receive(CHECK_BATCH_IN, &batch);
		check_batch(&batch);
	}
}

int main(int argc, char **argv)
{
	int type;

	if (getsockopt(SANDBOX_FD, SOL_SOCKET, SO_TYPE, &type, &(socklen_t){ sizeof(type) })) {
		fprintf(stderr, "burin-carver is started by burin\n");
		return 2;
	}
	if (argc != 3 || strcmp(argv[1], burin_version) || strcmp(argv[2], burin_commit))
		_exit(SANDBOX_OTHER_VERSION);
	/* It has nobody to check for any more, also in the middle of a check. */
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	work();
}
