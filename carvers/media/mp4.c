/*
 * MP4, QuickTime, 3GPP and their kin (ISO/IEC 14496-12; Apple, QuickTime File Format).
 *
 *	ftyp: the brand. QuickTime before version 6 has none and begins with one of the next
 *	moov: what the tracks are and where their samples are
 *	mdat: the samples; before or after moov, or several
 *	moof: with fragments, the description of the samples in the mdat after it
 *
 * The outermost boxes lead to the file's end (bmff.c), where no known one follows. The boxes in
 * moov and moof have to fill them, their tables must agree, and all samples have to be in media
 * data and match their coding (bmff_coded.c, bmff_sample.c); so a file whose data turn into foreign
 * bytes ends there. A file with moov after its data needs less: if bytes between were missing, moov
 * would not be where the data's length leads. A file whose moov is lost is truncated.
 *
 * Where a file in pieces is put together the samples are checked in the order of the file, up to where one is
 * invalid, and states are saved between them. There frames are decoded, or show whether they are intact (sample_frames.c).
 *
 * If samples are described beyond the file's boxes, data are missing. If a file begins with moov
 * but has samples before the end of it, it is the rest of a file whose head is lost.
 */
#include "mp4.h"

#include <inttypes.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "bmff_media.h"
#include "bytes.h"
#include "embedded.h"
#include "mp4_lengths.h"
#include "noise.h"
#include "sample_frames.h"
#include "walk.h"

#define TRACKS 16
/* Enough to see how a sample begins. */
#define SAMPLE_LOOK 8
/* Samples that are framed as their coding requires, though the track's first one was not: not by chance. */
#define FRAMED_SURE 3
/* In the order of the file: at most so many samples, others in that of the tables; bytes after an invalid one at which
 * another track's samples may show that an earlier one is; and units of work to sort one. */
#define SAMPLES_MAX ((size_t)32768)
#define BROKEN_SURE 32768
#define COLLECT_WORK 4

/* Bytes of a sample of video that proves something of joints before it. */
#define LINKED_MIN 128
#define FRAME_MIN 256 /* of MPEG-4 video */

/* Samples that come first in a track and have slices, none of them valid: they are not what the decoder expects. */
#define NEVER_VALID 4

/* How far to search for the end of media data without description and length. */
#define LOST_MAX (UINT64_C(256) << 20)

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
	struct mp4_track tracks[TRACKS], other; /* other: those beyond TRACKS, or unknown */
	size_t track_count;
	struct mp4_track *track; /* whose samples are visited */
	bool pictures, audio, fragments;
	uint64_t sample_count;
	uint64_t first;    /* the lowest offset of a sample */
	uint64_t doubtful; /* a sample that does not look like those before it, or 0 */
	uint64_t beyond;   /* of a sample that extends past the file's boxes, or 0 */
	const struct carve_state *resume; /* NULL: from the start */
	struct mp4_sample *samples; /* SAMPLES_MAX, that are checked in order; NULL: they are not */
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
	struct mp4_table tables[TRACKS];
};

/* A state of the check of samples in the order of the file. */
struct saved {
	uint32_t crc;  /* of moov */
	size_t next;   /* sample */
	uint64_t seen; /* the end of those before */
	struct bmff_data data;
	struct mp4_track tracks[TRACKS];
	uint64_t doubtful;
	struct sample_chain chain;
	struct mpeg4_stream video; /* last: a state has a part of it */
};
_Static_assert(sizeof(struct saved) <= CARVE_STATE_MAX, "a state");

/* Checks whether the first sample of a track is framed as its coding requires: if not, the program
 * has its own framing, and the other samples cannot be verified either. */
static void start_track(struct mp4 *mp4, uint64_t offset, uint64_t len)
{
	uint64_t confirmed, broken = UINT64_MAX;

	mp4->track->started = true;
	if (!bmff_coded(mp4->bmff.view, &mp4->track->coding, offset, len, &confirmed, &broken) &&
		broken == offset) {
		mp4->track->unframed = mp4->track->coding;
		mp4->track->unframed_at = offset;
		mp4->track->coding.type = 0;
	}
}

/* Whether pieces are put together. */
static bool is_assembled(const struct mp4 *mp4)
{
	const struct view *view = mp4->bmff.view;

	return mp4->resume || view_thorough(view) || view_wants_states(view);
}

