/* AVI's part of a RIFF file. */
#ifndef BURIN_CARVERS_MEDIA_RIFF_AVI_H
#define BURIN_CARVERS_MEDIA_RIFF_AVI_H

#include "mpeg4_video.h"
#include "riff.h"

/* The stream whose frames' codes are read. All zero before the header list. Without pointers. */
struct riff_avi_video {
	uint8_t streams;            /* described so far */
	bool is_video;              /* the last of these */
	bool found;                 /* one of them is MPEG-4 video: */
	uint8_t number;             /* this */
	struct mpeg4_stream stream; /* last: a carve_state has a part of it */
};

/* Reads a chunk of the header list: which stream is video, and its own headers. */
void riff_avi_read_stream(
	const struct riff *riff, const struct riff_chunk *chunk, struct riff_avi_video *video);

/* Checks a chunk of the list 'movi' of which the view has a part at least. *at: where its codes are invalid; else, if the
 * view ends in it, there. */
enum mpeg4_state riff_avi_check_chunk(struct view *view, struct riff_avi_video *video,
	const struct riff_chunk *chunk, uint64_t *at);

enum riff_avi_state { RIFF_AVI_INTACT, RIFF_AVI_CUT, RIFF_AVI_BROKEN, RIFF_AVI_INVALID };

/* A walk over the list 'movi'. */
struct riff_avi_walk {
	struct riff inside;           /* at the next chunk; its end is the list's */
	struct riff_avi_video *video; /* NULL: codes are not read */
	/* NULL, or called at each chunk, when all before it is in `inside` and `video`. */
	void (*save)(void *context, const struct riff *inside);
	void *context;
};

/* Walks to the end: *at is after the last chunk that another one follows, or at the end, or where a frame's codes are
 * invalid. Where codes are read, and the view ends in a chunk, *at is there. */
enum riff_avi_state riff_avi_walk_movi(struct riff_avi_walk *walk, uint64_t *at);

/* Whether an index 'idx1' describes the chunks of the list 'movi' whose type is at movi. If the check is thorough, and all frames of
 * the video were read to their ends, it declares what the chunks' places prove (view_proved). */
bool riff_avi_index_matches(const struct riff *riff, const struct riff_chunk *index, uint64_t movi,
	const struct riff_avi_video *video);

/* Whether the chunk with this name is a frame of the video. */
bool riff_avi_is_frame(const struct riff_avi_video *video, const char *id);

/* The date in a chunk IDIT, or 0. */
int64_t riff_avi_date(const struct riff *riff, const struct riff_chunk *chunk);

/* What its index says of a file in pieces. */
extern const struct carve_map riff_avi_map;

#endif
