/*
 * Runs code that parses what an attacker may have written in a child process, which gets a socket to
 * its parent, no other descriptor, no environment, and limits on memory and processor time. A crash or
 * a runaway loop costs that child and nothing else. Before it reads the first hostile byte, the child
 * calls confine().
 *
 * In a program with threads the child is a copy of the calling thread alone. It may call anything
 * except what needs a lock that another thread held at the fork, so children are started early.
 */
#ifndef BURIN_BASE_SANDBOX_H
#define BURIN_BASE_SANDBOX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/confine.h"
#include "base/error.h"

struct sandbox_child;

struct sandbox_limits {
	unsigned cpu_seconds; /* 0: no limit */
	uint64_t memory;      /* bytes above what the process has when it starts; 0: no limit */
};

/* Runs job(fd, arg) in a child, which exits with what job returns. fd is the child's end of the
 * socket; its standard streams are /dev/null, all other descriptors are closed, and its environment is
 * empty. Returns 0 or a negative errno. The caller owns *child. */
int sandbox_start(struct sandbox_child **child, int (*job)(int fd, void *arg), void *arg,
	const struct sandbox_limits *limits);
/* Executes a program in a child instead: its arguments end with NULL, and the first is its path. The
 * child's end of the socket is its descriptor SANDBOX_FD; shared, -1 or the parent's descriptor of what
 * they share, is SANDBOX_SHARED_FD. It has no limits yet. */
int sandbox_execute(struct sandbox_child **child, const char *const *arguments, int shared);
#define SANDBOX_FD 3
#define SANDBOX_SHARED_FD 4
/* Its exit code when it is not of the same version. */
#define SANDBOX_OTHER_VERSION 77
/* And when it met the limit on its memory. */
#define SANDBOX_TOO_MUCH_MEMORY 78
/* Memory that this process can share with a child by its descriptor, which the caller closes: zeros, of
 * which neither can make less. NULL: there is none, and *why says why; *fd is -1 then. */
void *sandbox_memory(size_t len, int *fd, const char **why);
/* Called in a child: from now on it may use this much more processor time. */
void sandbox_allow_time(unsigned seconds);
/* Called in such a program. */
void sandbox_limit(const struct sandbox_limits *limits);
/* The parent's end of the socket; it reads an end of file once the child is gone. */
int sandbox_socket(const struct sandbox_child *child);
/* Seconds of processor time that the child, with all its threads, has used; 0 where that can't be told. */
double sandbox_time_used(const struct sandbox_child *child);
/* Whether it runs, is ready to, or waits for a disk; also where that can't be told. */
bool sandbox_is_awake(const struct sandbox_child *child);

/* What the parent bears while it waits for a child, because a child that was taken over may lift the limits
 * and stop the timers that it has set itself. It depends on the child's work, and not on how fast this
 * machine is: a child that is not given a processor is not asleep. */
struct sandbox_patience {
	unsigned cpu_seconds; /* processor time of all its threads */
	/* How often it may be found asleep, at some ten checks a second, though the parent owes it nothing.
	 * A disk for which it waits is no sleep. */
	unsigned sleeps;
	bool (*interrupted)(void); /* NULL, or asked at each check: true ends the waiting */
};
/* Starts to count from now on. Without it the parent waits for ever. */
void sandbox_expect(struct sandbox_child *child, const struct sandbox_patience *patience);
/* Transfer all len bytes. False when the child is gone, or patience with it is: sandbox_end returns why. */
bool sandbox_send_to(struct sandbox_child *child, const void *bytes, size_t len);
bool sandbox_receive_from(struct sandbox_child *child, void *bytes, size_t len);
/* At least one byte: returns how many; 0 where the other two return false. */
size_t sandbox_receive_some(struct sandbox_child *child, void *bytes, size_t len);
/* Ends the child whatever it is doing, and frees it. Returns how it failed, such as "it crashed
 * (SIGSEGV)", which the caller frees; NULL when job returned 0. */
char *sandbox_end(struct sandbox_child *child);

/* For the child. Transfer all len bytes. False at an end of file, or when the other end is gone. */
bool sandbox_send(int fd, const void *bytes, size_t len);
bool sandbox_receive(int fd, void *bytes, size_t len);

/* Give the process at the other end copies of descriptors, at most SANDBOX_DESCRIPTORS, with one message. */
#define SANDBOX_DESCRIPTORS 250
bool sandbox_send_descriptors(int fd, const int *descriptors, size_t count);
/* *count: how many there is room for, then how many came. */
bool sandbox_receive_descriptors(int fd, int *descriptors, size_t *count);

/* What confines the children of this process: one that does nothing else found out, when this was called
 * first. Thread-safe. */
const struct confine_layers *sandbox_layers(void);
/* Before anything is parsed: 0, after a warning when a layer is missing; with CONFINE_REQUIRE a negative
 * errno instead, and error set (EXIT_IO). */
int sandbox_check(struct error *error);

#endif
