/* What vectorscan.c searches with, and vectorscan_compile.c makes. Nobody else includes this. */
#ifndef BURIN_SCAN_VECTORSCAN_COMPILE_H
#define BURIN_SCAN_VECTORSCAN_COMPILE_H

#include <hs.h>

#include "patterns/anchor.h"
#include "scan/matcher.h"
#include "scan/pairs.h"

enum { LITERALS, SHORT, REGEXES, GROUPS };

struct group {
	hs_database_t *database; /* NULL when the group is empty */
	uint32_t *ids;
	uint32_t count;
	size_t reach; /* bytes after the last start that have to be scanned */
};

struct vectorscan {
	const struct pattern_set *set;
	struct anchor *anchors; /* by pattern id; of a regex unused */
	struct group groups[GROUPS];
	struct pairs *pairs;              /* NULL when no pattern needs them */
	struct pairs *guard;              /* of the byte patterns in groups; NULL without any */
	uint32_t *paired, paired_count;   /* ids of the patterns in pairs */
	uint32_t *refused, refused_count; /* ids of regexes that Vectorscan cannot compile */
	hs_scratch_t *scratch;            /* what the threads' are cloned from */
};

#endif
