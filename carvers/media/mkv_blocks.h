/* What blocks in a Matroska cluster prove of a joint among them. */
#ifndef BURIN_CARVERS_MEDIA_MKV_BLOCKS_H
#define BURIN_CARVERS_MEDIA_MKV_BLOCKS_H

#include "carver.h"

#define MKV_JOINTS 64

/* A joint in (from, to), and a head that follows. */
struct mkv_joint {
	uint64_t from, to;
	int32_t step; /* from the time of the block before to that one */
	bool is_again; /* what follows that head leads to another one after the next joint, or to the cluster's end */
};

/* Zero-initialise, and give it all clusters of a file in order. */
struct mkv_blocks {
	struct view *view;
	uint64_t known;   /* a head was read up to there, or to a joint in it */
	int32_t time;     /* of the last block, in the cluster */
	int32_t step;     /* how far two were apart at most, with no joint between */
	uint64_t lengths; /* of blocks: a bit for each of 64 classes */
	bool is_open;     /* the last joint is in this cluster */
	unsigned count;
	struct mkv_joint joints[MKV_JOINTS];
};

/* A cluster's parts begin at `at`. */
void mkv_blocks_begin(struct mkv_blocks *blocks, struct view *view, uint64_t at);
/* The next block is at [at, end); its head, to `head_end`, is as it must be. time: what it says, counted from the cluster's. */
void mkv_blocks_add(
	struct mkv_blocks *blocks, uint64_t at, uint64_t head_end, uint64_t end, int32_t time);
/* The cluster's parts end where it does. */
void mkv_blocks_end(struct mkv_blocks *blocks);
/* That was all: declares what is proved (view_proved). */
void mkv_blocks_prove(const struct mkv_blocks *blocks);

#endif
