/*
 * Does what follows a file change its status or length? Runs each carver over its golden files, or over the files of folders, alone and
 * followed by other bytes, at two offsets in the image, and lists the differences by carver.
 *
 *     build/bench/context            the golden files, each by its carver
 *     build/bench/context FOLDER...  the files of folders, each by every carver that accepts it
 *     -v                             also each difference
 */
#include <dirent.h>
#include <ftw.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "carve/view.h"
#include "evidence/backend.h"

#define FILLER ((size_t)256 << 10)
#define FILE_MAX ((size_t)32 << 20)
#define GOLDEN "tests/golden"

enum context { ZEROS, ONES, RANDOM, TEXT, OTHER, TWIN, CONTEXTS };

static const char *const context_names[] = { "zeros", "FF", "random bytes", "text", "another file",
	"a damaged twin" };
static const char *const verdicts[] = { "reject", "complete", "truncated", "unverified" };

struct type_sums {
	unsigned files, complete;
	unsigned complete_status[CONTEXTS], complete_length[CONTEXTS]; /* of files complete alone */
	unsigned other[CONTEXTS]; /* of other files: status or length */
	unsigned became_complete; /* of these: complete because of what follows */
};

static struct type_sums sums[1024];
static bool verbose;
static uint8_t *other; /* the file before this one */
static size_t other_len;
static uint8_t *content;
static size_t content_len;

static int read_content(struct image *image, uint64_t offset, void *buffer, size_t len)
{
	(void)image;
	memcpy(buffer, content + offset, len);
	return 0;
}

static const struct image_backend backend = { .name = "memory", .read_at = read_content };

static enum verdict check(const struct carver *carver, size_t start, struct finding *finding)
{
	struct image image = { .backend = &backend,
		.info = { .format = "raw", .size = content_len, .sector_size = 512 },
		.read_unit = 512 };
	struct view *view = view_new();
	enum verdict verdict;

	memset(finding, 0, sizeof(*finding));
	view_point(view, &image, start, content_len - start);
	verdict = carver->check(view, finding);
	view_free(view);
	return verdict;
}

static void add(const void *bytes, size_t len)
{
	memcpy(content + content_len, bytes, len);
	content_len += len;
}

static void add_random(size_t len)
{
	uint64_t state = 0x9e3779b97f4a7c15;

	for (size_t i = 0; i < len; i++) {
		state ^= state << 13;
		state ^= state >> 7;
		state ^= state << 17;
		content[content_len++] = (uint8_t)(state >> 24);
	}
}

static void add_context(enum context context, const uint8_t *file, size_t len)
{
	static const char text[] = "The quick brown fox jumps over the lazy dog, 1234 times.\n";
	size_t damaged = content_len + len / 2;

	if (context == ZEROS || context == ONES) {
		memset(content + content_len, context == ZEROS ? 0 : 0xff, FILLER);
		content_len += FILLER;
	} else if (context == RANDOM) {
		add_random(FILLER);
	} else if (context == TEXT) {
		for (size_t i = 0; i < FILLER / sizeof(text); i++)
			add(text, sizeof(text) - 1);
	} else if (context == OTHER) {
		add(other, other_len);
		add_random(4096);
	} else {
		add(file, len);
		content_len = damaged;
		add_random(4096);
		content_len = damaged + len - len / 2;
	}
}

static void compare(const struct carver *carver, const char *path, const uint8_t *file, size_t len,
	struct type_sums *type)
{
	static const size_t offsets[] = { 4096, 777 };
	struct finding alone, found;
	enum verdict verdict, now;

