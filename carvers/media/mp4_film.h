/*
 * A film or sound while its samples are checked: by mp4.c, which reads the boxes, and mp4_samples.c.
 */
#ifndef BURIN_CARVERS_MEDIA_MP4_FILM_H
#define BURIN_CARVERS_MEDIA_MP4_FILM_H

#include "bmff_media.h"
#include "mp4_lengths.h"
#include "sample_frames.h"

#define MP4_TRACKS 16
/* In the order of the file: at most so many samples, others in that of the tables. */
#define MP4_SAMPLES_MAX ((size_t)32768)

struct mp4_track {
	uint32_t id;
	struct bmff_coding coding;
	struct bmff_stream stream;
	bool started;
	struct bmff_coding
		unframed;     /* the coding that its first sample did not have; type 0: none */
	uint64_t unframed_at; /* that sample */
	unsigned framed;      /* later samples that had it */
	bool is_h264;         /* its slices are decoded where a file is put together: */
	struct h264_params h264;
	struct sample_frames frames; /* or its frames are checked there */
	bool valid;                  /* a sample's slices, or frames, were */
	unsigned invalid;            /* samples, before any was valid; */
	uint64_t doubted_at;         /* where the first of them is */
};

struct mp4 {
	struct bmff bmff;
	struct bmff_data data;
	struct finding *finding;
	struct mp4_track tracks[MP4_TRACKS], other; /* other: those beyond MP4_TRACKS, or unknown */
	size_t track_count;
	struct mp4_track *track; /* whose samples are visited */
	bool pictures, audio, fragments;
	uint64_t sample_count;
	uint64_t first;    /* the lowest offset of a sample */
	uint64_t doubtful; /* a sample that does not look like those before it, or 0 */
	uint64_t beyond;   /* of a sample that extends past the file's boxes, or 0 */
	const struct carve_state *resume; /* NULL: from the start */
	uint32_t crc;                     /* of moov; where files are put together */
	struct mp4_sample
		*samples; /* MP4_SAMPLES_MAX, that are checked in order; NULL: they are not */
	size_t collected;
	struct h264_decoder *decoder; /* NULL: no track of H.264 is decoded */
	struct sample_chain chain;
	struct sample_likeness *likeness; /* NULL: no track of video is decoded */
	/* Bytes of samples whose codes are not followed. Where there is a sector of them, a copy of the film with other sound, say,
	 * has the same in all that is followed, which then proves nothing of pieces. */
	uint64_t unread;
	/* The track whose frames of MPEG-4 video are read: the first such one; NULL: none. */
	struct mp4_track *filmed;
	struct mpeg4_stream video;
	struct mp4_table tables[MP4_TRACKS];
};

/* Whether pieces are put together. */
bool mp4_is_assembled(const struct mp4 *mp4);

/* Reads the CRC of moov. Whether the state to go on from is of a check with the same one, which was valid. */
bool mp4_is_known(struct mp4 *mp4);

/* Reads a track's description and its tables, for a struct mp4 (bmff_tracks), and checks its samples or collects them. False:
 * they contradict themselves. */
bool mp4_read_track(void *context, const struct bmff_box *trak);
/* The same for a sample of a fragment (bmff_fragment). */
void mp4_visit_fragment(void *context, uint32_t track, uint64_t offset, uint64_t len);

/* Checks the samples that were collected, in the order of the file, until it is clear where the first invalid one is. */
void mp4_check_in_order(struct mp4 *mp4);

/* Some samples of AAC are valid, and later ones are not, before it is known that all should be: they may be another file's. */
bool mp4_is_in_doubt(const struct mp4_track *track);

#endif
