/*
 * Confines code that parses what an attacker may have written. A child process does the work: it
 * gets a socket to its parent, no other descriptor, and limits on memory and processor time; it may
 * also take away its own access to files. A crash or a runaway loop costs that child and nothing
 * else.
 *
 * In a program with threads the child is a copy of the calling thread alone. It may call anything
 * except what needs a lock that another thread held at the fork, so children are started early.
 */
#ifndef BURIN_BASE_SANDBOX_H
#define BURIN_BASE_SANDBOX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct sandbox_child;

struct sandbox_limits {
	unsigned cpu_seconds; /* 0: no limit */
	uint64_t memory;      /* bytes above what the process has when it starts; 0: no limit */
};

/* Runs job(fd, arg) in a child, which exits with what job returns. fd is the child's end of the
 * socket; its standard streams are /dev/null and all other descriptors are closed. Returns 0 or a
 * negative errno. The caller owns *child. */
int sandbox_start(struct sandbox_child **child, int (*job)(int fd, void *arg), void *arg,
	const struct sandbox_limits *limits);
/* The parent's end of the socket; it reads an end of file once the child is gone. */
int sandbox_socket(const struct sandbox_child *child);
/* Ends the child whatever it is doing, and frees it. Returns how it failed, such as "it crashed
 * (SIGSEGV)", which the caller frees; NULL when job returned 0. */
char *sandbox_end(struct sandbox_child *child);

/* Transfer all len bytes. False at an end of file, or when the other end is gone. */
bool sandbox_send(int fd, const void *bytes, size_t len);
bool sandbox_receive(int fd, void *bytes, size_t len);

/* Called in the child: from now on this process, its later threads, and the programs it starts can
 * open only what lies below the folders (a list that ends with NULL; missing ones are ignored) and
 * the file that fd refers to (-1: none), and these only to read and to execute. Open descriptors
 * keep working. Best effort: a kernel without Landlock (before Linux 5.13) restricts nothing. */
void sandbox_confine_files(const char *const *folders, int fd);

#endif
