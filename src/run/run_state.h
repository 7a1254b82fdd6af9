/* What the files of run*.c share; nobody else includes this. */
#ifndef BURIN_RUN_RUN_STATE_H
#define BURIN_RUN_RUN_STATE_H

#include <pthread.h>
#include <stdatomic.h>

#include "base/pool.h"
#include "base/codec.h"
#include "carve/carving.h"
#include "carve/scalpel_order.h"
#include "run/checkpoint_file.h"
#include "hashing/media_hash.h"
#include "report/report.h"
#include "run/run.h"
#include "run/run_cluster.h"
#include "run/run_left.h"
#include "scan/scan.h"

struct run;

struct flight {
	struct chunk chunk;
	struct reader_slot *slot;
	bool finished;
};

enum run_more { RUN_MORE_NONE, RUN_MORE_RANGE, RUN_MORE_LATER };

/* What becomes of the chunks that were searched. */
struct run_taker {
	/* The hits of [chunk->from, chunk->until), in order of the image. 0, or a negative errno
	 * with run->error set. */
	int (*take)(struct run *run, const struct chunk *chunk);
	/* Then, with the slot given back, what can be done with them. NULL: nothing. */
	int (*settle)(struct run *run, uint64_t position);
	/* The range is read: another one? wait: nothing is left to do without it. NULL: none. */
	enum run_more (*more)(struct run *run, bool wait, struct range *range);
};

/* What must be the same when a run is resumed, as text. */
struct run_traits {
	char *names[40];
	char *values[40]; /* "" for what is not known */
	size_t count;
};

struct run_checkpoints {
	struct checkpoint_file *checkpoint_file; /* NULL: none are made */
	double next, spent; /* seconds: when the next is due; what they have cost */
	bool synced, warned;
	struct codec_reader *reader; /* of the one that is resumed from */
	int fd;
	bool begun;   /* it knows more than that the run began */
	bool loading; /* not all of it is loaded: it must not be replaced */
};

struct run_map;
struct run_scout;

struct run {
	const struct run_options *options;
	struct image *evidence;  /* as opened */
	struct image *image;     /* what is searched: the evidence, or a part of it (gathered.h) */
	struct volumes *volumes; /* NULL for an extraction */
	struct ranges space;     /* that part */
	struct output_dir *output_dir;
	struct pool *pool;
	struct reader *reader;
	const struct scan_engine *engine;
	const char *kernel; /* what the engine is asked for; NULL: its choice */
	struct scan *scan;
	char engine_reason[512];
	struct fifo_store *store;
	struct pairing *pairing;
	struct scalpel_order *order; /* NULL without --compat scalpel */
	struct carving *carving;
	struct report *report;
	struct progress *progress;
	const struct run_taker *taker;
	struct flight *flights;
	unsigned flight_count;
	uint64_t submitted, consumed; /* chunks, since the start */
	uint64_t released;            /* of those consumed: back with the reader */
	uint64_t hashed_before;       /* pieces of what an earlier part of the run has read */
	struct media_hash *hash;      /* NULL: the evidence is not hashed */
	pthread_t hash_thread;        /* hash_aside: it reads all of it for that */
	bool hash_aside, hashed_all;
	atomic_bool hash_stop;
	struct run_map *map; /* NULL: its blocks are not classified */
	bool unsuited;       /* the engine takes no such rules */
	bool refused;        /* the last of those submitted: the engine had no room for it yet */
	struct candidate pending; /* a candidate that the carving stage could not take yet */
	bool has_pending, read_all;
	uint64_t near_len; /* how far behind the search the checks may be; 0: the others search */
	size_t barren_len,
		barren_tail_len;         /* a slot of so many zeros has no hit; 0: not known yet */
	uint64_t range_start, range_end; /* in what is searched */
	struct ranges unreadable;        /* run_unreadable's */
	uint64_t position;               /* in what is searched: every hit before was paired */
	struct ranges unread; /* of that: what could not be read, also before the run was resumed */
	uint64_t unread_noted; /* where the last range of the reader ends that is among them */
	struct run_traits traits;
	struct run_checkpoints checkpoint;
	struct run_record record;
	struct summary_record summary;
	size_t problem_count;
	char *problems[16];
	double started, set_up, read_wait, scan_wait, hash_wait; /* seconds */
	double flushed;                /* when the report was flushed last */
	struct run_scout *scout;       /* of a helper */
	struct run_own_help *own_help; /* in a cluster: this process's own part of the work */
	struct error error;
};

