/*
 * Where one file's layouts are tried, by one thread: a view, a budget of work, and what is known of
 * the image's clusters. All that a strategy sees of the image goes through here, so that the same
 * file gets the same trials whatever else is under way.
 */
#ifndef BURIN_ASSEMBLE_WORKBENCH_H
#define BURIN_ASSEMBLE_WORKBENCH_H

#include "assemble/assemble.h"
#include "assemble/broken.h"
#include "assemble/cluster_sums.h"
#include "assemble/clusters.h"
#include "assemble/extents.h"
#include "assemble/helpers.h"
#include "assemble/inner_hits.h"
#include "assemble/known_trials.h"
#include "carve/view.h"

/* Where checks can go on, so that trials do not decode again what they have in common. */
struct workbench_states {
	uint64_t number;        /* another one each time that they are made */
	struct extents extents; /* of the file that was checked... */
	enum verdict verdict;   /* ...with that result... */
	uint64_t length, seen;
	size_t count;
	struct carve_state items[VIEW_STATES];
};

#define WORKBENCH_HEADS 64

/* Heads of files that were cut, and how many of their bytes the carver then finds valid: a slot for each
 * hash, for the last head that had it. */
struct workbench_heads {
	uint64_t hash[WORKBENCH_HEADS];
	uint64_t valid[WORKBENCH_HEADS]; /* UINT64_MAX: that is not known */
	struct extents extents;          /* scratch */
};

/* Of a question that may have been asked ahead. */
enum answer { ANSWER_NONE, ANSWER_NO, ANSWER_YES };

#define WORKBENCH_CHECKS 4

/* A check that came to nothing, made ahead by any thread: what it would be again. */
struct workbench_check {
	struct extents extents;
	uint64_t from;   /* the state's offset; UINT64_MAX: none */
	uint64_t states; /* the number of those that it is one of */
	enum verdict verdict;
	uint64_t length, work, seen;
	unsigned proof; /* of the joint that the trial is about */
};

/* Those of one trial. Whether they were made changes nothing but the time. */
struct workbench_ahead {
	uint64_t at; /* the joint */
	size_t count;
	struct workbench_check items[WORKBENCH_CHECKS];
};

struct workbench {
	struct view *view;
	struct image *evidence;
	const struct assemble_options *options;
	const struct rule *rule;
	const struct clusters *clusters;  /* frozen for the pass */
	const struct inner_hits *hits;    /* of the carvers' tables */
	const struct cluster_sums *sums;  /* for the carvers' CRCs */
	struct searcher *searcher;        /* what is asked of a device */
	struct affinity_samples *samples; /* of the image */
	struct helpers *helpers;          /* NULL: there are none */
	uint64_t work_left;               /* units that the file's trials may still take */
	uint64_t tested;                  /* trials made */
	uint64_t compared; /* places among which those of pieces were chosen without a trial */
	bool stopped, no_memory; /* the trials mean nothing */
	bool exhausted;          /* no work was left: some trials were not made */
	uint64_t tail; /* where the file's end begins that was found elsewhere; 0: it was not */
	uint64_t tail_shift; /* see struct tail */
	bool is_last;        /* the pass: what it can not judge to the end never will be */
	bool looks;          /* how far a trial gets is what it is made for */
	/* Trials also accept CARVE_UNVERIFIED. */
	bool takes_unverified;
	struct workbench_states states;
	struct workbench_heads heads;
	const struct workbench_ahead *ahead; /* NULL, or of the next trial */
	struct workbench_ahead *noted; /* NULL, or where this one's checks are noted for others */
	struct known_trials
		*known;     /* refused ones of this file, for the next pass; NULL: none are noted */
	uint64_t looked_at; /* by the last check that was made */
	bool was_known;     /* the last check was made ahead, or in an earlier pass: */
	uint64_t known_seen;
	unsigned known_proof;
	uint64_t *lasting; /* where the last pieces of wrong layouts begin that were refused late */
	size_t lasting_count, lasting_capacity;
	/* Of the last trial: bytes that the carver validated, and those that it looked at. */
	uint64_t reached, seen;
	enum verdict verdict;
	uint64_t near_break; /* of the next trial; 0: a cheap one was made before it */
};

/* By how many bits evidence must exceed the number of trials. */
#define PROOF_BITS 20
/* Bits of a number: those by which chance makes one of that many trials pass. */
uint32_t workbench_bits(uint64_t number);

