/*
 * A run is resumed from a checkpoint that somebody has changed, its checksum made right, and goes on
 * to its end. The input is a list of changes to the checkpoint of a tiny image, 4 bytes each: where
 * (two bytes, counted from the end, where the bytes do not depend on time and place), what, and a
 * value. The header and the traits stay as they are: a run with others is refused, which
 * fuzz_checkpoint tries.
 */
#include <ftw.h>
#include <libdeflate.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/log.h"
#include "assemble/assemble.h"
#include "rules/load.h"
#include "run/run.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

#define IMAGE_LEN 65536
#define LARGE_AT 32768
#define LARGE_LEN 28000 /* more than may be written the first time, which ends the run there */
#define WRITE_MAX 24000
#define FILES_MAX 8
#define CHANGES_MAX 16

static const char rules_text[] =
	"types = ( { name = \"rec\"; header = \"'REC['\"; footer = \"']CER'\"; max_size = 30000; "
	"},\n"
	"  { name = \"rev\"; header = \"'RH['\"; footer = \"']RE'\"; pair = \"reverse\"; max_size "
	"= "
	"5000; },\n"
	"  { name = \"next\"; header = \"'NH['\"; footer = \"'NH['\"; pair = \"next\"; max_size = "
	"3000; },\n"
	"  { name = \"png\"; header = \"89 'PNG'\"; carver = \"png\"; max_size = 50000; } );\n";

/* The beginning of a picture of one pixel, whose data breaks off. */
static const uint8_t png[] = { 0x89, 'P', 'N', 'G', '\r', '\n', 0x1a, '\n', 0, 0, 0, 13, 'I', 'H',
	'D', 'R', 0, 0, 0, 1, 0, 0, 0, 1, 8, 0, 0, 0, 0, 0x3a, 0x7e, 0x9b, 0x55, 0, 0, 0, 100, 'I',
	'D', 'A', 'T', 'x' };

struct saved_file {
	char name[64];
	uint8_t *bytes;
	size_t len;
};

static char folder[] = "/tmp/burin-fuzz-XXXXXX";
static char image_path[64], output[64];
static struct rules *rules;
static struct saved_file saved[FILES_MAX]; /* of the output folder, without the carved ones */
static size_t saved_count;
static struct saved_file *checkpoint;
static size_t first; /* byte of the checkpoint that is changed */

static int remove_entry(const char *path, const struct stat *info, int type, struct FTW *walk)
{
	(void)info;
	(void)type;
	(void)walk;
	return remove(path);
}

static void remove_folder(void)
{
	nftw(folder, remove_entry, 8, FTW_DEPTH | FTW_PHYS);
}

static void write_file(const char *path, const void *bytes, size_t len)
{
	FILE *file = fopen(path, "wb");

	if (!file || fwrite(bytes, 1, len, file) != len || fclose(file))
		abort();
}

/* The caller frees it. */
static uint8_t *read_file(const char *path, size_t *len)
{
	FILE *file = fopen(path, "rb");
	uint8_t *bytes = malloc(1 << 20);

	if (!file || !bytes)
		abort();
	*len = fread(bytes, 1, 1 << 20, file);
	fclose(file);
	return bytes;
}

static void make_image(void)
{
	uint8_t *image = malloc(IMAGE_LEN);

	if (!image)
		abort();
	memset(image, '.', IMAGE_LEN);
	for (size_t i = 0; i < 20; i++) {
		memcpy(image + 1000 * i, i % 3 ? "REC[" : "NH[.", 4);
		memcpy(image + 1000 * i + 300, i % 4 ? "]CER" : "RH[.", 4);
		memcpy(image + 1000 * i + 600, "]RE.", 4);
	}
	memcpy(image + 24576, png, sizeof(png));
	memcpy(image + LARGE_AT, "REC[", 4);
	memcpy(image + LARGE_AT + LARGE_LEN, "]CER", 4);
	memcpy(image + LARGE_AT + LARGE_LEN + 100, "RH[.NH[.REC[", 12);
	write_file(image_path, image, IMAGE_LEN);
	free(image);
}

static int carve(bool resume, struct run_sums *sums)
{
	static char *arguments[] = { (char *)"burin", (char *)"carve", NULL };
	const struct run_options options = { .rules = rules,
		.arguments = arguments,
		.threads = 1,
		.chunk_size = 16384,
		.fragments = FRAGMENTS_NEAR,
		.fragment_budget = 100,
		.verify = RUN_VERIFY_NONE,
		.hash_mask = HASH_MD5,
		.progress = { .quiet = true },
		.checkpoint_interval = 3600000,
		.resume = resume };

	return run_carve(&options, image_path, output, sums);
}

static uint64_t number_at(const struct saved_file *file, size_t *at)
{
	uint64_t value = 0;

	for (unsigned shift = 0;; shift += 7) {
		uint8_t byte = *at < file->len ? file->bytes[(*at)++] : 0;

		value |= (uint64_t)(byte & 127) << shift;
		if (byte < 128)
			return value;
	}
}

static void skip_texts(const struct saved_file *file, size_t *at, uint64_t count)
{
	for (uint64_t i = 0; i < count; i++)
		*at += number_at(file, at);
}

/* After the header, the traits and the flag. */
static size_t find_first(const struct saved_file *file)
{
	size_t at = strlen("burin state\n");

	number_at(file, &at); /* the format */
	number_at(file, &at); /* no batch */
	skip_texts(file, &at, 2);
	skip_texts(file, &at, number_at(file, &at));
	skip_texts(file, &at, number_at(file, &at));
	if (number_at(file, &at) != 1)
		abort();
	return at;
}

