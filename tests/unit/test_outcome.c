/* Outcomes from another process: kept as they are, and only those that a check can have. */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "carve/outcome.h"
#include "carve/view.h"

#define START 1000
#define IMAGE_SIZE 5000

static const struct candidate place = { .start = START, .length = 3000 };

static const char *keep(const char *text)
{
	return strcmp(text, "docx") == 0 ? "docx" : NULL;
}

static struct outcome complete(void)
{
	return (struct outcome){ .verdict = CARVE_COMPLETE,
		.length = 2000,
		.end = END_CARVER,
		.finding = { .length = 2000,
			.extension = "docx",
			.title = "a title",
			.time = -5,
			.why = "" },
		.work = 12345 };
}

Test(outcome, arrives_as_it_was)
{
	struct outcome sent = complete(), got;
	uint64_t parts[] = { START + 10, START + 20 }, embedded[] = { START + 1999 };
	struct codec_writer writer = { 0 };
	struct codec_reader reader;

	sent.parts = parts;
	sent.part_count = 2;
	sent.embedded = embedded;
	sent.embedded_count = 1;
	ranges_add(&sent.unverified, START + 5, 6);
	ranges_add(&sent.held, START + 7, 9);
	outcome_save(&sent, &writer);
	reader = codec_reader_from(writer.bytes, writer.len);
	outcome_load(&got, keep, &reader);
	cr_assert(codec_at_end(&reader));
	cr_expect(outcome_fits(&got, &place, IMAGE_SIZE));
	cr_expect(got.verdict == sent.verdict && got.length == 2000 && got.work == 12345);
	cr_expect(got.finding.time == -5 && !strcmp(got.finding.title, "a title"));
	cr_expect_str_eq(got.finding.extension, "docx");
	cr_expect(got.part_count == 2 && got.parts[1] == START + 20);
	cr_expect(got.embedded_count == 1 && got.unverified.count == 1);
	cr_expect(got.held.count == 1 && got.held.items[0].length == 9);
	outcome_free(&got);
	ranges_free(&sent.unverified);
	ranges_free(&sent.held);
	free(writer.bytes);
}

Test(outcome, extension_that_is_not_kept_fails_the_reader)
{
	struct outcome sent = complete(), got;
	struct codec_writer writer = { 0 };
	struct codec_reader reader;

	sent.finding.extension = "../x";
	outcome_save(&sent, &writer);
	reader = codec_reader_from(writer.bytes, writer.len);
	outcome_load(&got, keep, &reader);
	cr_expect_not(codec_ok(&reader));
	outcome_free(&got);
	free(writer.bytes);
}

static bool comes_back(const struct outcome *sent)
{
	struct codec_writer writer = { 0 };
	struct codec_reader reader;
	struct outcome got;
	bool good;

	outcome_save(sent, &writer);
	reader = codec_reader_from(writer.bytes, writer.len);
	outcome_load(&got, keep, &reader);
	good = codec_ok(&reader);
	outcome_free(&got);
	free(writer.bytes);
	return good;
}

/* More would take far more memory than the message. */
Test(outcome, no_more_places_than_a_view_has)
{
	uint64_t *parts = calloc(VIEW_PARTS_MAX + 1, sizeof(*parts));
	struct outcome outcome = complete();

	outcome.parts = parts;
	outcome.part_count = VIEW_PARTS_MAX;
	cr_expect(comes_back(&outcome));
	outcome.part_count++;
	cr_expect_not(comes_back(&outcome));
	outcome.part_count = 0;
	outcome.embedded = parts;
	outcome.embedded_count = VIEW_EMBEDDED_MAX;
	cr_expect(comes_back(&outcome));
	outcome.embedded_count++;
	cr_expect_not(comes_back(&outcome));
	outcome.embedded_count = 0;
	for (uint64_t i = 0; i < VIEW_UNVERIFIED_MAX; i++)
		ranges_add(&outcome.unverified, 2 * i, 1);
	cr_expect(comes_back(&outcome));
	ranges_add(&outcome.unverified, 2 * VIEW_UNVERIFIED_MAX, 1);
	cr_expect_not(comes_back(&outcome));
	ranges_free(&outcome.unverified);
	free(parts);
}

static bool fits(struct outcome outcome)
{
	return outcome_fits(&outcome, &place, IMAGE_SIZE);
}

static bool fits_with_part(uint64_t first, uint64_t second)
{
	uint64_t parts[] = { first, second };
	struct outcome outcome = complete();

	outcome.parts = parts;
	outcome.part_count = 2;
	return fits(outcome);
}

static bool fits_with_unverified(uint64_t offset, uint64_t length)
{
	struct outcome outcome = complete();
	bool good;

	ranges_add(&outcome.unverified, offset, length);
	good = fits(outcome);
	ranges_free(&outcome.unverified);
	return good;
}

Test(outcome, no_longer_than_candidate_and_image)
{
	struct outcome outcome = complete();

	cr_expect(fits(outcome));
	outcome.length = outcome.finding.length = 3000;
	cr_expect(fits(outcome));
	outcome.length = outcome.finding.length = 3001;
	cr_expect_not(fits(outcome), "longer than the candidate");
	outcome.length = outcome.finding.length = UINT64_MAX;
	cr_expect_not(fits(outcome));
	outcome = complete();
	cr_expect_not(outcome_fits(&outcome, &place, START + 1999), "longer than the image");
	outcome.finding.length = 1999;
	cr_expect_not(fits(outcome), "two lengths");
	cr_expect_not(fits((struct outcome){ .verdict = CARVE_REJECT, .length = 1 }));
	cr_expect(fits((struct outcome){ .verdict = CARVE_REJECT }));
}

Test(outcome, places_are_inside_and_rise)
{
	cr_expect(fits_with_part(START + 1, START + 2));
	cr_expect_not(fits_with_part(START + 2, START + 2));
	cr_expect_not(fits_with_part(START + 2, START + 1));
	cr_expect_not(fits_with_part(START - 1, START + 1));
	cr_expect_not(fits_with_part(START + 1, START + 3000));
	cr_expect(fits_with_unverified(START, 2000));
	cr_expect_not(fits_with_unverified(START, 2001));
	cr_expect_not(fits_with_unverified(START - 1, 2));
	cr_expect_not(fits_with_unverified(START + 2001, 1));
}
