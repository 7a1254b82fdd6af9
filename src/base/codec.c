/*
 * Numbers are written seven bits a byte, the lowest first, with the high bit set in all bytes but
 * the last. Texts and bytes are preceded by their length. A file begins with a magic and ends with
 * four bytes of CRC-32 over everything before.
 */
#include "base/codec.h"

#include <assert.h>
#include <errno.h>
#include <libdeflate.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/memory.h"

#define BUFFER_LEN ((size_t)65536)
#define CHECKSUM_LEN 4
#define NUMBER_MAX_LEN 10

static const char magic[] = "burin state\n";

/* ---- writing ------------------------------------------------------------------------------- */

/* The checksum is of many numbers at a time: most have few bytes. */
static void flush(struct codec_writer *writer)
{
	writer->checksum = libdeflate_crc32(writer->checksum, writer->bytes, writer->len);
	if (!writer->status)
		writer->status = file_write(writer->fd, writer->bytes, writer->len);
	writer->len = 0;
}

static void grow(struct codec_writer *writer, size_t len)
{
	writer->capacity = (writer->len + len) * 2;
	writer->bytes = xreallocarray(writer->bytes, writer->capacity, 1);
}

static void put_raw(struct codec_writer *writer, const void *bytes, size_t len)
{
	const uint8_t *from = bytes;

	if (!writer->to_file && writer->capacity - writer->len < len)
		grow(writer, len);
	while (len) {
		size_t room = writer->capacity - writer->len, part = room < len ? room : len;

		memcpy(writer->bytes + writer->len, from, part);
		writer->len += part;
		from += part;
		len -= part;
		if (writer->to_file && writer->len == writer->capacity)
			flush(writer);
	}
}

struct codec_writer *codec_writer_new(int fd)
{
	struct codec_writer *writer = xcalloc(1, sizeof(*writer));

	writer->to_file = true;
	writer->fd = fd;
	writer->capacity = BUFFER_LEN;
	writer->bytes = xmalloc(BUFFER_LEN);
	put_raw(writer, magic, sizeof(magic) - 1);
	return writer;
}

void codec_put(struct codec_writer *writer, uint64_t number)
{
	uint8_t bytes[NUMBER_MAX_LEN];
	size_t len = 0;

	for (; number > 0x7F; number >>= 7)
		bytes[len++] = (uint8_t)(number | 0x80);
	bytes[len++] = (uint8_t)number;
	put_raw(writer, bytes, len);
}

void codec_put_bytes(struct codec_writer *writer, const void *bytes, size_t len)
{
	codec_put(writer, len);
	put_raw(writer, bytes, len);
}

void codec_put_text(struct codec_writer *writer, const char *text)
{
	codec_put_bytes(writer, text, strlen(text));
}

void codec_append(struct codec_writer *writer, const struct codec_writer *other)
{
	put_raw(writer, other->bytes, other->len);
}

void codec_writer_fail(struct codec_writer *writer, int status)
{
	if (!writer->status)
		writer->status = status;
}

int codec_writer_close(struct codec_writer *writer)
{
	uint8_t bytes[CHECKSUM_LEN];
	int status;

	flush(writer);
	for (size_t i = 0; i < sizeof(bytes); i++)
		bytes[i] = (uint8_t)(writer->checksum >> 8 * i);
	put_raw(writer, bytes, sizeof(bytes));
	flush(writer);
	status = writer->status;
	free(writer->bytes);
	free(writer);
	return status;
}

/* ---- reading ------------------------------------------------------------------------------- */

/* Fills the empty buffer; false at the end, or after a failure. */
static bool fill(struct codec_reader *reader)
{
	size_t wanted = reader->left < BUFFER_LEN ? (size_t)reader->left : BUFFER_LEN;
	ssize_t n;

	reader->at = reader->end = reader->buffer;
	if (reader->failed || !wanted)
		return false;
	do
		n = read(reader->fd, reader->buffer, wanted);
	while (n < 0 && errno == EINTR);
	if (n <= 0) {
		reader->failed = true;
		return false;
	}
	reader->end += n;
	reader->left -= (size_t)n;
	return true;
}

static void rewind_to(struct codec_reader *reader, uint64_t offset, uint64_t end)
{
	reader->at = reader->end = reader->buffer;
	reader->left = end - offset;
	if (lseek(reader->fd, (off_t)offset, SEEK_SET) < 0)
		reader->failed = true;
}

