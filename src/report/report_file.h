/* A report file that is written in whole records and keeps in memory what a full disk would not
 * take. */
#ifndef BURIN_REPORT_REPORT_FILE_H
#define BURIN_REPORT_REPORT_FILE_H

#include <stdbool.h>
#include <stdio.h>

#include "output/output_dir.h"

struct stream;

/* Creates the file (name: in the folder itself) and reserves its name. The output_dir must outlive the
 * stream. */
int stream_open(struct stream **stream, struct output_dir *output_dir, const char *name,
	struct error *error);

/* Goes on with the file of an earlier run, behind its first len bytes; what follows them is cut
 * off. -EBADMSG when it is shorter. */
int stream_reopen(struct stream **stream, struct output_dir *output_dir, const char *name,
	uint64_t len, struct error *error);

/* Where to write; writing never fails before stream_flush. */
FILE *stream_file(struct stream *stream);

/* To be called after each record. What has gathered goes to the file when it is over 256 KiB, when
 * the last write is a second ago, or when now is set. What could not be written is kept for the
 * next call. Returns 0 or a negative errno, with the words in error. */
int stream_flush(struct stream *stream, bool now, struct error *error);

/* Drops what has not been written yet. */
void stream_forget(struct stream *stream);

/* Bytes of the file, and the first place within its first 4 KiB where text stands: -ENOENT when it
 * stands nowhere there. Call stream_flush before. */
uint64_t stream_len(const struct stream *stream);
int64_t stream_find(const struct stream *stream, const char *text);

/* Puts text over as many bytes at that place of the file. Returns 0 or a negative errno, with the
 * words in error. */
int stream_put_at(struct stream *stream, uint64_t place, const char *text, struct error *error);

/* Writes the rest and frees the stream. Returns 0 or a negative errno, with the words in error. */
int stream_close(struct stream *stream, struct error *error);

#endif
