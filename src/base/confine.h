/*
 * Takes away what the calling process may do, for good, before it parses what an attacker may have
 * written. Layers that do not depend on each other refuse the same things:
 *
 *     limits     no new privileges, no writing to files, no new processes, no core
 *     Landlock   no files to open, truncate or remove, no connections, no signals to others
 *     seccomp    no system calls but those that computing and its descriptors need
 *
 * What is refused fails with EPERM or EACCES. Open descriptors keep working.
 */
#ifndef BURIN_BASE_CONFINE_H
#define BURIN_BASE_CONFINE_H

#include <stdbool.h>

/* What the process keeps. {0}: memory, time, and its open descriptors. */
struct confine_rights {
	/* What it may open, to read only: files, and folders with all below them. A list that ends with
	 * NULL, or NULL. Those that do not exist are ignored. */
	const char *const *readable;
	bool programs; /* it may execute programs among these, which are confined too */
	bool threads;  /* it may start threads */
	bool code;     /* it may make code at run time */
};

/* What confines it. */
struct confine_layers {
	bool limits;
	unsigned landlock; /* the version of its ABI; 0: not at all */
	bool seccomp;
};

enum confine_mode {
	CONFINE_AUTO,    /* by what there is */
	CONFINE_REQUIRE, /* a process that lacks a layer ends */
	CONFINE_OFF,
};

/* The choices of --sandbox, in that order. */
#define CONFINE_MODE_CHOICES "auto|require|off"

/* For all processes that are started later; CONFINE_AUTO unless it is called. */
void confine_set_mode(enum confine_mode mode);
enum confine_mode confine_mode(void);

/* Confines this process, its later threads (with seccomp, all threads), and the processes it starts.
 * Returns what was achieved: nothing in CONFINE_OFF. */
struct confine_layers confine(const struct confine_rights *rights);

/* One of the layers, for people. */
struct confine_layer {
	const char *name, *summary;
	bool built, works;
	const char *reason; /* why it does not work; "" */
};

/* From the outermost; false past the last. */
bool confine_layer_at(
	const struct confine_layers *layers, unsigned index, struct confine_layer *layer);
bool confine_is_complete(const struct confine_layers *layers);

#endif