/* Where a file is put together the first sample may be foreign: it is, if later ones are framed. */
static void find_framing(struct mp4 *mp4, uint64_t offset, uint64_t len)
{
	struct mp4_track *track = mp4->track;
	uint64_t confirmed, broken;

	if (!track->unframed.type || !is_assembled(mp4) || track->framed == FRAMED_SURE)
		return;
	if (bmff_coded(mp4->bmff.view, &track->unframed, offset, len, &confirmed, &broken) &&
		confirmed > offset && ++track->framed == FRAMED_SURE)
		bmff_data_break(&mp4->data, track->unframed_at);
}

/* What is left of bits where samples of that length, or that end there, are usual. */
static unsigned without_likeness(const struct mp4 *mp4, uint64_t end, uint64_t len, unsigned bits)
{
	return mp4->likeness ? sample_likeness_keeps(mp4->likeness, end, len, bits) : 0;
}

static bool is_followed(const struct mp4 *mp4, const struct mp4_track *track)
{
	return track->is_h264 || track == mp4->filmed || sample_frames_are_summed(&track->frames) ||
	       (track->stream.is_followed && track->stream.aac.object);
}

static void count_unread(struct mp4 *mp4)
{
	mp4->unread = 0;
	for (size_t i = 0; i < mp4->collected; i++)
		if (!is_followed(mp4, &mp4->tracks[mp4->samples[i].track]) &&
			mp4->samples[i].len < UINT32_MAX)
			mp4->unread += mp4->samples[i].len;
}

static void count_likeness(struct mp4 *mp4)
{
	struct sample_likeness *likeness = mp4->likeness;

	if (!likeness)
		return;
	*likeness = (struct sample_likeness){ 0 };
	for (size_t i = 0; i < mp4->collected; i++) {
		const struct mp4_sample *sample = &mp4->samples[i];

		if (mp4->tracks[sample->track].is_h264 ||
			&mp4->tracks[sample->track] == mp4->filmed ||
			sample_frames_are_summed(&mp4->tracks[sample->track].frames))
			sample_likeness_add(likeness, sample->offset + sample->len, sample->len);
	}
}

/* A sample with invalid slices or frames. Before any valid ones that may be the decoder's fault. */
static void doubt_sample(struct mp4 *mp4, uint64_t broken)
{
	struct mp4_track *track = mp4->track;

	if (track->valid || track->frames.begun) {
		bmff_data_break(&mp4->data, broken);
		return;
	}
	if (!track->invalid++)
		track->doubted_at = broken;
	if (track->invalid == NEVER_VALID) {
		track->is_h264 = false;
		track->frames.kind = SAMPLE_OTHER;
	}
}

/* Some samples of AAC are valid, and later ones are not, before it is known that all should be: they may be another file's. */
static bool is_in_doubt(const struct mp4_track *track)
{
	return track->stream.interrupted;
}

/* The samples that were invalid first are so after all: others are valid, or there are too few. */
static void settle_doubt(struct mp4 *mp4, struct mp4_track *track)
{
	if (track->invalid && (track->is_h264 || (track->frames.kind && track->valid)))
		bmff_data_break(&mp4->data, track->doubted_at);
}

/* A sample of video was decoded to its end. */
static void add_link(struct mp4 *mp4, const struct sample_link *link, uint64_t len)
{
	if (mp4->likeness)
		sample_chain_add_video(&mp4->chain, mp4->bmff.view, mp4->likeness, link, len);
}

/* Decodes a sample. */
static void decode_sample(struct mp4 *mp4, uint64_t offset, uint64_t len)
{
	struct view *view = mp4->bmff.view;
	struct mp4_track *track = mp4->track;
	struct bmff_h264_sample sample;
	uint64_t broken;

	if (!track->is_h264 || !track->coding.type || !mp4->decoder || mp4->data.broken)
		return;
	if (!bmff_h264(view, mp4->decoder, &track->h264, track->coding.nal_len, offset, len,
		    without_likeness(mp4, offset + len, len, BMFF_H264_BITS), &sample, &broken)) {
		doubt_sample(mp4, broken);
		return;
	}
	if (sample.valid) {
		track->valid = true;
		settle_doubt(mp4, track);
	}
	if (!sample.whole)
		return;
	bmff_data_confirm(&mp4->data, offset + len);
	if (len >= LINKED_MIN)
		add_link(mp4,
			&(struct sample_link){
				sample.first - track->coding.nal_len, sample.first, offset + len },
			len);
}

/* Reads the codes of a frame of MPEG-4 video. */
static void read_frame(struct mp4 *mp4, uint64_t offset, uint64_t len)
{
	uint32_t exact = mp4->video.exact;
	uint64_t at;

	if (mp4->track != mp4->filmed || mp4->data.broken)
		return;
	if (mpeg4_check_frame(mp4->bmff.view, &mp4->video, offset, offset + len, &at) ==
		MPEG4_BROKEN)
		bmff_data_break(&mp4->data, at);
	if (mp4->video.exact == exact || mp4->data.broken)
		return;
	bmff_data_confirm(&mp4->data, offset + len);
	if (len >= FRAME_MIN)
		add_link(mp4, &(struct sample_link){ offset, offset + 1, offset + len }, len);
}

