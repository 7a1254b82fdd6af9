/*
 * What only `burin bench --papers` uses of the kernels, on a device: the output as their papers have it,
 * text that stays in the host's memory (zero copy), strategies A and B and their hybrid, and the numbers
 * that papers tune. All of it must find what the oracle finds. Used by engine_tests.c alone.
 */
#ifndef BURIN_TESTS_FORMS_H
#define BURIN_TESTS_FORMS_H

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "engines/subject.h"
#include "scan/gpu_bench.h"
#include "scan/gpu_kernels.h"

#define FORMS_PATTERNS_MAX 1000 /* tables of more take long to build this often */
#define FORMS_PAGE ((size_t)4096)

/* Zeros on pages of their own, for the driver registers whole pages. free when done. */
static uint8_t *forms_pages(size_t len)
{
	size_t room = (len + FORMS_PAGE - 1) / FORMS_PAGE * FORMS_PAGE;
	uint8_t *pages = aligned_alloc(FORMS_PAGE, room);

	if (!pages)
		abort();
	return memset(pages, 0, room);
}

/* A subject on the device. */
struct forms {
	const struct subject *subject;
	struct gpu_bench *bench;
	uint32_t *lens; /* of the patterns */
	struct hit_tallies right;
	/* Called for each comparison; what: NULL, or what is wrong. */
	void (*judge)(const struct subject *subject, const char *name, const char *what);
	unsigned refused; /* sets that a kernel's paper's output does not take */
	unsigned step,
		turn; /* of each kernel's ways to transfer only one in `step` is tried, and in turns all */
};

/* NULL, or what is wrong with these hits. */
static const char *forms_compare(
	const struct forms *forms, const struct hit_tallies *found, enum gpu_bench_found kind)
{
	const struct hit_tally *right =
		kind == GPU_FOUND_LONGEST ? &forms->right.longest : &forms->right.all;
	static char what[120];

	if (kind == GPU_FOUND_COUNT ? found->all.count == right->count
				    : hit_tally_equal(found->all, *right))
		return NULL;
	snprintf(what, sizeof(what), "%llu matches, and the oracle has %llu%s",
		(unsigned long long)found->all.count, (unsigned long long)right->count,
		found->all.count == right->count ? " others" : "");
	return what;
}

/* Whether the kernel or its paper's output may refuse the set. */
static bool forms_may_refuse(const char *kernel, const struct error *error)
{
	return kernel_may_refuse(kernel, error) || strstr(error->text, "no other form of output") ||
	       strstr(error->text, "no place for patterns") ||
	       strstr(error->text, "no form of output that shows");
}

static void forms_settle(struct forms *forms, const char *kernel, const char *how, int status,
	const struct error *error, const char *what)
{
	char name[120];

	if (status && forms_may_refuse(kernel, error)) {
		forms->refused++;
		return;
	}
	snprintf(name, sizeof(name), "%s, %s", kernel, how);
	forms->judge(forms->subject, name, status ? error->text : what);
}

static void forms_run(struct forms *forms, const char *kernel, const struct gpu_tuning *tuning,
	bool form, bool zero_copy, const char *how)
{
	double seconds[1];
	struct gpu_bench_kernel run = { .tuning = tuning,
		.form = form,
		.zero_copy = zero_copy,
		.seconds = seconds,
		.rounds = 1 };
	struct error error = { 0 };
	int status = gpu_bench_tool->run(forms->bench, kernel, &forms->subject->set, &run, &error);
	const char *what = NULL;

	if (!status && run.overflow)
		what = forms->subject->hit_count > 4 * forms->subject->text_len
			       ? NULL
			       : "more hits than there is room for";
	else if (!status)
		what = forms_compare(forms, &run.hits, run.found);
	forms_settle(forms, kernel, how, status, &error, what);
}

static void forms_transfer(struct forms *forms, const char *kernel, enum gpu_strategy strategy,
	unsigned segments, bool two_channels)
{
	static const char *const names[] = { "strategy A", "strategy B", "hybrid" };
	double seconds[1];
	struct gpu_bench_transfer run = { .kernel = kernel,
		.strategy = strategy,
		.buffers = 3,
		.two_channels = two_channels,
		.segments = segments,
		.rounds = 1,
		.seconds = seconds };
	struct error error = { 0 };
	int status = gpu_bench_tool->transfer(forms->bench, &forms->subject->set, &run, &error);
	char how[60];

	snprintf(how, sizeof(how), "%s, %u segments, %d channels", names[strategy], segments,
		1 + two_channels);
	forms_settle(forms, kernel, how, status, &error,
		status ? NULL : forms_compare(forms, &run.hits, run.found));
}