/* Whether trials can go on. */
bool workbench_goes_on(const struct workbench *bench);
/* Takes units of work from what is left. */
void workbench_spend(struct workbench *bench, uint64_t units);
/* What the last check proved of a joint (view_proof), if that is the trial's. */
unsigned workbench_proof(const struct workbench *bench, uint64_t at);
/* Frees what was noted. */
void workbench_forget(struct workbench_ahead *ahead);
/* Reads len bytes at offset in the image. False: they are not all in it, or no work is left. */
bool workbench_read(struct workbench *bench, uint64_t offset, uint8_t *bytes, size_t len);
/* The same where the caller counts what it costs. */
bool workbench_fetch(struct workbench *bench, uint64_t offset, uint8_t *bytes, size_t len);
/* Whether len bytes of the image are the same at both offsets. False: or no work is left. */
bool workbench_is_same(struct workbench *bench, uint64_t a, uint64_t b, uint64_t len);
/* Points the view at a file, for a carver that reads a table in it with the work that is left. */
void workbench_open(struct workbench *bench, const struct extents *extents);
/* The carver has ended: takes its work from what is left. */
void workbench_close(struct workbench *bench);
/* Before trials whose layouts start as these extents do, as many as may be: if the carver can resume,
 * checks them, and keeps states for the trials. joint: where the last piece begins. What that comes to is in
 * bench->states. */
void workbench_prepare(struct workbench *bench, const struct extents *extents, uint64_t joint);
/* Whether checks go on where codes look like another file's (struct carve_codes). */
bool workbench_decodes_on(const struct workbench *bench);
/* Describes where the first `at` bytes of the extents break off. False: the carver can't. */
bool workbench_describe(struct workbench *bench, const struct extents *extents, uint64_t at,
	struct carve_coded *coded);
/* Describes content that is stored as it is, by these extents. False: there is none. */
bool workbench_describe_stored(
	struct workbench *bench, const struct extents *extents, struct carve_stored *stored);
/* What the carver keeps of codes (struct carve_codes) that the first `at` bytes of the extents break off: it ends what it
 * made. NULL: it does not know. */
void *workbench_begin_codes(struct workbench *bench, const struct extents *extents, uint64_t at);
/* Whether the trial of these extents, where the last piece begins at `at`, was made in an earlier pass, and looked at none of what
 * is different since: then it is refused as it was then. noticed: as for workbench_goes_past. */
bool workbench_is_known(
	struct workbench *bench, const struct extents *extents, uint64_t at, uint64_t noticed);
/* It was refused now. */
void workbench_note_refused(
	struct workbench *bench, const struct extents *extents, uint64_t at, uint64_t noticed);
/* The last trial was refused for something far after where its last piece begins: at `target` in the image. */
void workbench_note_lasting(struct workbench *bench, uint64_t target);
/* When the trials are over. */
void workbench_end(struct workbench *bench);
/* Checks the extents with the rule's carver. True when it is COMPLETE, or as bench->takes_unverified allows:
 * then the outcome is the caller's to free, and the extents are cut at its length. */
bool workbench_try(struct workbench *bench, struct extents *extents, struct outcome *outcome);
/* False: the next function refuses all layouts that begin with the first `at` bytes of these, as it has noticed
 * something before the break. */
bool workbench_may_break(
	struct workbench *bench, const struct extents *extents, uint64_t at, uint64_t noticed);
/* A cheaper trial before workbench_try, of the extents up to soon after the break `at`, where the last piece begins.
 * False: the carver notices there that the piece is wrong, as it would in all of the file, or it has
 * noticed something before the break, up to which the piece before may go on: at `noticed`. */
bool workbench_goes_past(
	struct workbench *bench, const struct extents *extents, uint64_t at, uint64_t noticed);
/* The same for a layout that is known from elsewhere: least may also be CARVE_UNVERIFIED, and the
 * extents may have bytes of complete files, which were found in pieces of this one. */
bool workbench_check(struct workbench *bench, struct extents *extents, enum verdict least,
	struct outcome *outcome);
/* Checks the extents thoroughly, whatever comes of it: view_proof shows what the carver proved on the
 * way. The outcome is the caller's to free. False: trials can't go on. */
bool workbench_look(
	struct workbench *bench, const struct extents *extents, struct outcome *outcome);
/* How well the content of the layout that was checked last fits together at a joint, up to the next one: bits (struct
 * carver). */
uint32_t workbench_fit(struct workbench *bench, uint64_t at, uint64_t end);
/* The bits of a joint: by what checks proved over it, and by how well the content fits, as that of another file of one
 * origin may, too. */
struct joint_bits {
	uint32_t checked, fit;
};
/* What was accepted once more, thoroughly. True when it is accepted again, with the same length; the
 * outcome is the new one then, else as it was. *bits: of the joint that has the fewest. joint_bits: NULL, or
 * where those of each joint go, which the caller frees. */
bool workbench_prove(struct workbench *bench, const struct extents *extents,
	struct outcome *outcome, uint32_t *bits, struct joint_bits **joint_bits);
/* Whether that many bits of evidence are enough after the trials that were made. */
bool workbench_is_proof(const struct workbench *bench, uint32_t bits);
/* Notes that a joint may be anywhere in the bytes [from, to) of the file, unless there are none. */
void workbench_doubt(struct assembly *assembly, uint64_t from, uint64_t to);

#endif
