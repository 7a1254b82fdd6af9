/* How files and results are encoded in messages. */
#ifndef BURIN_CLUSTER_MESSAGES_H
#define BURIN_CLUSTER_MESSAGES_H

#include "base/codec.h"
#include "carve/check.h"
#include "report/record.h"
#include "run/cluster.h"

/* What is needed to write a file: its path and runs. */
void message_put_file(struct codec_writer *writer, const struct file_record *record);
/* Allocates both. */
void message_get_file(struct codec_reader *reader, struct file_record *record);
/* What is known once it is written: hashes and unreadable bytes. */
void message_put_written(struct codec_writer *writer, const struct file_record *record);
void message_get_written(struct codec_reader *reader, struct file_record *record);

void message_put_error(struct codec_writer *writer, const struct error *error);
void message_get_error(struct codec_reader *reader, struct error *error);

/* Memory that results are decoded into, one after another. Zero-initialise. */
struct message_room {
	struct cluster_hit *hits;
	struct range *unread;
	struct cluster_outcome *outcomes;
	size_t hit_room, unread_room, outcome_room; /* elements */
};

void message_put_result(struct codec_writer *writer, const struct cluster_result *result);
/* Everything but what the outcomes hold stays in the room and the message. */
void message_get_result(struct codec_reader *reader, struct message_room *room,
	struct cluster_result *result, const char *(*keep)(const char *text));
/* Where the result ends a unit: without decoding the rest. */
bool message_ends_unit(struct codec_reader *reader);
void message_room_free(struct message_room *room);

#endif
