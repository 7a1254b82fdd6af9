#include "cluster/reduction.h"

#include <assert.h>
#include <stdlib.h>

#include "cluster/coordinator.h"
#include "run/cluster.h"

static struct cluster_reduced gathered;
static unsigned gathered_count;

static void send_gathered(void)
{
	for (unsigned rank = 0; rank < transport_count(); rank++) {
		struct codec_writer writer = { 0 };

		codec_put_bytes(&writer, &gathered, sizeof(gathered));
		transport_send(rank, MESSAGE_REDUCED, &writer);
	}
	gathered = (struct cluster_reduced){ 0 };
	gathered_count = 0;
}

void reduction_deliver(struct message *message)
{
	struct codec_reader reader = codec_reader_from(message->bytes, message->len);
	struct cluster_reduced theirs;

	codec_copy_bytes(&reader, &theirs, sizeof(theirs));
	assert(codec_ok(&reader));
	free(message->bytes);
	for (size_t i = 0; i < CLUSTER_REDUCED; i++) {
		gathered.sums[i] += theirs.sums[i];
		if (theirs.maxima[i] > gathered.maxima[i])
			gathered.maxima[i] = theirs.maxima[i];
	}
	if (++gathered_count == transport_count())
		send_gathered();
}

int reduction_failure(struct error *error)
{
	int status;

	pthread_mutex_lock(&coordinator.lock);
	status = coordinator_failure(error);
	pthread_mutex_unlock(&coordinator.lock);
	return status;
}
