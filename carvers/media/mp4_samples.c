/*
 * The samples of MP4's tracks. Where a file in pieces is put together they are collected first, and checked in the order of the
 * file, up to where one is invalid; states are saved between them. There frames are decoded, or show whether they are
 * intact (sample_frames.c).
 */
#include "mp4_film.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "bytes.h"
#include "embedded.h"
#include "walk.h"

/* Enough to see how a sample begins. */
#define SAMPLE_LOOK 8
/* Samples that are framed as their coding requires, though the track's first one was not: not by chance. */
#define FRAMED_SURE 3
/* Bytes after an invalid sample at which another track's may show that an earlier one is; and units of work to sort one. */
#define BROKEN_SURE 32768
#define COLLECT_WORK 4

/* Bytes of a sample of video that proves something of joints before it. */
#define LINKED_MIN 128
#define FRAME_MIN 256 /* of MPEG-4 video */

/* Samples that come first in a track and have slices, none of them valid: they are not what the decoder expects. */
#define NEVER_VALID 4

/* A state of the check of samples in the order of the file. */
struct saved {
	uint32_t crc;  /* of moov */
	size_t next;   /* sample */
	uint64_t seen; /* the end of those before */
	struct bmff_data data;
	struct mp4_track tracks[MP4_TRACKS];
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

bool mp4_is_assembled(const struct mp4 *mp4)
{
	const struct view *view = mp4->bmff.view;

	return mp4->resume || view_thorough(view) || view_wants_states(view);
}

/* Where a file is put together the first sample may be foreign: it is, if later ones are framed. */
static void find_framing(struct mp4 *mp4, uint64_t offset, uint64_t len)
{
	struct mp4_track *track = mp4->track;
	uint64_t confirmed, broken;

	if (!track->unframed.type || !mp4_is_assembled(mp4) || track->framed == FRAMED_SURE)
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

bool mp4_is_in_doubt(const struct mp4_track *track)
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
	if (!mp4->samples || mp4->track == &mp4->other || mp4->collected == MP4_SAMPLES_MAX) {
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

static void save_state(const struct mp4 *mp4, size_t next, uint64_t seen)
{
	struct saved saved = { .crc = mp4->crc,
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

/* Reads the state to go on from. False: there is none, or none of a check with the same moov. */
static bool read_state(const struct mp4 *mp4, struct saved *saved)
{
	const struct carve_state *state = mp4->resume;

	*saved = (struct saved){ 0 };
	if (!state || state->len < offsetof(struct saved, video) || state->len > sizeof(*saved))
		return false;
	memcpy(saved, state->data, state->len);
	return saved->crc == mp4->crc;
}

bool mp4_is_known(struct mp4 *mp4)
{
	const struct bmff_box *moov = &mp4->bmff.moov;
	struct saved saved;

	return walk_crc32(mp4->bmff.view, moov->at, moov->end - moov->at, &mp4->crc) &&
	       read_state(mp4, &saved);
}

/* Returns the next sample. */
static size_t load_state(struct mp4 *mp4, uint64_t *seen)
{
	struct saved saved;

	*seen = 0;
	if (!read_state(mp4, &saved) || saved.next > mp4->collected)
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

void mp4_check_in_order(struct mp4 *mp4)
{
	const struct bmff_box *moov = &mp4->bmff.moov;
	struct view *view = mp4->bmff.view;
	uint64_t seen;

	if (!mp4->collected)
		return;
	count_likeness(mp4);
	count_unread(mp4);
	qsort(mp4->samples, mp4->collected, sizeof(*mp4->samples), by_offset);
	for (size_t i = load_state(mp4, &seen); i < mp4->collected; i++) {
		struct mp4_sample *sample = &mp4->samples[i];
		uint32_t links, followed;

		if (mp4->data.broken && sample->offset > mp4->data.broken + BROKEN_SURE)
			break;
		/* Later fragments may say something of samples before them. */
		if (view_wants_states(view) && seen && !mp4->data.broken && !mp4->fragments)
			save_state(mp4, i, seen);
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
		mp4_is_assembled(mp4))
		mp4_lengths_declare(view, moov, mp4->samples, mp4->collected, mp4->tables);
}

void mp4_visit_fragment(void *context, uint32_t track, uint64_t offset, uint64_t len)
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
	if (mp4_is_assembled(mp4))
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

	if (!mp4_is_assembled(mp4))
		return;
	for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++)
		if (track->coding == kinds[i].coding)
			frames->kind = kinds[i].kind;
	frames->len = fixed_length(mp4->bmff.view, track);
	frames->streams =
		frames->kind == SAMPLE_OPUS ? (uint8_t)count_streams(mp4->bmff.view, track) : 1;
	open_likeness(mp4, frames->kind);
}

bool mp4_read_track(void *context, const struct bmff_box *trak)
{
	struct mp4 *mp4 = context;
	struct view *view = mp4->bmff.view;
	struct bmff_track track;

	if (is_external(view, trak))
		return true;
	if (!bmff_track_open(view, trak, &track))
		return track.handler == 0;
	mp4->track = mp4->track_count < MP4_TRACKS ? &mp4->tracks[mp4->track_count++] : &mp4->other;
	*mp4->track = (struct mp4_track){ .id = track_id(view, trak),
		.coding = bmff_sample_coding(view, &track) };
	if (mp4->track != &mp4->other)
		mp4->tables[mp4->track - mp4->tracks] =
			(struct mp4_table){ find_lengths(view, &track), (uint32_t)mp4->collected };
	bmff_stream_open(view, &track, &mp4->track->stream);
	mp4->track->stream.goes_on = mp4_is_assembled(mp4);
	mp4->track->stream.is_followed = mp4_is_assembled(mp4) || view_is_trial(view);
	open_video(mp4, &track);
	open_frames(mp4, &track);
	mp4->pictures |= track.handler == BMFF('v', 'i', 'd', 'e');
	mp4->audio |= track.handler == BMFF('s', 'o', 'u', 'n');
	return bmff_samples(view, &track, visit_sample, mp4);
}
