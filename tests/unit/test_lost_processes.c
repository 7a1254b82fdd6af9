/* What people are told of processes that were lost. */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "carve/lost_processes.h"

static struct rule two[] = { { .name = (char[]){ "png" } }, { .name = (char[]){ "gif" } } };
static const struct rules rules = { .rules = two, .count = 2 };
static const struct lost_place nowhere, at_png = { true, 0, 4096 }, at_gif = { true, 1, 8192 };
static unsigned warnings;
static char last[256];

static void take(enum log_level level, const char *text)
{
	warnings += level == LOG_WARN;
	snprintf(last, sizeof(last), "%s", text);
}

static struct lost_processes *begin(void)
{
	warnings = 0;
	log_redirect(take);
	return lost_processes_new("disk", &rules);
}

static void expect(struct lost_processes *lost, const char *sentence)
{
	char *said = lost_processes_sentence(lost);

	cr_assert(sentence ? said && !strcmp(said, sentence) : !said, "%s", said);
	free(said);
}

Test(lost_processes, each_is_told_at_once_and_in_the_end)
{
	struct lost_processes *lost = begin();

	expect(lost, NULL);
	lost_processes_note(lost, LOST_CHECKING, &at_png, "crashed (SIGSEGV)");
	cr_assert_str_eq(last,
		"disk: a process that checks possible files crashed (SIGSEGV) at 4096 (png); it is "
		"begun again");
	lost_processes_note(lost, LOST_CHECKING, &at_png, "crashed (SIGSEGV)");
	cr_assert_eq(warnings, 1);
	lost_processes_note(lost, LOST_ASSEMBLING, &nowhere, "did not end");
	cr_assert_eq(warnings, 2);
	cr_assert_str_eq(last,
		"disk: the process that puts files in pieces together did not end; it is begun "
		"again");
	expect(lost, "a process for checks was lost 3 times, and what it did was done again: it "
		     "crashed (SIGSEGV) at 4096 (png), did not end");
	lost_processes_free(lost);
	lost_processes_note(NULL, LOST_CHECKING, &at_png, "crashed");
	log_redirect(NULL);
}

/* Such a file is told of elsewhere. */
Test(lost_processes, what_a_file_that_is_left_out_explains_is_no_problem)
{
	struct lost_processes *lost = begin();

	lost_processes_note(lost, LOST_CHECKING, &at_png, "crashed (SIGSEGV)");
	lost_processes_note(lost, LOST_CHECKING, &at_gif, "crashed (SIGSEGV)");
	lost_processes_note(lost, LOST_ASSEMBLING, &nowhere, "crashed (SIGBUS)");
	lost_processes_note(lost, LOST_ASSEMBLING, &at_gif, "crashed (SIGBUS)");
	lost_processes_explain(lost, LOST_CHECKING, &at_gif);
	lost_processes_explain(lost, LOST_ASSEMBLING, NULL);
	expect(lost, "a process for checks was lost 1 time, and what it did was done again: it "
		     "crashed (SIGSEGV) at 4096 (png)");
	lost_processes_explain(lost, LOST_CHECKING, &at_png);
	expect(lost, NULL);
	lost_processes_free(lost);
	log_redirect(NULL);
}

Test(lost_processes, few_are_named_and_all_are_counted)
{
	struct lost_processes *lost = begin();
	char *said;

	for (uint64_t i = 0; i < 2000; i++)
		lost_processes_note(
			lost, LOST_CHECKING, &(struct lost_place){ true, 1, i * 512 }, "crashed");
	cr_assert_eq(warnings, 8);
	said = lost_processes_sentence(lost);
	cr_assert(strstr(said, "was lost 2000 times,") && strstr(said, "at 3584 (gif), ..."), "%s",
		said);
	free(said);
	lost_processes_free(lost);
	log_redirect(NULL);
}

Test(lost_processes, a_checkpoint_keeps_them)
{
	struct lost_processes *lost = begin(), *loaded = begin();
	struct codec_writer writer = { 0 };
	struct codec_reader reader;

	lost_processes_note(lost, LOST_CHECKING, &at_gif, "crashed (SIGSEGV)");
	lost_processes_note(lost, LOST_ASSEMBLING, &nowhere, "did not end");
	lost_processes_save(lost, &writer);
	reader = codec_reader_from(writer.bytes, writer.len);
	lost_processes_load(loaded, &reader);
	cr_assert(codec_at_end(&reader));
	expect(loaded, "a process for checks was lost 2 times, and what it did was done again: it "
		       "crashed (SIGSEGV) at 8192 (gif), did not end");
	lost_processes_free(loaded);
	/* One rule that there is not. */
	loaded = lost_processes_new("disk", &(struct rules){ .rules = two, .count = 1 });
	reader = codec_reader_from(writer.bytes, writer.len);
	lost_processes_load(loaded, &reader);
	cr_assert_not(codec_ok(&reader));
	lost_processes_free(loaded);
	lost_processes_free(lost);
	free(writer.bytes);
	log_redirect(NULL);
}
