#include <criterion/criterion.h>
#include <stdlib.h>

#include "assemble/assemble.h"
#include "assemble/pass_state.h"
#include "assemble/pass_work.h"
#include "assemble/strategies.h"
#include "memory_image.h"

/* A small image may hold a broken file in each sector. */
Test(assemble, a_pass_is_bounded_however_many_files_are_broken)
{
	const uint64_t size = 64 << 20, bound = ((uint64_t)3 << 34) + 64 * size;

	for (uint64_t files = 1; files <= 1 << 18; files *= 2)
		for (unsigned share = 1; share <= 100; share += 33)
			cr_assert_leq(pass_work(size, files, share), bound / files,
				"%u percent for %u files", share, (unsigned)files);
}

Test(assemble, few_files_get_enough_for_a_trial)
{
	for (uint64_t files = 1; files <= 10000; files *= 10)
		cr_assert_geq(pass_work(files << 14, files, 1), 1u << 22);
}

/* The default's search, in an image of 1 MiB, takes no longer than the checks of a rule may. */
Test(assemble, a_small_image_is_searched_in_little_work)
{
	for (uint64_t files = 1; files <= 1 << 11; files++)
		cr_assert_leq(pass_work(1 << 20, files, 3), (512u << 20) / files, "%u files",
			(unsigned)files);
}

/* ---- trials that are noted ---- */

#define CLUSTER ((uint64_t)4096)
#define FILES 200
#define NOTED_ALL \
	((size_t)1 \
		<< 19) /* that a process which takes over the passes has room for, beside one for each file */

static uint8_t content[2 * FILES * CLUSTER];
static struct memory_image evidence = MEMORY_IMAGE(content, sizeof(content));

static enum verdict check_short(struct view *view, struct finding *finding)
{
	(void)view;
	finding->length = CLUSTER;
	return verdict_because(CARVE_TRUNCATED, finding, "it ends");
}

/* Broken files, each at every second cluster. */
static struct assembler *note_files(const struct assemble_options *options, uint64_t count)
{
	struct assembler *assembler = assembler_new(options);

	for (uint64_t i = 0; i < count; i++) {
		const struct candidate candidate = { .start = 2 * i * CLUSTER, .length = CLUSTER };
		const struct outcome outcome = { .verdict = CARVE_TRUNCATED, .length = CLUSTER };
		const struct decision decision = {
			.candidate = &candidate, .outcome = &outcome, .keep = true
		};

		assembler_note(assembler, &decision);
	}
	return assembler;
}

/* The first pass that knows what the one before has noted. */
static unsigned first_repeated(void)
{
	unsigned pass = 1;

	while (!strategies[pass].repeats || !strategies[pass - 1].repeats)
		pass++;
	return pass;
}

/* All files but the last noted their trials, and were found then. */
static void save_state(const struct assembler *assembler, struct codec_writer *writer)
{
	struct pass_state state = { 0 };

	assembler_save(assembler, writer);
	writer->len--; /* that no pass was made */
	codec_put(writer, true);
	pass_state_begin(&state, FILES);
	state.pass = first_repeated();
	for (size_t i = 0; i + 1 < FILES; i++) {
		struct assembled *found = &state.found[i];

		found->start = 2 * i * CLUSTER;
		found->runs = malloc(sizeof(*found->runs));
		*found->runs = (struct range){ found->start, CLUSTER };
		found->run_count = 1;
		found->outcome = (struct outcome){ .verdict = CARVE_COMPLETE, .length = CLUSTER };
		found->assembly.by = ASSEMBLY_SEARCH;
		found->pass = state.pass - 1;
		state.known[i] = known_trials_new(NOTED_ALL / FILES + 1);
	}
	pass_state_save(&state, writer);
	pass_state_free(&state);
}

static const char *no_extension(const char *text)
{
	(void)text;
	return NULL;
}

static bool load(struct assembler *assembler, const struct codec_writer *saved)
{
	struct codec_reader reader = codec_reader_from(saved->bytes, saved->len);

	assembler_load(assembler, no_extension, &reader);
	return codec_at_end(&reader);
}