/* Checks frames that show by themselves whether they are intact. */
static void check_frames(struct mp4 *mp4, uint64_t offset, uint64_t len)
{
	struct mp4_track *track = mp4->track;
	uint64_t at;

	if (!track->frames.kind || mp4->data.broken)
		return;
	if (!sample_frames_check(mp4->bmff.view, &track->frames, offset, len, &at)) {
		doubt_sample(mp4, at);
		return;
	}
	track->valid = true;
	settle_doubt(mp4, track);
	if (mp4->data.broken || !sample_frames_are_summed(&track->frames))
		return;
	bmff_data_confirm(&mp4->data, offset + len);
	if (len >= FRAME_MIN)
		add_link(mp4, &(struct sample_link){ offset, offset + 1, offset + len }, len);
}

/* Whether its samples, as pictures or frames of sound, begin like files of their own. */
static bool has_files(const struct mp4_track *track)
{
	return !bmff_is_coded(track->coding.type) || bmff_is_jpeg(track->coding.type);
}

static void note_sample(struct mp4 *mp4, uint64_t offset, uint64_t len)
{
	uint64_t end = offset + len;

	mp4->sample_count++;
	if (offset < mp4->first)
		mp4->first = offset;
	if (len && (end < offset || end > mp4->bmff.end) && !mp4->beyond)
		mp4->beyond = offset;
}

static void check_sample(struct mp4 *mp4, uint64_t offset, uint64_t len)
{
	struct view *view = mp4->bmff.view;
	uint64_t end = offset + len, confirmed, broken;
	bool inside = end >= offset && bmff_in_mdat(&mp4->bmff, offset, len);

	if (inside && len && end <= view_size(view)) {
		if (!mp4->track->started)
			start_track(mp4, offset, len);
		else
			find_framing(mp4, offset, len);
	}
	bmff_data_add(&mp4->data, &mp4->track->coding, offset, len);
	if (inside && len && end <= view_size(view)) {
		decode_sample(mp4, offset, len);
		read_frame(mp4, offset, len);
		check_frames(mp4, offset, len);
	}
	if (!inside || !has_files(mp4->track))
		return;
	embedded_find(view, offset, end, SAMPLE_LOOK);
	if (!len || end > view_size(view))
		return;
	if (!bmff_stream_check(
		    view, &mp4->track->stream, &mp4->chain, offset, len, &confirmed, &broken))
		bmff_data_break(&mp4->data, broken);
	else if (confirmed > offset)
		bmff_data_confirm(&mp4->data, confirmed);
	if (mp4->track->stream.failed && mp4->track->stream.type && !mp4->doubtful)
		mp4->doubtful = offset;
}

static void visit_sample(void *context, uint64_t offset, uint64_t len)
{
	struct mp4 *mp4 = context;

	note_sample(mp4, offset, len);
	if (!mp4->samples || mp4->track == &mp4->other || mp4->collected == SAMPLES_MAX) {
		check_sample(mp4, offset, len);
	} else if (view_work(mp4->bmff.view, COLLECT_WORK)) {
		mp4->samples[mp4->collected] = (struct mp4_sample){ .offset = offset,
			.len = len,
			.number = (uint32_t)mp4->collected,
			.track = (uint8_t)(mp4->track - mp4->tracks) };
		mp4->collected++;
	}
}

static int by_offset(const void *a, const void *b)
{
	const struct mp4_sample *left = a, *right = b;

	if (left->offset != right->offset)
		return left->offset < right->offset ? -1 : 1;
	return left->number < right->number ? -1 : left->number > right->number;
}

static void save_state(const struct mp4 *mp4, uint32_t crc, size_t next, uint64_t seen)
{
	struct saved saved = { .crc = crc,
		.next = next,
		.seen = seen,
		.data = mp4->data,
		.doubtful = mp4->doubtful,
		.chain = mp4->chain };
	size_t video_len = mp4->filmed ? mpeg4_stream_len(&mp4->video) : 0;
	struct carve_state state = {
		.offset = seen, .len = offsetof(struct saved, video) + video_len, .data = &saved
	};

	memcpy(&saved.video, &mp4->video, video_len);
	memcpy(saved.tracks, mp4->tracks, sizeof(saved.tracks));
	view_save(mp4->bmff.view, &state);
}

