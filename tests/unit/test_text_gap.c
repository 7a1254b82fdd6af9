/* Texts that are well-formed although clusters of another text lie within them. */
#include "carver_case.h"
#include "walk.h"

enum { CLUSTER = 4096, TEXT_LEN = 20000 };

static void add(struct bytes *bytes, const char *text)
{
	bytes_add(bytes, text, strlen(text));
}

/* A number below `most`. */
static unsigned draw(unsigned *state, unsigned most)
{
	*state = *state * 1103515245 + 12345;
	return (*state >> 16) % most;
}

/* A document of a format: what it begins with, lines with two numbers each, and what ends it. */
static const struct format {
	const char *carver, *head, *line, *end;
} formats[] = {
	{ "html", "<!DOCTYPE html>\n<html><head><title>A</title></head><body><table>\n",
		"<tr><td class=\"n\">%u</td><td class=\"m\">%u</td></tr>\n",
		"</table></body></html>\n" },
	{ "svg", "<?xml version=\"1.0\"?>\n<svg xmlns=\"http://www.w3.org/2000/svg\"><path d=\"",
		"M%u,%u 12,-4 z\n", "\"/></svg>\n" },
	{ "xml", "<?xml version=\"1.0\"?>\n<list>\n", "%u;%u;\n", "</list>\n" },
	{ "rtf", "{\\rtf1\\ansi\\deff0 ", "\\par\\b%u\\b0\\f%u\\cell\n", "}\n" },
	{ "ps", "%!PS-Adobe-3.0\n%%Pages: 1\n%%EndComments\n%%Page: 1 1\n", "%u %u moveto\n",
		"showpage\n%%Trailer\n%%EOF\n" },
	{ "mail",
		"From: a@example.org\nTo: b@example.net\nSubject: Six\nMIME-Version: 1.0\n"
		"Content-Type: multipart/mixed; boundary=\"=_six\"\n\n--=_six\n\n",
		"<td class=\"n\">%u</td><td class=\"m\">%u</td>\n", "--=_six--\n" },
};

static struct bytes document(const struct format *format)
{
	struct bytes bytes = { 0 };
	unsigned state = 1;
	char line[128];

	add(&bytes, format->head);
	while (bytes.len < TEXT_LEN) {
		unsigned first = draw(&state, 1000), second = draw(&state, 1000);

		snprintf(line, sizeof(line), format->line, first, second);
		add(&bytes, line);
	}
	add(&bytes, format->end);
	return bytes;
}

/* The same with len bytes of words between what is before and after `at`. */
static struct bytes with_words_of(const struct bytes *whole, size_t at, size_t len)
{
	static const char *const words[] = { "sea ", "rose ", "over ", "houses ", "and ", "nobody ",
		"came ", "to ", "ask ", "why\n" };
	struct bytes bytes = { 0 };
	unsigned state = 2;

	bytes_add(&bytes, whole->data, at);
	while (bytes.len < at + len)
		add(&bytes, words[draw(&state, sizeof(words) / sizeof(*words))]);
	bytes.len = at + len;
	bytes_add(&bytes, whole->data + at, whole->len - at);
	return bytes;
}

static struct bytes with_words(const struct bytes *whole, size_t at)
{
	return with_words_of(whole, at, CLUSTER);
}

Test(text_gap, a_text_alone_is_complete)
{
	for (size_t i = 0; i < sizeof(formats) / sizeof(*formats); i++) {
		struct bytes bytes = document(&formats[i]);

		expect(formats[i].carver, &bytes, CARVE_COMPLETE, bytes.len, NULL);
		free(bytes.data);
	}
}

Test(text_gap, clusters_of_another_text_leave_it_unverified)
{
	for (size_t i = 0; i < sizeof(formats) / sizeof(*formats); i++) {
		struct bytes whole = document(&formats[i]), bytes = with_words(&whole, 2 * CLUSTER);

		expect(formats[i].carver, &bytes, CARVE_UNVERIFIED, bytes.len,
			"another text from 8192 to 12288");
		free(bytes.data);
		free(whole.data);
	}
}

Test(text_gap, so_do_a_few_sectors)
{
	for (size_t i = 0; i < sizeof(formats) / sizeof(*formats); i++)
		for (size_t count = 1; count < 8; count++) {
			struct bytes whole = document(&formats[i]);
			struct bytes bytes =
				with_words_of(&whole, CLUSTER + SECTOR, count * SECTOR);
			char why[64];

			snprintf(why, sizeof(why), "another text from %d to %zu", CLUSTER + SECTOR,
				CLUSTER + SECTOR + count * SECTOR);
			expect(formats[i].carver, &bytes, CARVE_UNVERIFIED, bytes.len, why);
			free(bytes.data);
			free(whole.data);
		}
}

