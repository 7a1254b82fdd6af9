/*
 * The media data of an ISO base media file: the items of a 'meta' box (pictures), the samples of a
 * 'moov' box's tracks (films), and how far such data is valid.
 */
#ifndef BURIN_CARVERS_COMMON_BMFF_MEDIA_H
#define BURIN_CARVERS_COMMON_BMFF_MEDIA_H

#include "aac_frame.h"
#include "bmff.h"
#include "h264.h"
#include "hevc.h"
#include "mpeg4_video.h"
#include "sample_chain.h"

struct bmff_coding {
	uint32_t type;    /* 'hvc1', 'avc1', 'av01', 'jpeg', ... */
	unsigned nal_len; /* bytes of a NAL unit's length: 1 to 4 */
};

/* ---- items (bmff_items.c) ---- */

enum bmff_method { BMFF_IN_FILE, BMFF_IN_IDAT, BMFF_IN_ITEM };

/* An extent of an item: an item may have several. */
struct bmff_extent {
	uint32_t item, type; /* the item's number and its type; 0: unknown */
	unsigned method;     /* enum bmff_method: what offset counts from */
	uint64_t offset, len;
	bool only; /* the item has no other */
};

/* Calls visit for each extent of the first 4,096 items. False: the tables contradict themselves at
 * *broken. Missing tables are fine. */
bool bmff_items(struct view *view, const struct bmff_box *meta,
	void (*visit)(void *context, const struct bmff_extent *extent), void *context,
	uint64_t *broken);

/* The property of this type that the item has (ISO/IEC 23008-12, 9.3): 'hvcC', say. False: it has none. */
bool bmff_item_property(struct view *view, const struct bmff_box *meta, uint32_t item,
	uint32_t type, struct bmff_box *property);

/* ---- samples (bmff_samples.c) ---- */

struct bmff_track {
	uint32_t handler;      /* 'vide', 'soun', ... */
	uint32_t coding;       /* type of the first sample entry: 'avc1', 'hvc1', 'CRAW', ...; 0:
				  none */
	struct bmff_box entry; /* that entry */
	struct bmff_box chunks, runs, sizes; /* stco or co64, stsc, stsz or stz2 */
};

/* Bytes of a visual sample entry before the boxes in it. */
#define BMFF_VISUAL_LEN 78

/* Reads the track in the box 'trak'. False when a part is missing. */
bool bmff_track_open(struct view *view, const struct bmff_box *trak, struct bmff_track *track);

/* Calls visit for each sample in the track's order, or, where all have one size, for each run of
 * them. False: the tables contradict themselves. */
bool bmff_samples(struct view *view, const struct bmff_track *track,
	void (*visit)(void *context, uint64_t offset, uint64_t len), void *context);

/* Calls visit for each box 'trak' in moov, until it returns false: then *broken is where that box is. Returns whether all
 * were visited. */
bool bmff_tracks(struct view *view, const struct bmff_box *moov,
	bool (*visit)(void *context, const struct bmff_box *trak), void *context, uint64_t *broken);

/* How a track's samples are coded. */
struct bmff_coding bmff_sample_coding(struct view *view, const struct bmff_track *track);

/* ---- fragments (bmff_fragment.c) ---- */

/* Calls visit for each sample of a box 'moof', or for each run of samples of one size. moov is the
 * file's, of type 0 if it has none. False: the tables contradict themselves. */
bool bmff_fragment(struct view *view, const struct bmff_box *moof, const struct bmff_box *moov,
	void (*visit)(void *context, uint32_t track, uint64_t offset, uint64_t len), void *context);

/* ---- coded data (bmff_coded.c) ---- */

/* Whether coded data of this type has a structure that bmff_coded can check. */
bool bmff_is_coded(uint32_t type);
/* Whether each sample of this type is a JPEG. */
bool bmff_is_jpeg(uint32_t type);
/* Whether the sample in [at, end), which is inside the view, begins and ends as a JPEG does. */
bool bmff_has_jpeg_ends(struct view *view, uint64_t at, uint64_t end);

/* The length of a NAL unit's length field, from a 'hvcC' or 'avcC' box; 4 when not readable. */
unsigned bmff_nal_len(struct view *view, const struct bmff_box *configuration);

/* Checks the data of an item or sample. False: it is invalid from *broken. True: *confirmed is how
 * far the coding's own structure confirms it (offset: nothing is known about such data). */
bool bmff_coded(struct view *view, const struct bmff_coding *coding, uint64_t offset, uint64_t len,
	uint64_t *confirmed, uint64_t *broken);

/* ---- samples of H.264, decoded (bmff_h264.c) ---- */

/* Reads a track's parameter sets. False: it has none of either kind, or is not such a track. */
bool bmff_h264_open(struct view *view, const struct bmff_track *track, struct h264_params *params);