/* Returns the next sample. */
static size_t load_state(struct mp4 *mp4, uint32_t crc, uint64_t *seen)
{
	struct saved saved = { 0 };

	*seen = 0;
	if (!mp4->resume || mp4->resume->len < offsetof(struct saved, video) ||
		mp4->resume->len > sizeof(saved))
		return 0;
	memcpy(&saved, mp4->resume->data, mp4->resume->len);
	if (saved.crc != crc || saved.next > mp4->collected)
		return 0;
	saved.data.bmff = &mp4->bmff;
	mp4->data = saved.data;
	mp4->doubtful = saved.doubtful;
	mp4->chain = saved.chain;
	mp4->video = saved.video;
	memcpy(mp4->tracks, saved.tracks, sizeof(saved.tracks));
	*seen = saved.seen;
	return saved.next;
}

/* Checks the samples that were collected, in the order of the file, until it is clear where the first invalid one is. */
static void check_in_order(struct mp4 *mp4)
{
	const struct bmff_box *moov = &mp4->bmff.moov;
	struct view *view = mp4->bmff.view;
	uint32_t crc = 0;
	uint64_t seen;

	if (!mp4->collected || !walk_crc32(view, moov->at, moov->end - moov->at, &crc))
		return;
	count_likeness(mp4);
	count_unread(mp4);
	qsort(mp4->samples, mp4->collected, sizeof(*mp4->samples), by_offset);
	for (size_t i = load_state(mp4, crc, &seen); i < mp4->collected; i++) {
		struct mp4_sample *sample = &mp4->samples[i];
		uint32_t links, followed;

		if (mp4->data.broken && sample->offset > mp4->data.broken + BROKEN_SURE)
			break;
		/* Later fragments may say something of samples before them. */
		if (view_wants_states(view) && seen && !mp4->data.broken && !mp4->fragments)
			save_state(mp4, crc, i, seen);
		if (mp4->unread >= SAMPLE_SECTOR)
			mp4->chain.count = 0;
		mp4->track = &mp4->tracks[sample->track];
		links = mp4->chain.count;
		followed = mp4->track->stream.followed;
		check_sample(mp4, sample->offset, sample->len);
		sample->is_decoded = mp4->chain.count != links;
		sample->is_read = sample->is_decoded || mp4->track->stream.followed > followed ||
				  (sample->len < LINKED_MIN &&
					  (mp4->track->is_h264 || mp4->track == mp4->filmed));
		if (sample->len <= UINT64_MAX - sample->offset &&
			sample->offset + sample->len > seen)
			seen = sample->offset + sample->len;
	}
	for (size_t i = 0; i < mp4->track_count; i++)
		settle_doubt(mp4, &mp4->tracks[i]);
	if (!mp4->data.broken && !mp4->fragments && mp4->unread < SAMPLE_SECTOR &&
		is_assembled(mp4))
		mp4_lengths_declare(view, moov, mp4->samples, mp4->collected, mp4->tables);
}

static void visit_fragment(void *context, uint32_t track, uint64_t offset, uint64_t len)
{
	struct mp4 *mp4 = context;

	mp4->track = &mp4->other;
	for (size_t i = 0; i < mp4->track_count; i++)
		if (mp4->tracks[i].id == track)
			mp4->track = &mp4->tracks[i];
	visit_sample(mp4, offset, len);
}

/* Whether a track's samples are in another file: an entry of 'dref' that is not marked as this one,
 * and names another. */
static bool is_external(struct view *view, const struct bmff_box *trak)
{
	static const uint32_t to_dref[] = { BMFF('m', 'd', 'i', 'a'), BMFF('m', 'i', 'n', 'f'),
		BMFF('d', 'i', 'n', 'f'), BMFF('d', 'r', 'e', 'f'), 0 };
	struct bmff_box dref;
	const uint8_t *p;

	if (!bmff_find_path(view, trak, to_dref, &dref) || dref.end - dref.data < 20)
		return false;
	p = view_peek(view, dref.data, 20);
	return p && be32(p + 4) == 1 && be32(p + 8) > 12 && !(p[19] & 1);
}

static uint32_t track_id(struct view *view, const struct bmff_box *trak)
{
	struct bmff_box tkhd;
	const uint8_t *p;

	if (!bmff_find(view, trak->data, trak->end, BMFF('t', 'k', 'h', 'd'), &tkhd) ||
		tkhd.end - tkhd.data < 24)
		return 0;
	p = view_peek(view, tkhd.data, 24);
	if (!p)
		return 0;
	return be32(p + (p[0] == 1 ? 20 : 12));
}

