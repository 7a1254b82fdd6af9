/*
 * Measures the GPU engine: every kernel on resident text, and the engine from host memory to host
 * memory, beside what the machine can do (reading device memory, copying to the device). A row
 * counts only if its hits are those of a CPU engine: their number and a checksum over (offset,
 * pattern) that does not depend on order are compared in the same run.
 *
 *     kernels [--mib N] [--rounds N] [--kernel NAME] [--gpus LIST] [--resident] [--plant N]
 *             [--no-check] [--host] DATA|random PATTERNS...
 *
 * DATA is a file from which a text of N MiB is put together, pieces of 64 KiB in random order;
 * `random` is random bytes. PATTERNS is a file with a pattern a line, in burin's syntax.
 * --plant N puts one of the patterns into every N bytes on average. --host also runs the engine, on
 * the GPUs that --gpus names (as burin's option), with --resident by strategy A.
 */
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "gpu/kernel.h"
#include "gpu/options.h"

extern "C" {
#include "base/memory.h"
#include "base/pool.h"
#include "scan/scan.h"
}

#define PIECE 65536
#define SLOTS 8
#define KEYS (64u << 20)

static size_t text_len = 2048ul << 20, plant;
static unsigned rounds = 7;
static const char *only_kernel;
static bool check = true, host;
static struct pool *pool;
static struct gpu_options gpu_options;

static void must(cudaError_t error, const char *what)
{
	if (error) {
		fprintf(stderr, "kernels: %s: %s\n", what, cudaGetErrorString(error));
		exit(1);
	}
}

static double now(void)
{
	struct timespec time;
	clock_gettime(CLOCK_MONOTONIC, &time);
	return time.tv_sec + time.tv_nsec / 1e9;
}

static int compare_doubles(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;
	return x < y ? -1 : x > y;
}

static double median(double *values, unsigned count)
{
	qsort(values, count, sizeof(*values), compare_doubles);
	return values[count / 2];
}

/* ---- the text and the patterns ---- */

static uint64_t random_next(uint64_t *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return *state;
}

static void fill_random(uint8_t *text)
{
	uint64_t state = 88172645463325252ull;
	for (size_t i = 0; i < text_len; i += 8) {
		uint64_t value = random_next(&state) * 2685821657736338717ull;
		memcpy(text + i, &value, 8);
	}
}

static void fill_from(uint8_t *text, const char *path)
{
	FILE *file = fopen(path, "rb");
	if (!file) {
		perror(path);
		exit(2);
	}
	fseek(file, 0, SEEK_END);
	size_t len = ftell(file);
	rewind(file);
	uint8_t *data = (uint8_t *)xmalloc(len);
	if (fread(data, 1, len, file) != len || len < PIECE) {
		fprintf(stderr, "kernels: %s cannot be read or is too short\n", path);
		exit(2);
	}
	fclose(file);
	uint64_t state = 88172645463325252ull;
	for (size_t i = 0; i < text_len; i += PIECE) {
		size_t from = random_next(&state) % ((len - PIECE) / 512 + 1) * 512;
		memcpy(text + i, data + from, PIECE);
	}
	free(data);
}

static void read_patterns(struct pattern_set *set, const char *path)
{
	char line[16384];
	FILE *file = fopen(path, "r");
	if (!file) {
		perror(path);
		exit(2);
	}
	memset(set, 0, sizeof(*set));
	while (fgets(line, sizeof(line), file)) {
		struct pattern pattern;
		struct error error;
		line[strcspn(line, "\n")] = '\0';
		if (!*line)
			continue;
		if (pattern_parse(&pattern, line, &error)) {
			fprintf(stderr, "kernels: %s: %s\n", path, error.text);
			exit(2);
		}
		pattern_set_add(set, &pattern);
	}
	fclose(file);
}

static void plant_patterns(uint8_t *text, const struct pattern_set *set)
{
	uint64_t state = 1234567;
	for (size_t i = 0; plant && i < text_len / plant; i++) {
		const struct pattern *pattern =
			&set->patterns[(random_next(&state) >> 20) % set->count];
		uint8_t *at = text + random_next(&state) % (text_len - pattern->len);
		for (uint32_t j = 0; j < pattern->len; j++)
			at[j] = (at[j] & ~pattern->mask[j]) | pattern->bytes[j];
	}
}

/* ---- what the hits are ---- */

struct tally {
	uint64_t count, sum;
};

static void tally_add(struct tally *tally, uint64_t offset, uint32_t pattern)
{
	uint64_t mixed = (offset * 0x9e3779b97f4a7c15ull) ^ ((pattern + 1) * 0xc2b2ae3d27d4eb4full);
	mixed = (mixed ^ mixed >> 29) * 0xbf58476d1ce4e5b9ull;
	tally->count++;
	tally->sum += mixed ^ mixed >> 32;
}

