/*
 * The first run uses the reference engine, which compares every pattern at every byte; all other
 * runs with the same options must give its files, byte for byte. What is right is known from the
 * layout, not from any engine.
 *
 * Engines search with the smallest chunks, whose edges one class of files crosses; the engine that
 * burin would choose by itself searches with other chunk sizes too.
 */
#include "selftest/selftest.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/memory.h"
#include "compare/compare.h"
#include "report/verify.h"
#include "run/run.h"
#include "scan/gpu_kernels.h"
#include "scan/scan.h"

/* ---- scoring ------------------------------------------------------------------------------- */

/* The index of the first file at the offset, or where it would be. */
static size_t find_first(const struct listing *listing, uint64_t offset)
{
	size_t low = 0, high = listing->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (listing->files[middle].offset < offset)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* The reported file of the type at the offset; NULL for none. */
static const struct listed *find_file(
	const struct listing *listing, const char *type, uint64_t offset)
{
	for (size_t i = find_first(listing, offset);
		i < listing->count && listing->files[i].offset == offset; i++)
		if (strcmp(listing->files[i].type, type) == 0)
			return &listing->files[i];
	return NULL;
}

static bool is_complete(const struct listed *file)
{
	return file && strcmp(file->status, "complete") == 0;
}

static bool is_right(
	const struct planted *planted, const struct listed *file, const struct selftest_run *run)
{
	switch (planted->class) {
	case CLASS_TRUNCATED:
		return file && !is_complete(file);
	case CLASS_DAMAGED:
	case CLASS_DECOYS:
		return !is_complete(file);
	default:
		if (planted->inner && !run->nested)
			return !file;
		return is_complete(file) && file->length == planted->length &&
		       strcmp(file->hashes.sha256, planted->hashes.sha256) == 0;
	}
}

static enum layout_class class_at(const struct layout *layout, uint64_t offset)
{
	int class = CLASSES - 1;

	while (class && offset < layout->parts[class].offset)
		class --;
	return (enum layout_class) class;
}

/* Reported files are counted in the class where they start, and as fitting if they are right, or
 * report a truncated or damaged file as such. */
static void score(
	const struct layout *layout, const struct listing *listing, struct selftest_run *run)
{
	uint64_t whole = 0, whole_and_right = 0;

	for (size_t i = 0; i < layout->count; i++) {
		const struct planted *planted = &layout->planted[i];
		struct selftest_score *sum = &run->scores[planted->class];
		const struct listed *file = find_file(listing, planted->type, planted->offset);
		bool right = is_right(planted, file, run);

		sum->planted++;
		sum->right += right;
		sum->fitting += right && file && planted->class != CLASS_DECOYS;
		whole_and_right += right && is_complete(file);
	}
	for (size_t i = 0; i < listing->count; i++) {
		run->scores[class_at(layout, listing->files[i].offset)].reported++;
		whole += is_complete(&listing->files[i]);
	}
	run->whole_but_wrong = whole - whole_and_right;
}

/* The hash of the report's lines of files, which are the same in all runs that found the same. */
static int digest_files(const char *report, char digest[65])
{
	static const char head[] = "{\"record\":\"file\",";
	struct hasher *hasher = hasher_new(HASH_SHA256);
	FILE *stream = fopen(report, "re");
	struct hashes hashes;
	size_t capacity = 0;
	char *line = NULL;
	ssize_t len;

	while (stream && (len = getline(&line, &capacity, stream)) > 0)
		if (strncmp(line, head, sizeof(head) - 1) == 0)
			hasher_update(hasher, line, (size_t)len);
	hasher_finish(hasher, &hashes);
	hasher_free(hasher);
	free(line);
	memcpy(digest, hashes.sha256, 65);
	if (!stream)
		return -EIO;
	fclose(stream);
	return 0;
}

/* ---- one run ------------------------------------------------------------------------------- */

static void ignore_file(
	void *context, const char *name, enum verify_state state, const char *detail)
{
	(void)context, (void)name, (void)state, (void)detail;
}

/* Adds a sentence to the run's problems, as far as there is room. */
static void complain(struct selftest_run *run, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

static void complain(struct selftest_run *run, const char *format, ...)
{
	size_t used = strlen(run->problem);
	va_list arguments;

	if (used && used + 2 < sizeof(run->problem)) {
		strcpy(run->problem + used, "; ");
		used += 2;
	}
	va_start(arguments, format);
	vsnprintf(run->problem + used, sizeof(run->problem) - used, format, arguments);
	va_end(arguments);
}

/* The run that this one must agree with: the first with its options. */
static const struct selftest_run *baseline(
	const struct selftest *selftest, const struct selftest_run *run)
{
	for (size_t i = 0; i < selftest->count; i++)
		if (selftest->runs[i].nested == run->nested && !selftest->runs[i].unsuited)
			return &selftest->runs[i];
	return run;
}

static void evaluate(const struct selftest *selftest, struct selftest_run *run)
{
	const struct selftest_run *first = baseline(selftest, run);

	if (run->exit)
		complain(run, "the run ended with exit code %d", run->exit);
	run->same = strcmp(run->digest, first->digest) == 0;
	for (int class = 0; class < CLASSES; class ++)
		if (run->scores[class].right < run->scores[class].planted)
			complain(run, "%s: %" PRIu64 " of %" PRIu64 " are not as expected",
				layout_class_name((enum layout_class) class),
				run->scores[class].planted - run->scores[class].right,
				run->scores[class].planted);
	if (run->whole_but_wrong)
		complain(run, "%" PRIu64 " are called complete but were not planted so",
			run->whole_but_wrong);
	if (!run->same)
		complain(run, "the files differ from those of %s", first->engine);
	if (!run->verified)
		complain(run, "files on the disk differ from the report");
}

static void read_result(
	const struct selftest *selftest, const char *folder, struct selftest_run *run)
{
	char *report = xasprintf("%s/report.jsonl", folder);
	struct verify_counts counts = { 0 };
	struct listing *listing = NULL;
	struct error error = { 0 };

	if (digest_files(report, run->digest) || listing_open(&listing, report, &error)) {
		complain(run, "no report: %s", error.text);
	} else {
		run->files = listing->count;
		score(&selftest->layout, listing, run);
		run->verified = verify_folder(folder, ignore_file, NULL, &counts, &error) == 0 &&
				verify_is_clean(&counts);
	}
	listing_free(listing);
	free(report);
}

static int remove_entry(const char *path, const struct stat *info, int type, struct FTW *walk)
{
	(void)info, (void)type, (void)walk;
	return remove(path);
}

static void remove_folder(const char *path)
{
	nftw(path, remove_entry, 16, FTW_DEPTH | FTW_PHYS);
}

/* may_refuse: the engine or kernel need not support the rules. */
static void carve(
	struct selftest *selftest, const char *folder, struct selftest_run wanted, bool may_refuse)
{
	char *arguments[] = { (char *)"burin", (char *)"selftest", NULL };
	char *image = xasprintf("%s/image", folder), *output = xasprintf("%s/out", folder);
	struct run_options options = { .rules = selftest->rules,
		.arguments = arguments,
		.engine = wanted.engine,
		.kernel = wanted.kernel,
		.threads = wanted.threads,
		.chunk_size = wanted.chunk_size,
		.decide.nested = wanted.nested,
		.hash_mask = HASH_SHA256,
		.verify = RUN_VERIFY_NONE,
		.file_systems = VOLUMES_OFF,
		.progress = { .quiet = true } };
	struct run_sums sums = { 0 };
	double start = clock_seconds();

	wanted.exit = run_carve(&options, image, output, &sums);
	wanted.seconds = clock_seconds() - start;
	memcpy(wanted.worked, sums.kernel, sizeof(wanted.worked));
	wanted.unsuited = may_refuse && sums.unsuited;
	if (!wanted.unsuited) {
		read_result(selftest, output, &wanted);
		evaluate(selftest, &wanted);
	}
	remove_folder(output);
	selftest->runs = xgrow(
		selftest->runs, &selftest->capacity, selftest->count, sizeof(*selftest->runs));
	selftest->runs[selftest->count++] = wanted;
	free(output);
	free(image);
}

/* ---- all runs ------------------------------------------------------------------------------ */

struct series {
	struct selftest *selftest;
	const char *folder;
	void (*each)(const struct selftest_run *run);
};

static void run_once(const struct series *series, const char *engine, const char *kernel,
	uint64_t chunk_size, unsigned threads, bool nested, bool may_refuse)
{
	struct selftest *selftest = series->selftest;

	if (selftest->signal)
		return;
	carve(selftest, series->folder,
		(struct selftest_run){ .engine = engine,
			.kernel = kernel,
			.chunk_size = chunk_size,
			.threads = threads,
			.nested = nested },
		may_refuse);
	selftest->signal = signals_caught();
	if (series->each && !selftest->signal)
		series->each(&selftest->runs[selftest->count - 1]);
}

static void note_absent(struct selftest *selftest, const char *name, const char *reason)
{
	char *line = xasprintf("%s: %s\n", name, *reason ? reason : "not usable on this machine");

	bytes_add(&selftest->absent, line, strlen(line));
	free(line);
}

static void run_engine(const struct series *series, const struct scan_engine *engine)
{
	char reason[256] = "";

	if (engine->probe && engine->probe(reason, sizeof(reason)) != 0) {
		note_absent(series->selftest, engine->name, reason);
		return;
	}
	run_once(series, engine->name, NULL, LAYOUT_EDGE, 0, true, engine->comparison);
	if (strcmp(engine->name, "gpu") != 0)
		return;
	/* A kernel need not support all rules: the run above has chosen one that does. */
	for (const struct gpu_kernel_info *kernel = gpu_kernel_list; kernel->name; kernel++)
		run_once(series, engine->name, kernel->name, LAYOUT_EDGE, 0, true, true);
}

static void run_all(const struct series *series)
{
	const struct scan_engine *engine;
	const struct scan_engine *first = scan_engine_find("reference");

	run_engine(series, first);
	for (unsigned i = 0; (engine = scan_engine_at(i)); i++)
		if (engine != first)
			run_engine(series, engine);
	run_once(series, "auto", NULL, 0, 0, true, false);
	run_once(series, "auto", NULL, LAYOUT_EDGE, 1, true, false);
	run_once(series, "auto", NULL, 5 * LAYOUT_EDGE, 3, true, false);
	run_once(series, "auto", NULL, 0, 0, false, false);
}

/* ---- the whole ----------------------------------------------------------------------------- */

static int write_image(const struct layout *layout, const char *folder, struct error *error)
{
	char *path = xasprintf("%s/image", folder);
	FILE *stream = fopen(path, "wxe");
	bool bad = !stream ||
		   fwrite(layout->image.data, 1, layout->image.len, stream) != layout->image.len;
	int problem = errno;

	if (stream && fclose(stream) && !bad) {
		problem = errno;
		bad = true;
	}
	if (bad)
		error_set(error, EXIT_IO, problem, "cannot write the test's image '%.500s': %s",
			path, strerror(problem));
	free(path);
	return bad ? -problem : 0;
}

/* Of the running program: a protocol is about this one. */
static void hash_program(char digest[65])
{
	struct hasher *hasher = hasher_new(HASH_SHA256);
	int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	static uint8_t buffer[1 << 16];
	struct hashes hashes = { 0 };
	ssize_t len = -1;

	while (fd >= 0 && (len = read(fd, buffer, sizeof(buffer))) > 0)
		hasher_update(hasher, buffer, (size_t)len);
	if (!len)
		hasher_finish(hasher, &hashes);
	hasher_free(hasher);
	if (fd >= 0)
		close(fd);
	memcpy(digest, hashes.sha256, 65);
}

int selftest_run(struct selftest *selftest, const struct rules *rules,
	void (*each)(const struct selftest_run *run), struct error *error)
{
	const char *base = getenv("TMPDIR");
	char *folder = xasprintf("%s/burin-selftest-XXXXXX", base && *base ? base : "/tmp");
	struct series series = { selftest, folder, each };
	int status;

	selftest->rules = rules;
	selftest->started = (int64_t)time(NULL);
	hash_program(selftest->program_hash);
	status = layout_make(&selftest->layout, rules, error);
	if (!status && !mkdtemp(folder))
		status = error_set(error, EXIT_IO, errno, "cannot make a folder '%.500s': %s",
			folder, strerror(errno));
	else if (!status) {
		status = write_image(&selftest->layout, folder, error);
		if (!status)
			run_all(&series);
		remove_folder(folder);
	}
	free(folder);
	return status;
}

bool selftest_passed(const struct selftest *selftest)
{
	bool passed = !selftest->signal;

	for (size_t i = 0; i < selftest->count; i++)
		passed &= !*selftest->runs[i].problem;
	return passed;
}

void selftest_free(struct selftest *selftest)
{
	layout_free(&selftest->layout);
	bytes_free(&selftest->absent);
	free(selftest->runs);
	*selftest = (struct selftest){ 0 };
}
