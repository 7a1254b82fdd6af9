/* Puts files in pieces together (assemble/confined.h). */
#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "assemble/assemble.h"
#include "assemble/workbench.h"
#include "base/fatal.h"
#include "base/memory.h"
#include "checker/checker.h"

/* What passes come to waits until there are this many bytes of it. */
#define FLUSH_LEN ((size_t)1 << 20)

static void end_fatally(const char *sentence)
{
	(void)sentence;
	checker_end_without_memory(NULL);
}

static void take_record(void *context, struct codec_reader *answer)
{
	struct recorded *recorded = context;
	size_t count, capacity = 0;

	recorded->is_known = codec_get_flag(answer);
	recorded->is_guessed = codec_get_flag(answer);
	recorded->is_reallocated = codec_get_flag(answer);
	count = (size_t)codec_get(answer, SIZE_MAX);
	for (size_t i = 0; i < count && codec_ok(answer); i++) {
		struct range *run;

		recorded->runs = xgrow(recorded->runs, &capacity, i, sizeof(*recorded->runs));
		run = &recorded->runs[i];
		run->offset = codec_get(answer, UINT64_MAX);
		run->length = codec_get(answer, UINT64_MAX);
		recorded->count = i + 1;
	}
}

static bool ask_for_record(uint64_t start, struct recorded *recorded)
{
	struct codec_writer question = { 0 };

	*recorded = (struct recorded){ 0 };
	codec_put(&question, start);
	checker_ask(CHECK_RECORD, &question, take_record, recorded);
	free(question.bytes);
	return recorded->is_known;
}

/* Asked at least each time after this many units of work (carve/view.c). */
#define WORK_STEP ((uint64_t)256 << 10)

static bool may_not_go_on(void)
{
	atomic_fetch_add_explicit(&checker.shared->work, WORK_STEP, memory_order_relaxed);
	return checker_is_stopped();
}

/* ---- crashes ------------------------------------------------------------------------------- */

#define CRASH_STACK_LEN ((size_t)64 << 10)

static _Thread_local struct check_trial *own_trial; /* NULL: this thread has tried no file yet */

static const int crash_signals[] = { SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT };
#define CRASH_SIGNALS (sizeof(crash_signals) / sizeof(*crash_signals))

/* A pool's threads block all signals: then a crash would end the process. The stack is for a crash that used up the
 * thread's. */
static void prepare_thread(void)
{
	sigset_t crashes;

	static _Atomic size_t count;
	size_t index = atomic_fetch_add(&count, 1);
	stack_t stack = { .ss_size = CRASH_STACK_LEN };

	own_trial = &checker.shared->trials[index % CHECK_TRIALS_MAX];
	stack.ss_sp = mmap(
		NULL, CRASH_STACK_LEN, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (stack.ss_sp != MAP_FAILED)
		sigaltstack(&stack, NULL);
	sigemptyset(&crashes);
	for (size_t i = 0; i < CRASH_SIGNALS; i++)
		sigaddset(&crashes, crash_signals[i]);
	pthread_sigmask(SIG_UNBLOCK, &crashes, NULL);
}

static void note_file(const struct broken *file, size_t number)
{
	if (!own_trial)
		prepare_thread();
	atomic_store(&own_trial->number, 0);
	if (!file)
		return;
	atomic_store(&own_trial->start, file->start);
	atomic_store(&own_trial->rule, file->rule);
	atomic_store(&own_trial->number, (uint64_t)number + 1);
}

static bool is_alone; /* each thread makes only its own file's trials */

/* Where trials show the file, burin waits for those before it, which other threads try, and ends the process. Other crashes
 * end it at once. */
static void note_crash(int signal_number)
{
	bool has_file = own_trial && atomic_load(&own_trial->number);

	if (has_file)
		atomic_store(&own_trial->crashed, (uint64_t)signal_number);
	if (!has_file || !is_alone) {
		signal(signal_number, SIG_DFL);
		return;
	}
	for (;;)
		poll(NULL, 0, -1);
}

static void catch_crashes(void)
{
	const struct sigaction action = { .sa_handler = note_crash, .sa_flags = SA_ONSTACK };

	for (size_t i = 0; i < CRASH_SIGNALS; i++)
		sigaction(crash_signals[i], &action, NULL);
}

/* ---- the task, and what comes of it -------------------------------------------------------- */

static void send_pass(void *context, const struct assembler *assembler)
{
	struct codec_writer writer = { 0 };
	size_t next = 0;

	(void)context;
	while (next != SIZE_MAX) {
		next = assembler_save_files(assembler, next, FLUSH_LEN, &writer);
		checker_transmit(CHECK_FOUND, &writer);
	}
	assembler_save_pass(assembler, &writer);
	checker_transmit(CHECK_PASSED, &writer);
	free(writer.bytes);
}

/* An extension, of what passes before have found. */
static const char *keep_text(const char *text)
{
	static struct strpool pool;

	return strpool_keep(&pool, text);
}

static void receive_parts(enum check_message wanted, struct codec_writer *all)
{
	struct codec_reader body;
	uint32_t kind;
	int taken;

	do {
		checker_receive(&kind, &body);
		taken = kind == wanted ? channel_take_part(&body, SIZE_MAX, all) : -EPROTO;
	} while (!taken);
	if (taken < 0)
		_exit(EXIT_FAILURE);
}

/* Between passes, when no thread asks anything. */
static bool exchange(void *context, const struct codec_writer *own, struct codec_writer *theirs)
{
	(void)context;
	if (!channel_send_parts(&checker.channel, CHECK_PART, own))
		_exit(0);
	receive_parts(CHECK_PART, theirs);
	return true;
}

static struct assemble_others others = { .exchange = exchange, .keep = keep_text };

static struct assembler *receive_task(struct pool *pool)
{
	struct assemble_options options = {
		.image = checker.image,
		.rules = &checker.rules,
		.pool = pool,
		.find_record = ask_for_record,
		.interrupted = may_not_go_on,
		.on_pass = send_pass,
	};
	struct codec_writer task = { 0 };
	struct assembler *assembler;
	struct codec_reader body;
	uint32_t kind;

	receive_parts(CHECK_TASK, &task);
	checker_receive(&kind, &body);
	options.alone = codec_get_flag(&body);
	options.tool = codec_get_flag(&body) ? &asked_device : NULL;
	others.part = (unsigned)codec_get(&body, UINT_MAX);
	others.parts = (unsigned)codec_get(&body, UINT_MAX);
	if (others.parts)
		options.others = &others;
	if (kind != CHECK_ASSEMBLE || !codec_at_end(&body))
		_exit(EXIT_FAILURE);
	is_alone = options.alone;
	options.on_file = note_file;
	catch_crashes();
	body = codec_reader_from(task.bytes, task.len);
	assembler = assembler_load_task(&options, keep_text, &body);
	if (!codec_at_end(&body))
		_exit(EXIT_FAILURE);
	free(task.bytes);
	return assembler;
}

_Noreturn void assemble_files(void)
{
	struct pool *pool = pool_new(checker.threads);
	struct assembler *assembler;
	struct error error = { 0 };
	int status = 0;

	if (!pool)
		checker_end_without_memory(NULL);
	fatal_redirect(end_fatally);
	checker.number = CHECK_ASSEMBLING;
	assembler = receive_task(pool);
	while (!status && assembler_has_pass(assembler))
		status = assembler_pass(assembler, &error);
	if (status == -ENOMEM)
		checker_end_without_memory(NULL);
	_exit(0);
}