/* Runs an engine over the text in chunks that lie in it; returns seconds. rounds_over: how often.
 */
static double run_engine(const struct scan_engine *engine, const struct pattern_set *set,
	const uint8_t *text, size_t chunk_len, unsigned in_flight, size_t len, struct tally *tally,
	const char *kernel, void *ring, size_t ring_len)
{
	size_t overlap = set->longest - 1;
	struct scan_options options = { pool, chunk_len + overlap, in_flight, ring, ring_len,
		kernel, &gpu_options };
	struct error error;
	struct scan *scan;
	if (engine->open(&scan, set, &options, &error)) {
		fprintf(stderr, "kernels: %s: %s\n", engine->name, error.text);
		exit(1);
	}
	struct chunk *chunks = (struct chunk *)xcalloc(in_flight, sizeof(*chunks));
	bool *busy = (bool *)xcalloc(in_flight, sizeof(*busy));
	size_t capacity = 1 << 20;
	for (unsigned i = 0; i < in_flight; i++)
		chunks[i].hits = (struct hit *)xcalloc(capacity, sizeof(struct hit));
	double start = now();
	size_t at = 0;
	for (;;) {
		for (unsigned i = 0; i < in_flight && at < len; i++) {
			if (busy[i])
				continue;
			struct hit *hits = chunks[i].hits;
			size_t place = at % text_len, rest = text_len - place;
			struct chunk chunk = { text + place, at,
				rest < chunk_len ? rest : chunk_len };
			chunk.tail_len = rest - chunk.len < overlap ? rest - chunk.len : overlap;
			chunk.hits = hits;
			chunk.hit_capacity = capacity;
			chunks[i] = chunk;
			if (engine->submit(scan, &chunks[i]))
				break;
			busy[i] = true;
			at += chunk.len;
		}
		struct chunk *chunk;
		if (engine->reap(scan, &chunk))
			break;
		if (chunk->status) {
			fprintf(stderr, "kernels: %s broke down\n", engine->name);
			exit(1);
		}
		for (size_t i = 0; tally && i < chunk->hit_count; i++)
			tally_add(tally, chunk->hits[i].offset, chunk->hits[i].pattern);
		chunk->from = chunk->until;
		if (chunk->until < chunk->len) {
			engine->submit(scan, chunk);
			continue;
		}
		busy[chunk - chunks] = false;
	}
	double seconds = now() - start;
	engine->close(scan);
	cudaSetDevice(0); /* the engine may have left another */
	for (unsigned i = 0; i < in_flight; i++)
		free(chunks[i].hits);
	free(chunks);
	free(busy);
	return seconds;
}

static const struct scan_engine *cpu_engine(void)
{
	char reason[256];
	for (const struct scan_engine *const *engine = scan_engines; *engine; engine++)
		if (strcmp((*engine)->name, "gpu") && !(*engine)->probe(reason, sizeof(reason)))
			return *engine;
	exit(1);
}

/* ---- ceilings ---- */

static __global__ void read_kernel(const uint4 *text, size_t count, uint32_t *result)
{
	uint32_t sum = 0;
	size_t step = (size_t)gridDim.x * blockDim.x * 4;
	for (size_t i = (size_t)blockIdx.x * blockDim.x * 4 + threadIdx.x; i < count; i += step) {
		uint4 words[4];
#pragma unroll
		for (int j = 0; j < 4; j++)
			words[j] = __ldcs(text + i + j * blockDim.x);
#pragma unroll
		for (int j = 0; j < 4; j++)
			sum ^= words[j].x ^ words[j].y ^ words[j].z ^ words[j].w;
	}
	if (sum == 0x12345678)
		*result = sum;
}

static double time_launches(cudaError_t (*launch)(void *), void *argument)
{
	cudaEvent_t start, end;
	double values[100];
	must(cudaEventCreate(&start), "event");
	must(cudaEventCreate(&end), "event");
	for (unsigned i = 0; i < rounds + 2; i++) {
		float milliseconds;
		must(cudaEventRecord(start), "record");
		must(launch(argument), "launch");
		must(cudaEventRecord(end), "record");
		must(cudaEventSynchronize(end), "run");
		must(cudaEventElapsedTime(&milliseconds, start, end), "time");
		if (i >= 2)
			values[i - 2] = milliseconds / 1e3;
	}
	cudaEventDestroy(start);
	cudaEventDestroy(end);
	return median(values, rounds);
}

