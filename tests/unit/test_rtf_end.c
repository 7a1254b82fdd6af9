/* Where a document of Rich Text Format ends. */
#include "carver_case.h"

/* The length of a document with this head, whose last brace a line end follows, and zeros. */
static uint64_t length(const char *head, size_t zeros, size_t *brace_end)
{
	static const char text[] = "\\pard\\f0 Text\\par\r\n}";
	struct bytes bytes = { 0 };
	struct finding found;

	bytes_add(&bytes, head, strlen(head));
	bytes_add(&bytes, text, strlen(text));
	*brace_end = bytes.len;
	bytes_add(&bytes, "\r\n", 2);
	bytes_fill(&bytes, 0, zeros);
	cr_expect_eq(carve("rtf", bytes.data, bytes.len, &found), CARVE_COMPLETE);
	free(bytes.data);
	return found.length;
}

/* A zero after the line end is WordPad's; where others follow, of no other program. */
Test(rtf_end, zeros_after_the_line_end)
{
	static const char word[] = "{\\rtf1\\ansi\\viewkind1{\\stylesheet{\\s0 x;}}";
	size_t end;

	cr_expect_eq(length("{\\rtf1\\ansi\\viewkind4", 99, &end), end + 3);
	cr_expect_eq(length("{\\rtf1\\ansi", 99, &end), end + 2);
	cr_expect_eq(length("{\\rtf1\\ansi", 1, &end), end + 3);
	cr_expect_eq(length(word, 99, &end), end + 2);
}

/* A brace among random bytes at a cluster's start may close a document that breaks off there. */
Test(rtf_end, random_bytes_from_a_sector_on_close_it_by_chance)
{
	static const struct {
		const char *tail;
		size_t at; /* in the file, where it begins */
		enum verdict verdict;
	} rows[] = {
		{ "\xc0\xc9\xcb\xac\xd1\x91}", 4096, CARVE_UNVERIFIED },
		{ "\xc0\xc9\xcb\xac\xd1\x91}", 4050, CARVE_COMPLETE },
		{ "a small rose}", 4096, CARVE_COMPLETE },
		{ "\xc0\xc9\\par }", 4096, CARVE_COMPLETE },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct bytes bytes = { 0 };
		struct finding found;

		bytes_add(&bytes, "{\\rtf1\\ansi\\ansicpg1252 ", 23);
		while (bytes.len + 40 < rows[i].at)
			bytes_add(&bytes, "\\par sea, rose; over {\\i houses}", 32);
		bytes_fill(&bytes, ' ', rows[i].at - bytes.len);
		bytes_add(&bytes, rows[i].tail, strlen(rows[i].tail));
		cr_expect_eq(carve("rtf", bytes.data, bytes.len, &found), rows[i].verdict, "%zu %s",
			i, found.why);
		cr_expect_eq(found.length, bytes.len);
		free(bytes.data);
	}
}
