/*
 * An image that a confined process serves, because a library opens it that parses what an attacker may
 * have written: containers of disks (container.c) and volumes inside other images (inner.h). A request
 * goes over a socket, the bytes come back in shared memory; the bytes that the library needs of the
 * image around it come the same way from burin. The process supervises another one that does the work,
 * and restarts it when it dies: the request that killed it is answered as unreadable, and the rest of
 * the image stays readable. Libraries read for one thread at a time, so requests are served one at a
 * time.
 */
#ifndef BURIN_EVIDENCE_SERVED_H
#define BURIN_EVIDENCE_SERVED_H

#include "base/sandbox.h"
#include "evidence/backend.h"

struct served; /* the state of the process that works */

struct served_kind {
	uint64_t memory;      /* bytes that the process may use */
	bool confines_itself; /* `open` calls confine() before it reads anything of the image */
	/* The folder that the process may read, because the library opens the image's files; the caller
	 * frees it. NULL: it can open nothing. */
	char *(*folder)(const void *arg);
	unsigned open_cpu_seconds; /* for opening; 0: as for a request */
	/* In the process that works. `arg` as given to served_open. open: the library's handle; NULL after
	 * served_refuse. It sets the size and the length of a sector, where that is known. */
	void *(*open)(struct served *served, void *arg);
	/* 0 or a negative errno. */
	int (*read_at)(void *handle, uint64_t offset, void *buffer, size_t len);
	/* Names of the images that can be opened, by served_name; open is not called then. May be NULL. */
	void (*list)(struct served *served, void *arg);
};

/* ---- in the process that works ------------------------------------------------------------- */

void served_set_size(struct served *served, uint64_t size, uint32_t sector_size);
/* How the image was opened, for people: "with a password of FILE". */
void served_set_how(struct served *served, const char *how);
/* Why it can't be opened: what the library says. */
void served_refuse(struct served *served, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
void served_name(struct served *served, const char *name);
/* The image around this one, or its part: its size, and reading from it. 0, or -EIO when a byte of it
 * can't be read or is past its end. */
uint64_t served_outer_size(const struct served *served);
int served_outer_read(struct served *served, uint64_t offset, void *buffer, size_t len);

/* ---- in burin ------------------------------------------------------------------------------ */

struct served_image {
	struct image image; /* first; its `outer` is the image around it, or NULL */
	const struct served_kind *kind;
	void *arg;                      /* for the kind's functions */
	uint64_t begin, length;         /* the part of the outer image */
	uint64_t unit;                  /* bytes that are lost together where any is bad */
	struct served_process *process; /* the rest is set by served_open */
};

/* Starts the process, and waits until the image is open. The caller has set what is above, and calls
 * served_close whatever happens. 0 with info.size and info.sector_size set; else a negative errno, and
 * the reason: raw bytes, what the library says. */
int served_open(struct served_image *served, char *reason, size_t reason_len);
/* How it was opened; "" when the kind does not say. Valid until served_close. */
const char *served_how(const struct served_image *served);
/* Lists the names instead: lines, which the caller frees; NULL with the reason set. */
char *served_list(struct served_image *served, char *reason, size_t reason_len);

/* For the backend. Both are thread-safe, but for the close. */
int served_read_at(struct image *image, uint64_t offset, void *buffer, size_t len);
void served_close(struct image *image);

#endif
