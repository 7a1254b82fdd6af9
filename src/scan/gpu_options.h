/* The options of GPUs: --gpus and --transfer. scan_options.gpu points here; NULL means the
 * defaults. */
#ifndef BURIN_SCAN_GPU_OPTIONS_H
#define BURIN_SCAN_GPU_OPTIONS_H

#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

#define GPU_DEVICES_MAX 64

struct error;

/* How many device buffers chunks have. Neither is strategy A of Zha and Sahni, where all of the text is
 * resident (`burin bench --papers` measures it): a chunk is searched once, so that nothing is gained
 * by keeping it. */
enum gpu_transfer {
	GPU_TRANSFER_AUTO, /* few: data read from a disk gains nothing by more */
	GPU_TRANSFER_MANY, /* one for every chunk in flight, as far as memory goes */
	GPU_TRANSFER_FEW,  /* a few, used in turn */
};

/* The words of --transfer, in that order. */
#define GPU_TRANSFER_CHOICES "auto|many|few"

/*
 * Options of the kernels that papers describe; each uses its own. 0: the kernel's default.
 */
struct gpu_tuning {
	unsigned parts;     /* stt-*: automata that share the set */
	unsigned words;     /* ac3, ac4: tWord, the words of 4 bytes in a thread's own stretch */
	bool uints;         /* ac3: reads its stretch from shared memory by words, not by bytes */
	bool no_diagonal;   /* stt-p2: stores the text without the diagonal scheme */
	bool round_robin;   /* nfa-r16, nfa-cw, nfa-tc, wm-r16, wm-cw: threads store what they
			     fetched in turns, as Kouzinopoulos et al. tried (section 4.2.2) */
	bool unmerged;      /* pfac4, pfac5: states and matches in tables of their own, even where
			     they have room in one */
	unsigned blocks;    /* bmh: of the grid */
	unsigned threads;   /* bmh, stt-*: a block */
	unsigned chunk_len; /* stt-p1: bytes of a thread's chunk */
	unsigned block_len; /* stt-p2: bytes of a data block in shared memory */
};

#define GPU_PARTS_MAX 64

struct gpu_options {
	const char *devices; /* NULL: the first; else as gpu_wanted_parse reads it */
	enum gpu_transfer transfer;
	struct gpu_tuning tuning;
};

/* Which GPUs. */
struct gpu_wanted {
	bool all;       /* every GPU; the other members are ignored */
	bool listed;    /* the GPUs in ids; else the first `count` */
	unsigned count; /* at least 1 */
	unsigned ids[GPU_DEVICES_MAX];
};

/* Parses "all", a number of GPUs ("2"), or a list of them ("0,3"; any comma makes it a list, even
 * at the end: "1,"). text NULL: the first one. -EINVAL with the error (EXIT_USAGE), which names --gpus,
 * for anything else. */
int gpu_wanted_parse(struct gpu_wanted *wanted, const char *text, struct error *error);

#ifdef __cplusplus
}
#endif

#endif
