/*
 * Messages between the processes. One thread, which called transport_open, makes all calls of MPI;
 * any other may send, and what arrives is given to a function in that thread.
 */
#ifndef BURIN_CLUSTER_TRANSPORT_H
#define BURIN_CLUSTER_TRANSPORT_H

#include <stdbool.h>

#include "base/codec.h"

/* What a message says, and to which role. */
enum message_kind {
	/* to the coordinator */
	MESSAGE_HELLO,
	MESSAGE_JOINED,
	MESSAGE_RESULT,
	MESSAGE_CHECKED,
	MESSAGE_REACHED,
	MESSAGE_WRITTEN,
	MESSAGE_FAILED,
	MESSAGE_CARVED,
	MESSAGE_REDUCE,
	MESSAGE_PART, /* of a pass over files in pieces */
	/* to a worker */
	MESSAGE_BEGIN,
	MESSAGE_UNIT,
	MESSAGE_CREDIT,
	MESSAGE_HIDE,
	MESSAGE_CHECK,
	MESSAGE_WRITE,
	MESSAGE_CANCEL,
	MESSAGE_END,
	MESSAGE_IMAGE,
	MESSAGE_REDUCED,
	MESSAGE_PASSES,
	MESSAGE_PARTS,
	MESSAGE_LEAVE, /* the program ends */
};

struct message {
	unsigned from;
	enum message_kind kind;
	uint8_t *bytes;
	size_t len;
};

/* 0, or -1 when MPI is not available with threads. */
int transport_open(int *argc, char ***argv);
unsigned transport_rank(void);
unsigned transport_count(void);
/* Among the processes of this host, and their number; how many hosts there are. */
unsigned transport_local_rank(void);
unsigned transport_local_count(void);
unsigned transport_hosts(void);
const char *transport_host(unsigned rank);

/* Takes over what was written (NULL: nothing). Messages of one process to another arrive in order.
 * Thread-safe. */
void transport_send(unsigned to, enum message_kind kind, struct codec_writer *writer);

/* As in struct cluster: waits for the thread that makes MPI's calls. From one other thread; nothing may
 * be on its way. */
void transport_total(uint64_t *counts, unsigned count, unsigned processes, double *seconds);

/* Sends and receives until done() returns true and nothing remains to be sent. deliver takes over
 * the bytes. */
void transport_run(void (*deliver)(struct message *message), bool (*done)(void));
/* Wakes transport_run to ask done() again. */
void transport_wake(void);
/* Of all processes; waits for them. */
void transport_close(void);

#endif
