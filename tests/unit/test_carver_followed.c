/* Bytes after a file that may belong to it: padding, and comments after a page. */
#include "carver_case.h"

/* An odd chunk's padding is a zero, or it is not there, whatever the form's length is. */
Test(carver_followed, aiff_without_its_padding)
{
	struct bytes bytes = { 0 };
	size_t len;

	bytes_add_file(&bytes, "tests/golden/aiff/odd-padded.aif");
	len = --bytes.len;
	expect("aiff", &bytes, CARVE_COMPLETE, len, NULL);
	bytes_fill(&bytes, 'x', 600);
	expect("aiff", &bytes, CARVE_COMPLETE, len, NULL);
	free(bytes.data);
}

/* Where zeros go on, nothing shows how many of them are padding. */
Test(carver_followed, archives_before_zeros)
{
	struct bytes bytes = { 0 };

	bytes_add_file(&bytes, "tests/golden/tar/v7.tar");
	bytes_fill(&bytes, 0, 20480);
	expect("tar", &bytes, CARVE_COMPLETE, 10240, "may not belong to it");
	bytes.len = 10240;
	bytes_fill(&bytes, 'x', 600);
	expect("tar", &bytes, CARVE_COMPLETE, 10240, NULL);
	bytes.len = 0;
	bytes_add_file(&bytes, "tests/golden/cpio/newc.cpio");
	bytes.len -= 360;
	bytes_fill(&bytes, 0, 9000);
	expect("cpio", &bytes, CARVE_COMPLETE, 2048, "is a guess");
	free(bytes.data);
}

/* A comment after a page is that page's when the next one opens at a sector boundary. */
Test(carver_followed, pages_in_a_row)
{
	struct bytes bytes = { 0 };
	size_t len;

	bytes_add_file(&bytes, "tests/golden/html/comment-sector.html");
	len = bytes.len;
	bytes_add_file(&bytes, "tests/golden/html/page.html");
	expect("html", &bytes, CARVE_COMPLETE, len, NULL);
	free(bytes.data);
}

/* The characters begin with the first colon of a line, not with that of a file after it whose lines end otherwise. */
Test(carver_followed, binhex_before_one_with_other_line_ends)
{
	struct bytes bytes = { 0 };
	size_t len;

	bytes_add_file(&bytes, "tests/golden/hqx/mac.hqx");
	len = bytes.len;
	bytes_add_file(&bytes, "tests/golden/hqx/text.hqx");
	expect("hqx", &bytes, CARVE_COMPLETE, len, NULL);
	free(bytes.data);
}
