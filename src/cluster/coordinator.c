#include "cluster/coordinator.h"

#include <errno.h>
#include <stdlib.h>

#include "base/thread.h"

struct coordinator coordinator = { .lock = PTHREAD_MUTEX_INITIALIZER };

void coordinator_init(void)
{
	thread_cond_init(&coordinator.changed);
	coordinator.peers = xcalloc(transport_count(), sizeof(*coordinator.peers));
	for (unsigned rank = 0; rank < transport_count(); rank++)
		coordinator.peers[rank].end = &coordinator.peers[rank].first;
}

void coordinator_reset(void)
{
	for (unsigned rank = 0; rank < transport_count(); rank++) {
		struct peer *peer = &coordinator.peers[rank];

		free(peer->hello_bytes);
		free(peer->engine);
		peer->hello_bytes = NULL;
		peer->engine = NULL;
		peer->hello = peer->joined = false;
	}
	strpool_free(&coordinator.extensions);
}

void coordinator_free(void)
{
	coordinator_reset(); /* a hello may have arrived after the end */
	free(coordinator.peers);
}

const char *coordinator_keep(const char *extension)
{
	return strpool_keep(&coordinator.extensions, extension);
}

int coordinator_blame(unsigned rank, const struct error *theirs, struct error *error)
{
	return error_set(error, (enum exit_code)theirs->code, EIO, "rank %u (%s): %.900s", rank,
		transport_host(rank), theirs->text);
}

int coordinator_failure(struct error *error)
{
	for (unsigned rank = 0; rank < transport_count(); rank++)
		if (coordinator.peers[rank].failed)
			return coordinator_blame(rank, &coordinator.peers[rank].error, error);
	return 0;
}

void coordinator_wait(void)
{
	thread_cond_wait(&coordinator.changed, &coordinator.lock, 0.1);
}
