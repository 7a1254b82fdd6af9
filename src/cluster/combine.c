/* Numbers of all processes made one: each sends its own to rank 0, which sends the result to all.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cluster/conductor.h"
#include "run/run.h"

static struct run_combined gathered;
static unsigned extent_image_count;

/* With the lock. */
void combine_deliver(struct post *post)
{
	struct run_combined theirs = { 0 };

	if (post->len == sizeof(theirs))
		memcpy(&theirs, post->bytes, sizeof(theirs));
	free(post->bytes);
	for (size_t i = 0; i < RUN_COMBINED; i++) {
		gathered.sums[i] += theirs.sums[i];
		if (theirs.most[i] > gathered.most[i])
			gathered.most[i] = theirs.most[i];
	}
	if (++extent_image_count < post_count())
		return;
	for (unsigned rank = 0; rank < post_count(); rank++) {
		struct pack pack = { 0 };

		pack_raw(&pack, &gathered, sizeof(gathered));
		post_send(rank, POST_COMBINED, &pack);
	}
	gathered = (struct run_combined){ 0 };
	extent_image_count = 0;
}

/* The conductor's word on why it may take for ever. */
int combine_failure(struct error *error)
{
	int status;

	pthread_mutex_lock(&conductor.lock);
	status = conductor_failure(error);
	pthread_mutex_unlock(&conductor.lock);
	return status;
}
