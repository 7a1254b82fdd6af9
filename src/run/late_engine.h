/*
 * An engine that takes long to start, as a GPU's does: a thread of its own opens it, while another engine searches.
 */
#ifndef BURIN_RUN_LATE_ENGINE_H
#define BURIN_RUN_LATE_ENGINE_H

#include <stdbool.h>

#include "scan/scan.h"

struct late_engine;

/* Begins to probe and to open it. What set and options point to must outlive the scan. NULL: there is no thread for it. */
struct late_engine *late_engine_start(const struct scan_engine *engine,
	const struct pattern_set *set, const struct scan_options *options);
/* Whether late_engine_end would not wait. */
bool late_engine_is_ready(const struct late_engine *late);
/* Waits, and frees it. The open scan is the caller's; NULL: it cannot be used, and in why (len bytes) is the reason. */
struct scan *late_engine_end(struct late_engine *late, char *why, size_t len);

#endif
