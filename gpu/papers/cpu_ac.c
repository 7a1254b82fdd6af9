/*
 * The engines `ac` and `ac-copies`: the automaton on the CPU, for comparison. Table 4 of Zha and
 * Sahni has it with 1 to 16 threads, each of which had a copy of the automaton to itself;
 * `ac-copies` is that, `ac` has one for all.
 */
#include "gpu/papers/cpu_ac.h"

#include <stdlib.h>

#include "base/memory.h"
#include "gpu/ac.h"

static void search(
	const struct gpu_program *program, const struct gpu_text *text, const struct gpu_hits *hits)
{
	const struct ac_tables *tables = ac_tables(program);
	const struct ac_view narrow = { .classes = tables->classes };
	const struct ac_view wide = { .classes = tables->classes, .wide = true };
	uint32_t end = found_end(&tables->automaton.found, text);

	if (tables->next32)
		ac_search(tables, &wide, text->from, end, text, hits);
	else
		ac_search(tables, &narrow, text->from, end, text, hits);
}

const struct sequential ac_sequential = { ac_compile, ac_free, ac_describe, search };

static int compile(void **database, const struct pattern_set *set, struct error *error)
{
	return sequential_compile(database, &ac_sequential, set, error);
}

static const struct matcher ac_matcher = {
	.name = "ac",
	.compile = compile,
	SEQUENTIAL_MATCHER,
};

/* ---- a copy for each thread ---- */

struct copies {
	void *first; /* database; described, but never searched with */
	const struct pattern_set *set;
};

struct copy {
	void *database, *scratch;
};

static void copies_free(void *memory)
{
	struct copies *copies = memory;

	if (!copies)
		return;
	sequential_free(copies->first);
	free(copies);
}

static int copies_compile(void **database, const struct pattern_set *set, struct error *error)
{
	struct copies *copies = xcalloc(1, sizeof(*copies));
	int status = compile(&copies->first, set, error);

	copies->set = set;
	if (status)
		free(copies);
	else
		*database = copies;
	return status;
}

static void copy_free(void *memory)
{
	struct copy *copy = memory;

	if (!copy)
		return;
	sequential_free(copy->database);
	sequential_scratch_free(copy->scratch);
	free(copy);
}

/* Compiled anew: that gives the same tables, in memory of their own. */
static void *copy_new(const void *database)
{
	const struct copies *copies = database;
	struct copy *copy = xcalloc(1, sizeof(*copy));

	if (!compile(&copy->database, copies->set, NULL))
		copy->scratch = sequential_scratch_new(copy->database);
	if (copy->scratch)
		return copy;
	copy_free(copy);
	return NULL;
}

static int copy_find(const void *database, void *scratch, const uint8_t *text, size_t len,
	size_t text_len, uint64_t offset, struct hit_sink *sink)
{
	struct copy *copy = scratch;

	(void)database;
	return sequential_find(copy->database, copy->scratch, text, len, text_len, offset, sink);
}

static const char *copies_kernel(const void *database)
{
	return sequential_kernel(((const struct copies *)database)->first);
}

static const struct matcher copies_matcher = {
	.name = "ac-copies",
	.compile = copies_compile,
	.free = copies_free,
	.scratch_new = copy_new,
	.scratch_free = copy_free,
	.find = copy_find,
	.kernel = copies_kernel,
};

/* ---- the rows ---- */

static int open_shared(struct scan **scan, const struct pattern_set *set,
	const struct scan_options *options, struct error *error)
{
	return cpu_scan_open(scan, &ac_matcher, set, options, error);
}

static int open_copies(struct scan **scan, const struct pattern_set *set,
	const struct scan_options *options, struct error *error)
{
	return cpu_scan_open(scan, &copies_matcher, set, options, error);
}

const struct scan_engine ac_engine = {
	.name = "ac",
	.summary = "Aho-Corasick automaton, one for all threads; for comparison",
	.probe = sequential_probe,
	.open = open_shared,
	CPU_SCAN_CALLS,
	.comparison = true,
};

const struct scan_engine ac_copies_engine = {
	.name = "ac-copies",
	.summary = "Aho-Corasick automaton, a copy for each thread; for comparison",
	.probe = sequential_probe,
	.open = open_copies,
	CPU_SCAN_CALLS,
	.comparison = true,
};
