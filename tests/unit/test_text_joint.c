/* How well texts go on at joints. */
#include "carver_case.h"

#include "text_joint.h"

enum { LEN = 12000, JOINT = 6000 };

static unsigned draw(unsigned *state, unsigned most)
{
	*state = *state * 1103515245 + 12345;
	return (*state >> 16) % most;
}

/* Lines of words and numbers. */
static struct bytes text(unsigned state)
{
	static const char *const words[] = { "class=\"left\"", "width=\"", "style=\"colour\"",
		"</table>", "<table ", "<paragraph ", "border=\"", "<heading>" };
	struct bytes bytes = { 0 };
	char line[64];

	while (bytes.len < LEN) {
		unsigned word = draw(&state, 8), number = draw(&state, 1000);

		snprintf(line, sizeof(line), "%s %u\n", words[word], number);
		bytes_add(&bytes, line, strlen(line));
	}
	bytes.len = LEN;
	return bytes;
}

/* The bits at a joint of the text up to there, and of what begins `skipped` bytes later. */
static unsigned bits(const struct bytes *whole, size_t joint, size_t skipped)
{
	struct bytes bytes = { 0 };
	struct view *view;
	unsigned found;

	bytes_add(&bytes, whole->data, joint);
	bytes_add(&bytes, whole->data + joint + skipped, whole->len - joint - skipped);
	view = view_new_memory(bytes.data, bytes.len);
	found = text_joint(view, joint, UINT64_MAX);
	view_free(view);
	free(bytes.data);
	return found;
}

/* In how many of 100 joints there are so many bits. */
static unsigned count(const struct bytes *whole, size_t skipped, unsigned least)
{
	unsigned number = 0;

	for (size_t i = 0; i < 100; i++)
		number += bits(whole, JOINT + 7 * i, skipped ? skipped + 13 * i : 0) >= least;
	return number;
}

Test(text_joint, right_ones_have_bits_and_wrong_ones_as_many_as_by_chance)
{
	struct bytes whole = text(1);

	cr_expect_gt(count(&whole, 0, 2), 60);
	cr_expect_gt(count(&whole, 0, 4), 30);
	cr_expect_lt(count(&whole, 100, 2), 40);
	cr_expect_lt(count(&whole, 100, 4), 12);
	cr_expect_lt(count(&whole, 100, 7), 4);
	free(whole.data);
}

Test(text_joint, one_value_shows_nothing)
{
	struct bytes whole = { 0 };

	bytes_fill(&whole, ' ', LEN);
	cr_expect_eq(bits(&whole, JOINT, 0), 0);
	free(whole.data);
}

Test(text_joint, too_few_bytes_show_nothing)
{
	struct bytes whole = text(1);

	cr_expect_eq(bits(&whole, 1000, 0), 0);
	cr_expect_eq(bits(&whole, LEN - 10, 0), 0);
	cr_expect_eq(bits(&whole, LEN, 0), 0);
	free(whole.data);
}
