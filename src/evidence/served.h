/*
 * An image that burin-evidence or burin-filesystems serves, because a library opens it that parses what an attacker may have
 * written: containers of disks (container.c) and volumes inside other images (inner.h). A request goes over
 * a socket, the bytes come back in shared memory. When the process dies, the request that killed it is
 * answered as unreadable and another one is started, so the rest of the image stays readable. One that does not
 * answer is ended (sandbox_expect).
 */
#ifndef BURIN_EVIDENCE_SERVED_H
#define BURIN_EVIDENCE_SERVED_H

#include "evidence/backend.h"

struct served_image {
	struct image image; /* first; its `outer` is the image around it, or NULL */
	const char *kind;   /* what the program that serves it calls it (its struct served_kind) */
	void *arg;          /* for the kind's functions, with arg_len bytes */
	size_t arg_len;
	bool needs_secret;              /* it is given the passwords and keys of this process */
	unsigned open_cpu_seconds;      /* that it may take to open it; 0: as for a request */
	uint64_t begin, length;         /* the part of the outer image */
	uint64_t unit;                  /* bytes that are lost together where any is bad; not 0 */
	struct served_process *process; /* the rest is set by served_open */
};

/* Starts the process, and waits until the image is open. The caller has set what is above, and calls
 * served_close whatever happens. 0 with info.size and info.sector_size set; else a negative errno, and
 * the reason: raw bytes, what the library says. */
int served_open(struct served_image *served, char *reason, size_t reason_len);
/* How it was opened; "" when the kind does not say. The caller frees it. */
char *served_how(const struct served_image *served);
/* Lists the names of the images that there are instead: lines, which the caller frees; NULL with the reason
 * set. */
char *served_list(struct served_image *served, char *reason, size_t reason_len);
/* The lines that the kind has named while it opened the image; the caller frees them. */
char *served_names(const struct served_image *served);

/* What the kind says of the image that was opened, len bytes; to be called before anything else is asked. */
void served_answer(const struct served_image *served, void *to, size_t len);
/* Where the bytes from offset on are, as the kind lists it, at most *len bytes: 0 and how many, or a negative
 * errno. Thread-safe. */
int served_list_at(
	struct served_image *served, uint64_t offset, size_t effort, void *to, size_t *len);

/* For the backend. All are thread-safe, but for the close. */
int served_read_at(struct image *image, uint64_t offset, void *buffer, size_t len);
/* How the request for the byte ended the process, which the caller frees; NULL: it did not. */
char *served_why(struct image *image, uint64_t offset);
void served_close(struct image *image);

#endif