/* Before samples are counted by what they have in common. */
static void open_likeness(struct mp4 *mp4, bool is_wanted)
{
	if (is_wanted && !mp4->likeness && !(mp4->likeness = calloc(1, sizeof(*mp4->likeness))))
		view_no_memory(mp4->bmff.view);
}

/* Opens what the track's video is decoded with. */
static void open_video(struct mp4 *mp4, const struct bmff_track *track)
{
	struct view *view = mp4->bmff.view;

	if (walk_assembles(view) && !mp4->filmed && bmff_mpeg4_open(view, track, &mp4->video))
		mp4->filmed = mp4->track;
	if (is_assembled(mp4))
		mp4->track->is_h264 = bmff_h264_open(view, track, &mp4->track->h264);
	if (mp4->track->is_h264 && !mp4->decoder && !(mp4->decoder = h264_decoder_new()))
		view_no_memory(view);
	open_likeness(mp4, mp4->track->is_h264 || mp4->filmed);
}

/* The length that all of the track's samples have; 0: a table has them. */
static uint32_t fixed_length(struct view *view, const struct bmff_track *track)
{
	const uint8_t *p = track->sizes.type == BMFF('s', 't', 's', 'z')
				   ? view_peek(view, track->sizes.data, 8)
				   : NULL;

	return p ? be32(p + 4) : 0;
}

/* Where the table is that has a length for each sample; 0: there is none. */
static uint64_t find_lengths(struct view *view, const struct bmff_track *track)
{
	return track->sizes.type == BMFF('s', 't', 's', 'z') && !fixed_length(view, track)
		       ? track->sizes.data + 12
		       : 0;
}

/* The number of packets in a sample of Opus, by the box 'dOps' (Encapsulation of Opus in ISO Base Media File Format, 4.3.2). */
static unsigned count_streams(struct view *view, const struct bmff_track *track)
{
	enum { ENTRY_LEN = 28, FAMILY_AT = 10 };
	struct bmff_box box;
	const uint8_t *p = NULL;

	if (track->entry.end - track->entry.data > ENTRY_LEN &&
		bmff_find(view, track->entry.data + ENTRY_LEN, track->entry.end,
			BMFF('d', 'O', 'p', 's'), &box) &&
		box.end - box.data > FAMILY_AT + 1)
		p = view_peek(view, box.data, FAMILY_AT + 2);
	return p && p[FAMILY_AT] && p[FAMILY_AT + 1] ? p[FAMILY_AT + 1] : 1;
}

/* How the track's frames are checked where a file is put together. */
static void open_frames(struct mp4 *mp4, const struct bmff_track *track)
{
	static const struct {
		uint32_t coding;
		enum sample_kind kind;
	} kinds[] = {
		{ BMFF('f', 'L', 'a', 'C'), SAMPLE_FLAC },
		{ BMFF('a', 'c', '-', '3'), SAMPLE_AC3 },
		{ BMFF('e', 'c', '-', '3'), SAMPLE_AC3 },
		{ BMFF('p', 'n', 'g', ' '), SAMPLE_PNG },
		{ BMFF('d', 'v', 'c', ' '), SAMPLE_DV },
		{ BMFF('d', 'v', 'c', 'p'), SAMPLE_DV },
		{ BMFF('d', 'v', 'p', 'p'), SAMPLE_DV },
		{ BMFF('O', 'p', 'u', 's'), SAMPLE_OPUS },
	};
	struct sample_frames *frames = &mp4->track->frames;

	if (!is_assembled(mp4))
		return;
	for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++)
		if (track->coding == kinds[i].coding)
			frames->kind = kinds[i].kind;
	frames->len = fixed_length(mp4->bmff.view, track);
	frames->streams =
		frames->kind == SAMPLE_OPUS ? (uint8_t)count_streams(mp4->bmff.view, track) : 1;
	open_likeness(mp4, frames->kind);
}

static bool read_track(void *context, const struct bmff_box *trak)
{
	struct mp4 *mp4 = context;
	struct view *view = mp4->bmff.view;
	struct bmff_track track;

	if (is_external(view, trak))
		return true;
	if (!bmff_track_open(view, trak, &track))
		return track.handler == 0;
	mp4->track = mp4->track_count < TRACKS ? &mp4->tracks[mp4->track_count++] : &mp4->other;
	*mp4->track = (struct mp4_track){ .id = track_id(view, trak),
		.coding = bmff_sample_coding(view, &track) };
	if (mp4->track != &mp4->other)
		mp4->tables[mp4->track - mp4->tracks] =
			(struct mp4_table){ find_lengths(view, &track), (uint32_t)mp4->collected };
	bmff_stream_open(view, &track, &mp4->track->stream);
	mp4->track->stream.goes_on = is_assembled(mp4);
	mp4->track->stream.is_followed = is_assembled(mp4) || view_is_trial(view);
	open_video(mp4, &track);
	open_frames(mp4, &track);
	mp4->pictures |= track.handler == BMFF('v', 'i', 'd', 'e');
	mp4->audio |= track.handler == BMFF('s', 'o', 'u', 'n');
	return bmff_samples(view, &track, visit_sample, mp4);
}

