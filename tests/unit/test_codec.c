/* The codec: what was written is read, in a file or in memory, and what is damaged or forged reads as
 * zeros. */
#include <criterion/criterion.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/memory.h"
#include "base/codec.h"

static const uint64_t numbers[] = { 0, 1, 127, 128, 16383, 16384, UINT32_MAX, INT64_MAX,
	UINT64_MAX };

#define NUMBER_COUNT (sizeof(numbers) / sizeof(*numbers))

static int make_file(void)
{
	int fd = memfd_create("state", 0);

	cr_assert_geq(fd, 0);
	return fd;
}

static int write_some(size_t text_len)
{
	int fd = make_file();
	struct codec_writer *writer = codec_writer_new(fd);
	char *text = xmalloc(text_len + 1);

	memset(text, 'x', text_len);
	text[text_len] = '\0';
	for (size_t i = 0; i < NUMBER_COUNT; i++)
		codec_put(writer, numbers[i]);
	codec_put_text(writer, text);
	codec_put_text(writer, "");
	cr_assert_eq(codec_writer_close(writer), 0);
	free(text);
	return fd;
}

Test(codec, comes_back)
{
	for (size_t len = 0; len < 300000; len = len * 3 + 1) {
		int fd = write_some(len);
		struct codec_reader *reader;
		char *text;

		cr_assert_eq(codec_reader_open(&reader, fd), 0);
		for (size_t i = 0; i < NUMBER_COUNT; i++)
			cr_expect_eq(codec_get(reader, UINT64_MAX), numbers[i]);
		text = codec_get_text(reader, len);
		cr_expect_eq(strlen(text), len);
		free(text);
		cr_expect_not(codec_at_end(reader));
		text = codec_get_text(reader, 0);
		cr_expect_str_eq(text, "");
		free(text);
		cr_expect(codec_at_end(reader));
		cr_expect_eq(codec_get(reader, UINT64_MAX), 0);
		cr_expect_not(codec_ok(reader));
		codec_reader_close(reader);
		close(fd);
	}
}

Test(codec, bounds_are_held)
{
	int fd = write_some(100);
	struct codec_reader *reader;
	char buffer[100], *text;

	for (size_t i = 1; i < NUMBER_COUNT; i++) {
		cr_assert_eq(codec_reader_open(&reader, fd), 0);
		for (size_t k = 0; k < i; k++)
			codec_get(reader, UINT64_MAX);
		cr_expect(codec_ok(reader));
		cr_expect_eq(codec_get(reader, numbers[i] - 1), 0);
		cr_expect_not(codec_ok(reader));
		text = codec_get_text(reader, 1000);
		cr_expect_str_eq(text, "");
		free(text);
		codec_reader_close(reader);
	}
	cr_assert_eq(codec_reader_open(&reader, fd), 0);
	for (size_t k = 0; k < NUMBER_COUNT; k++)
		codec_get(reader, UINT64_MAX);
	codec_copy_text(reader, buffer, sizeof(buffer)); /* one byte too small */
	cr_expect_str_eq(buffer, "");
	cr_expect_not(codec_ok(reader));
	codec_reader_close(reader);
	close(fd);
}

/* Any other bit, and any end but the right one, is noticed. */
Test(codec, damage_is_noticed)
{
	int fd = write_some(50);
	off_t len = lseek(fd, 0, SEEK_END);
	struct codec_reader *reader;

	for (off_t at = 0; at < len; at++) {
		uint8_t was, is;

		cr_assert_eq(pread(fd, &was, 1, at), 1);
		is = was ^ (uint8_t)(1 << at % 8);
		cr_assert_eq(pwrite(fd, &is, 1, at), 1);
		cr_expect_eq(codec_reader_open(&reader, fd), -EBADMSG, "byte %d", (int)at);
		cr_assert_eq(pwrite(fd, &was, 1, at), 1);
	}
	cr_assert_eq(codec_reader_open(&reader, fd), 0);
	codec_reader_close(reader);
	while (len-- > 0) {
		cr_assert_eq(ftruncate(fd, len), 0);
		cr_expect_eq(codec_reader_open(&reader, fd), -EBADMSG, "%d bytes", (int)len);
	}
	close(fd);
}

Test(codec, a_full_disk_is_reported)
{
	int fd = open("/dev/full", O_WRONLY);
	struct codec_writer *writer;

	if (fd < 0)
		cr_skip("there is no /dev/full");
	writer = codec_writer_new(fd);
	for (int i = 0; i < 100000; i++)
		codec_put(writer, UINT64_MAX);
	cr_expect_eq(codec_writer_close(writer), -ENOSPC);
	close(fd);
}

Test(codec, memory_holds_what_a_file_does_and_bytes)
{
	static const uint8_t bytes[] = { 7, 0, 255 };
	struct codec_writer writer = { 0 }, whole = { 0 };
	struct codec_reader reader;
	const uint8_t *got;
	uint8_t copy[3];
	size_t len;
	char *text;

	for (size_t i = 0; i < NUMBER_COUNT; i++)
		codec_put(&writer, numbers[i]);
	codec_put_text(&writer, "text");
	codec_put_bytes(&writer, bytes, sizeof(bytes));
	codec_put_bytes(&writer, NULL, 0);
	codec_put_bytes(&writer, bytes, sizeof(bytes));
	codec_append(&whole, &writer);
	reader = codec_reader_from(whole.bytes, whole.len);
	for (size_t i = 0; i < NUMBER_COUNT; i++)
		cr_expect_eq(codec_get(&reader, UINT64_MAX), numbers[i]);
	text = codec_get_text(&reader, 4);
	cr_expect_str_eq(text, "text");
	free(text);
	got = codec_get_bytes(&reader, &len);
	cr_expect(len == 3 && memcmp(got, bytes, 3) == 0);
	codec_get_bytes(&reader, &len);
	cr_expect_eq(len, 0);
	codec_copy_bytes(&reader, copy, sizeof(copy));
	cr_expect(memcmp(copy, bytes, 3) == 0);
	cr_expect(codec_at_end(&reader));
	codec_get(&reader, 1);
	cr_expect_not(codec_ok(&reader), "nothing is left");
	free(writer.bytes);
	free(whole.bytes);
}

Test(codec, bytes_that_are_missing_or_too_many_are_zeros)
{
	struct codec_writer writer = { 0 };
	uint8_t copy[4] = { 1, 1, 1, 1 };
	size_t len;

	codec_put_bytes(&writer, "abc", 3);
	for (size_t end = 0; end < writer.len; end++) {
		struct codec_reader reader = codec_reader_from(writer.bytes, end);

		codec_get_bytes(&reader, &len);
		cr_expect(len == 0 && !codec_ok(&reader), "%zu", end);
	}
	for (size_t wanted = 2; wanted <= 4; wanted += 2) {
		struct codec_reader reader = codec_reader_from(writer.bytes, writer.len);

		codec_copy_bytes(&reader, copy, wanted);
		cr_expect(!codec_ok(&reader) && !copy[0] && !copy[wanted - 1]);
	}
	free(writer.bytes);
}
