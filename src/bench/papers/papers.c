#include "bench/papers/papers.h"

#include <errno.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/memory.h"
#include "base/pool.h"
#include "bench/papers/papers_state.h"
#include "run/cluster.h"

static int (*const all_papers[PAPERS])(struct papers *papers, struct error *error) = {
	papers_zha,
	papers_kouzinopoulos,
	papers_lin,
	papers_tran,
	papers_han,
};

int papers_run(
	struct papers_result *result, const struct papers_options *options, struct error *error)
{
	struct papers papers = { .options = options, .result = result };
	struct pool *pool = pool_new(options->threads);
	int status = 0;

	*result = (struct papers_result){ .threads = pool ? pool_threads(pool) : 0 };
	pool_free(pool);
	papers.seconds = xcalloc(options->rounds, sizeof(*papers.seconds));
	for (unsigned i = 0; !status && i < PAPERS; i++)
		if (!options->paper || options->paper == i + 1) {
			bool cluster = the_cluster && options->paper == 2;
			double from = clock_seconds();

			status = (cluster ? papers_cluster : all_papers[i])(&papers, error);
			papers_forget(&papers);
			result->seconds[i] = clock_seconds() - from;
		}
	free(papers.seconds);
	return papers_stop() ? -EINTR : status;
}

void papers_result_free(struct papers_result *result)
{
	paper_tables_free(&result->tables);
}
