/*
 * What an ISO base media file says about its media data: the items of a 'meta' box (pictures), the
 * samples of a 'moov' box's tracks (films), and how far such data make sense.
 */
#ifndef BURIN_CARVERS_COMMON_BMFF_MEDIA_H
#define BURIN_CARVERS_COMMON_BMFF_MEDIA_H

#include "bmff.h"

struct bmff_coding {
	uint32_t type;    /* 'hvc1', 'avc1', 'av01', 'jpeg', ... */
	unsigned nal_len; /* bytes of a NAL unit's length: 1 to 4 */
};

/* ---- items (bmff_items.c) ---- */

enum bmff_method { BMFF_IN_FILE, BMFF_IN_IDAT, BMFF_IN_ITEM };

/* An extent of an item: an item may have several. */
struct bmff_extent {
	uint32_t item, type; /* the item's number and its type; 0: not told */
	unsigned method;     /* what offset counts from */
	uint64_t offset, len;
	bool only; /* the item has no other */
};

/* Calls visit for each extent of the first 4,096 items. False: the tables contradict themselves,
 * and *broken is where. No tables are fine. */
bool bmff_items(struct view *view, const struct bmff_box *meta,
	void (*visit)(void *context, const struct bmff_extent *extent), void *context,
	uint64_t *broken);

/* ---- samples (bmff_samples.c) ---- */

struct bmff_track {
	uint32_t handler;      /* 'vide', 'soun', ... */
	uint32_t coding;       /* type of the first sample entry: 'avc1', 'hvc1', 'CRAW', ...; 0:
				  none */
	struct bmff_box entry; /* which this is */
	struct bmff_box chunks, runs, sizes; /* stco or co64, stsc, stsz or stz2 */
};

/* The track in the box 'trak'. False when it lacks a part. */
bool bmff_track_open(struct view *view, const struct bmff_box *trak, struct bmff_track *track);

/* Calls visit for each sample, in the track's order, or, where all have one size, for each row of
 * them. False: the tables contradict themselves. */
bool bmff_samples(struct view *view, const struct bmff_track *track,
	void (*visit)(void *context, uint64_t offset, uint64_t len), void *context);

/* How a track's samples are coded. */
struct bmff_coding bmff_sample_coding(struct view *view, const struct bmff_track *track);

/* ---- fragments (bmff_fragment.c) ---- */

/* Calls visit for each sample of a box 'moof', or for each row of samples of one size. moov is the
 * file's, of type 0 if it has none. False: the tables contradict themselves. */
bool bmff_fragment(struct view *view, const struct bmff_box *moof, const struct bmff_box *moov,
	void (*visit)(void *context, uint32_t track, uint64_t offset, uint64_t len), void *context);

/* ---- coded data (bmff_coded.c) ---- */

/* Whether coded data of this type have a structure that bmff_coded can follow. */
bool bmff_is_coded(uint32_t type);

/* The length of NAL units from a 'hvcC' or 'avcC' box; 4 when it can't be read. */
unsigned bmff_nal_len(struct view *view, const struct bmff_box *configuration);

/* Looks at data of an item or sample. False: they stop making sense at *broken. True: *confirmed is
 * how far the format's own structure bears them out (offset: nothing is known about such data). */
bool bmff_coded(struct view *view, const struct bmff_coding *coding, uint64_t offset, uint64_t len,
	uint64_t *confirmed, uint64_t *broken);

/* ---- samples without such a structure (bmff_sample.c) ---- */

/* What is seen of a track's samples, one after the other. */
struct bmff_stream {
	uint32_t type; /* 'mp4a', 'samr', 'mp4v', ... */
	uint8_t kind;  /* of 'mp4a': the object type of its 'esds', 0: not told */
	uint8_t ids;   /* the first elements of its first samples, a bit each */
	uint64_t passed;
	unsigned failed;    /* those that failed without one between that passed */
	uint64_t failed_at; /* the first of these */
};

/* Sets type and kind. */
void bmff_stream_open(
	struct view *view, const struct bmff_track *track, struct bmff_stream *stream);

/* Looks at the next sample (or a row of samples of one size). False: samples have been none since
 * *broken. True: *confirmed is how far this one is borne out. */
bool bmff_stream_see(struct view *view, struct bmff_stream *stream, uint64_t offset, uint64_t len,
	uint64_t *confirmed, uint64_t *broken);

/* ---- all data of a file together (bmff_data.c) ---- */

struct bmff_data {
	const struct bmff *bmff;
	uint64_t end;       /* behind the last byte of data */
	uint64_t confirmed; /* how far they are borne out: the highest */
	uint64_t broken;    /* where the first of them break, or 0 */
	uint64_t outside;   /* the first that are not among the file's media data, or 0 */
	uint64_t looked;    /* bytes that were looked at, all together */
};

/* Takes an extent or sample in. */
void bmff_data_add(
	struct bmff_data *data, const struct bmff_coding *coding, uint64_t offset, uint64_t len);

/* What was found out otherwise about data that were added without a coding. */
void bmff_data_confirm(struct bmff_data *data, uint64_t confirmed);
void bmff_data_break(struct bmff_data *data, uint64_t broken);

/* The verdict on a file whose outermost boxes and data are known, and its length. */
enum verdict bmff_data_judge(const struct bmff_data *data, struct finding *finding);

/* ---- pictures (heif.c) ---- */

/* The extension for a brand, or NULL when it is none of HEIF's. */
const char *heif_extension(uint32_t brand);

#endif