/* The numbers that papers tune, apart from those that are the defaults. */
static const struct forms_tuning {
	const char *kernel, *how;
	struct gpu_tuning tuning;
} forms_tunings[] = {
	{ "ac3", "tWord 48", { .words = 48 } },
	{ "ac3", "by words", { .uints = true } },
	{ "ac4", "tWord 48", { .words = 48 } },
	{ "ac4", "tWord 56", { .words = 56 } },
	{ "nfa-r16", "in turns", { .round_robin = true } },
	{ "nfa-cw", "in turns", { .round_robin = true } },
	{ "wm-r16", "in turns", { .round_robin = true } },
	{ "wm-cw", "in turns", { .round_robin = true } },
	{ "pfac4", "unmerged", { .unmerged = true } },
	{ "pfac5", "unmerged", { .unmerged = true } },
	{ "stt-p1", "one part", { .parts = 1 } },
	{ "stt-p1", "32 threads, 7 bytes", { .threads = 32, .chunk_len = 7 } },
	{ "stt-p1", "1024 threads", { .threads = 1024 } },
	{ "stt-p2", "one part", { .parts = 1 } },
	{ "stt-p2", "no diagonal", { .no_diagonal = true } },
	{ "stt-p2", "32 threads, 8 KiB", { .threads = 32 } },
	{ "stt-p2", "1024 threads, 32 KiB", { .threads = 1024, .block_len = 32768 } },
	{ "stt-p2", "256 threads, 1 KiB", { .threads = 256, .block_len = 1024 } },
	{ "bmh", "7 blocks of 33 threads", { .blocks = 7, .threads = 33 } },
};

static void forms_run_kernel(struct forms *forms, const char *kernel)
{
	const struct subject *subject = forms->subject;

	forms_run(forms, kernel, NULL, true, false, "its paper's output");
	forms_run(forms, kernel, NULL, true, true, "its paper's output, zero copy");
	forms_run(forms, kernel, NULL, false, true, "hits, zero copy");
	for (size_t i = 0; i < sizeof(forms_tunings) / sizeof(*forms_tunings); i++)
		if (strcmp(forms_tunings[i].kernel, kernel) == 0)
			for (int form = 0; form < 2; form++)
				forms_run(forms, kernel, &forms_tunings[i].tuning, form, false,
					forms_tunings[i].how);
	/* A segment's arrays have room for one hit a byte. */
	if (subject->hit_count > subject->text_len / 16)
		return;
	for (unsigned segments = 1; segments <= 7; segments += 3)
		for (int two = 0; two < 2; two++)
			for (int strategy = 0; strategy <= GPU_STRATEGY_HYBRID; strategy++)
				if (forms->turn++ % forms->step == 0)
					forms_transfer(forms, kernel, (enum gpu_strategy)strategy,
						segments, two);
}

static bool forms_open(struct forms *forms, uint8_t *text)
{
	const struct subject *subject = forms->subject;
	struct error error = { 0 };

	for (uint32_t i = 0; i < subject->set.count; i++)
		forms->lens[i] = subject->set.patterns[i].len;
	forms->right.lens = forms->lens;
	for (size_t i = 0; i < subject->hit_count; i++)
		hit_tallies_add(&forms->right, subject->hits[i].offset, subject->hits[i].pattern);
	hit_tallies_finish(&forms->right);
	if (gpu_bench_tool->open(&forms->bench, NULL, text, subject->text_len, &error) == 0)
		return true;
	forms->judge(subject, "bench", error.text);
	return false;
}

/* only: NULL, or the kernel that is wanted. quick: fewer transfers, which take 36 ms each. Returns how often a set was
 * refused. */
static unsigned forms_run_subject(const struct subject *subject, const char *only, bool quick,
	void (*judge)(const struct subject *subject, const char *name, const char *what))
{
	struct forms forms = { .subject = subject, .judge = judge, .step = quick ? 7 : 1 };
	uint8_t *text;

	if (!subject->text_len || !subject->set.count || !gpu_bench_tool ||
		subject->set.count > FORMS_PATTERNS_MAX || subject_has_regex(subject))
		return 0;
	text = forms_pages(subject->text_len + GPU_BENCH_TEXT_PAD);
	memcpy(text, subject->text, subject->text_len);
	forms.lens = xcalloc(subject->set.count, sizeof(*forms.lens));
	if (forms_open(&forms, text))
		for (const struct gpu_kernel_info *info = gpu_kernel_list; info->name; info++)
			if (!only || strcmp(info->name, only) == 0)
				forms_run_kernel(&forms, info->name);
	if (forms.bench)
		gpu_bench_tool->close(forms.bench);
	free(forms.lens);
	free(text);
	return forms.refused;
}

#endif
