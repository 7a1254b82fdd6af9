#include "cluster/cluster_images.h"

#include <assert.h>
#include <stdlib.h>

#include "base/log.h"
#include "cluster/coordinator.h"

struct request {
	struct request *next;
	unsigned rank;
	bool done;
	int code;
	struct run_sums *sums;
};

/* Under the coordinator's lock. */
static struct request *requests;

void images_deliver(struct message *message)
{
	struct codec_reader reader = codec_reader_from(message->bytes, message->len);
	int code = (int)codec_get(&reader, INT32_MAX);
	struct run_sums sums;

	codec_copy_bytes(&reader, &sums, sizeof(sums));
	assert(codec_ok(&reader));
	free(message->bytes);
	for (struct request *request = requests; request; request = request->next)
		if (request->rank == message->from && !request->done) {
			*request->sums = sums;
			request->code = code;
			request->done = true;
		}
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
	const struct peer *peer = &coordinator.peers[rank];
	struct codec_writer writer = { 0 };
	struct error error = { 0 };

	codec_put(&writer, number);
	transport_send(rank, MESSAGE_IMAGE, &writer);
	pthread_mutex_lock(&coordinator.lock);
	request.next = requests;
	requests = &request;
	while (!request.done && !peer->failed)
		coordinator_wait();
	if (!request.done) {
		coordinator_blame(rank, &peer->error, &error);
		request.code = error.code;
	}
	forget(&request);
	pthread_mutex_unlock(&coordinator.lock);
	if (error.code)
		log_error("%s", error.text);
	return request.code;
}
