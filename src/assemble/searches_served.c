#include "assemble/searches_served.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/socket.h>

#include "base/channel.h"
#include "base/memory.h"
#include "base/thread.h"
#include "carve/check_messages.h"

struct served_socket {
	struct searches_served *served;
	struct channel channel;
	struct codec_writer answer;
	pthread_t thread;
};

struct searches_served {
	struct device_server *device;
	_Atomic unsigned answering;
	_Atomic bool failed;
	size_t count;
	struct served_socket sockets[CHECK_SEARCHES];
};

static bool answer(struct served_socket *socket, uint32_t kind, struct codec_reader *question)
{
	return (kind == CHECK_FIND_BREAKS || kind == CHECK_FIND_CODED ||
		       kind == CHECK_FIND_WORDS) &&
	       device_server_answer(socket->served->device, kind, question, &socket->answer) &&
	       channel_send(&socket->channel, CHECK_ANSWER, &socket->answer);
}

static void *serve(void *context)
{
	struct served_socket *socket = context;
	struct searches_served *served = socket->served;
	struct codec_reader question;
	uint32_t kind;
	int got = 1;

	while ((got = channel_receive(&socket->channel, &kind, &question)) > 0) {
		bool good;

		atomic_fetch_add(&served->answering, 1);
		good = answer(socket, kind, &question);
		atomic_fetch_sub(&served->answering, 1);
		if (!good)
			break;
	}
	/* Where the process is gone nobody looks. */
	if (got > 0 || got == -EPROTO)
		served->failed = true;
	return NULL;
}

struct searches_served *searches_served_new(
	struct device_server *device, const int *sockets, size_t count)
{
	struct searches_served *served = xcalloc(1, sizeof(*served));

	served->device = device;
	for (; served->count < count; served->count++) {
		struct served_socket *socket = &served->sockets[served->count];

		socket->served = served;
		socket->channel.fd = sockets[served->count];
		if (thread_start(&socket->thread, serve, socket))
			break;
	}
	served->failed = served->count < count;
	return served;
}

bool searches_served_are_answered(const struct searches_served *served)
{
	return atomic_load(&served->answering);
}

bool searches_served_failed(const struct searches_served *served)
{
	return atomic_load(&served->failed);
}

void searches_served_free(struct searches_served *served)
{
	for (size_t i = 0; i < served->count; i++) {
		struct served_socket *socket = &served->sockets[i];

		shutdown(socket->channel.fd, SHUT_RDWR);
		pthread_join(socket->thread, NULL);
		channel_free(&socket->channel);
		free(socket->answer.bytes);
	}
	free(served);
}