static cudaError_t launch_read(void *text)
{
	read_kernel<<<132 * 16, 512>>>(
		(const uint4 *)text, text_len / 16, (uint32_t *)((uint8_t *)text + text_len));
	return cudaGetLastError();
}

static double copy_ceiling(
	uint8_t *device, const uint8_t *pinned, size_t chunk_len, size_t pinned_len)
{
	cudaStream_t streams[2];
	double values[100];
	for (int i = 0; i < 2; i++)
		must(cudaStreamCreateWithFlags(&streams[i], cudaStreamNonBlocking), "stream");
	size_t total = text_len;
	for (unsigned round = 0; round < rounds; round++) {
		double start = now();
		for (size_t at = 0, i = 0; at + chunk_len <= total; at += chunk_len, i++)
			must(cudaMemcpyAsync(device + at,
				     pinned + at % (pinned_len - chunk_len + 1), chunk_len,
				     cudaMemcpyHostToDevice, streams[i % 2]),
				"copy");
		must(cudaDeviceSynchronize(), "copy");
		values[round] = total / (now() - start);
	}
	for (int i = 0; i < 2; i++)
		cudaStreamDestroy(streams[i]);
	return median(values, rounds);
}

/* ---- resident ---- */

struct resident {
	const struct gpu_kernel *kernel;
	void *tables;
	struct gpu_text text;
	struct gpu_hits hits;
};

static cudaError_t launch_kernel(void *argument)
{
	struct resident *resident = (struct resident *)argument;
	cudaError_t error = cudaMemsetAsync(resident->hits.count, 0, 8, 0);
	if (error)
		return error;
	return resident->kernel->launch(resident->tables, &resident->text, &resident->hits, 0);
}

static struct tally resident_tally(const struct gpu_hits *hits)
{
	struct tally tally = { 0 };
	unsigned long long count;
	must(cudaMemcpy(&count, hits->count, sizeof(count), cudaMemcpyDeviceToHost), "count");
	if (count > hits->capacity) {
		tally.count = count;
		return tally;
	}
	uint64_t *keys = (uint64_t *)xmalloc(count * 8);
	must(cudaMemcpy(keys, hits->keys, count * 8, cudaMemcpyDeviceToHost), "hits");
	for (size_t i = 0; i < count; i++)
		tally_add(&tally, keys[i] >> 32, (uint32_t)keys[i]);
	free(keys);
	return tally;
}

static const char *verdict(struct tally got, struct tally right)
{
	if (!check)
		return "not compared";
	return got.count == right.count && got.sum == right.sum ? "ok" : "WRONG";
}

static bool wrong;

static void bench_resident(const char *patterns, const struct pattern_set *set,
	const uint8_t *device, struct gpu_hits hits, double ceiling, struct tally right)
{
	for (const struct gpu_kernel *const *row = gpu_kernels; *row; row++) {
		struct gpu_program *program;
		struct error error;
		char how[128];
		if (only_kernel && strcmp(only_kernel, (*row)->name))
			continue;
		double begin = now();
		if ((*row)->compile(&program, set, &error)) {
			printf("%-14s %-9s %s\n", patterns, (*row)->name, error.text);
			continue;
		}
		double compiled = now() - begin;
		struct resident resident = { *row, NULL,
			{ device, 0, (uint32_t)text_len, (uint32_t)text_len }, hits };
		must((*row)->load(&resident.tables, program), "load");
		double seconds = time_launches(launch_kernel, &resident);
		struct tally got = resident_tally(&hits);
		(*row)->describe(program, how, sizeof(how));
		const char *judged = verdict(got, right);
		wrong |= !strcmp(judged, "WRONG");
		printf("%-14s %-9s %8.1f GB/s %5.1f %%  %10llu hits %-5s cost %5.0f build %5.2f s  "
		       "%s\n",
			patterns, (*row)->name, text_len / seconds / 1e9,
			100 * text_len / seconds / ceiling, (unsigned long long)got.count, judged,
			(*row)->cost ? (*row)->cost(program) : 0, compiled, how);
		fflush(stdout);
		(*row)->unload(resident.tables);
		(*row)->free(program);
	}
}