static void save_folder(void)
{
	static const char *const names[] = { ".burin-checkpoint", "report.jsonl", "report.xml",
		"audit.txt", "map.bin" };

	for (; saved_count < sizeof(names) / sizeof(*names); saved_count++) {
		struct saved_file *file = &saved[saved_count];
		char path[160];

		snprintf(file->name, sizeof(file->name), "%s", names[saved_count]);
		snprintf(path, sizeof(path), "%s/%s", output, file->name);
		file->bytes = read_file(path, &file->len);
	}
	checkpoint = &saved[0];
	first = find_first(checkpoint);
}

static void no_log(enum log_level level, const char *text)
{
	(void)level;
	(void)text;
}

/* A run that ends in the middle, because a file can't be written. */
static void set_up(void)
{
	struct rlimit limit, low;
	struct error error = { 0 };

	if (!mkdtemp(folder) || atexit(remove_folder))
		abort();
	snprintf(image_path, sizeof(image_path), "%s/image", folder);
	snprintf(output, sizeof(output), "%s/out", folder);
	make_image();
	if (rules_load_text(
		    &rules, NULL, rules_text, sizeof(rules_text) - 1, RULES_BURIN, NULL, &error))
		abort();
	log_redirect(no_log);
	signal(SIGXFSZ, SIG_IGN);
	if (getrlimit(RLIMIT_FSIZE, &limit))
		abort();
	low = limit;
	low.rlim_cur = WRITE_MAX;
	if (setrlimit(RLIMIT_FSIZE, &low) || carve(false, NULL) != EXIT_IO ||
		setrlimit(RLIMIT_FSIZE, &limit))
		abort();
	save_folder();
}

static size_t put_number(uint8_t *to, uint64_t value)
{
	size_t len = 0;

	for (; value > 127; value >>= 7)
		to[len++] = (uint8_t)(value | 128);
	to[len++] = (uint8_t)value;
	return len;
}

/* Makes room for, or removes, bytes at `at`. */
static void shift(uint8_t *bytes, size_t *len, size_t at, size_t removed, size_t added)
{
	if (removed > *len - at)
		removed = *len - at;
	memmove(bytes + at + added, bytes + at + removed, *len - at - removed);
	*len = *len - removed + added;
}

/* bytes: what comes after `first`. */
static void change(uint8_t *bytes, size_t *len, const uint8_t *how)
{
	size_t at = *len - (how[0] | (size_t)how[1] << 8) % (*len + 1), added;
	uint8_t number[16], value = how[3];

	switch (how[2] % 5) {
	case 0:
		shift(bytes, len, at, 1, 1);
		bytes[at] = value;
		return;
	case 1:
		shift(bytes, len, at, 0, 1);
		bytes[at] = value;
		return;
	case 2:
		shift(bytes, len, at, value % 16 + 1, 0);
		return;
	case 3: /* a large number in place of a byte */
		added = put_number(number, ((uint64_t)1 << value % 64) - (value >> 6));
		shift(bytes, len, at, 1, added);
		memcpy(bytes + at, number, added);
		return;
	case 4:
		added = value % 32;
		if (added > *len - at)
			added = *len - at;
		shift(bytes, len, at, 0, added); /* twice */
		memcpy(bytes + at, bytes + at + added, added);
	}
}

static void write_folder(const uint8_t *changed, size_t changed_len)
{
	nftw(output, remove_entry, 8, FTW_DEPTH | FTW_PHYS);
	if (mkdir(output, 0777))
		abort();
	for (size_t i = 0; i < saved_count; i++) {
		char path[160];

		snprintf(path, sizeof(path), "%s/%.63s", output, saved[i].name);
		if (&saved[i] == checkpoint)
			write_file(path, changed, changed_len);
		else
			write_file(path, saved[i].bytes, saved[i].len);
	}
}

/* Nothing is done for a damaged checkpoint. */
static void check_untouched(void)
{
	for (size_t i = 0; i < saved_count; i++) {
		size_t len;
		uint8_t *bytes;
		char path[160];

		snprintf(path, sizeof(path), "%s/%.63s", output, saved[i].name);
		bytes = read_file(path, &len);
		if (&saved[i] != checkpoint &&
			(len != saved[i].len || memcmp(bytes, saved[i].bytes, len) != 0))
			abort();
		free(bytes);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	struct run_sums sums = { 0 };
	uint8_t *bytes;
	uint32_t checksum;
	size_t changed;
	int code;

	if (!checkpoint)
		set_up();
	changed = checkpoint->len - first - 4;
	bytes = malloc(checkpoint->len + CHANGES_MAX * 32 + 4);
	if (!bytes)
		abort();
	memcpy(bytes, checkpoint->bytes, checkpoint->len - 4);
	for (size_t i = 0; i < CHANGES_MAX && 4 * i + 4 <= len; i++)
		change(bytes + first, &changed, data + 4 * i);
	checksum = libdeflate_crc32(0, bytes, first + changed);
	for (size_t i = 0; i < 4; i++)
		bytes[first + changed + i] = (uint8_t)(checksum >> 8 * i);
	write_folder(bytes, first + changed + 4);
	free(bytes);
	code = carve(true, &sums);
	if (len < 4 ? code != EXIT_CLEAN : code < EXIT_CLEAN || code > EXIT_IO)
		abort();
	if (strstr(sums.problem, "is damaged; carve again"))
		check_untouched();
	return 0;
}
