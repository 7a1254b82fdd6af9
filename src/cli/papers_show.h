/* Prints the results of `burin bench --papers` to stdout. */
#ifndef BURIN_CLI_PAPERS_SHOW_H
#define BURIN_CLI_PAPERS_SHOW_H

#include "bench/papers/papers.h"

void papers_show_text(const struct papers_options *options, const struct papers_result *result);
void papers_show_json(const struct papers_options *options, const struct papers_result *result);

#endif