static bool read_moov(struct mp4 *mp4, uint64_t *broken)
{
	struct view *view = mp4->bmff.view;
	const struct bmff_box *moov = &mp4->bmff.moov;
	struct bmff_box mvex;

	if (!bmff_nested(view, moov, broken))
		return false;
	view_holds(view, moov->data, moov->end);
	mp4_read_details(view, moov, mp4->finding);
	if (!bmff_tracks(view, moov, read_track, mp4, broken))
		return false;
	mp4->fragments = bmff_find(view, moov->data, moov->end, BMFF('m', 'v', 'e', 'x'), &mvex);
	return true;
}

/* Reads the boxes 'moof'. False: they are corrupt at *broken. */
static bool read_fragments(struct mp4 *mp4, uint64_t *broken)
{
	const struct bmff *bmff = &mp4->bmff;
	struct bmff_box box;

	for (uint64_t at = 0; bmff_read(bmff->view, at, bmff->end, &box) == BMFF_BOX;
		at = box.end) {
		if (box.type != BMFF('m', 'o', 'o', 'f'))
			continue;
		if (box.end > view_size(bmff->view))
			return true;
		*broken = box.at;
		mp4->fragments = true;
		if (!bmff_nested(bmff->view, &box, broken) ||
			!bmff_fragment(bmff->view, &box, &bmff->moov, visit_fragment, mp4))
			return false;
	}
	return true;
}

/* Reads moov and moof. False: they are corrupt at *broken. */
static bool read_boxes(struct mp4 *mp4, uint64_t *broken)
{
	const struct bmff_box *moov = &mp4->bmff.moov;
	bool is_valid;

	if (moov->type && moov->end <= view_size(mp4->bmff.view) && !read_moov(mp4, broken))
		return false;
	is_valid = read_fragments(mp4, broken);
	if (mp4->samples)
		check_in_order(mp4);
	if (!is_valid && mp4->data.broken && mp4->data.broken < *broken)
		*broken = mp4->data.broken;
	return is_valid;
}

/* Where the coded data end in [start, end): before the plain bytes that continue to its end.
 * Silence and still pictures are plain, too, but something follows them. */
static uint64_t coded_end(struct view *view, uint64_t start, uint64_t end)
{
	uint64_t plain = start, coded = start;

	while (coded < end) {
		plain = plain_start(view, coded, end);
		coded = noise_start(view, plain, end);
		if (coded <= plain)
			return end;
	}
	return plain > start ? walk_before_fill(view, start, plain) : end;
}

/* Where in [start, end) another file begins, or end: the media data's length may cover data which
 * are no longer there. */
static uint64_t next_file_start(struct view *view, uint64_t start, uint64_t end)
{
	const uint8_t *window, *found;
	size_t len;

	for (uint64_t at = start; (window = walk_window(view, at, end, &len)) && len > 8;
		at += len - 7) {
		for (size_t from = 0; from + 8 <= len; from = (size_t)(found - window) + 4) {
			found = memmem(window + from, len - from, "ftyp", 4);
			if (!found)
				break;
			if (found - window >= 4 && be32(found - 4) >= 16 && be32(found - 4) < 256)
				return at + (uint64_t)(found - window) - 4;
		}
	}
	return end;
}

/* The verdict on a file without description: as far as its data can be media data. */
static enum verdict judge_lost(struct mp4 *mp4)
{
	struct bmff *bmff = &mp4->bmff;
	uint64_t size = view_size(bmff->view), start = bmff->last.data;
	uint64_t end = bmff->end < size ? bmff->end : size, frames_end;

	if (!bmff->ftyp.type || !bmff->mdat_count || bmff->meta.type)
		return verdict_because(CARVE_REJECT, mp4->finding,
			"neither media data nor their description before %" PRIu64, bmff->end);
	if (bmff->last.open && end - start > LOST_MAX)
		end = start + LOST_MAX;
	frames_end = mp4_name_frames(bmff->view, bmff->mdat[0].data, end);
	if (bmff->last.type == BMFF('m', 'd', 'a', 't')) {
		if (frames_end > start)
			start = frames_end;
		end = next_file_start(bmff->view, start, end);
		end = coded_end(bmff->view, start, end);
	}
	if (bmff->stopped == BMFF_CUT)
		return walk_cut(bmff->view, mp4->finding, bmff->end, end);
	mp4->finding->length = end;
	return verdict_because(CARVE_TRUNCATED, mp4->finding,
		"no movie box before %" PRIu64 ": the media data's description is lost", bmff->end);
}

