/*
 * The output folder. It must be new or empty. Every file is created exclusively and nothing is ever
 * written outside of it.
 */
#ifndef BURIN_OUTPUT_OUTPUT_DIR_H
#define BURIN_OUTPUT_OUTPUT_DIR_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "base/codec.h"
#include "output/path_alloc.h"

struct output_dir;

/* The largest number of files in one folder of a type. */
#define OUTPUT_DIR_FOLDER_FILES 10000

/* Creates the folder (and missing parents), or uses an empty one, and locks it against a second run
 * (flock on a descriptor of the folder itself). Errors (EXIT_IO) name the path and what to do. */
int output_dir_open(struct output_dir **output_dir, const char *path, struct error *error);
/* The same for the folder of an earlier run, with whatever is in it. */
int output_dir_reopen(struct output_dir **output_dir, const char *path, struct error *error);
/* The same for a folder that is created where it is missing, may hold anything, and is not locked.
 */
int output_dir_share(struct output_dir **output_dir, const char *path, struct error *error);
const char *output_dir_path(const struct output_dir *output_dir); /* absolute */
int output_dir_fd(const struct output_dir *output_dir);

/* The path of a carved file, relative to the folder: TYPE/OFFSET.EXT, or, with a label,
 * TYPE/OFFSET_LABEL.EXT, where TYPE is the rule's name; from the 10,001st file of a type on
 * TYPE.2/, then TYPE.3/ ...; a second file of the same type, offset and extension gets -2, -3.
 * digits: width of OFFSET. The type "" means no folder at all. In a label, anything but letters,
 * digits, dots, minuses and underscores becomes an underscore. A folder name that is taken (by
 * output_dir_reserve, or by another type's TYPE.2) is skipped.
 *
 * It is made in two steps. The first decides on all that depends on other files: serial, in the order of the report, as the
 * same sequence of calls gives the same names. */
void output_dir_claim(struct output_dir *output_dir, const char *type, uint64_t offset,
	const char *extension, struct path_claim *claim);
/* The second writes the path into room_len bytes of room, if it fits. Returns room, or a name that the caller frees. Any
 * thread. */
char *output_dir_claimed_name(const struct path_claim *claim, uint64_t offset, const char *label,
	const char *extension, unsigned digits, char *room, size_t room_len);

/* Keeps a name in the folder itself, such as a report's, from becoming a type's folder. Serial with
 * output_dir_claim. */
void output_dir_reserve(struct output_dir *output_dir, const char *name);

/* A carved file that is being written. It has a temporary name until it is complete, so that no
 * partial file ever looks like a complete one, whatever ends the program. */
struct output_dir_file {
	int fd;                /* to write to */
	int folder;            /* of its folder */
	unsigned part, number; /* of its temporary name */
};

/* Several processes write to the folder: this one's temporary names are those of `part`. */
void output_dir_set_part(struct output_dir *output_dir, unsigned part);

/* What temporary names begin and end with. */
#define OUTPUT_DIR_TEMPORARY_PREFIX ".burin-"
#define OUTPUT_DIR_TEMPORARY_SUFFIX ".part"

/* Where the state of an unfinished run is stored. */
#define OUTPUT_DIR_CHECKPOINT OUTPUT_DIR_TEMPORARY_PREFIX "checkpoint"

/* Begins the file of that name, with its folders. Thread-safe, as the next two. Returns 0 or a
 * negative errno. output_dir_finish or output_dir_drop must follow. */
int output_dir_begin(struct output_dir *output_dir, const char *name, struct output_dir_file *file,
	struct error *error);
/* Closes a complete file and gives it its name, which must be free (else -EEXIST). After a failure
 * nothing is left of it. */
int output_dir_finish(struct output_dir *output_dir, const char *name, struct output_dir_file *file,
	struct error *error);
/* Removes a file that could not be completed. */
void output_dir_drop(struct output_dir_file *file);

/* For a checkpoint: all that output_dir_claim depends on. */
void output_dir_save_names(const struct output_dir *output_dir, struct codec_writer *writer);
void output_dir_load_names(struct output_dir *output_dir, struct codec_reader *reader);

/* Creates a file for writing (O_EXCL), with its folders. Thread-safe. Returns a descriptor or a
 * negative errno. */
int output_dir_create(struct output_dir *output_dir, const char *name, struct error *error);
/* Removes a file that could not be completed. Thread-safe. */
void output_dir_remove(struct output_dir *output_dir, const char *name);
/* Removes a file that a killed run may have left; it need not exist. */
void output_dir_discard(struct output_dir *output_dir, const char *name);
/* Removes the temporary files of a killed run, and those for which is_stale is true. folder: the
 * file's, "" for the output folder itself. (output_dir_sweep.c) */
void output_dir_sweep(struct output_dir *output_dir,
	bool (*is_stale)(void *context, const char *folder, const char *name), void *context);
/* An unlinked temporary file in the folder, for spilling: read and write. A descriptor or a
 * negative errno. */
int output_dir_temporary(struct output_dir *output_dir, struct error *error);

/* Words a failure to create or write a file of the folder, with what to do about a full disk and
 * the like. name: the file's, relative to the folder; errnum: a positive errno. Thread-safe.
 * Returns -errnum (EXIT_IO). */
int output_dir_error(
	const struct output_dir *output_dir, const char *name, int errnum, struct error *error);

/* NULL is fine. */
void output_dir_close(struct output_dir *output_dir);

#endif
