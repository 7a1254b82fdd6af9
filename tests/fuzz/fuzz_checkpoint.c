/*
 * A checkpoint of hostile content, its checksum made right: what each stage loads from it must be
 * such that the stage can go on. The bytes are read in the order in which the stages stand below,
 * not in that of a whole checkpoint, whose head is too hard to guess.
 */
#include <errno.h>
#include <libdeflate.h>
#include <stdio.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "assemble/assemble.h"
#include "base/memory.h"
#include "carve/decide.h"
#include "carve/scalpel_order.h"
#include "output/path_alloc.h"
#include "report/record.h"
#include "memory_image.h"
#include "run/checkpoint.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

#define IMAGE_SIZE ((uint64_t)1 << 32)

static const char rules_text[] =
	"types = ( { name = \"a\"; header = \"'AH'\"; footer = \"'AF'\"; max_size = 1000; },\n"
	"  { name = \"b\"; header = \"'BH'\"; footer = \"'BF'\"; pair = \"reverse\"; max_size = "
	"5000; },\n"
	"  { name = \"c\"; header = \"'CH'\"; footer = \"'CH'\"; pair = \"next\"; max_size = 3000; "
	"} );\n";

static const char pieces_text[] =
	"types = ( { name = \"p\"; header = \"'PH'\"; max_size = 5000; carver = \"png\"; } );\n";

static struct rules *load_rules(const char *text)
{
	size_t len = strlen(text);
	char path[64];
	struct error error = { 0 };
	struct rules *rules;
	int fd = memfd_create("rules", 0);

	if (fd < 0 || write(fd, text, len) != (ssize_t)len)
		abort();
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	if (rules_load(&rules, path, RULES_BURIN, NULL, &error))
		abort();
	close(fd);
	return rules;
}

static int no_spill(void *context, struct error *error)
{
	(void)context;
	return error_set(error, EXIT_IO, ENOSPC, "no file");
}

static void check(const struct candidate *candidate, const struct rules *rules)
{
	if (candidate->start >= IMAGE_SIZE || candidate->rule >= rules->count ||
		candidate->pattern >= rules->patterns.count || candidate->end > END_IMAGE)
		abort();
}

static void try_pairing(const struct rules *rules, struct codec_reader *reader)
{
	const struct pairing_options options = { .range_end = IMAGE_SIZE };
	struct fifo_store *store = fifo_store_new((size_t)1 << 20, no_spill, NULL);
	struct tallies rejected = { 0 }, skipped = { 0 };
	struct pairing *pairing = pairing_new(rules, &options, store, &rejected, &skipped);
	struct scalpel_order *order;
	struct candidate candidate;

	pairing_load(pairing, reader);
	if (scalpel_order_new(&order, rules, store, NULL))
		abort();
	scalpel_order_load(order, IMAGE_SIZE, reader);
	if (codec_ok(reader)) {
		scalpel_order_hit(order, IMAGE_SIZE - 1, 0);
		pairing_hit(pairing, IMAGE_SIZE - 5, rules->rules[0].footers[0], 2);
		pairing_finish(pairing);
		while (pairing_next(pairing, &candidate))
			check(&candidate, rules);
		while (scalpel_order_next(order, &candidate))
			check(&candidate, rules);
	}
	scalpel_order_free(order);
	pairing_free(pairing);
	fifo_store_free(store);
	tallies_free(&rejected);
	tallies_free(&skipped);
}

static void try_decider(const struct rules *rules, struct codec_reader *reader)
{
	const struct decide_options options = { .max_files = 5 };
	struct tallies rejected = { 0 }, skipped = { 0 };
	struct decider *decider = decider_new(rules, &options, &rejected, &skipped);
	struct candidate candidate = { .start = 100, .length = 50 };
	struct outcome outcome = { .verdict = CARVE_COMPLETE, .length = 50 };
	struct decision decision = { .candidate = &candidate, .outcome = &outcome };

	decider_load(decider, IMAGE_SIZE, reader);
	decide_group(decider, &decision, 1);
	decider_free(decider);
	tallies_load(&rejected, reader);
	tallies_free(&rejected);
	tallies_free(&skipped);
}