static enum verdict judge_broken(struct mp4 *mp4, uint64_t broken)
{
	const struct bmff *bmff = &mp4->bmff;
	const struct bmff_box *last = &bmff->last;
	bool continues = bmff->stopped != BMFF_CUT && last->at > broken;

	if (!bmff->ftyp.type)
		return verdict_because(CARVE_REJECT, mp4->finding,
			"no file type, and a corrupt description at %" PRIu64, broken);
	mp4->finding->length = continues ? bmff->end : broken;
	return verdict_because(continues ? CARVE_UNVERIFIED : CARVE_TRUNCATED, mp4->finding,
		"the media data's description is corrupt at %" PRIu64, broken);
}

/* The verdict on a file without samples of its own. */
static enum verdict judge_empty(struct mp4 *mp4)
{
	if (mp4->bmff.stopped == BMFF_CUT)
		return walk_cut(
			mp4->bmff.view, mp4->finding, mp4->bmff.end, view_size(mp4->bmff.view));
	mp4->finding->length = mp4->bmff.end;
	if (mp4->fragments)
		return verdict_because(CARVE_UNVERIFIED, mp4->finding,
			"a fragmented file's head, but no fragment at %" PRIu64, mp4->bmff.end);
	return verdict_because(CARVE_UNVERIFIED, mp4->finding,
		"no samples described before %" PRIu64, mp4->bmff.end);
}

/* Bytes at the end of moov that nothing confirms: of the last box in 'udta' or 'meta', which are
 * not walked, since programs put anything into them. */
static uint64_t unverified_tail_len(struct mp4 *mp4)
{
	struct view *view = mp4->bmff.view;
	struct bmff_box holder = mp4->bmff.moov, last, child;
	uint64_t start = holder.data;
	bool loose = false, cover = false;

	/* Below 'ilst' each box holds one named 'data'. */
	for (int depth = 0; depth < 8 && !(loose && holder.type == BMFF('d', 'a', 't', 'a'));
		depth++) {
		last.type = 0;
		for (uint64_t at = bmff_first_child(view, &holder);
			bmff_read(view, at, holder.end, &child) == BMFF_BOX; at = child.end)
			last = child;
		start = last.type ? last.end : holder.data;
		if (!last.type || last.end + 8 <= holder.end)
			break;
		loose |= last.type == BMFF('u', 'd', 't', 'a') ||
			 last.type == BMFF('m', 'e', 't', 'a');
		cover |= last.type == BMFF('c', 'o', 'v', 'r') ||
			 last.type == BMFF('f', 'r', 'e', 'e');
		holder = last;
		start = holder.data;
	}
	/* Text does not belong into a cover's picture, nor into free space. */
	return loose && !bmff_is_filler(view, &holder) &&
			       (cover || !plain_at_end(view, start, holder.end))
		       ? holder.end - start
		       : 0;
}

static enum verdict judge_samples(struct mp4 *mp4)
{
	const struct bmff *bmff = &mp4->bmff;
	const struct bmff_box *last_mdat =
		bmff->mdat_count ? &bmff->mdat[bmff->mdat_count < BMFF_MDATS ? bmff->mdat_count - 1
									     : BMFF_MDATS - 1]
				 : NULL;

