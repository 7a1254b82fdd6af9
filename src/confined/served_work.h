/*
 * Serves an image that a library opens (evidence/served.h): a container of disks, or a volume inside
 * another image. The bytes that the library needs of the image around it come from burin. Libraries read
 * for one thread at a time, so requests are served one at a time.
 */
#ifndef BURIN_CONFINED_SERVED_WORK_H
#define BURIN_CONFINED_SERVED_WORK_H

#include <stdbool.h>

#include "evidence/evidence_job.h"

struct served; /* the state of this process */

struct served_kind {
	const char *name;     /* in evidence_job */
	uint64_t memory;      /* bytes that the process may use */
	bool confines_itself; /* `open` calls confine() before it reads anything of the image */
	/* The folder that the process may read, because the library opens the image's files; the caller
	 * frees it. NULL: it can open nothing. */
	char *(*folder)(const void *arg);
	/* `arg` as given to served_open. open: NULL where burin was built without the library; the library's handle; NULL after
	 * served_refuse. It sets the size and the length of a sector, where that is known. */
	void *(*open)(struct served *served, void *arg);
	/* 0 or a negative errno. */
	int (*read_at)(void *handle, uint64_t offset, void *buffer, size_t len);
	/* Names of the images that can be opened, by served_name; open is not called then. May be NULL. */
	void (*list)(struct served *served, void *arg);
	/* Of an image whose stored bytes burin reads itself: where they are from offset on. Fills at most SERVED_DATA_LEN
	 * bytes and returns how many. May be NULL. */
	size_t (*list_at)(void *handle, uint64_t offset, uint64_t effort, void *buffer);
};

/* Of the image, and of its sectors: bytes. */
void served_set_size(struct served *served, uint64_t size, uint32_t sector_size);
/* How the image was opened, for people: "with a password of FILE". */
void served_set_how(struct served *served, const char *how);
/* More of an image that was opened, for burin, at most SERVED_DATA_LEN bytes. */
void served_answer_open(struct served *served, const void *bytes, size_t len);
/* Why it can't be opened: what the library says. */
void served_refuse(struct served *served, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
/* And its kind, for the caller of served_open; EIO unless this is called. */
void served_set_errno(struct served *served, int errnum);
void served_name(struct served *served, const char *name);
/* The image around this one, or its part: its size, and reading from it. 0, or -EIO when a byte of it
 * can't be read or is past its end. */
uint64_t served_outer_size(const struct served *served);
int served_outer_read(struct served *served, uint64_t offset, void *buffer, size_t len);

/* A kind's read_at, whose handle is the bytes of the image. */
int served_read_memory(void *handle, uint64_t offset, void *buffer, size_t len);

/* Confines this process, and returns its exit code. kinds: NULL after the last. */
int served_work(
	const struct evidence_job *job, void *argument, const struct served_kind *const *kinds);

/* Of a container, whose other parts are there: a served_kind's folder. It may name parts elsewhere, but is not believed. */
char *served_container_folder(const void *container);

extern const struct served_kind served_container, served_aff4, served_bitlocker, served_luks,
	served_filevault, served_shadow, served_changed, served_streams, served_lvm, served_md,
	served_ewf, served_blocks;

#endif
