/*
 * A piece of work that may crash or run wild, in a process of its own: libraries that read what an
 * attacker may have written. It gets a socket to its parent and nothing else, and has limits on
 * memory and processor time. All the same in a program with threads: the child is their copy,
 * alone, and may call what it likes but what other threads hold at that moment; so it is started
 * early.
 */
#ifndef BURIN_BASE_CONFINED_H
#define BURIN_BASE_CONFINED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

struct confined;

struct confined_limits {
	unsigned cpu_seconds; /* 0: none */
	uint64_t memory;      /* bytes above what the process has when it starts */
};

/* Runs job(fd, arg) in a child whose exit code it returns; fd is its end of the socket, and all
 * other descriptors but the standard streams are closed, stdout and stderr swallowed. Returns 0 or
 * a negative errno. The caller owns *confined. */
int confined_start(struct confined **confined, int (*job)(int fd, void *arg), void *arg,
	const struct confined_limits *limits);
/* The parent's end of the socket: it reads an end of file when the child is gone. */
int confined_fd(const struct confined *confined);
/* Ends the child, whatever it does. Returns how it ended if that was before its work was done:
 * "it crashed (SIGSEGV)", which the caller frees; NULL when the job returned 0. */
char *confined_end(struct confined *confined);

/* All of len bytes, either way. False at an end of file, or when the other end is gone. */
bool confined_send(int fd, const void *bytes, size_t len);
bool confined_receive(int fd, void *bytes, size_t len);

#endif
