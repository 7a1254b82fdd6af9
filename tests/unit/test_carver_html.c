/* What the golden files of html do not show: to which document a comment between two belongs. */
#include "carver_case.h"

#define PAGE "<!DOCTYPE html><html><head><title>A</title></head><body><p>x</body></html>"

static void check(const char *text, enum verdict verdict, size_t len)
{
	struct bytes bytes = { 0 };

	bytes_add(&bytes, text, strlen(text));
	bytes_fill(&bytes, 0, 100);
	expect("html", &bytes, verdict, len, NULL);
	free(bytes.data);
}

Test(carver_html, a_comment_after_the_end_belongs_to_the_document)
{
	check(PAGE "\n<!-- made in 1 s -->\n", CARVE_COMPLETE, strlen(PAGE) + 22);
}

Test(carver_html, a_comment_before_the_next_document_does_not)
{
	check(PAGE "\n<!-- a licence -->\n" PAGE, CARVE_COMPLETE, strlen(PAGE) + 1);
}

Test(carver_html, a_comment_without_end_does_not)
{
	check(PAGE "\n<!-- made in 1 s", CARVE_COMPLETE, strlen(PAGE) + 1);
}

Test(carver_html, quotes_count_only_after_an_equals_sign)
{
	check("<html><head></head><body><p don't><p a='>'></body></html>", CARVE_COMPLETE, 57);
}

/* Bytes that a window which is no longer valid would show open an attribute. */
Test(carver_html, blanks_after_the_root_may_reach_beyond_a_window)
{
	static const char tag[] = "<html>", rest[] = "<head></head><body><p>x<p>y</body></html>";
	struct bytes bytes = { 0 };
	size_t len;

	bytes_add(&bytes, "<!DOCTYPE html>", 15);
	bytes_fill(&bytes, ' ', 5120 - 4 - strlen(tag) - bytes.len);
	bytes_add(&bytes, tag, strlen(tag));
	bytes_fill(&bytes, ' ', 4);
	bytes_add(&bytes, "<!--", 4);
	for (int i = 0; i < 4096; i++)
		bytes_add(&bytes, "<a=\"", 4);
	bytes_add(&bytes, "-->", 3);
	bytes_add(&bytes, rest, strlen(rest));
	len = bytes.len;
	bytes_fill(&bytes, 0, 100);
	expect("html", &bytes, CARVE_COMPLETE, len, NULL);
	free(bytes.data);
}
