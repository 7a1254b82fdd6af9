/*
 * What is known of the image's clusters: their size and grid, and which are taken. A cluster is taken
 * when a complete file has it that starts at a cluster; one that starts elsewhere is inside another
 * file. During a pass this does not change; all threads read it.
 */
#ifndef BURIN_ASSEMBLE_CLUSTERS_H
#define BURIN_ASSEMBLE_CLUSTERS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/codec.h"
#include "base/ranges.h"
#include "carvers/carver.h"

#define SECTOR 512         /* bytes, the smallest cluster */
#define USUAL_CLUSTER 4096 /* bytes */

/* Starts of files. */
struct starts {
	uint64_t *items;
	size_t count, capacity;
};

struct clusters {
	uint64_t size;       /* bytes of a cluster: a power of two */
	uint64_t finest;     /* the same before clusters_coarsen; 0: this is it */
	uint64_t origin;     /* clusters begin at offsets of this remainder */
	uint64_t end;        /* of the image */
	struct ranges taken; /* by complete files */
	struct ranges heads; /* what is likely taken by files that break off later */
	/* Between what is taken, each from a cluster on, in order; NULL: not listed. */
	struct range *free_runs;
	size_t free_count;
	uint64_t inside_end;   /* what starts before is inside a file that was found... */
	uint64_t complete_end; /* ...that is complete */
	struct starts voters;  /* of files that are large, and not inside another one */
	struct starts rests;   /* of these, such as may be the rest of a file */
	struct starts
		hidden; /* the same, but inside what may go on over others, as it breaks off */
	struct range *complete; /* extents of complete files */
	size_t complete_count, complete_capacity;
	uint64_t *bases; /* where volumes begin, and 0: blocks are numbered from there */
	size_t base_count, base_capacity;
};

/* In order of start: a file that was found, and how much of it was validated, which is the file's, so that what
 * starts in it is inside it; if the file breaks off, less surely so, and not at all if nothing shows its end. */
void clusters_add_start(
	struct clusters *clusters, uint64_t start, uint64_t length, enum verdict verdict);
/* In order, too: one of these may be the rest of another file (struct carver, restarts): it is no start for clusters_is_start. */
void clusters_add_rest(struct clusters *clusters, uint64_t start);
/* An extent of a complete file. */
void clusters_add_complete(struct clusters *clusters, uint64_t offset, uint64_t length);
void clusters_add_base(struct clusters *clusters, uint64_t offset);
/* All was added: finds size and origin, and what is taken. */
void clusters_get_ready(struct clusters *clusters);
/* The bytes that a file which breaks off has without doubt. */
void clusters_add_head(struct clusters *clusters, uint64_t offset, uint64_t length);
/* Whether the cluster at offset is such a file's. */
bool clusters_is_head(const struct clusters *clusters, uint64_t offset);
/* The same for clusters of the usual size, of which one begins at a file's start: where an image has several volumes, those that
 * were found may be the smallest. What it points to stays the other's, and no free runs are listed. False: they are no
 * smaller. */
bool clusters_coarsen(const struct clusters *clusters, uint64_t start, struct clusters *coarse);
/* Takes the clusters that have a byte of the range. */
void clusters_take(struct clusters *clusters, uint64_t offset, uint64_t length);
/* Lists the runs of free clusters, for a pass: whatever is taken afterwards makes the list invalid. */
void clusters_list_free(struct clusters *clusters);
/* Of these the first that ends after offset; NULL: there is none. */
const struct range *clusters_free_after(const struct clusters *clusters, uint64_t offset);
/* The first cluster that begins at this place or after it. */
uint64_t clusters_next(const struct clusters *clusters, uint64_t at);
/* Whether no complete file has a byte of the range, which is inside the image. */
bool clusters_are_free(const struct clusters *clusters, uint64_t offset, uint64_t length);
/* The same for each of the runs. */
bool clusters_all_free(const struct clusters *clusters, const struct range *runs, size_t count);
/* Whether a file that was found, of which a few kilobytes are valid, starts exactly there. */
bool clusters_is_start(const struct clusters *clusters, uint64_t offset);
/* For a checkpoint: what was added, bases left out. */
void clusters_save(const struct clusters *clusters, struct codec_writer *writer);
/* Into one to which nothing was added; its end is set. Invalid values fail the reader. */
void clusters_load(struct clusters *clusters, struct codec_reader *reader);
void clusters_free(struct clusters *clusters);

#endif
