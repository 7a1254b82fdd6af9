/*
 * Numbers, texts and bytes in sequence, in a file (a checkpoint) or in memory (a message between
 * processes). The writer knows the order, and the reader asks in the same one. What is read may be
 * damaged or forged: the caller gives each number's maximum, and after the first thing that is
 * wrong everything reads as zeros and empty texts, so that code that reads stays as plain as code
 * that writes.
 */
#ifndef BURIN_BASE_CODEC_H
#define BURIN_BASE_CODEC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* In memory: zero-initialise; bytes and len are the result, and the caller frees bytes. */
struct codec_writer {
	uint8_t *bytes; /* of a file: what is not yet written */
	size_t len, capacity;
	bool to_file;
	int fd, status;
	uint32_t checksum; /* of what is written */
};

/* A file, in fd, which stays the caller's. Never NULL. */
struct codec_writer *codec_writer_new(int fd);
void codec_put(struct codec_writer *writer, uint64_t number);
/* Any bytes but zero. */
void codec_put_text(struct codec_writer *writer, const char *text);
void codec_put_bytes(struct codec_writer *writer, const void *bytes, size_t len);
/* All that was written to another one, in memory. */
void codec_append(struct codec_writer *writer, const struct codec_writer *other);
/* A negative errno (0: nothing): what is being saved is not available. Nothing more is written. */
void codec_writer_fail(struct codec_writer *writer, int status);
/* Completes the file. Returns 0, or the negative errno of the first write that failed. Frees the
 * writer. */
int codec_writer_close(struct codec_writer *writer);

struct codec_reader {
	const uint8_t *at, *end;
	bool failed;
	uint8_t *buffer; /* of a file; NULL: in memory */
	int fd;
	uint64_t left; /* bytes of the file not yet in the buffer, without the checksum */
};

/* Reads from fd, which stays the caller's and must be a file. Returns 0, -EBADMSG when it is not
 * such a file, or damaged, or another negative errno. */
int codec_reader_open(struct codec_reader **reader, int fd);
/* From memory, which stays the caller's; nothing needs to be closed. */
struct codec_reader codec_reader_from(const void *bytes, size_t len);
/* The next number, at most max. */
uint64_t codec_get(struct codec_reader *reader, uint64_t max);
static inline bool codec_get_flag(struct codec_reader *reader)
{
	return codec_get(reader, 1);
}
/* The next text, at most max bytes without its end. The caller frees it. */
char *codec_get_text(struct codec_reader *reader, size_t max);
/* The same into a buffer of len bytes. */
void codec_copy_text(struct codec_reader *reader, char *buffer, size_t len);
/* The next bytes: len of them, or it fails, and the buffer is zeros. */
void codec_copy_bytes(struct codec_reader *reader, void *buffer, size_t len);
/* The next bytes, where they lie in the memory that is read, at any address; *len of them. Not for
 * files. */
const uint8_t *codec_get_bytes(struct codec_reader *reader, size_t *len);
/* For what the caller finds wrong. */
void codec_fail(struct codec_reader *reader);
/* Whether everything was valid so far: to be asked in every loop. */
bool codec_ok(const struct codec_reader *reader);
/* Everything was valid, and nothing remains. */
bool codec_at_end(const struct codec_reader *reader);
/* Of a file. NULL is fine. */
void codec_reader_close(struct codec_reader *reader);

#endif
