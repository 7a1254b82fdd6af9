/* Messages over the socket between two processes, either of which may be in the hands of an attacker: what
 * comes is of a bounded size, and is read where nobody can change it any more. */
#ifndef BURIN_BASE_CHANNEL_H
#define BURIN_BASE_CHANNEL_H

#include "base/codec.h"

/* Bytes of a message. */
#define CHANNEL_MESSAGE_MAX ((uint32_t)64 << 20)

/* Zero-initialise, but for fd, which stays the caller's. */
struct channel {
	int fd;
	uint8_t *bytes; /* that came and were not taken: [at, len) */
	size_t at, len, capacity;
};

/* body: what was written to it, which is emptied; NULL: nothing. False: the other end is gone, or does not
 * read. */
bool channel_send(struct channel *channel, uint32_t kind, struct codec_writer *body);
/* Sends what may be longer than a message: each has whether it is the last one, and bytes. As channel_send; all stays. */
bool channel_send_parts(struct channel *channel, uint32_t kind, const struct codec_writer *all);
/* The other end's side: appends the bytes of such a message. 1: that was the last; 0: more will come; -EPROTO: it is not
 * such a message, or there would be more than `most` bytes. */
int channel_take_part(struct codec_reader *body, size_t most, struct codec_writer *all);
/* Waits for a message. 1: *kind, and its body, which is valid until the next call; 0: none came in the time
 * that the socket waits (SO_RCVTIMEO); -EPIPE: the other end is gone; -EPROTO: what came is not a message. */
int channel_receive(struct channel *channel, uint32_t *kind, struct codec_reader *body);
/* Forgets what came. */
void channel_reset(struct channel *channel, int fd);
void channel_free(struct channel *channel);

#endif