/* run/run.c. What returns int returns 0 or a negative errno with run->error set. */
/* The evidence, what of it is searched, and the range. volumes: whether they are looked for. */
int run_open_evidence(struct run *run, const char *image_path, bool volumes);
void run_free(struct run *run);
struct pairing_options run_pairing_options(const struct run *run);
/* Takes over the sentence. */
void run_add_problem(struct run *run, char *sentence);
int run_open_output(struct run *run, const char *output);
int run_open_pool(struct run *run);
/* total: bytes that the progress counts. */
int run_start_report(struct run *run, const char *image_path, uint64_t total);
void run_start_carving(struct run *run);

/* run/run_reader.c. */
/* Reader, engine and flights: 0 or a negative errno with run->error set. length: of what is read
 * behind run->position. */
int run_open_search(struct run *run, uint64_t length);
/* None is open: nothing to do. */
void run_close_reader(struct run *run);

/* run/run_signal.c. */
bool run_interrupted(void);

/* run/run_end.c. */
/* Brings run->unread up to what the reader has found. */
void run_note_unread(struct run *run);
/* Completes the reports, tells the person, frees everything. Returns the exit code. */
int run_end(struct run *run, const char *image_path, struct run_sums *sums);

/* run/run_engine.c: the engine, and what becomes of the run when it breaks down. All return 0 or a
 * negative errno with run->error set. */
int run_pick_engine(struct run *run);
/* The engine must have been picked, and the reader be open. */
int run_start_engine(struct run *run);
/* The engine broke down in a chunk: everything not consumed is searched again by the next engine of
 * the table. */
int run_replace_engine(struct run *run, int status);
struct flight *run_flight(struct run *run, uint64_t number);
/* -EAGAIN: the engine has no room before a chunk is finished. */
int run_submit(struct run *run, struct flight *flight);
/* As run_submit, but waits until there is room. */
int run_submit_again(struct run *run, struct flight *flight);
/* Waits until the chunk is finished. */
int run_await(struct run *run, struct flight *flight);
/* Leaves nothing in flight, whatever happened, and closes the engine. */
void run_stop_engine(struct run *run);

/* run/run_hash.c: hashing the evidence. The engine must have been started. */
int run_start_hashing(struct run *run);
void run_hash_slot(struct run *run, const struct reader_slot *slot);
/* Gives the reader what is consumed, hashed and mapped. */
void run_release_slots(struct run *run);
/* Waits until something can be given back, when anything is consumed that was not. */
void run_await_hashing(struct run *run);
/* Waits for the last bytes, when all were given, and judges. */
void run_finish_hashing(struct run *run, bool failed);

/* run/run_map.c: classes of the evidence's blocks. Where there is no map they do next to nothing. */
/* The engine must be there, where this process searches. */
void run_start_map(struct run *run);
void run_map_slot(struct run *run, const struct reader_slot *slot);
/* How many slots need not be held for the map any more; waits until that are `wanted` of those
 * given. */
