#include "run/late_engine.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/memory.h"
#include "base/thread.h"

struct late_engine {
	const struct scan_engine *engine;
	const struct pattern_set *set;
	struct scan_options options;
	pthread_t thread;
	atomic_bool is_ready;
	/* The thread's until it is ready. */
	struct scan *scan;
	struct error error;
};

static void *start(void *argument)
{
	struct late_engine *late = argument;
	struct error *error = &late->error;

	if (!late->engine->probe(error->text, sizeof(error->text)) &&
		late->engine->open(&late->scan, late->set, &late->options, error))
		late->scan = NULL;
	late->is_ready = true;
	return NULL;
}

struct late_engine *late_engine_start(const struct scan_engine *engine,
	const struct pattern_set *set, const struct scan_options *options)
{
	struct late_engine *late = xcalloc(1, sizeof(*late));

	late->engine = engine;
	late->set = set;
	late->options = *options;
	if (thread_start(&late->thread, start, late)) {
		free(late);
		return NULL;
	}
	return late;
}

bool late_engine_is_ready(const struct late_engine *late)
{
	return late->is_ready;
}

struct scan *late_engine_end(struct late_engine *late, char *why, size_t len)
{
	struct scan *scan;

	pthread_join(late->thread, NULL);
	scan = late->scan;
	snprintf(why, len, "%s", scan ? "" : late->error.text);
	free(late);
	return scan;
}
