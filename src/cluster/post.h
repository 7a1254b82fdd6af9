/*
 * Messages between the processes. All calls of MPI are made in one thread, the one that called
 * post_open; any other may send, and what arrives is given to a function in that thread.
 */
#ifndef BURIN_CLUSTER_POST_H
#define BURIN_CLUSTER_POST_H

#include <stdbool.h>

#include "cluster/pack.h"

/* Which of them a message is for, and what it says. */
enum post_kind {
	/* to the conductor */
	POST_HELLO,
	POST_JOINED,
	POST_PIECE,
	POST_CHECKED,
	POST_REACHED,
	POST_WRITTEN,
	POST_FAILED,
	POST_CARVED,
	POST_COMBINE,
	/* to a helper */
	POST_BEGIN,
	POST_UNIT,
	POST_CREDIT,
	POST_HIDE,
	POST_CHECK,
	POST_WRITE,
	POST_CANCEL,
	POST_END,
	POST_IMAGE,
	POST_COMBINED,
	POST_LEAVE, /* the program ends */
};

struct post {
	unsigned from;
	enum post_kind kind;
	uint8_t *bytes;
	size_t len;
};

/* 0, or -1 when MPI can't be had. */
int post_open(int *argc, char ***argv);
unsigned post_rank(void);
unsigned post_count(void);
/* Among the processes of this host, and their number; how many hosts there are. */
unsigned post_local_rank(void);
unsigned post_local_count(void);
unsigned post_hosts(void);
const char *post_host(unsigned rank);

/* Takes over what was packed (NULL: nothing). Messages of one process to another arrive in order.
 * Thread-safe. */
void post_send(unsigned to, enum post_kind kind, struct pack *pack);

/* Sends and receives until done() says so and nothing is left to send. deliver takes over the
 * bytes. */
void post_run(void (*deliver)(struct post *post), bool (*done)(void));
/* Wakes post_run to ask done() again. */
void post_wake(void);
/* Of all processes; waits for them. */
void post_close(void);

#endif