static bool checksum_is_right(struct codec_reader *reader, uint64_t end)
{
	uint8_t stored[CHECKSUM_LEN];
	uint32_t checksum = 0;

	rewind_to(reader, 0, end);
	while (fill(reader))
		checksum = libdeflate_crc32(
			checksum, reader->buffer, (size_t)(reader->end - reader->at));
	if (pread(reader->fd, stored, sizeof(stored), (off_t)end) != (ssize_t)sizeof(stored))
		return false;
	for (size_t i = 0; i < sizeof(stored); i++)
		if (stored[i] != (uint8_t)(checksum >> 8 * i))
			return false;
	return true;
}

static bool has_magic(const struct codec_reader *reader)
{
	char start[sizeof(magic) - 1];

	return pread(reader->fd, start, sizeof(start), 0) == (ssize_t)sizeof(start) &&
	       memcmp(start, magic, sizeof(start)) == 0;
}

int codec_reader_open(struct codec_reader **result, int fd)
{
	struct codec_reader *reader;
	struct stat info;
	uint64_t end;

	if (fstat(fd, &info))
		return -errno;
	if (!S_ISREG(info.st_mode) || info.st_size < (off_t)(sizeof(magic) - 1 + CHECKSUM_LEN))
		return -EBADMSG;
	end = (uint64_t)info.st_size - CHECKSUM_LEN;
	reader = xcalloc(1, sizeof(*reader));
	reader->fd = fd;
	reader->buffer = xmalloc(BUFFER_LEN);
	if (!has_magic(reader) || !checksum_is_right(reader, end) || reader->failed) {
		codec_reader_close(reader);
		return -EBADMSG;
	}
	rewind_to(reader, sizeof(magic) - 1, end);
	*result = reader;
	return 0;
}

struct codec_reader codec_reader_from(const void *bytes, size_t len)
{
	const uint8_t *at = bytes;

	return (struct codec_reader){ .at = at, .end = len ? at + len : at, .fd = -1 };
}

void codec_fail(struct codec_reader *reader)
{
	reader->failed = true;
}

bool codec_ok(const struct codec_reader *reader)
{
	return !reader->failed;
}

bool codec_at_end(const struct codec_reader *reader)
{
	return !reader->failed && !reader->left && reader->at == reader->end;
}

static uint8_t get_byte(struct codec_reader *reader)
{
	if (reader->failed || (reader->at == reader->end && !(reader->buffer && fill(reader)))) {
		reader->failed = true;
		return 0;
	}
	return *reader->at++;
}

uint64_t codec_get(struct codec_reader *reader, uint64_t max)
{
	uint64_t number = 0;
	unsigned shift = 0;
	uint8_t byte;

	do {
		byte = get_byte(reader);
		if (shift == 63 && byte > 1)
			reader->failed = true;
		number |= (uint64_t)(byte & 0x7F) << shift;
		shift += 7;
	} while (byte & 0x80 && shift < 70 && !reader->failed);
	if (number > max)
		reader->failed = true;
	return reader->failed ? 0 : number;
}

/* A length; what the file or the memory does not hold needs no room. */
static size_t get_len(struct codec_reader *reader, size_t max)
{
	uint64_t len = codec_get(reader, max);

	if (len > reader->left + (uint64_t)(reader->end - reader->at)) {
		reader->failed = true;
		len = 0;
	}
	return (size_t)len;
}

/* len bytes, none of them zero. */
static void get_text(struct codec_reader *reader, char *text, size_t len)
{
	for (size_t i = 0; i < len; i++) {
		text[i] = (char)get_byte(reader);
		if (!text[i])
			reader->failed = true;
		if (reader->failed)
			break;
	}
	text[reader->failed ? 0 : len] = '\0';
}

char *codec_get_text(struct codec_reader *reader, size_t max)
{
	size_t len = get_len(reader, max);
	char *text = xmalloc(len + 1);

	get_text(reader, text, len);
	return text;
}

void codec_copy_text(struct codec_reader *reader, char *buffer, size_t len)
{
	get_text(reader, buffer, (size_t)codec_get(reader, len - 1));
}

void codec_copy_bytes(struct codec_reader *reader, void *buffer, size_t len)
{
	uint8_t *to = buffer;

	if (get_len(reader, len) != len)
		reader->failed = true;
	if (!reader->buffer && !reader->failed && len <= (size_t)(reader->end - reader->at)) {
		memcpy(buffer, reader->at, len);
		reader->at += len;
		return;
	}
	for (size_t i = 0; i < len; i++)
		to[i] = get_byte(reader);
	if (reader->failed)
		memset(buffer, 0, len);
}

const uint8_t *codec_get_bytes(struct codec_reader *reader, size_t *len)
{
	const uint8_t *bytes;

	assert(!reader->buffer);
	*len = get_len(reader, SIZE_MAX);
	bytes = reader->at;
	reader->at += *len;
	return bytes;
}

void codec_reader_close(struct codec_reader *reader)
{
	if (!reader)
		return;
	free(reader->buffer);
	free(reader);
}
