/*
 * What carvers of documents and mail take: reading text byte by byte counts as work (view_work), in
 * proportion to the bytes; and memory that could not be allocated is reported (view_no_memory),
 * never a verdict.
 */
#include "carver_case.h"

#include <sys/resource.h>

#define TEXT_LEN ((size_t)300000)

static uint64_t work_of(const char *carver, const struct bytes *bytes)
{
	struct view *view = view_new_memory(bytes->data, bytes->len);
	struct finding found = { 0 };
	uint64_t work;

	carver_find(carver)->check(view, &found);
	work = view_work_done(view);
	view_free(view);
	return work;
}

static struct bytes repeat(const char *start, const char *text, const char *end)
{
	struct bytes bytes = { 0 };

	bytes_add(&bytes, start, strlen(start));
	while (bytes.len < TEXT_LEN)
		bytes_add(&bytes, text, strlen(text));
	bytes_add(&bytes, end, strlen(end));
	return bytes;
}

Test(document_limits, reading_text_counts_as_work)
{
	static const struct {
		const char *carver, *start, *text, *end;
		unsigned min; /* units a byte */
	} cases[] = {
		{ "html", "<html><head></head><body>", "<p>some text</p>\n", "</body></html>", 2 },
		{ "xml", "<?xml version=\"1.0\"?><a>", "<b>some text</b>\n", "</a>", 2 },
		{ "svg", "<svg xmlns=\"http://www.w3.org/2000/svg\">", "<g>text</g>\n", "</svg>",
			2 },
		{ "rtf", "{\\rtf1\\ansi ", "{\\b some} text\\par\n", "}", 2 },
		{ "ps", "%!PS-Adobe-3.0\n", "1 2 moveto\n", "%%EOF\n", 2 },
		{ "vobject", "BEGIN:VCARD\r\n", "NOTE:some text of a line\r\n", "END:VCARD\r\n",
			1 },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct bytes bytes = repeat(cases[i].start, cases[i].text, cases[i].end);
		uint64_t work = work_of(cases[i].carver, &bytes);

		cr_assert_geq(work, cases[i].min * bytes.len, "%s: %.1f units a byte",
			cases[i].carver, (double)work / (double)bytes.len);
		cr_assert_lt(work, 10 * bytes.len, "%s: %.1f units a byte", cases[i].carver,
			(double)work / (double)bytes.len);
		free(bytes.data);
	}
}

#ifndef __SANITIZE_ADDRESS__
/* A compound file whose FAT needs 64 MiB, in a process that may not take so much. */
Test(document_limits, lack_of_memory_is_no_verdict)
{
	static const uint8_t start[] = { 0xd0, 0xcf, 0x11, 0xe0, 0xa1, 0xb1, 0x1a, 0xe1 };
	struct rlimit limit = { 0 };
	struct bytes bytes = { 0 };
	struct finding found = { 0 };
	struct view *view;
	uint8_t *header;

	bytes_fill(&bytes, 0, (size_t)65 << 20);
	header = bytes.data;
	memcpy(header, start, sizeof(start));
	header[26] = 3;
	header[28] = 0xfe;
	header[29] = 0xff;
	header[30] = 9;
	header[32] = 6;
	header[46] = 2; /* 131,072 sectors */
	header[57] = 16;
	view = view_new_memory(bytes.data, bytes.len);
	cr_assert_eq(getrlimit(RLIMIT_DATA, &limit), 0);
	limit.rlim_cur = 1 << 20;
	cr_assert_eq(setrlimit(RLIMIT_DATA, &limit), 0);
	carver_find("ole")->check(view, &found);
	limit.rlim_cur = limit.rlim_max;
	setrlimit(RLIMIT_DATA, &limit);
	cr_assert(view_lacked_memory(view), "%s", found.why);
	view_free(view);
	free(bytes.data);
}
#endif
