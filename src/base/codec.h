/*
 * A program's state as a file: numbers and texts one behind the other, with a checksum at the end.
 * Whoever writes knows the order, and whoever reads asks in the same one. What is read may be
 * damaged, or made up: each number is held against the most that it may be, and the first thing
 * that is wrong turns all that follows into zeros and empty texts, so that the code that reads
 * stays as plain as the code that writes.
 */
#ifndef BURIN_BASE_CODEC_H
#define BURIN_BASE_CODEC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct codec_writer;

/* Writes to fd, which stays the caller's. Never NULL. */
struct codec_writer *codec_writer_new(int fd);
void codec_put(struct codec_writer *writer, uint64_t number);
/* Any bytes but zero. */
void codec_put_text(struct codec_writer *writer, const char *text);
/* Completes the file. Returns 0, or the negative errno of the first write that failed. Frees the
 * writer. */
int codec_writer_close(struct codec_writer *writer);

struct codec_reader;

/* Reads from fd, which stays the caller's and must be a file. Returns 0, -EBADMSG when this is no
 * such file, or not as it was written, or another negative errno. */
int codec_reader_open(struct codec_reader **reader, int fd);
/* The next number; most: the largest that may come. */
uint64_t codec_get(struct codec_reader *reader, uint64_t most);
static inline bool codec_get_flag(struct codec_reader *reader)
{
	return codec_get(reader, 1);
}
/* The next text; most: bytes that it may have, without its end. The caller frees it. */
char *codec_get_text(struct codec_reader *reader, size_t most);
/* The same into a buffer of len bytes. */
void codec_copy_text(struct codec_reader *reader, char *buffer, size_t len);
/* For what the caller finds wrong. */
void codec_fail(struct codec_reader *reader);
/* Whether all was well so far: to be asked in every loop. */
bool codec_ok(const struct codec_reader *reader);
/* True at the end. */
bool codec_at_end(const struct codec_reader *reader);
/* NULL is fine. */
void codec_reader_close(struct codec_reader *reader);

#endif
