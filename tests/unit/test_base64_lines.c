/* Data of base64 within texts, and clusters of other bytes in it. */
#include "carver_case.h"

#define CLUSTER 4096
#define LINES 200
#define LINE "R29sZGVuIGhvdXIgaXMgdGhlIHRpbWUgYmVmb3JlIHN1bnNldCB3aGVuIGxpZ2h0IGlzIHNvZnQu"

static void add(struct bytes *bytes, const char *text)
{
	bytes_add(bytes, text, strlen(text));
}

/* A drawing with a picture whose lines end with `end`. */
static struct bytes drawing(const char *end)
{
	struct bytes bytes = { 0 };

	add(&bytes,
		"<svg xmlns=\"http://www.w3.org/2000/svg\"><image href=\"data:image/png;base64,");
	for (unsigned i = 0; i < LINES; i++) {
		add(&bytes, LINE);
		add(&bytes, end);
	}
	add(&bytes, "U2l4\"/></svg>\n");
	return bytes;
}

static void expect_drawing(struct bytes *bytes, enum verdict verdict, const char *why)
{
	struct finding found;

	cr_expect_eq(carve("svg", bytes->data, bytes->len, &found), verdict, "%s", found.why);
	cr_expect_eq(found.length, bytes->len);
	cr_expect_eq(strncmp(found.why, why, strlen(why)), 0, "%s", found.why);
	carve_thoroughly("svg", bytes->data, bytes->len, &found);
	cr_expect_eq(found.length, verdict == CARVE_COMPLETE ? bytes->len : CLUSTER);
}

/* As if a cluster were missing. */
static struct bytes without(const struct bytes *whole, size_t at, size_t len)
{
	struct bytes bytes = { 0 };

	bytes_add(&bytes, whole->data, at);
	bytes_add(&bytes, whole->data + at + len, whole->len - at - len);
	return bytes;
}

Test(base64_lines, data_has_lines_of_one_width_or_one_line)
{
	static const char *const ends[] = { "\n", " ", "\r\n\t", "&#10;", "&#xA;\n", "" };

	for (size_t i = 0; i < sizeof(ends) / sizeof(*ends); i++) {
		struct bytes whole = drawing(ends[i]);

		expect_drawing(&whole, CARVE_COMPLETE, "");
		free(whole.data);
	}
}

Test(base64_lines, another_width_from_a_cluster_on_is_unverified)
{
	struct bytes whole = drawing("\n"), bytes = without(&whole, CLUSTER, CLUSTER);

	expect_drawing(&bytes, CARVE_UNVERIFIED, "another text from 4096 to 4");
	free(bytes.data);
	/* A program may write such lines anywhere. */
	bytes = without(&whole, CLUSTER + 200, 10);
	expect_drawing(&bytes, CARVE_COMPLETE, "");
	free(bytes.data);
	free(whole.data);
}

Test(base64_lines, words_in_one_long_line_are_unverified)
{
	static const char *const words[] = { "was", "the noon, and ", "the noon and " };

	for (size_t w = 0; w < 3; w++) {
		struct bytes bytes = drawing("");

		for (size_t i = 0; i < 512; i++)
			bytes.data[CLUSTER + i] = (uint8_t)words[w][i % strlen(words[w])];
		expect_drawing(&bytes, CARVE_UNVERIFIED, "another text from 4096 to 4");
		free(bytes.data);
	}
}

/* As Illustrator stores its own data. */
static struct bytes private_data(const char *end)
{
	struct bytes bytes = { 0 };

	add(&bytes, "<svg xmlns=\"http://www.w3.org/2000/svg\"><pgf>\n\t<![CDATA[\n\t");
	for (unsigned i = 0; i < LINES; i++)
		add(&bytes, LINE "\n");
	add(&bytes, "U2l4\n");
	add(&bytes, end);
	add(&bytes, "]]></pgf></svg>\n");
	return bytes;
}

Test(base64_lines, lines_that_nothing_announces_are_checked)
{
	struct bytes whole = private_data("\t"), bytes = without(&whole, CLUSTER, CLUSTER);

	expect_drawing(&whole, CARVE_COMPLETE, "");
	expect_drawing(&bytes, CARVE_UNVERIFIED, "another text from 4096 to 4");
	free(bytes.data);
	bytes = without(&whole, CLUSTER + 200, 10);
	expect_drawing(&bytes, CARVE_COMPLETE, "");
	free(bytes.data);
	memcpy(whole.data + CLUSTER, "was it the ", 11);
	expect_drawing(&whole, CARVE_UNVERIFIED, "another text from 4096 to 4");
	free(whole.data);
	/* Words may follow padding. */
	bytes = private_data("dGhl=\nthe end ");
	expect_drawing(&bytes, CARVE_COMPLETE, "");
	free(bytes.data);
}
