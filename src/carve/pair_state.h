/* What pair.c and pair_save.c share; nobody else includes this. */
#ifndef BURIN_CARVE_PAIR_STATE_H
#define BURIN_CARVE_PAIR_STATE_H

#include "carve/pair.h"

struct event {
	uint64_t position;
	uint32_t rule;
	uint32_t pattern;
	uint32_t len; /* footers: bytes of the match */
	bool header;
};

struct header {
	uint64_t start;
	uint32_t rule, pattern;
};

struct footer {
	uint64_t offset;
	uint32_t len, unused;
};

struct rule_state {
	struct fifo footers;
	uint64_t open;     /* headers queued and not settled */
	bool header_since; /* a header came after the last footer that was queued */
	bool has_best;     /* REVERSE: best is the furthest footer passed so far */
	struct footer best;
	uint64_t last_start; /* of the last header that was queued, for alternatives that match at
				one place */
	bool has_last;
};

/* Who uses a pattern: users[first .. first + count). */
struct users {
	uint32_t first, count;
};

struct user {
	uint32_t rule;
	bool header;
};

struct pairing {
	const struct rules *rules;
	struct pairing_options options;
	struct tallies *rejected, *skipped;
	struct rule_state *states;
	struct users *patterns;
	struct user *users;
	struct event *heap;
	size_t heap_count, heap_capacity;
	uint64_t delay;   /* the largest header_offset, bytes */
	uint64_t settled; /* all events before this position are in the queues */
	bool finished;
	struct fifo headers;
};

#endif
