/* Whole images, one after another, carved by other processes. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "cluster/conductor.h"
#include "run/run.h"

struct request {
	struct request *next;
	unsigned rank;
	bool done;
	int code;
	struct run_sums *sums;
};

static struct request *requests;

void images_deliver(struct post *post)
{
	struct unpack unpack = { post->bytes, post->len, false };
	int code = (int)unpack_number(&unpack);
	const void *sums;
	size_t len;

	sums = unpack_bytes(&unpack, &len);
	for (struct request *request = requests; request; request = request->next)
		if (request->rank == post->from && !request->done) {
			if (len == sizeof(*request->sums))
				memcpy(request->sums, sums, len);
			request->code = code;
			request->done = true;
		}
	free(post->bytes);
}

static void forget(struct request *request)
{
	struct request **at = &requests;

	while (*at != request)
		at = &(*at)->next;
	*at = request->next;
}

int images_carve(unsigned rank, size_t number, struct run_sums *sums)
{
	struct request request = { .next = NULL, .rank = rank, .sums = sums };
	const struct peer *peer = &conductor.peers[rank];
	struct pack pack = { 0 };
	struct error error = { 0 };

	pack_number(&pack, number);
	post_send(rank, POST_IMAGE, &pack);
	pthread_mutex_lock(&conductor.lock);
	request.next = requests;
	requests = &request;
	while (!request.done && !peer->failed)
		conductor_wait(&conductor.changed);
	if (!request.done) {
		conductor_blame(rank, &peer->error, &error);
		request.code = error.code;
	}
	forget(&request);
	pthread_mutex_unlock(&conductor.lock);
	if (error.code)
		log_error("%s", error.text);
	return request.code;
}
