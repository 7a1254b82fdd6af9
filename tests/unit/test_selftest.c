/*
 * The selftest must detect a broken engine. The table of engines is compiled here once more, with one
 * row replaced: an engine that finds what the reference engine finds, and then spoils it.
 */
#include <criterion/criterion.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "scan/engines.c"
#define ac_copies_engine broken_engine
#include "gpu/papers/cpu_engines.c"
#undef ac_copies_engine

#include "base/log.h"
#include "rules/load.h"
#include "selftest/selftest.h"

static enum {
	FAULT_NONE,
	FAULT_LAST,  /* now and then the last hit of a chunk is lost */
	FAULT_EDGE,  /* hits that cross a chunk's edge are lost */
	FAULT_ODD,   /* hits at odd offsets are lost */
	FAULT_BREAK, /* it fails */
	FAULT_RULES, /* it does not support the rules, which is not a fault */
	FAULT_START, /* it can't start */
} fault;

static unsigned chunk_number;

static int broken_probe(char *reason, size_t len)
{
	return reference_engine.probe(reason, len);
}

static int broken_open(struct scan **scan, const struct pattern_set *set,
	const struct scan_options *options, struct error *error)
{
	if (fault == FAULT_RULES)
		return error_set(error, EXIT_NO_ENGINE, EINVAL, "no such rules");
	if (fault == FAULT_START)
		return error_set(error, EXIT_NO_ENGINE, EIO, "out of order");
	return reference_engine.open(scan, set, options, error);
}

static int broken_submit(struct scan *scan, struct chunk *chunk)
{
	return reference_engine.submit(scan, chunk);
}

static bool is_lost(const struct chunk *chunk, size_t index)
{
	uint64_t at = chunk->hits[index].offset - chunk->offset;

	switch (fault) {
	case FAULT_LAST:
		return index + 1 == chunk->hit_count && chunk_number % 7 == 3;
	case FAULT_EDGE:
		return at + 8 > chunk->len;
	case FAULT_ODD:
		return at % 2 == 1;
	default:
		return false;
	}
}

static int broken_reap(struct scan *scan, struct chunk **chunk)
{
	int status = reference_engine.reap(scan, chunk);
	size_t kept = 0;

	if (status)
		return status;
	chunk_number++;
	for (size_t i = 0; i < (*chunk)->hit_count; i++)
		if (!is_lost(*chunk, i))
			(*chunk)->hits[kept++] = (*chunk)->hits[i];
	(*chunk)->hit_count = kept;
	if (fault == FAULT_BREAK && chunk_number > 5)
		(*chunk)->status = -EIO;
	return 0;
}

static void broken_close(struct scan *scan)
{
	reference_engine.close(scan);
}

const struct scan_engine broken_engine = { .name = "broken",
	.summary = "for this test",
	.probe = broken_probe,
	.open = broken_open,
	.submit = broken_submit,
	.reap = broken_reap,
	.close = broken_close,
	.comparison = true };

static const char text[] =
	"types = ("
	"{ name = \"png\"; header = \"89 'PNG' 0D 0A 1A 0A\"; max_size = \"1M\"; carver = \"png\"; "
	"},"
	"{ name = \"gz\"; header = \"1F 8B 08 0?\"; max_size = \"1M\"; carver = \"gz\"; },"
	"{ name = \"zip\"; header = \"'PK' 03 04\"; max_size = \"1M\"; carver = \"zip\"; },"
	"{ name = \"jpeg\"; header = \"FF D8 FF E?\"; max_size = \"1M\"; carver = \"jpeg\"; } );";

/* Runs the selftest with the fault; free_all must follow. */
static struct selftest run_selftest(struct rules **rules)
{
	struct selftest selftest = { 0 };
	struct error error = { 0 };

	log_set_level(LOG_ERROR);
	cr_assert_eq(rules_load_text(rules, NULL, text, strlen(text), RULES_BURIN, NULL, &error), 0,
		"%s", error.text);
	cr_assert_eq(selftest_run(&selftest, *rules, NULL, &error), 0, "%s", error.text);
	return selftest;
}

static void free_all(struct selftest *selftest, struct rules *rules)
{
	selftest_free(selftest);
	rules_free(rules);
}

