/* The jobs that make thumbnails, in sandboxed children (base/sandbox.h). */
#ifndef BURIN_PAGE_THUMB_JOBS_H
#define BURIN_PAGE_THUMB_JOBS_H

#include <stdbool.h>
#include <stdint.h>

/* A thumbnail fits into a square of this many pixels. */
#define THUMB_PIXELS 256
/* Largest thumbnail, bytes; anything longer is rejected. */
#define THUMB_MAX_LEN ((uint32_t)1 << 20)
/* What a decoder may use: seconds of processor time per picture, and bytes. */
#define THUMB_SECONDS 10
#define THUMB_MEMORY ((uint64_t)768 << 20)

/* What the picture shows beside the thumbnail. */
struct thumb_facts {
	uint64_t likeness; /* pictures that look alike have nearly the same bits; 0: not known */
	int32_t latitude, longitude; /* in its EXIF data, in millionths of a degree */
	bool has_place;
};

/* Pictures, through libvips: one child for many. First it sends a byte, 1 when it is ready, 0 when
 * there is no libvips; then, repeatedly, it gets a uint32_t length and that many bytes of a file,
 * and answers with a uint32_t length, 0 for a failure, struct thumb_facts, and that many bytes of a
 * JPEG. */
int thumb_pictures_job(int fd, void *arg);

/* A film, or a still that libvips does not read, through ffmpeg: a child each, which sends a JPEG
 * and ends. */
struct thumb_film {
	const char *program;       /* ffmpeg's path */
	const char *folder, *path; /* the output folder, and the file below it */
	const char *demuxer;       /* ffmpeg's name of the format: it guesses nothing */
	int still;                 /* one frame, not several side by side */
};
int thumb_film_job(int fd, void *film);

#endif
