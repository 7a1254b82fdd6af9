/* What the reports contain: one record for the run, one per file, one for the summary. Filled by
 * run/ and carve/, written by report/. */
#ifndef BURIN_REPORT_RECORD_H
#define BURIN_REPORT_RECORD_H

#include <stdbool.h>
#include <stdint.h>

#include "base/codec.h"
#include "base/confine.h"
#include "base/memory.h"
#include "base/options.h"
#include "base/ranges.h"
#include "content_map/content.h"
#include "evidence/damage.h"
#include "evidence/image.h"
#include "evidence/volumes.h"
#include "hashing/evidence_verdict.h"
#include "hashing/hash.h"
#include "report/file_end.h"
#include "rules/rules.h"

enum file_status { FILE_COMPLETE, FILE_TRUNCATED, FILE_UNVERIFIED };
/* Whether a file's bytes are in use by the image's file systems. SPACE_SLACK: none is, but some are in
 * the slack of a file. */
enum file_space {
	SPACE_NOT_KNOWN,
	SPACE_IN_USE,
	SPACE_FREE,
	SPACE_PARTLY,
	SPACE_SLACK,
	SPACE_COUNT
};

const char *file_status_name(enum file_status status); /* "complete", "truncated", "unverified" */
/* NULL, "yes", "no", "partly", "slack" */
const char *file_space_name(enum file_space space);
struct file_record;
/* Whether the image's file system has a name for this file, and not just for one around it. */
bool file_record_is_original(const struct file_record *record);
/* When the file was last changed, by the image's file system, or else by what is in it: seconds since
 * 1970 UTC; 0: not known. */
int64_t file_record_time(const struct file_record *record);

/* How the extents of a file in several pieces, or the place of a file, were found. */
enum assembly_by {
	ASSEMBLY_NONE,           /* the file is where its header was found, in one piece */
	ASSEMBLY_FILE_SYSTEM,    /* a file system's records of the file */
	ASSEMBLY_POINTER_BLOCKS, /* the layout of ext2 and ext3: blocks of pointers between data */
	ASSEMBLY_RUN_LIST,       /* a list of extents that belongs to no known file system */
	ASSEMBLY_TABLE,          /* offsets inside the file */
	ASSEMBLY_NEAR,           /* a search close to the file's start */
	ASSEMBLY_SEARCH          /* a search through all of the image */
};

const char *assembly_by_name(enum assembly_by by); /* "none", "file-system" ... */

#define ASSEMBLY_DOUBTS_MAX 8

struct assembly {
	enum assembly_by by;
	uint32_t evidence; /* bits that speak for the joints, beyond what chance would do in the
			      trials made; 0: not known */
	uint64_t tested;   /* layouts that were tried for this file; 0: none but this */
	/* Parts of the file that are not certain, as ranges of the file: the joint may be anywhere
	 * in them. */
	uint32_t doubt_count;
	struct range doubt[ASSEMBLY_DOUBTS_MAX];
};

/* 127 raw bytes and a zero, also after they were made valid text, which may take three times as
 * much: a report that is read back has all that was written. */
#define RECORD_TEXT_LEN 512

struct file_record {
	char *path;            /* relative to the output folder: "png/0000012345.png" */
	const char *type;      /* the rule's name */
	const char *kind;      /* what the carver recognised: docx for type zip; else the type */
	uint32_t rule;         /* the rule's index */
	uint64_t offset;       /* of the file's start in the image */
	uint64_t length;       /* bytes */
	const char *extension; /* "" for none */
	enum file_status status;
	enum file_end end;  /* how the file's end was determined */
	struct range *runs; /* extents in the image, in file order */
	uint32_t run_count;
	struct assembly assembly;
	uint64_t unreadable;    /* bytes that could not be read and are zeros */
	uint64_t unreadable_at; /* the first of them, in the image; if there are any */
	enum file_space space;
	/* The file in which it begins, by the image's file system; raw bytes; NULL: unknown */
	const char *fs_path;
	struct fs_file fs; /* more on it, if fs_path is set */
	int64_t file_time; /* that the written file gets as its last change; 0: the real one */
	int64_t time;      /* seconds since 1970 UTC; 0: none */
	bool overlaps;     /* it starts in an unverified part of another complete file... */
	uint64_t outer;    /* ... which starts there in the image */
	bool chop;         /* Scalpel's column: cut at the maximum */
	bool written;      /* false on a dry run */
	bool left_out;     /* known, and not to be kept */
	/* The hash sets that hold it (hashing/hash_sets.h); NULL: none. */
	const char *known, *alert;
	/* From here on texts, of which nothing after their ends is valid. */
	char reason[RECORD_TEXT_LEN]; /* why truncated or unverified; "" */
	char title[RECORD_TEXT_LEN]; /* raw bytes from the evidence: writers make them valid text */
	struct hashes hashes;        /* of the bytes written; none on a dry run */
};

/* Makes an empty record, without writing to all of it. */
void file_record_clear(struct file_record *record);

/* Sums over files. */
struct file_sums {
	uint64_t files, bytes;
	uint64_t unreadable; /* bytes that they lack because they could not be read */
	uint64_t known, alert;
};

void file_sums_add(struct file_sums *sums, const struct file_record *record);

