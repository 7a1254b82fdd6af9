/* A report file that is written in whole records and keeps in memory what a full disk would not
 * take. */
#ifndef BURIN_OUTPUT_STREAM_H
#define BURIN_OUTPUT_STREAM_H

#include <stdbool.h>
#include <stdio.h>

#include "output/sink.h"

struct stream;

/* Creates the file (name: in the folder itself) and reserves its name. The sink must outlive the
 * stream. */
int stream_open(struct stream **stream, struct sink *sink, const char *name, struct error *error);

/* Where to write; writing never fails before stream_flush. */
FILE *stream_file(struct stream *stream);

/* To be called after each record. What has gathered goes to the file when it is over 256 KiB, when
 * the last write is a second ago, or when now is set. What could not be written is kept for the
 * next call. Returns 0 or a negative errno, with the words in error. */
int stream_flush(struct stream *stream, bool now, struct error *error);

/* Puts text over the first place within the first 4 KiB of the file where `was` stands, which is as
 * long. Call stream_flush before. Returns 0 or a negative errno, with the words in error; -ENOENT,
 * without words, when it stands nowhere there. */
int stream_replace(struct stream *stream, const char *was, const char *text, struct error *error);

/* Writes the rest and frees the stream. Returns 0 or a negative errno, with the words in error. */
int stream_close(struct stream *stream, struct error *error);

#endif