static void try_records(const struct rules *rules, struct codec_reader *reader)
{
	struct strpool texts = { 0 };
	struct path_alloc *path_alloc = path_alloc_new();
	struct ranges ranges = { 0 };
	struct path_claim claim;
	struct file_record record;

	path_alloc_load(path_alloc, reader);
	path_alloc_claim(path_alloc, "a", 100, "x", &claim);
	free(path_alloc_print(&claim, 100, "", "x", 10, NULL, 0));
	path_alloc_free(path_alloc);
	ranges_load(&ranges, IMAGE_SIZE, reader);
	for (size_t i = 0; i < ranges.count; i++)
		if (ranges.items[i].length > IMAGE_SIZE - ranges.items[i].offset)
			abort();
	ranges_free(&ranges);
	file_record_load(&record, rules, IMAGE_SIZE, &texts, reader);
	for (uint32_t i = 0; i < record.run_count; i++)
		if (record.runs[i].length > IMAGE_SIZE - record.runs[i].offset)
			abort();
	free(record.path);
	free(record.runs);
	strpool_free(&texts);
}

static const char *keep(const char *text)
{
	return strlen(text) < 8 ? "kept" : NULL;
}

/* What can be loaded is such that it is saved, and loaded again. */
static void try_pieces(const struct rules *rules, struct codec_reader *reader)
{
	static const uint8_t nothing[1];
	struct memory_image memory = MEMORY_IMAGE(nothing, IMAGE_SIZE);
	const struct assemble_options options = {
		.image = &memory.image, .rules = rules, .level = FRAGMENTS_SEARCH, .budget = 100
	};
	struct assembler *assembler = assembler_new(&options), *again = assembler_new(&options);
	struct codec_writer writer = { 0 };
	struct codec_reader saved;
	size_t count;

	assembler_load(assembler, keep, reader);
	if (codec_ok(reader)) {
		const struct assembled *results = assembler_results(assembler, &count);

		for (size_t i = 0; i < count; i++)
			for (uint32_t run = 0; run < results[i].run_count; run++)
				if (results[i].runs[run].length >
					IMAGE_SIZE - results[i].runs[run].offset)
					abort();
		assembler_save(assembler, &writer);
		saved = codec_reader_from(writer.bytes, writer.len);
		assembler_load(again, keep, &saved);
		if (!codec_at_end(&saved))
			abort();
		free(writer.bytes);
	}
	assembler_free(assembler);
	assembler_free(again);
}

/* A file with the magic, the bytes and their checksum. */
static int make_file(const uint8_t *data, size_t len)
{
	static const char magic[] = "burin state\n";
	uint32_t checksum = libdeflate_crc32(0, magic, sizeof(magic) - 1);
	uint8_t end[4];
	int fd = memfd_create("checkpoint", MFD_CLOEXEC);

	checksum = libdeflate_crc32(checksum, data, len);
	for (size_t i = 0; i < sizeof(end); i++)
		end[i] = (uint8_t)(checksum >> 8 * i);
	if (fd < 0 || write(fd, magic, sizeof(magic) - 1) != (ssize_t)sizeof(magic) - 1 ||
		write(fd, data, len) != (ssize_t)len || write(fd, end, 4) != 4)
		abort();
	return fd;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	static struct rules *rules, *pieces_rules;
	struct codec_reader *reader;
	struct checkpoint_header header = { 0 };
	int fd;

	if (!rules) {
		rules = load_rules(rules_text);
		pieces_rules = load_rules(pieces_text);
	}
	if (!len)
		return 0;
	fd = make_file(data + 1, len - 1);
	if (codec_reader_open(&reader, fd))
		abort();
	switch (data[0] % 5) {
	case 0:
		checkpoint_header_load(&header, reader);
		checkpoint_header_free(&header);
		break;
	case 1:
		try_pairing(rules, reader);
		break;
	case 2:
		try_decider(rules, reader);
		break;
	case 3:
		try_records(rules, reader);
		break;
	case 4:
		try_pieces(pieces_rules, reader);
	}
	codec_reader_close(reader);
	close(fd);
	return 0;
}