/* From its document type on, its sectors are others: it is no file of its own. */
Test(text_gap, what_begins_in_a_document_is_not_looked_at_alone)
{
	struct bytes bytes = { 0 };
	struct finding found = { 0 };
	const uint64_t *places;
	struct view *view;
	size_t count;

	add(&bytes, "<?xml version=\"1.0\"?>\n<!DOCTYPE list>\n<list><item/></list>\n");
	view = view_new_memory(bytes.data, bytes.len);
	cr_expect_eq(carver_find("xml")->check(view, &found), CARVE_COMPLETE);
	places = view_embedded_offsets(view, &count);
	cr_assert_eq(count, 2);
	cr_expect_eq(places[0], 22);
	cr_expect_eq(places[1], 38);
	view_free(view);
	free(bytes.data);
}

/* A page of which the rest is another's, in the same language of markup, from `at` on. */
static struct bytes with_rest(const struct bytes *whole, size_t at)
{
	const struct format other = { "html", "",
		"<p id=\"s%u\"><a href=\"#s%u\">sea, rose; nobody came over to ask</a></p>\n",
		"</table></body></html>\n" };
	struct bytes bytes = { 0 }, rest = document(&other);

	bytes_add(&bytes, whole->data, at);
	bytes_add(&bytes, rest.data + 5, rest.len - 5);
	free(rest.data);
	return bytes;
}

Test(text_gap, a_page_that_runs_into_another_one_is_unverified)
{
	struct bytes whole = document(&formats[0]), bytes = with_rest(&whole, 2 * CLUSTER);
	struct finding found;

	cr_expect_eq(carve("html", bytes.data, bytes.len, &found), CARVE_UNVERIFIED);
	cr_expect_eq(strncmp(found.why, "another text from 8192 to ", 26), 0, "%s", found.why);
	free(bytes.data);
	/* Its own parts begin anywhere. */
	bytes = with_rest(&whole, 2 * CLUSTER + 100);
	expect("html", &bytes, CARVE_COMPLETE, bytes.len, NULL);
	free(bytes.data);
	free(whole.data);
}

/* A part of the text itself may be so different: it does not begin and end with a cluster. */
Test(text_gap, another_text_between_other_places_is_its_own)
{
	for (size_t i = 0; i < sizeof(formats) / sizeof(*formats); i++) {
		struct bytes whole = document(&formats[i]);
		struct bytes bytes = with_words(&whole, 2 * CLUSTER + 100);

		/* A paragraph of RTF is no cluster long. */
		if (strcmp(formats[i].carver, "rtf") != 0)
			expect(formats[i].carver, &bytes, CARVE_COMPLETE, bytes.len, NULL);
		free(bytes.data);
		free(whole.data);
	}
}

/* There the file goes on elsewhere. */
Test(text_gap, pieces_are_valid_up_to_it)
{
	for (size_t i = 0; i < sizeof(formats) / sizeof(*formats); i++) {
		struct bytes whole = document(&formats[i]), bytes = with_words(&whole, CLUSTER);
		struct view *view = view_new_memory(bytes.data, bytes.len);
		struct finding found = { 0 };

		view_set_thorough(view, true);
		cr_expect_eq(carver_find(formats[i].carver)->check(view, &found), CARVE_TRUNCATED);
		cr_expect_eq(found.length, CLUSTER, "%s: %s", formats[i].carver, found.why);
		view_free(view);
		free(bytes.data);
		free(whole.data);
	}
}

/* A paragraph of prose is like other prose, but it does not fill clusters. */
Test(text_gap, a_cluster_of_rtf_has_control_words)
{
	const struct format format = { "rtf", "{\\rtf1\\ansi\\deff0 ",
		"\\par sea rose over houses and nobody came to ask why %u %u\n", "}\n" };
	struct bytes whole = document(&format), bytes = with_words(&whole, 2 * CLUSTER);

	expect("rtf", &whole, CARVE_COMPLETE, whole.len, NULL);
	expect("rtf", &bytes, CARVE_UNVERIFIED, bytes.len, "another text from 8192 to 12288");
	free(bytes.data);
	free(whole.data);
}

/* The text of RTF is unlike fonts and styles, wherever it begins. */
Test(text_gap, text_after_styles_is_its_own)
{
	struct bytes whole = document(&formats[3]), bytes = { 0 };
	struct finding found;

	bytes_add(&bytes, whole.data, 2 * CLUSTER);
	while (bytes.len < TEXT_LEN)
		add(&bytes, "\n\\pard sea, rose; over \\i houses\\i0 , and nobody came to ask why");
	add(&bytes, "}");
	cr_expect_eq(carve("rtf", bytes.data, bytes.len, &found), CARVE_COMPLETE, "%s", found.why);
	cr_expect_eq(found.length, bytes.len);
	free(bytes.data);
	free(whole.data);
}