uint64_t run_mapped(struct run *run, uint64_t wanted);
void run_save_map(struct run *run, struct codec_writer *writer);
void run_load_map(struct run *run, struct codec_reader *reader);
/* Writes map.bin, also after a failure; frees the map. */
void run_finish_map(struct run *run);
/* Waits for those that look. */
void run_free_map(struct run *run);
/* A helper, for each slot in turn: what it holds, in *len bytes that the caller frees. */
uint8_t *run_tell_map(struct run *run, size_t *len);
/* The conductor: what was told of the slot that ends there; len 0: of none. Returns 0 or a negative
 * errno with run->error set. */
int run_hear_map(struct run *run, uint64_t until, const uint8_t *bytes, size_t len);

/* run/run_volumes.c: what the image holds, and which part of it is searched. */
/* The evidence must be open. Sets run->image to what is searched. */
void run_read_volumes(struct run *run, const char *image_path);
/* From --offset and --length to range_start and range_end. Returns 0 or a negative errno with
 * run->error set. */
int run_check_range(struct run *run);
/* There is nothing to search. */
bool run_is_empty(const struct run *run);
/* What the reader could not read, in offsets of the evidence. */
const struct ranges *run_unreadable(struct run *run);
/* Where the byte at an offset of run->image lies in the evidence. */
uint64_t run_place(const void *run, uint64_t offset);
void run_free_volumes(struct run *run);

/* run/run_checkpoint.c */
void run_find_traits(struct run *run);
void run_traits_free(struct run_traits *traits);
/* The folder must be open. Writes the first one, unless it is there already. */
void run_begin_checkpoints(struct run *run);
/* Makes one when it is due. Returns 0, or a negative errno with error set: what is reported can't
 * be written. */
int run_pause(struct run *run, struct error *error);
/* The run ends early. Before carving_cancel. */
void run_last_checkpoint(struct run *run);
/* The reports are closed. Returns whether the run can be resumed. */
bool run_end_checkpoints(struct run *run, bool finished);

/* run/run_resume.c: in this order. What returns int returns 0 or a negative errno with run->error
 * set. */
/* The traits must be known. Opens the output folder, and learns the position. */
int run_begin_resuming(struct run *run, const char *output);
/* Instead of report_open. */
int run_reopen_report(struct run *run);
/* When the carving stage has been started. */
int run_finish_resuming(struct run *run);
/* Whatever came between. */
void run_end_resuming(struct run *run);

/* run/run_search.c: all of the reader's ranges, or until a signal is caught. */
int run_search(struct run *run, const struct run_taker *taker);
/* Bytes of a match. */
uint32_t run_match_len(const struct run *run, const struct chunk *chunk, const struct hit *hit);

/* run/run_help.c */
/* This process's own part of the work that it conducts, in a thread. */
int run_start_help(struct run *run, const char *image_path, const char *output);
void run_end_help(struct run *run);

/* run/run_scout.c: a helper's own carving, and the pieces that wait for it. What returns int returns 0
 * or a negative errno. */
/* The pool must be there. give: sends a piece when all of its outcomes are known; in the thread
 * that calls the next ones. */
void run_start_scout(struct run *run, int (*give)(struct run *run, struct run_piece *piece));
/* A piece of the unit that starts there, the next in order. Takes over what it points to. */
int run_scout_take(struct run *run, uint64_t unit, struct run_piece *piece);
/* Gives what is known, and waits as run_keep_up does. */
int run_scout_settle(struct run *run, uint64_t position);
/* Waits until all pieces are given. */
int run_scout_drain(struct run *run);
/* Another process has decided that what starts before this is hidden. context: struct run. From any
 * thread. */
void run_hide(void *context, uint64_t until);
/* Before carving_free. There need be none. */
void run_end_scout(struct run *run);

/* run/run_scan.c: from the first slot to the last candidate. */
int run_scan(struct run *run);
/* Gives settled candidates to the carving stage; all_known: there are no more hits. */
int run_carve_settled(struct run *run, bool all_known);
/* Waits while the carving stage has fallen back so far that what it wants to look at would soon be
 * gone from the reader's ring. */
int run_keep_up(struct run *run, uint64_t position);

#endif