/* Only the broken engine has problems, and the protocol names it. */
static const struct selftest_run *expect_broken(const struct selftest *selftest)
{
	const struct selftest_run *broken = NULL;
	char *page = NULL;
	size_t len;
	FILE *stream = open_memstream(&page, &len);

	cr_expect_not(selftest_passed(selftest));
	for (size_t i = 0; i < selftest->count; i++)
		if (strcmp(selftest->runs[i].engine, "broken") == 0)
			broken = &selftest->runs[i];
		else
			cr_expect_str_eq(selftest->runs[i].problem, "");
	cr_assert_not_null(broken);
	cr_expect_neq(broken->problem[0], '\0');
	cr_expect_eq(selftest_text(selftest, stream), 0);
	fclose(stream);
	cr_expect_not_null(strstr(page, "FAILED"));
	cr_expect_not_null(strstr(page, "\nbroken: "));
	free(page);
	return broken;
}

Test(selftest, passes_when_all_engines_work)
{
	struct rules *rules;
	struct selftest selftest = run_selftest(&rules);

	cr_expect(selftest_passed(&selftest));
	cr_expect_geq(selftest.count, 10);
	for (size_t i = 0; i < selftest.count; i++) {
		const struct selftest_run *run = &selftest.runs[i];

		cr_expect_str_eq(run->problem, "", "%s: %s", run->engine, run->problem);
		cr_expect_eq(run->scores[CLASS_EDGES].right, 20);
		cr_expect_eq(run->scores[CLASS_DAMAGED].reported, 4);
		cr_expect_eq(run->scores[CLASS_DECOYS].fitting, 0);
	}
	free_all(&selftest, rules);
}

Test(selftest, finds_lost_hits)
{
	struct rules *rules;
	struct selftest selftest;
	const struct selftest_run *broken;

	fault = FAULT_LAST;
	selftest = run_selftest(&rules);
	broken = expect_broken(&selftest);
	cr_expect_not(broken->same);
	free_all(&selftest, rules);
}

Test(selftest, finds_an_engine_that_is_blind_at_edges)
{
	struct rules *rules;
	struct selftest selftest;
	const struct selftest_run *broken;

	fault = FAULT_EDGE;
	selftest = run_selftest(&rules);
	broken = expect_broken(&selftest);
	cr_expect_lt(broken->scores[CLASS_EDGES].right, 10);
	cr_expect_eq(
		broken->scores[CLASS_CONTIGUOUS].right, broken->scores[CLASS_CONTIGUOUS].planted);
	cr_expect_not_null(strstr(broken->problem, "buffer edges"));
	free_all(&selftest, rules);
}

Test(selftest, finds_an_engine_that_sees_only_even_offsets)
{
	struct rules *rules;
	struct selftest selftest;
	const struct selftest_run *broken;

	fault = FAULT_ODD;
	selftest = run_selftest(&rules);
	broken = expect_broken(&selftest);
	cr_expect_lt(
		broken->scores[CLASS_UNALIGNED].right, broken->scores[CLASS_UNALIGNED].planted);
	cr_expect_eq(
		broken->scores[CLASS_CONTIGUOUS].right, broken->scores[CLASS_CONTIGUOUS].planted);
	free_all(&selftest, rules);
}

Test(selftest, finds_an_engine_that_breaks_down)
{
	struct rules *rules;
	struct selftest selftest;
	const struct selftest_run *broken;

	fault = FAULT_BREAK;
	selftest = run_selftest(&rules);
	broken = expect_broken(&selftest);
	cr_expect_neq(broken->exit, 0);
	free_all(&selftest, rules);
}

Test(selftest, finds_an_engine_that_does_not_start)
{
	struct rules *rules;
	struct selftest selftest;

	fault = FAULT_START;
	selftest = run_selftest(&rules);
	cr_expect_eq(expect_broken(&selftest)->exit, EXIT_NO_ENGINE);
	free_all(&selftest, rules);
}

Test(selftest, ignores_an_engine_for_other_rules)
{
	struct rules *rules;
	struct selftest selftest;
	size_t unsuited = 0;

	fault = FAULT_RULES;
	selftest = run_selftest(&rules);
	cr_expect(selftest_passed(&selftest));
	for (size_t i = 0; i < selftest.count; i++)
		unsuited += selftest.runs[i].unsuited;
	cr_expect_eq(unsuited, 1);
	free_all(&selftest, rules);
}
