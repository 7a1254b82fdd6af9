/*
 * Numbers are written seven bits a byte, the lowest first, with the high bit set in all bytes but
 * the last. A text is its length and its bytes. Four bytes of CRC-32 over all the rest end the
 * file.
 */
#include "base/codec.h"

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

static const char magic[] = "burin state\n";

struct codec_writer {
	int fd, status;
	uint32_t checksum;
	size_t used;
	uint8_t buffer[BUFFER_LEN];
};

struct codec_reader {
	int fd;
	bool failed;
	uint64_t left; /* bytes not yet in the buffer, without the checksum */
	size_t at, filled;
	uint8_t buffer[BUFFER_LEN];
};

/* ---- writing ------------------------------------------------------------------------------- */

static void flush(struct codec_writer *writer)
{
	if (!writer->status)
		writer->status = file_write(writer->fd, writer->buffer, writer->used);
	writer->used = 0;
}

static void put_bytes(struct codec_writer *writer, const void *bytes, size_t len)
{
	const uint8_t *from = bytes;

	writer->checksum = libdeflate_crc32(writer->checksum, bytes, len);
	while (len) {
		size_t part = BUFFER_LEN - writer->used < len ? BUFFER_LEN - writer->used : len;

		memcpy(writer->buffer + writer->used, from, part);
		writer->used += part;
		from += part;
		len -= part;
		if (writer->used == BUFFER_LEN)
			flush(writer);
	}
}

struct codec_writer *codec_writer_new(int fd)
{
	struct codec_writer *writer = xcalloc(1, sizeof(*writer));

	writer->fd = fd;
	put_bytes(writer, magic, sizeof(magic) - 1);
	return writer;
}

void codec_put(struct codec_writer *writer, uint64_t number)
{
	uint8_t bytes[10];
	size_t len = 0;

	for (; number > 0x7F; number >>= 7)
		bytes[len++] = (uint8_t)(number | 0x80);
	bytes[len++] = (uint8_t)number;
	put_bytes(writer, bytes, len);
}

void codec_put_text(struct codec_writer *writer, const char *text)
{
	size_t len = strlen(text);

	codec_put(writer, len);
	put_bytes(writer, text, len);
}

int codec_writer_close(struct codec_writer *writer)
{
	uint32_t checksum = writer->checksum;
	uint8_t bytes[CHECKSUM_LEN];
	int status;

	for (size_t i = 0; i < sizeof(bytes); i++)
		bytes[i] = (uint8_t)(checksum >> 8 * i);
	put_bytes(writer, bytes, sizeof(bytes));
	flush(writer);
	status = writer->status;
	free(writer);
	return status;
}

/* ---- reading ------------------------------------------------------------------------------- */

/* Fills the empty buffer; false at the end, or after a failure. */
static bool fill(struct codec_reader *reader)
{
	size_t wanted = reader->left < BUFFER_LEN ? (size_t)reader->left : BUFFER_LEN;
	ssize_t n;

	reader->at = reader->filled = 0;
	if (reader->failed || !wanted)
		return false;
	do
		n = read(reader->fd, reader->buffer, wanted);
	while (n < 0 && errno == EINTR);
	if (n <= 0) {
		reader->failed = true;
		return false;
	}
	reader->filled = (size_t)n;
	reader->left -= (size_t)n;
	return true;
}

static void rewind_to(struct codec_reader *reader, uint64_t offset, uint64_t end)
{
	reader->at = reader->filled = 0;
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
		checksum = libdeflate_crc32(checksum, reader->buffer, reader->filled);
	if (pread(reader->fd, stored, sizeof(stored), (off_t)end) != (ssize_t)sizeof(stored))
		return false;
	for (size_t i = 0; i < sizeof(stored); i++)
		if (stored[i] != (uint8_t)(checksum >> 8 * i))
			return false;
	return true;
}

static bool starts_well(struct codec_reader *reader)
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
	if (!starts_well(reader) || !checksum_is_right(reader, end) || reader->failed) {
		free(reader);
		return -EBADMSG;
	}
	rewind_to(reader, sizeof(magic) - 1, end);
	*result = reader;
	return 0;
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
	return !reader->failed && !reader->left && reader->at == reader->filled;
}

static uint8_t get_byte(struct codec_reader *reader)
{
	if (reader->failed || (reader->at == reader->filled && !fill(reader))) {
		reader->failed = true;
		return 0;
	}
	return reader->buffer[reader->at++];
}

uint64_t codec_get(struct codec_reader *reader, uint64_t most)
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
	if (number > most)
		reader->failed = true;
	return reader->failed ? 0 : number;
}

/* len bytes, none of them zero. */
static void get_bytes(struct codec_reader *reader, char *text, size_t len)
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

char *codec_get_text(struct codec_reader *reader, size_t most)
{
	uint64_t len = codec_get(reader, most);
	char *text;

	/* A text that the file does not hold needs no room. */
	if (len > reader->left + (reader->filled - reader->at)) {
		reader->failed = true;
		len = 0;
	}
	text = xmalloc((size_t)len + 1);
	get_bytes(reader, text, (size_t)len);
	return text;
}

void codec_copy_text(struct codec_reader *reader, char *buffer, size_t len)
{
	get_bytes(reader, buffer, (size_t)codec_get(reader, len - 1));
}

void codec_reader_close(struct codec_reader *reader)
{
	free(reader);
}