/* What the person who runs burin says about the case; NULL where nothing was said. */
struct case_record {
	const char *number, *examiner, *note;
};

struct plugin_record {
	const char *path; /* absolute */
	uint64_t bytes;
	struct hashes hashes; /* SHA-256 */
};

struct run_record {
	struct case_record about;
	const char *command_line; /* joined with blanks, for audit.txt */
	char **arguments;         /* ended by NULL */
	const char *output_dir;   /* absolute */
	int64_t started;          /* seconds since 1970 UTC */
	const struct image_info *image;
	const char *image_path;              /* as given */
	const struct volumes *volumes;       /* NULL: not examined */
	const struct plugin_record *plugins; /* ended by one without a path; NULL: none */
	const struct rules *rules;
	const char *engine, *kernel, *engine_reason, *reader;
	unsigned threads;
	uint64_t chunk_size;
	struct confine_layers confined; /* by what the processes are that parse the evidence */
	bool checks_confined;           /* candidates were checked in such processes, too */
	/* The options that change the result: rows with a field, and the settings they describe. */
	const struct option_row *option_rows;
	const void *options;
	bool compat_scalpel; /* audit.txt is written as Scalpel writes it */
};

/* A counter with a name: files of a type, rejections by reason. */
struct tally {
	char *name;
	uint64_t count, bytes;
};

#define TALLY_RECENT 16

/* Zero-initialise; tallies_free when done. */
struct tallies {
	struct tally *items; /* sorted by name at all times */
	size_t count, capacity;
	size_t recent[TALLY_RECENT]; /* places, by a name's address: found without a search */
};

/* Counts one, and bytes, under name. A name must not contain a number that differs from file to
 * file, or the table would grow with the image. */
void tally_add(struct tallies *tallies, const char *name, uint64_t bytes);
/* Counts several; none when count is 0. */
void tally_add_many(struct tallies *tallies, const char *name, uint64_t count, uint64_t bytes);
void tallies_free(struct tallies *tallies);

/* For a checkpoint (record_save.c). A file's hashes and unreadable bytes are not kept, because it
 * will be written again. */
void tallies_save(const struct tallies *tallies, struct codec_writer *writer);
void tallies_load(struct tallies *tallies, struct codec_reader *reader);
/* Their number, and then each. */
void runs_save(const struct range *runs, size_t count, struct codec_writer *writer);
/* length: of the file that was put together. */
void assembly_save(const struct assembly *assembly, struct codec_writer *writer);
void assembly_load(struct assembly *assembly, uint64_t length, struct codec_reader *reader);
void file_sums_save(const struct file_sums *sums, struct codec_writer *writer);
void file_sums_load(struct file_sums *sums, struct codec_reader *reader);
void file_record_save(const struct file_record *record, struct codec_writer *writer);
/* Allocates path and runs; the extension goes to texts. limit: the image's size. */
void file_record_load(struct file_record *record, const struct rules *rules, uint64_t limit,
	struct strpool *texts, struct codec_reader *reader);

struct resumption {
	int64_t at;        /* seconds since 1970 UTC */
	uint64_t position; /* in the image, where searching resumed */
};

/* One of several processes that shared the run: what it searched, and the time that took. */
struct rank_record {
	const char *host;
	uint64_t bytes; /* searched */
	double start;   /* seconds: until it could search; from then to the end of its last unit */
	double search;
	/* Of these, waiting for the reader, the engine, a unit, and room for its hits. */
	double read_wait, scan_wait, unit_wait, send_wait;
	uint64_t jobs;    /* checks and writes requested of it */
	double jobs_wait; /* sum of the seconds until they were answered */
};

/* What an engine has searched. */
struct engine_share {
	const char *name;
	char kernel[512]; /* "" for none */
	uint64_t bytes;
	char why[512]; /* it was not used, or not to the end; "" */
};

struct summary_record {
	uint64_t files, bytes;
	uint64_t known, alert; /* of the files: in a set of known ones; in an alert set */
	bool sets;             /* there are such sets */
	struct tallies by_type, by_kind;
	struct tallies rejected; /* reason: candidates that were not files */
	struct tallies skipped;  /* "inside a complete file", "quota", "align", "starts before the
				    image", "min_size" ... */
	struct tallies checks;   /* checks by type; bytes: their units of work */
	struct evidence_record evidence;
	struct content_sums content;
	uint64_t hits; /* pattern hits in all */
	const struct ranges *unreadable;
	struct damages damage; /* why, for those that have an explanation */
	double seconds_total, seconds_start, seconds_read_wait, seconds_scan_wait,
		seconds_carve_wait;
	struct rank_record *ranks; /* of which there are rank_count */
	unsigned rank_count;
	const struct engine_share *engines; /* of this process; of which there are engine_count */
	size_t engine_count;
	int64_t finished;           /* seconds since 1970 UTC */
	uint64_t scanned;           /* bytes */
	const char *problems[16];   /* sentences; ends with NULL */
	const char *cautions[4];    /* the same: why a run without problems may prove little */
	struct resumption *resumed; /* each time the run was resumed */
	size_t resumed_count;
	int exit;
	int signal; /* that interrupted the run, or 0 */
};

#endif
