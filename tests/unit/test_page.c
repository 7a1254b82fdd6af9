/* The page of a run, as far as that needs no browser (tests/html uses one). */
#include "page/page.h"

#include <errno.h>

#include "page/page_data.h"
#include "page/page_map.h"
#include "page/thumbs.h"
#include "temp.h"

#define RUN "{\"record\":\"run\",\"schema\":1,\"image\":{\"size\":1000000}}\n"
#define SUMMARY "{\"record\":\"summary\",\"files\":1}\n"

TestSuite(html, .init = temp_make, .fini = temp_remove);

static char *content_of(const char *name)
{
	FILE *file = fopen(temp_at(name), "rb");
	char *text = calloc(1, 4 << 20);

	cr_assert_not_null(file, "%s", name);
	cr_assert_lt(fread(text, 1, (4 << 20) - 1, file), (4 << 20) - 1);
	fclose(file);
	return text;
}

static int write_page(
	const char *report, uint64_t thumbs, struct page_counts *counts, struct error *error)
{
	struct page_options options = { .thumbs = thumbs };

	temp_write("report.jsonl", report, strlen(report));
	return page_write(temp_path, &options, counts, error);
}

Test(html, script_text_ends_nothing)
{
	struct strbuf line = { 0 };

	page_data_script_text(&line, "a\"b\\c</script><!--\n\r\t\xE2\x82\xAC");
	strbuf_bytes(&line, "", 1);
	cr_expect_str_eq(line.bytes, "a\\\"b\\\\c\\x3c/script>\\x3c!--\\n\\r\\t\xE2\x82\xAC");
	strbuf_free(&line);
}

Test(html, hostile_row)
{
	struct page_counts counts;
	struct error error = { 0 };
	char *page;

	cr_assert_eq(
		write_page(RUN
			"{\"record\":\"file\",\"path\":\"t/"
			"<script>\\\"\",\"type\":\"t\",\"offset\":7,"
			"\"length\":9,\"runs\":[[7,4],[20,5]],\"title\":\"</script>\\u202e\\tx\","
			"\"fs_path\":\"</ScRiPt>\",\"known\":true,\"alert\":\"set\","
			"\"assembly\":{\"by\":\"near\",\"tested\":50,\"evidence\":30,"
			"\"doubt\":[[2,3]]}}\n" SUMMARY,
			0, &counts, &error),
		0, "%s", error.text);
	page = content_of("report.html");
	cr_expect_eq(counts.files, 1);
	/* path, type, rule, offset, length, ... two runs; no byte ends the script. */
	cr_expect(strstr(page,
		"burin.part(\"t/\\x3cscript>\\\"\\tt\\t0\\t7\\t9\\t\\tunverified\\tmax_size\\t\\t"
		"7+4,20+5\\t\\t\\t\\t0\\t\\t\\x3c/ScRiPt>\\t"
		"\\x3c/script>\xEF\xBF\xBD\xEF\xBF\xBDx\\t\\tyes\\tset\\tnear 50 30 "
		"2+3\\tt\\t\\t-w--\\n\");"));
	cr_expect(strstr(page, "burin.begin(\"{\\\"record\\\":\\\"run\\\""));
	cr_expect_null(strstr(page, "@NONCE@"));
	cr_expect_null(strstr(page, "@DATA@"));
	free(page);
}

/* A page's program is complete: the file ends where it should, whatever was inserted. */
Test(html, ends)
{
	struct page_counts counts;
	char *page;
	const char *policy, *nonce;

	cr_assert_eq(write_page(RUN, 0, &counts, NULL), 0);
	page = content_of("report.html");
	cr_expect_str_eq(page + strlen(page) - 8, "</html>\n");
	policy = strstr(page, "script-src 'nonce-");
	nonce = strstr(page, "<script nonce=\"");
	cr_assert(policy && nonce);
	cr_expect_eq(strncmp(policy + 18, nonce + 15, 32), 0);
	cr_expect(strstr(page, "default-src 'none'"));
	cr_expect(strstr(page, "\\\"whole\\\":false"));
	free(page);
}

Test(html, failures)
{
	struct page_counts counts;
	struct page_options options = { 0 };
	struct error error = { 0 };

	cr_expect_eq(page_write(temp_at("missing"), &options, &counts, &error), -ENOENT);
	cr_expect_eq(error.code, EXIT_IO);
	cr_expect_eq(page_write(temp_path, &options, &counts, &error), -ENOENT);
	cr_expect(strstr(error.text, "not an output folder"));
	cr_expect_lt(write_page("{}\n", 0, &counts, &error), 0);
	cr_expect_eq(error.code, EXIT_IO);
	cr_expect_eq(write_page(RUN "{\"record\":\"file\",\"path\":\"thumbs/"
				    "x\",\"type\":\"t\",\"offset\":0,\"length\":1,"
				    "\"runs\":[[0,1]]}\n",
			     0, &counts, &error),
		-EINVAL);
	cr_expect_neq(access(temp_at("report.html"), F_OK), 0, "a page of half a report");
	/* something that can't be replaced is in the way */
	cr_assert_eq(mkdir(temp_at("report.html"), 0755), 0);
	cr_expect_lt(write_page(RUN, 0, &counts, &error), 0);
	cr_expect_eq(error.code, EXIT_IO);
}

/* ---- the map ------------------------------------------------------------------------------- */

static void put(uint8_t *bytes, uint64_t value, size_t len)
{
	for (size_t i = 0; i < len; i++)
		bytes[i] = (uint8_t)(value >> 8 * i);
}