/* What a sample has. */
struct bmff_h264_sample {
	bool valid; /* slices, all of which are valid, and nothing else that could not be followed */
	bool whole;     /* and hardly anything else from the first on */
	uint64_t first; /* where the first slice begins, after its length; 0: it has none */
};

/* Decodes a sample, whose units have nal_len bytes of length, and declares what that proves (view_proved): `bits` of a joint
 * in a slice. False: it is invalid, which was noticed at *broken. Other parameter sets in it are taken. */
bool bmff_h264(struct view *view, struct h264_decoder *decoder, struct h264_params *params,
	unsigned nal_len, uint64_t offset, uint64_t len, unsigned bits,
	struct bmff_h264_sample *sample, uint64_t *broken);

/* What a joint in a slice proves, unless the film has many samples alike. */
#define BMFF_H264_BITS 14

/* ---- items of H.265, decoded (bmff_hevc.c) ---- */

/* Reads the parameter sets of a box 'hvcC'. False: it has none of either kind. */
bool bmff_hevc_open(struct view *view, const struct bmff_box *box, struct hevc_params *params);

/* Decodes an item, whose units have nal_len bytes of length, and declares what that proves (view_proved). *valid is up to
 * where it is: the end of a unit or of a part of it, or the head of one that is not. Other parameter sets in it are taken. */
enum hevc_outcome bmff_hevc(struct view *view, struct hevc_decoder *decoder,
	struct hevc_params *params, unsigned nal_len, uint64_t offset, uint64_t len,
	uint64_t *valid);

/* ---- samples without such a structure (bmff_sample.c) ---- */

/* Reads the headers of MPEG-4 video in the track's 'esds'. False: it is not such a track. */
bool bmff_mpeg4_open(
	struct view *view, const struct bmff_track *track, struct mpeg4_stream *stream);

/* The state of checking a track's samples, one after the other. */
struct bmff_stream {
	uint32_t type;     /* 'mp4a', 'samr', 'mp4v', ... */
	uint8_t kind;      /* of 'mp4a': the object type of its 'esds'; 0: unknown */
	uint8_t ids;       /* the kinds of first element in its first samples, a bit each */
	bool goes_on;      /* its samples are looked at though it was given up: */
	uint32_t given_up; /* the type, if its first samples were not of it; type is 0 then */
	unsigned returned; /* samples in a row that are of it all the same */
	uint64_t passed;
	unsigned failed;    /* samples in a row that failed */
	uint64_t failed_at; /* the first of these */
	bool is_followed; /* wanted: codes are followed, where that is possible, and what they prove is declared */
	struct aac_config aac; /* of AAC that can be followed; else its object is 0 */
	uint64_t doubted_at;   /* the first frame whose codes were not valid, */
	bool doubted;          /* if that was one of the first */
	bool interrupted;      /* and there were valid ones before one that was not */
	uint32_t followed;     /* valid ones; if doubted, in a row */
	bool ragged; /* any bits may be after a frame's last id, which its codes lead to */
};

/* Sets type and kind. */
void bmff_stream_open(
	struct view *view, const struct bmff_track *track, struct bmff_stream *stream);

/* Checks the next sample (or run of samples of one size), and adds it to the chain if its codes are followed. False: samples have been invalid since
 * *broken. True: *confirmed is how far this one is confirmed. */
bool bmff_stream_check(struct view *view, struct bmff_stream *stream, struct sample_chain *chain,
	uint64_t offset, uint64_t len, uint64_t *confirmed, uint64_t *broken);

/* ---- all data of a file together (bmff_data.c) ---- */

struct bmff_data {
	const struct bmff *bmff;
	uint64_t end;         /* end of the last data */
	uint64_t confirmed;   /* the highest offset to which data is confirmed */
	uint64_t broken;      /* where the first data is invalid, or 0 */
	uint64_t outside;     /* the first that is not in the file's media data, or 0 */
	uint64_t checked_len; /* bytes checked in total */
	bool endless; /* nothing says how much data there is: a part of it may end like the whole */
};

/* Adds an extent or sample. */
void bmff_data_add(
	struct bmff_data *data, const struct bmff_coding *coding, uint64_t offset, uint64_t len);

/* Add what the caller found about data that it added without a coding. */
void bmff_data_confirm(struct bmff_data *data, uint64_t confirmed);
void bmff_data_break(struct bmff_data *data, uint64_t broken);

/* The verdict on a file whose outermost boxes and data are known; sets its length. */
enum verdict bmff_data_verdict(const struct bmff_data *data, struct finding *finding);

/* The extension for a brand of HEIF, or NULL for another brand. */
const char *bmff_picture_extension(uint32_t brand);

#endif