/* One that was found before the others noted theirs, and lost its clusters: what the pass comes to can be loaded all the same. */
Test(assemble, a_file_that_comes_late_notes_no_more_trials_than_are_left)
{
	static char name[] = "x";
	static const struct carver carver = { .name = "x", .check = check_short };
	struct rule rule = {
		.name = name, .extension = name, .carver = &carver, .max_size = 1 << 20
	};
	const struct rules rules = { .rules = &rule, .count = 1 };
	const struct assemble_options options = { .image = &evidence.image,
		.rules = &rules,
		.pool = pool_new(1),
		.level = FRAGMENTS_SEARCH,
		.budget = 100 };
	struct assembler *first = note_files(&options, FILES), *next = assembler_new(&options),
			 *last = assembler_new(&options);
	struct codec_writer before = { 0 }, after = { 0 };
	struct error error = { 0 };

	save_state(first, &before);
	cr_assert(load(next, &before));
	cr_assert_eq(assembler_pass(next, &error), 0, "%s", error.text);
	cr_assert(assembler_has_pass(next));
	assembler_save(next, &after);
	cr_expect(load(last, &after));
	free(before.bytes);
	free(after.bytes);
	assembler_free(first);
	assembler_free(next);
	assembler_free(last);
	pool_free(options.pool);
}

static unsigned pass_named(const char *name)
{
	unsigned pass = 0;

	while (strcmp(strategies[pass].name, name) != 0)
		pass++;
	return pass;
}

/* What each file of texts may take when one of FILES is of these, or all. */
static uint64_t work_of_texts(bool are_all)
{
	static char name[] = "x";
	static const struct carver text = { .name = "x", .check = check_short, .is_text = true },
				   other = { .name = "y", .check = check_short };
	struct rule rules[] = {
		{ .name = name, .extension = name, .carver = are_all ? &text : &other },
		{ .name = name, .extension = name, .carver = &text },
	};
	const struct rules both = { .rules = rules, .count = 2 };
	const struct assemble_options options = {
		.image = &evidence.image, .rules = &both, .level = FRAGMENTS_SEARCH, .budget = 100
	};
	const struct candidate candidate = {
		.start = 2 * (FILES - 1) * CLUSTER, .length = CLUSTER, .rule = 1
	};
	const struct outcome outcome = { .verdict = CARVE_TRUNCATED, .length = CLUSTER };
	const struct decision decision = {
		.candidate = &candidate, .outcome = &outcome, .keep = true
	};
	struct assembler *assembler = note_files(&options, FILES - 1), *next;
	struct pass_state state = { 0 };
	struct codec_writer saved = { 0 };
	uint64_t work;

	assembler_note(assembler, &decision);
	assembler_save(assembler, &saved);
	saved.len--; /* that no pass was made */
	codec_put(&saved, true);
	pass_state_begin(&state, FILES);
	state.pass = pass_named("texts");
	pass_state_save(&state, &saved);
	pass_state_free(&state);
	next = assembler_new(&options);
	cr_assert(load(next, &saved));
	cr_assert_str_eq(assembler_next_pass(next), "texts");
	work = assembler_next_work(next);
	free(saved.bytes);
	assembler_free(assembler);
	assembler_free(next);
	return work;
}

/* A pass for files of some formats spends its work on these. */
Test(assemble, files_that_a_pass_does_not_concern_take_none_of_its_work)
{
	uint64_t share = work_of_texts(true);

	cr_expect_gt(share, 0);
	cr_expect_gt(work_of_texts(false), FILES / 4 * share); /* one file may not take all */
}

/* Whether what the passes before one have noted is still there after its state was saved and loaded. */
static bool is_kept(unsigned pass)
{
	static const struct broken broken = { .length = CLUSTER };
	const struct pass_state_limits limits = {
		.broken = &broken, .evidence_size = sizeof(content), .known_most = NOTED_ALL
	};
	const struct known_trial trial = { .key = 7, .reached = 1, .seen = 1 };
	struct pass_state state = { 0 }, loaded = { 0 };
	struct codec_writer saved = { 0 };
	struct codec_reader reader;
	bool kept;

	pass_state_begin(&state, 1);
	state.pass = pass;
	state.known[0] = known_trials_new(1);
	known_trials_add(state.known[0], &trial);
	pass_state_save(&state, &saved);
	reader = codec_reader_from(saved.bytes, saved.len);
	pass_state_begin(&loaded, 1);
	pass_state_load(&loaded, &limits, &reader);
	cr_assert(codec_at_end(&reader));
	kept = known_trials_find(loaded.known[0], trial.key);
	free(saved.bytes);
	pass_state_free(&loaded);
	pass_state_free(&state);
	return kept;
}

/* Also over passes between that note nothing. */
Test(assemble, what_is_noted_is_kept_for_all_passes_that_may_use_it)
{
	unsigned first = 0, last = 0, between = 0;

	for (unsigned pass = 0; strategies[pass].name; pass++) {
		if (strategies[pass].repeats && !first)
			first = pass;
		if (strategies[pass].repeats)
			last = pass;
	}
	for (unsigned pass = 0; strategies[pass].name; pass++) {
		cr_expect_eq(
			is_kept(pass), pass > first && pass <= last, "%s", strategies[pass].name);
		between += pass > first && pass < last && !strategies[pass].repeats;
	}
	cr_expect_gt(between, 0);
}