/* What the page gets from a map.bin of this many blocks of 4 KiB, each (i % 7, i). */
static char *map_of(uint64_t count, uint32_t entry_len, uint64_t size)
{
	int fd = open(temp_path, O_RDONLY | O_DIRECTORY);
	uint8_t *bytes = calloc(1, 64 + count * entry_len + 1);
	struct strbuf line = { 0 };

	memcpy(bytes, "BURINMAP", 8);
	put(bytes + 8, 1, 4);
	put(bytes + 12, 64, 4);
	put(bytes + 16, size, 8);
	put(bytes + 24, 4096, 8);
	put(bytes + 32, count, 8);
	put(bytes + 40, entry_len, 4);
	for (uint64_t i = 0; i < count; i++) {
		bytes[64 + i * entry_len] = (uint8_t)(i % 7);
		bytes[64 + i * entry_len + 1] = (uint8_t)i;
	}
	temp_write("map.bin", bytes, 64 + count * entry_len);
	free(bytes);
	page_map_add(&line, fd, size);
	strbuf_bytes(&line, "", 1);
	close(fd);
	return line.bytes;
}

Test(html, map_of_few_blocks)
{
	char *text = map_of(9, 2, 9 * 4096 - 1);

	cr_expect_str_eq(text, "burin.content(4096, \"AABACADAEBFBGBABBC\");\n");
	free(text);
	text = map_of(2, 5, 2 * 4096); /* a later version's longer entries */
	cr_expect_str_eq(text, "burin.content(4096, \"AABA\");\n");
	free(text);
	text = map_of(3, 2, 2 * 4096); /* a block too many */
	cr_expect_str_eq(text, "");
	free(text);
	text = map_of(1, 1, 4096);
	cr_expect_str_eq(text, "");
	free(text);
}

Test(html, map_of_many_blocks)
{
	const uint64_t count = (256 << 10) + 1;
	char *text = map_of(count, 2, count * 4096);

	/* Two as one: the last is alone. */
	cr_expect_eq(strncmp(text, "burin.content(8192, \"AACA", 25), 0, "%.30s", text);
	cr_expect_eq(strlen(text), strlen("burin.content(8192, \"\");\n") + 2 * ((128 << 10) + 1));
	free(text);
}

/* ---- small pictures ------------------------------------------------------------------------ */

/* A GIF of GIF_WIDTH x GIF_HEIGHT, larger than a thumbnail. Its codes have 3 bits: one clears the table
 * before it grows, then two pixels. */
#define GIF_WIDTH 8
#define GIF_HEIGHT 300

static size_t make_gif(uint8_t *gif)
{
	static const uint8_t head[] =
		"GIF89a\x08\0\x2C\1\x80\0\0\xFF\0\0\0\0\0,\0\0\0\0\x08\0\x2C\1\0\2";
	static const uint8_t block[] = { 9, 0x04, 0x08, 0x10, 0x20, 0x40, 0x80, 0x00, 0x01, 0x02 };
	uint8_t *to = gif;

	memcpy(to, head, sizeof(head) - 1);
	to += sizeof(head) - 1;
	for (size_t pixels = 0; pixels < GIF_WIDTH * GIF_HEIGHT; pixels += 16, to += sizeof(block))
		memcpy(to, block, sizeof(block));
	memcpy(to, "\1\5\0;", 4); /* the end's code */
	return (size_t)(to + 4 - gif);
}

/* A valid picture, a broken one, a missing one. */
Test(html, pictures)
{
	uint8_t gif[GIF_WIDTH * GIF_HEIGHT];
	char first_path[] = "x/1.gif";
	struct file_record file = {
		.path = first_path, .type = "gif", .extension = "gif", .written = true
	};
	struct thumbs *thumbs;
	struct page_counts counts = { 0 };
	int fd = open(temp_path, O_RDONLY | O_DIRECTORY);
	char first, second, third, fourth, *jpeg;

	cr_assert_eq(mkdir(temp_at("x"), 0755), 0);
	temp_write("x/1.gif", gif, make_gif(gif));
	temp_write("x/2.gif", "GIF89a, but no more", 19);
	cr_assert_eq(mkdir(temp_at("thumbs"), 0755), 0);
	temp_write("thumbs/p00000099.jpg", "old", 3);
	temp_write("thumbs/mine.jpg", "mine", 4);
	thumbs = thumbs_open(fd, temp_path, 3);
	first = thumbs_make(thumbs, &file, 1).state;
	file.path = (char[]){ "x/2.gif" };
	second = thumbs_make(thumbs, &file, 2).state;
	file.path = (char[]){ "x/3.gif" };
	third = thumbs_make(thumbs, &file, 3).state;
	file.path = first_path;
	fourth = thumbs_make(thumbs, &file, 4).state; /* one more than was asked for */
	thumbs_close(thumbs, &counts);
	close(fd);
	cr_expect_neq(access(temp_at("thumbs/p00000099.jpg"), F_OK), 0);
	cr_expect_eq(access(temp_at("thumbs/mine.jpg"), F_OK), 0);
	if (counts.no_pictures) {
		cr_expect(!first && !second && !third && !fourth);
		cr_skip("%s", counts.no_pictures);
	}
	cr_expect(first == 'y' && second == 'f' && third == 'f' && !fourth, "%c%c%c", first, second,
		third);
	cr_expect_eq(counts.thumbs, 1);
	cr_expect_eq(counts.failed_thumbs, 2);
	jpeg = content_of("thumbs/p00000001.jpg");
	cr_expect_eq(memcmp(jpeg, "\xFF\xD8\xFF", 3), 0);
	free(jpeg);
}