static void bench_host(const char *patterns, const struct pattern_set *set, uint8_t *text,
	uint8_t *device, struct tally right)
{
	static const size_t lens[] = { 4ul << 20, 16ul << 20, 64ul << 20 };
	for (int i = 0; i < 3; i++) {
		must(cudaHostRegister(text, text_len, cudaHostRegisterDefault), "register");
		double ceiling = copy_ceiling(device, text, lens[i], text_len);
		cudaHostUnregister(text);
		struct tally got = { 0 };
		run_engine(scan_engine_find("gpu"), set, text, lens[i], SLOTS, text_len, &got,
			only_kernel, text, text_len);
		double values[100];
		for (unsigned round = 0; round < rounds; round++)
			values[round] =
				2 * text_len /
				run_engine(scan_engine_find("gpu"), set, text, lens[i], SLOTS,
					2 * text_len, NULL, only_kernel, text, text_len);
		double speed = median(values, rounds);
		const char *judged = verdict(got, right);
		wrong |= !strcmp(judged, "WRONG");
		printf("%-14s host to host, chunks of %2zu MiB: %5.1f GB/s, %5.1f %% of the copy "
		       "ceiling of %.1f GB/s, %llu hits %s\n",
			patterns, lens[i] >> 20, speed / 1e9, 100 * speed / ceiling, ceiling / 1e9,
			(unsigned long long)got.count, judged);
		fflush(stdout);
	}
}

static void bench_patterns(
	const char *path, uint8_t *text, uint8_t *device, struct gpu_hits hits, double ceiling)
{
	struct pattern_set set;
	struct tally right = { 0 };
	const char *name = strrchr(path, '/') ? strrchr(path, '/') + 1 : path;
	read_patterns(&set, path);
	if (plant) {
		plant_patterns(text, &set);
		must(cudaMemcpy(device, text, text_len, cudaMemcpyHostToDevice), "text");
	}
	if (check) {
		const struct scan_engine *engine = cpu_engine();
		double seconds = run_engine(
			engine, &set, text, 16ul << 20, 4, text_len, &right, NULL, NULL, 0);
		printf("%-14s %-9s %8.1f GB/s on %u threads %10llu hits\n", name, engine->name,
			text_len / seconds / 1e9, pool_threads(pool),
			(unsigned long long)right.count);
		fflush(stdout);
	}
	bench_resident(name, &set, device, hits, ceiling, right);
	if (host)
		bench_host(name, &set, text, device, right);
	pattern_set_free(&set);
}

int main(int argc, char **argv)
{
	static const struct option options[] = { { "mib", required_argument, NULL, 'm' },
		{ "rounds", required_argument, NULL, 'r' },
		{ "kernel", required_argument, NULL, 'k' }, { "no-check", no_argument, NULL, 'n' },
		{ "host", no_argument, NULL, 'h' }, { "gpus", required_argument, NULL, 'g' },
		{ "plant", required_argument, NULL, 'p' }, { "resident", no_argument, NULL, 'a' },
		{ 0 } };
	int option;
	while ((option = getopt_long(argc, argv, "", options, NULL)) != -1) {
		if (option == 'm')
			text_len = strtoul(optarg, NULL, 0) << 20;
		else if (option == 'r')
			rounds = (unsigned)strtoul(optarg, NULL, 0);
		else if (option == 'k')
			only_kernel = optarg;
		else if (option == 'n')
			check = false;
		else if (option == 'h')
			host = true;
		else if (option == 'g')
			gpu_options.devices = optarg;
		else if (option == 'a')
			gpu_options.transfer = GPU_TRANSFER_RESIDENT;
		else if (option == 'p')
			plant = strtoul(optarg, NULL, 0);
		else
			return 2;
	}
	if (optind + 2 > argc || rounds > 98 || text_len >= 4ul << 30) {
		fprintf(stderr, "usage: kernels [options] DATA|random PATTERNS...\n");
		return 2;
	}
	pool = pool_new(0);
	uint8_t *text = (uint8_t *)mmap(
		NULL, text_len + PIECE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (text == MAP_FAILED)
		return 1;
	madvise(text, text_len + PIECE, MADV_HUGEPAGE);
	if (!strcmp(argv[optind], "random"))
		fill_random(text);
	else
		fill_from(text, argv[optind]);
	uint8_t *device;
	struct gpu_hits hits = { NULL, NULL, KEYS, NULL };
	must(cudaMalloc((void **)&device, text_len + GPU_TEXT_PAD), "text");
	must(cudaMalloc((void **)&hits.keys, KEYS * 8ul), "hits");
	must(cudaMalloc((void **)&hits.count, 8), "count");
	must(cudaMemcpy(device, text, text_len, cudaMemcpyHostToDevice), "text");
	double ceiling = text_len / time_launches(launch_read, device);
	printf("%s, %zu MiB; reading device memory: %.1f GB/s\n", argv[optind], text_len >> 20,
		ceiling / 1e9);
	for (int i = optind + 1; i < argc; i++)
		bench_patterns(argv[i], text, device, hits, ceiling);
	pool_free(pool);
	return wrong;
}
