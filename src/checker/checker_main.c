/*
 * burin-carver: the program that checks candidates for a thread of burin (carve/check_worker.h), or puts files in
 * pieces together (assemble/confined.h). burin gives it a socket, memory that they share, descriptors of the image,
 * and no environment. It confines itself before it reads the first byte of the image: whatever a file makes of it can
 * compute, and nothing else.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/sandbox.h"
#include "base/version.h"
#include "checker/checker.h"
#include "evidence/shared_ring.h"
#include "rules/rules_codec.h"

struct checker checker;

/* One thread asks at a time. */
static pthread_mutex_t asking = PTHREAD_MUTEX_INITIALIZER;
static int memory_fd; /* says how much memory this process has */

void checker_transmit(uint32_t kind, struct codec_writer *body)
{
	if (!channel_send(&checker.channel, kind, body))
		_exit(0);
}

void checker_receive(uint32_t *kind, struct codec_reader *body)
{
	if (channel_receive(&checker.channel, kind, body) <= 0)
		_exit(0);
}

static int ask_over(struct channel *channel, uint32_t kind, struct codec_writer *body,
	void (*take)(void *context, struct codec_reader *answer), void *context)
{
	struct codec_reader answer;
	uint32_t came;
	int status;

	if (!channel_send(channel, kind, body) || channel_receive(channel, &came, &answer) <= 0 ||
		came != CHECK_ANSWER)
		_exit(0);
	status = -(int)codec_get(&answer, INT32_MAX);
	if (take)
		take(context, &answer);
	return status;
}

int checker_ask(uint32_t kind, struct codec_writer *body,
	void (*take)(void *context, struct codec_reader *answer), void *context)
{
	int status;

	pthread_mutex_lock(&asking);
	status = ask_over(&checker.channel, kind, body, take, context);
	pthread_mutex_unlock(&asking);
	return status;
}

int checker_ask_device(uint32_t kind, struct codec_writer *body,
	void (*take)(void *context, struct codec_reader *answer), void *context)
{
	static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
	static pthread_cond_t is_free = PTHREAD_COND_INITIALIZER;
	static struct channel channels[CHECK_SEARCHES];
	static bool used[CHECK_SEARCHES];
	size_t i;
	int status;

	pthread_mutex_lock(&lock);
	for (i = 0; used[i]; i = (i + 1) % CHECK_SEARCHES)
		if (i + 1 == CHECK_SEARCHES)
			pthread_cond_wait(&is_free, &lock);
	used[i] = true;
	pthread_mutex_unlock(&lock);
	channels[i].fd = checker.searches[i];
	status = ask_over(&channels[i], kind, body, take, context);
	pthread_mutex_lock(&lock);
	used[i] = false;
	pthread_cond_signal(&is_free);
	pthread_mutex_unlock(&lock);
	return status;
}

struct wanted {
	void *buffer;
	size_t len;
};

static void take_bytes(void *context, struct codec_reader *answer)
{
	const struct wanted *wanted = context;

	(void)answer;
	memcpy(wanted->buffer, checker.shared->data, wanted->len);
}

static int ask_for_bytes(uint64_t offset, void *buffer, size_t len)
{
	struct wanted wanted = { buffer, len };
	struct codec_writer question = { 0 };
	int status;

	codec_put(&question, offset);
	codec_put(&question, len);
	status = checker_ask(CHECK_READ, &question, take_bytes, &wanted);
	free(question.bytes);
	return status;
}

bool checker_is_stopped(void)
{
	uint64_t stop = atomic_load_explicit(&checker.shared->stop, memory_order_relaxed);

	return stop == checker.number || stop == CHECK_STOP_ALL;
}

/* Whether so much of its memory is in use that its own limit, and not the machine, is what it met. */
static bool took_too_much(uint64_t limit)
{
	char text[128] = "";
	unsigned long pages = 0;

	if (pread(memory_fd, text, sizeof(text) - 1, 0) > 0)
		(void)sscanf(text, "%*u %*u %*u %*u %*u %lu", &pages);
	return pages * (uint64_t)sysconf(_SC_PAGESIZE) > limit / 4 * 3;
}

static uint64_t memory_limit(void)
{
	return checker.threads ? ASSEMBLE_MEMORY + checker.threads * ASSEMBLE_THREAD_MEMORY
			       : CHECK_MEMORY;
}

_Noreturn void checker_end_without_memory(void (*before)(void))
{
	if (took_too_much(memory_limit()))
		_exit(SANDBOX_TOO_MUCH_MEMORY);
	pthread_mutex_lock(&asking);
	if (before)
		before();
	checker_transmit(CHECK_NO_MEMORY, NULL);
	_exit(EXIT_FAILURE);
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
	int descriptors[SANDBOX_DESCRIPTORS], ring, board;
	size_t count = SANDBOX_DESCRIPTORS, ring_count = 1, board_count = 1;
	size_t search_count = CHECK_SEARCHES;
	unsigned workers;
	struct codec_reader start;
	uint32_t kind;

	checker.channel.fd = SANDBOX_FD;
	memory_fd = open("/proc/self/statm", O_RDONLY | O_CLOEXEC);
	checker.shared = mmap(NULL, sizeof(*checker.shared), PROT_READ | PROT_WRITE, MAP_SHARED,
		SANDBOX_SHARED_FD, 0);
	if (checker.shared == MAP_FAILED)
		_exit(EXIT_FAILURE);
	receive_descriptors(descriptors, &count);
	receive_descriptors(&ring, &ring_count);
	receive_descriptors(&board, &board_count);
	receive_descriptors(checker.searches, &search_count);
	checker_receive(&kind, &start);
	confine_set_mode((enum confine_mode)codec_get(&start, CONFINE_OFF));
	checker.nested = codec_get_flag(&start);
	checker.threads = (unsigned)codec_get(&start, CHECK_TRIALS_MAX);
	workers = (unsigned)codec_get(&start, UINT_MAX);
	rules_load_checks(&checker.rules, &start);
	checker.image =
		shared_image_open(&start, descriptors, count, ask_for_bytes, checker_is_stopped);
	if (kind != CHECK_START || !codec_at_end(&start))
		_exit(EXIT_FAILURE);
	use_ring(&ring, ring_count);
	if (board_count)
		checker.defer =
			defer_open(board, workers, checker.nested, (uint32_t)checker.rules.count);
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
	prepare();
	sandbox_limit(&(struct sandbox_limits){ .memory = memory_limit() });
	confine(&(struct confine_rights){ .threads = checker.threads });
	checker_transmit(CHECK_READY, NULL);
	if (checker.threads)
		assemble_files();
	check_batches();
}