	content_len = 0;
	add(file, len);
	verdict = check(carver, 0, &alone);
	if (verdict == CARVE_REJECT)
		return;
	type->files++;
	type->complete += verdict == CARVE_COMPLETE;
	for (int context = 0; context < CONTEXTS; context++) {
		bool status = false, length = false, complete = false;

		for (int i = 0; i < 2; i++) {
			content_len = 0;
			add_random(offsets[i]);
			add(file, len);
			add_context((enum context)context, file, len);
			now = check(carver, offsets[i], &found);
			status |= now != verdict;
			length |= now == verdict && found.length != alone.length;
			complete |= now == CARVE_COMPLETE;
			if (verbose && (now != verdict || found.length != alone.length))
				printf("%s %s before %s at %zu: %s, %" PRIu64 " -> %s, %" PRIu64
				       " %s\n",
					carver->name, path, context_names[context], offsets[i],
					verdicts[verdict], alone.length, verdicts[now],
					found.length, found.why);
		}
		if (verdict == CARVE_COMPLETE) {
			type->complete_status[context] += status;
			type->complete_length[context] += length && !status;
		} else {
			type->other[context] += status || length;
			type->became_complete += complete;
		}
	}
}

static void visit(const char *path, const struct carver *only)
{
	FILE *file = fopen(path, "rb");
	uint8_t *bytes = xmalloc(FILE_MAX);
	size_t len = file ? fread(bytes, 1, FILE_MAX, file) : 0;

	if (file)
		fclose(file);
	for (size_t i = 0; len && len < FILE_MAX && carvers[i]; i++)
		if (!only || carvers[i] == only)
			compare(carvers[i], path, bytes, len, &sums[i]);
	if (len) {
		free(other);
		other = bytes;
		other_len = len;
	} else {
		free(bytes);
	}
}

static int visit_entry(const char *path, const struct stat *info, int type, struct FTW *walk)
{
	(void)info;
	(void)walk;
	if (type == FTW_F)
		visit(path, NULL);
	return 0;
}

static void visit_golden(void)
{
	for (size_t i = 0; carvers[i]; i++) {
		char folder[300], path[600];
		struct dirent **entries;
		int count;

		snprintf(folder, sizeof(folder), GOLDEN "/%s", carvers[i]->name);
		count = scandir(folder, &entries, NULL, alphasort);
		for (int n = 0; n < count; n++) {
			const char *end = strrchr(entries[n]->d_name, '.');

			snprintf(path, sizeof(path), "%s/%s", folder, entries[n]->d_name);
			if (entries[n]->d_name[0] != '.' && end && strcmp(end, ".expected") != 0)
				visit(path, carvers[i]);
		}
	}
}

static void print_counts(const unsigned *counts)
{
	for (int context = 0; context < CONTEXTS; context++)
		printf(" %6u", counts[context]);
}

static bool any(const unsigned *counts)
{
	for (int context = 0; context < CONTEXTS; context++)
		if (counts[context])
			return true;
	return false;
}

static void print_table(void)
{
	unsigned files = 0, complete = 0;

	printf("%-14s %5s  %-26s  zeros     FF random   text   file   twin\n", "carver", "files",
		"what differs before");
	for (size_t i = 0; carvers[i]; i++) {
		const struct type_sums *type = &sums[i];

		files += type->files;
		complete += type->complete;
		if (any(type->complete_status)) {
			printf("%-14s %5u  %-26s", carvers[i]->name, type->complete,
				"complete: status");
			print_counts(type->complete_status);
			puts("");
		}
		if (any(type->complete_length)) {
			printf("%-14s %5u  %-26s", carvers[i]->name, type->complete,
				"complete: length");
			print_counts(type->complete_length);
			puts("");
		}
		if (any(type->other)) {
			printf("%-14s %5u  %-26s", carvers[i]->name, type->files - type->complete,
				"not complete: either");
			print_counts(type->other);
			printf("%s\n", type->became_complete ? "  some become complete" : "");
		}
	}
	printf("%u checks of files, %u of them complete\n", files, complete);
}

int main(int argc, char **argv)
{
	int first = 1;

	content = xmalloc(3 * FILE_MAX);
	other = xmalloc(4096);
	other_len = 4096;
	memset(other, 'o', other_len);
	if (first < argc && strcmp(argv[first], "-v") == 0) {
		verbose = true;
		first++;
	}
	if (first == argc)
		visit_golden();
	for (int i = first; i < argc; i++)
		nftw(argv[i], visit_entry, 16, FTW_PHYS);
	print_table();
	free(content);
	free(other);
	return 0;
}
