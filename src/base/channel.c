#include "base/channel.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "base/memory.h"
#include "base/sandbox.h"

/* Read at a time: most messages are shorter. */
#define READ_LEN 16384

struct channel_head {
	uint32_t kind, len;
};

/* In one piece: a second call would wake the other end for half a message. */
bool channel_send(struct channel *channel, uint32_t kind, struct codec_writer *body)
{
	struct channel_head head = { .kind = kind, .len = body ? (uint32_t)body->len : 0 };
	struct iovec parts[] = { { &head, sizeof(head) }, { body ? body->bytes : NULL, head.len } };
	const struct msghdr message = { .msg_iov = parts, .msg_iovlen = 2 };
	size_t total = sizeof(head) + head.len, sent;
	ssize_t n;

	do
		n = sendmsg(channel->fd, &message, MSG_NOSIGNAL);
	while (n < 0 && errno == EINTR);
	if (n < (ssize_t)sizeof(head))
		return false;
	sent = (size_t)n;
	if (sent < total &&
		!sandbox_send(channel->fd, body->bytes + (sent - sizeof(head)), total - sent))
		return false;
	if (body)
		body->len = 0;
	return true;
}

/* The length of the whole message that the channel holds; 0: not all of it is here. */
static size_t message_len(const struct channel *channel, struct channel_head *head)
{
	size_t held = channel->len - channel->at;

	head->len = 0;
	if (held < sizeof(*head))
		return 0;
	memcpy(head, channel->bytes + channel->at, sizeof(*head));
	return held - sizeof(*head) >= head->len ? sizeof(*head) + head->len : 0;
}

/* A length that is only announced gets no room. */
static void make_room(struct channel *channel)
{
	size_t more;

	if (channel->at) {
		memmove(channel->bytes, channel->bytes + channel->at, channel->len - channel->at);
		channel->len -= channel->at;
		channel->at = 0;
	}
	if (channel->capacity - channel->len >= READ_LEN)
		return;
	more = channel->len > READ_LEN ? channel->len : READ_LEN;
	channel->capacity = channel->len + more;
	channel->bytes = xreallocarray(channel->bytes, channel->capacity, 1);
}

/* 1: something came; otherwise as channel_receive. */
static int read_more(struct channel *channel)
{
	ssize_t n;

	make_room(channel);
	n = recv(channel->fd, channel->bytes + channel->len, channel->capacity - channel->len, 0);
	if (n < 0 && errno == EINTR)
		return 1;
	if (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK))
		return 0;
	if (n <= 0)
		return -EPIPE;
	channel->len += (size_t)n;
	return 1;
}

#define PART_LEN ((size_t)16 << 20)

bool channel_send_parts(struct channel *channel, uint32_t kind, const struct codec_writer *all)
{
	struct codec_writer part = { 0 };
	size_t at = 0, len;
	bool works = true, is_last = false;

	for (; works && !is_last; at += len) {
		len = all->len - at < PART_LEN ? all->len - at : PART_LEN;
		is_last = at + len == all->len;
		codec_put(&part, is_last);
		codec_put_bytes(&part, all->bytes + at, len);
		works = channel_send(channel, kind, &part);
	}
	free(part.bytes);
	return works;
}

int channel_take_part(struct codec_reader *body, size_t most, struct codec_writer *all)
{
	bool is_last = codec_get_flag(body);
	struct codec_writer part = { 0 };

	part.bytes = (uint8_t *)codec_get_bytes(body, &part.len);
	if (!codec_at_end(body) || part.len > most || all->len > most - part.len)
		return -EPROTO;
	codec_append(all, &part);
	return is_last;
}

int channel_receive(struct channel *channel, uint32_t *kind, struct codec_reader *body)
{
	struct channel_head head;
	size_t len;

	while (!(len = message_len(channel, &head))) {
		int got;

		if (head.len > CHANNEL_MESSAGE_MAX)
			return -EPROTO;
		got = read_more(channel);
		if (got <= 0)
			return got;
	}
	*kind = head.kind;
	*body = codec_reader_from(channel->bytes + channel->at + sizeof(head), head.len);
	channel->at += len;
	return 1;
}

void channel_reset(struct channel *channel, int fd)
{
	channel->fd = fd;
	channel->at = channel->len = 0;
}

void channel_free(struct channel *channel)
{
	free(channel->bytes);
	*channel = (struct channel){ 0 };
}
