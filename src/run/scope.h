/*
 * What a run searches: the evidence, the volumes in it, the part of it that --unallocated or
 * --allocated selects (of a shadow copy also only what differs from the volume), and the range of
 * --offset and --length. Also what of it could not be read.
 *
 * The selected part is one stream: a file may begin in one of its extents and end in the next. In
 * front of it, each by itself, are slack and free file records. All stages work with offsets in the
 * stream; alignment and reports use offsets in the evidence (evidence/extent_image.h).
 */
#ifndef BURIN_RUN_SCOPE_H
#define BURIN_RUN_SCOPE_H

#include "base/ranges.h"
#include "evidence/image.h"
#include "evidence/volumes.h"
#include "run/problems.h"
#include "run/run_options.h"

/* Zero-initialise; scope_close when done. Others only read it, but for `unread`. */
struct scope {
	const char *image_path;   /* as given */
	struct image *evidence;   /* as opened */
	struct image *image;      /* what is searched: the evidence or an extent image of it */
	struct volumes *volumes;  /* NULL: not looked for */
	bool volumes_logged;      /* what is wrong with them */
	bool selects;             /* file systems decide what is searched */
	bool is_part;             /* not all of the evidence is searched, perhaps nothing */
	uint64_t begin, end;      /* where files may start: offsets in image */
	struct ranges unread;     /* of image: could not be read, also before the run was resumed */
	uint64_t unread_noted;    /* end of the reader's last range among them */
	struct ranges unreadable; /* scope_unreadable's */
};

/* Opens the evidence alone: all of it is searched. Returns 0 or a negative errno with error set, as
 * the next. */
int scope_open_image(struct scope *scope, const char *image_path, struct error *error);
/* Opens the evidence, selects what is searched, and checks the range. find_volumes: looks for
 * volumes and file systems also where they decide nothing of that, as far as the options ask for them. */
int scope_open(struct scope *scope, const struct run_options *options, const char *image_path,
	bool find_volumes, struct problems *problems, struct error *error);

/* Once the volumes are known, logs them and what is wrong with them. To be called now and then. */
void scope_log_volumes(struct scope *scope);
/* The same, at the end: waits until they are known, unless the run failed, which ends their reading. */
void scope_end_volumes(struct scope *scope, bool failed);

/* There is nothing to search. */
bool scope_is_empty(const struct scope *scope);
/* Where reading ends: far enough past the range to see the headers of files that start in it. */
uint64_t scope_reading_end(const struct scope *scope, const struct rules *rules);
/* Where the byte at an offset of the image lies in the evidence. context: struct scope. */
uint64_t scope_evidence_offset(const void *context, uint64_t offset);

/* Adds what a reader could not read so far. Its list only grows, at its end. */
void scope_note_unread(struct scope *scope, const struct ranges *unreadable);
/* What could not be read, in offsets of the evidence. Valid until the next call. */
const struct ranges *scope_unreadable(struct scope *scope);

void scope_close(struct scope *scope);

#endif