	mp4->data.endless = mp4->fragments;
	mp4->finding->length = bmff->end;
	if (mp4->beyond && bmff->stopped != BMFF_CUT)
		return verdict_because(CARVE_TRUNCATED, mp4->finding,
			"media data at %" PRIu64 " are missing: the boxes end at %" PRIu64,
			mp4->beyond, bmff->end);
	if (last_mdat && bmff->moov.at >= last_mdat->end && bmff->stopped != BMFF_CUT) {
		if (mp4->data.broken && is_assembled(mp4)) {
			mp4->finding->length = mp4->data.broken;
			return verdict_because(CARVE_TRUNCATED, mp4->finding,
				"invalid media data at %" PRIu64, mp4->data.broken);
		}
		if (mp4->data.broken)
			return verdict_because(CARVE_UNVERIFIED, mp4->finding,
				"invalid media data at %" PRIu64 ", but their description follows",
				mp4->data.broken);
	} else if (mp4->doubtful && !mp4->data.broken && bmff->stopped != BMFF_CUT) {
		return verdict_because(CARVE_UNVERIFIED, mp4->finding,
			"the sample at %" PRIu64 " differs from those before it", mp4->doubtful);
	}
	for (size_t i = 0; i < mp4->track_count && is_assembled(mp4) && !mp4->data.broken; i++)
		if (is_in_doubt(&mp4->tracks[i]) && bmff->stopped != BMFF_CUT)
			return verdict_because(CARVE_UNVERIFIED, mp4->finding,
				"samples of track %zu are not as it describes them", i + 1);
	if (bmff->last.type == BMFF('m', 'o', 'o', 'v') && bmff->stopped != BMFF_CUT) {
		uint64_t tail = unverified_tail_len(mp4);

		if (tail)
			return verdict_because(CARVE_UNVERIFIED, mp4->finding,
				"the last %" PRIu64 " bytes cannot be verified", tail);
	}
	return bmff_data_verdict(&mp4->data, mp4->finding);
}

/* Picture brands have carvers of their own. */
static bool is_picture_brand(uint32_t brand)
{
	return bmff_picture_extension(brand) || brand == BMFF('c', 'r', 'x', ' ') ||
	       brand == BMFF('j', 'x', 'l', ' ') ||
	       (brand >> 16 == BMFF(0, 0, 'j', 'p') && (brand & 0xff) == ' ');
}

/* Whether this is a later part of a file, judging by the samples' offsets. */
static bool is_headless(const struct mp4 *mp4)
{
	const struct bmff *bmff = &mp4->bmff;

	if (bmff->ftyp.type || !mp4->sample_count)
		return false;
	if (bmff->mdat_count && bmff->mdat[0].at < bmff->moov.at)
		return mp4->data.outside != 0;
	if (bmff->mdat_count && mp4->beyond)
		return true;
	return mp4->first < (bmff->moov.type ? bmff->moov.end : 8);
}

static enum verdict check_boxes(struct mp4 *mp4)
{
	struct finding *finding = mp4->finding;
	struct bmff *bmff = &mp4->bmff;
	struct view *view = bmff->view;
	enum verdict verdict;
	uint64_t broken;

	if (bmff->moov.type && bmff->moov.end > view_size(view))
		verdict = walk_cut(view, finding, bmff->moov.end, view_size(view));
	else if (!read_boxes(mp4, &broken))
		verdict = judge_broken(mp4, broken);
	else if (!bmff->moov.type && !mp4->fragments)
		verdict = judge_lost(mp4);
	else if (is_headless(mp4))
		verdict = verdict_because(CARVE_REJECT, finding,
			"samples at %" PRIu64 ": the file begins earlier", mp4->first);
	else if (!mp4->sample_count)
		verdict = judge_empty(mp4);
	else
		verdict = judge_samples(mp4);
	if (bmff->stopped != BMFF_CUT)
		verdict = walk_past_unread(view, finding, verdict, bmff->end);
	if (verdict != CARVE_REJECT)
		finding->extension =
			bmff->segment ? "m4s"
				      : mp4_extension(bmff->brand, mp4->pictures, mp4->audio);
	return verdict;
}

static enum verdict check_from(
	struct view *view, const struct carve_state *from, struct finding *finding)
{
	struct mp4 mp4 = {
		.finding = finding, .data.bmff = &mp4.bmff, .first = UINT64_MAX, .resume = from
	};
	enum verdict verdict;

	if (!bmff_open(&mp4.bmff, view) && !bmff_open_bare(&mp4.bmff, view))
		return verdict_because(CARVE_REJECT, finding, "no file type or movie box at 0");
	if (is_picture_brand(mp4.bmff.brand))
		return verdict_because(CARVE_REJECT, finding, "a picture format's brand at 8");
	if (is_assembled(&mp4)) {
		mp4.samples = malloc(SAMPLES_MAX * sizeof(*mp4.samples));
		if (!mp4.samples)
			view_no_memory(view);
	}
	verdict = check_boxes(&mp4);
	free(mp4.decoder);
	free(mp4.likeness);
	free(mp4.samples);
	return verdict;
}

static enum verdict check(struct view *view, struct finding *finding)
{
	return check_from(view, NULL, finding);
}

static enum verdict resume(
	struct view *view, const struct carve_state *state, struct finding *finding)
{
	return check_from(view, state, finding);
}

const struct carver mp4_carver = {
	.name = "mp4",
	.summary = "MP4, QuickTime, 3GPP and M4A, by their boxes, tables of samples and coded data",
	.check = check,
	.resume = resume,
	.map = &bmff_map,
};
