/*
 * Matroska and WebM (RFC 9559; EBML: RFC 8794, ebml.c).
 *
 *	EBML:    the head: versions and the document's type, 'matroska' or 'webm'
 *	Segment: SeekHead, Info (title, date), Tracks, Cues, Tags, Attachments, Chapters, Void, and
 *		 Clusters: a time, and the frames of that time in blocks
 *
 * The segment's length gives the file's end, and the elements in it, all of known ids, have to lead
 * exactly there, as have those in clusters. A block names an existing track, which confirms the
 * positions of frames, whose content is noise. Programs that write live write no lengths: segments
 * and clusters then continue as long as elements follow that may occur in them. CRC-32 elements
 * have to match where they exist, and prove where pieces of a file meet in what they cover.
 *
 * Only what follows an element confirms its content. So a file that ends with frames, or with an
 * element whose last value is not plain (text, numbers), is unverified.
 */
#include "mkv.h"

#include <inttypes.h>
#include <string.h>

#include "bytes.h"
#include "ebml.h"
#include "embedded.h"
#include "mkv_blocks.h"
#include "noise.h"
#include "title.h"
#include "walk.h"

enum {
	ID_DOC_TYPE = 0x4282,
	ID_SEEK_HEAD = 0x114d9b74,
	ID_INFO = 0x1549a966,
	ID_TRACKS = 0x1654ae6b,
	ID_ATTACHMENTS = 0x1941a469,
	ID_CHAPTERS = 0x1043a770,
	ID_CRC = 0xbf,
	ID_TIMESTAMP = 0xe7,
	ID_POSITION = 0xa7,
	ID_PREVIOUS_SIZE = 0xab,
	ID_TITLE = 0x7ba9,
	ID_DATE = 0x4461,
	ID_TRACK = 0xae,
	ID_TRACK_NUMBER = 0xd7,
	ID_TRACK_TYPE = 0x83,
	ID_SIMPLE_BLOCK = 0xa3,
	ID_BLOCK_GROUP = 0xa0,
	ID_BLOCK = 0xa1,
	ID_ATTACHED = 0x61a7,
	ID_FILE_DATA = 0x465c,
};

/* 2001-01-01, from which dates count. */
#define EPOCH 978307200

/* Bytes before a block's first frame: the lengths of laced frames. */
#define FRAME_LOOK 32

#define RESERVED_FLAGS 0x70 /* of a block */

#define CRC_BITS 32 /* see view_proved */

/* Elements that hold others, and how deep they may be nested. */
#define DEPTH_MAX 8
static const uint32_t masters[] = {
	ID_SEEK_HEAD, ID_INFO, ID_TRACKS, ID_CUES, ID_TAGS, ID_ATTACHMENTS, ID_CHAPTERS, ID_TRACK,
	0x4dbb,                                        /* an entry of SeekHead */
	0xbb, 0xb7,                                    /* a cue, and where it leads */
	0x7373, 0x67c8, 0x63c0,                        /* a tag, a simple one, what it is of */
	ID_ATTACHED, 0x45b9, 0xb6, 0x80, 0x8f, 0x6944, /* chapters */
	0xe0, 0xe1, 0x55b0, /* a track's pictures, their colours; its audio */
	0x6d80, 0x6240,     /* how it is compressed */
};

struct mkv {
	struct view *view;
	struct finding *finding;
	bool webm, video, info, tracks, clusters, live;
	uint8_t numbers[16];              /* the existing tracks among the first 128, a bit each */
	uint64_t valid_end;               /* confirmed by what follows */
	struct ebml_element last;         /* the last innermost element: nothing confirms it */
	uint64_t crc_wrong;               /* an element whose CRC is wrong, or 0 */
	uint64_t crc_end;                 /* its end */
	const struct carve_state *resume; /* NULL: from the start */
	struct mkv_blocks blocks;         /* of a thorough check */
};

/* Where a walk goes on: at a part of a cluster. All clusters before have lengths. */
struct saved {
	uint64_t cluster, at, last; /* last: the part before it, in the cluster */
	uint64_t crc_wrong, crc_end;
};

static bool in_segment(uint32_t id)
{
	switch (id) {
	case ID_SEEK_HEAD:
	case ID_INFO:
	case ID_TRACKS:
	case ID_CUES:
	case ID_CLUSTER:
	case ID_TAGS:
	case ID_ATTACHMENTS:
	case ID_CHAPTERS:
	case ID_VOID:
	case ID_CRC:
		return true;
	}
	return false;
}

/* Timestamp, position, sizes, silent and encrypted blocks. */
static bool in_cluster(uint32_t id)
{
	return id == ID_TIMESTAMP || id == ID_POSITION || id == ID_PREVIOUS_SIZE ||
	       id == ID_SIMPLE_BLOCK || id == 0xaf || id == ID_BLOCK_GROUP || id == 0x5854 ||
	       id == ID_VOID || id == ID_CRC;
}

static void read_info(struct mkv *mkv, const struct ebml_element *info)
{
	struct ebml_element element;
	const uint8_t *p;

	mkv->info = true;
	if (ebml_find(mkv->view, info->data, info->end, ID_DATE, &element) &&
		element.end - element.data == 8) {
		int64_t date = (int64_t)ebml_number(mkv->view, &element) / 1000000000;

		mkv->finding->time = date ? EPOCH + date : 0;
	}
	if (ebml_find(mkv->view, info->data, info->end, ID_TITLE, &element)) {
		uint64_t len = element.end - element.data;

		p = view_peek(mkv->view, element.data, len < 256 ? (size_t)len : 256);
		if (p)
			finding_set_title_latin1(mkv->finding, p, len < 256 ? (size_t)len : 256);
	}
}

static void read_tracks(struct mkv *mkv, const struct ebml_element *tracks)
{
	struct ebml_element track, field;

	for (uint64_t at = tracks->data; ebml_find(mkv->view, at, tracks->end, ID_TRACK, &track);
		at = track.end) {
		if (ebml_find(mkv->view, track.data, track.end, ID_TRACK_NUMBER, &field)) {
			uint64_t number = ebml_number(mkv->view, &field);

			if (number < 128)
				mkv->numbers[number / 8] |= (uint8_t)(1 << number % 8);
		}
		if (ebml_find(mkv->view, track.data, track.end, ID_TRACK_TYPE, &field))
			mkv->video |= ebml_number(mkv->view, &field) == 1;
	}
	mkv->tracks = true;
}

/* Attached files are covers and fonts. */
static void name_attachments(struct mkv *mkv, const struct ebml_element *attachments)
{
	struct ebml_element file, data;

	for (uint64_t at = attachments->data;
		ebml_find(mkv->view, at, attachments->end, ID_ATTACHED, &file); at = file.end)
		if (ebml_find(mkv->view, file.data, file.end, ID_FILE_DATA, &data))
			view_embedded(mkv->view, data.data);
}

/* Whether a block's frames belong to an existing track. */
static bool is_block(struct mkv *mkv, const struct ebml_element *block)
{
	const uint8_t *p =
		block->end - block->data >= 4 ? view_peek(mkv->view, block->data, 4) : NULL;
	bool valid;

	if (!p)
		return false;
	if (p[0] & 0x80)
		valid = !mkv->tracks || mkv->numbers[(p[0] & 0x7f) / 8] >> (p[0] & 7) & 1;
	else
		valid = p[0] & 0x40;
	/* A frame of MPEG audio or video, or a picture, begins like a file of its own. */
	if (valid)
		embedded_find(mkv->view, block->data + 4, block->end, FRAME_LOOK);
	return valid;
}

/* Whether the element may be part of a cluster. */
static bool is_part(struct mkv *mkv, const struct ebml_element *part)
{
	struct ebml_element block;

	if (!in_cluster(part->id) || part->unknown_len)
		return false;
	if (part->id == ID_SIMPLE_BLOCK)
		return is_block(mkv, part);
	if (part->id == ID_TIMESTAMP || part->id == ID_POSITION || part->id == ID_PREVIOUS_SIZE)
		return part->end - part->data <= 8;
	if (part->id != ID_BLOCK_GROUP)
		return true;
	return ebml_read(mkv->view, part->data, part->end, &block) != EBML_NONE &&
	       (block.id != ID_BLOCK || is_block(mkv, &block));
}

/* Whether it has an identifier of one byte, which elements at all depths may have, and no content that belongs to it:
 * then it is one by chance. */
static bool is_chance(struct mkv *mkv, const struct ebml_element *part)
{
	return (part->id == ID_VOID && !walk_zeros(mkv->view, part->data, part->end)) ||
	       (part->id == ID_CRC && part->end - part->data != 4);
}

/* Whether the element has frames: *block is their block. */
static bool find_block(struct mkv *mkv, const struct ebml_element *part, struct ebml_element *block)
{
	*block = *part;
	if (part->id == ID_BLOCK_GROUP)
		return ebml_read(mkv->view, part->data, part->end, block) == EBML_INTACT &&
		       block->id == ID_BLOCK;
	return part->id == ID_SIMPLE_BLOCK;
}

/* A block of a track below 128. */
static void follow_block(struct mkv *mkv, const struct ebml_element *part)
{
	struct ebml_element block;
	const uint8_t *p = find_block(mkv, part, &block) && block.end - block.data >= 4
				   ? view_peek(mkv->view, block.data, 4)
				   : NULL;

	if (p && p[0] & 0x80 && !(p[3] & RESERVED_FLAGS))
		mkv_blocks_add(
			&mkv->blocks, part->at, block.data + 4, part->end, (int16_t)be16(p + 1));
}

/* Before a part of a cluster. */
static void save_state(const struct mkv *mkv, const struct ebml_element *cluster, uint64_t at)
{
	struct saved saved = { .cluster = cluster->at,
		.at = at,
		.last = mkv->last.at,
		.crc_wrong = mkv->crc_wrong,
		.crc_end = mkv->crc_end };
	struct carve_state state = { .offset = at, .len = sizeof(saved), .data = &saved };

	if (cluster->unknown_len || mkv->live || at == cluster->data)
		return;
	view_save(mkv->view, &state);
}

static bool read_saved(const struct mkv *mkv, struct saved *saved)
{
	if (!mkv->resume || mkv->resume->len != sizeof(*saved))
		return false;
	memcpy(saved, mkv->resume->data, sizeof(*saved));
	return true;
}

/* Whether the walk goes on after this cluster. */
static bool is_before_state(const struct mkv *mkv, const struct ebml_element *cluster)
{
	struct saved saved;

	return read_saved(mkv, &saved) && !cluster->unknown_len && cluster->end <= saved.cluster;
}

/* Where the walk goes on, if that is in this cluster; else its first part. */
static uint64_t load_state(struct mkv *mkv, const struct ebml_element *cluster)
{
	struct saved saved;

	if (!read_saved(mkv, &saved) || saved.cluster != cluster->at ||
		ebml_read(mkv->view, saved.last, cluster->end, &mkv->last) == EBML_NONE)
		return cluster->data;
	mkv->valid_end = saved.last;
	mkv->crc_wrong = saved.crc_wrong;
	mkv->crc_end = saved.crc_end;
	return saved.at;
}

/* Whether an element whose head can't be read before `limit`, where its parent ends, may be cut off with the view. is_open: the
 * parent has no length. */
static bool is_cut(const struct mkv *mkv, uint64_t limit, bool is_open)
{
	return limit > view_size(mkv->view) || is_open;
}

/* Walks a cluster to *end: its own, or where an element follows that cannot be in it. NULL, or what
 * is wrong at *end. */
static const char *walk_cluster(struct mkv *mkv, const struct ebml_element *cluster, uint64_t *end)
{
	static const char longer[] = "an element longer than its cluster";
	bool saves = view_wants_states(mkv->view), proves = view_thorough(mkv->view);
	struct ebml_element part;

	if (proves)
		mkv_blocks_begin(&mkv->blocks, mkv->view, cluster->data);

	for (uint64_t at = load_state(mkv, cluster);; at = part.end) {
		enum ebml_state state = ebml_read(mkv->view, at, cluster->end, &part);

		*end = at;
		if (saves)
			save_state(mkv, cluster, at);
		if (state == EBML_END) {
			if (proves)
				mkv_blocks_end(&mkv->blocks);
			return NULL;
		}
		if (state == EBML_CUT && part.end == at)
			return is_cut(mkv, cluster->end, cluster->unknown_len) ? "cut" : longer;
		if (cluster->unknown_len && (state == EBML_NONE || !in_cluster(part.id) ||
						    !is_part(mkv, &part) || is_chance(mkv, &part)))
			return NULL;
		if (state == EBML_NONE || !is_part(mkv, &part))
			return "no cluster element";
		mkv->valid_end = at;
		mkv->last = part;
		if (state == EBML_CUT && !cluster->unknown_len)
			return longer;
		if (part.end > view_size(mkv->view) || state == EBML_CUT)
			return part.end > view_size(mkv->view) ? "cut" : longer;
		if (proves)
			follow_block(mkv, &part);
	}
}

/* Checks the CRC of an element of the segment, if it has one. */
static void check_crc(struct mkv *mkv, const struct ebml_element *element)
{
	struct ebml_crc crc;

	if (!ebml_check_crc(mkv->view, element, &crc))
		return;
	if (crc.right) {
		view_proved(mkv->view, crc.at, element->end, CRC_BITS);
		return;
	}
	mkv->crc_wrong = element->at;
	mkv->crc_end = element->end;
}

/* Adds an element of the segment. NULL, or what is wrong at *end. */
static const char *add_element(struct mkv *mkv, const struct ebml_element *element, uint64_t *end)
{
	*end = element->end;
	if (element->id == ID_CLUSTER && is_before_state(mkv, element)) {
		mkv->clusters = true;
		return NULL;
	}
	if (element->id == ID_CLUSTER) {
		const char *problem = walk_cluster(mkv, element, end);

		mkv->clusters |= !problem;
		if (problem)
			return problem;
		mkv->live |= element->unknown_len;
	} else if (element->unknown_len) {
		*end = element->at;
		return "an element without length";
	} else if (element->end <= view_size(mkv->view)) {
		mkv->valid_end = element->at;
		mkv->last = *element;
		if (element->id == ID_INFO)
			read_info(mkv, element);
		if (element->id == ID_TRACKS)
			read_tracks(mkv, element);
		if (element->id == ID_ATTACHMENTS)
			name_attachments(mkv, element);
	}
	if (*end <= view_size(mkv->view) && !element->unknown_len && !mkv->crc_wrong)
		check_crc(mkv, element);
	return NULL;
}

/* Walks the elements in the segment: NULL with *end after the last, or what is wrong there. */
static const char *walk_segment(struct mkv *mkv, const struct ebml_element *segment, uint64_t *end)
{
	static const char long_one[] = "an element that is too long";
	struct ebml_element element;
	const char *problem;

	for (*end = segment->data;;) {
		uint64_t at = *end;
		enum ebml_state state = ebml_read(mkv->view, at, segment->end, &element);

		if (state == EBML_END)
			return NULL;
		if (state == EBML_CUT && element.end == at)
			return is_cut(mkv, segment->end, segment->unknown_len) ? "cut" : long_one;
		if (segment->unknown_len &&
			(state == EBML_NONE || !in_segment(element.id) || is_chance(mkv, &element)))
			return NULL;
		if (state == EBML_NONE || !in_segment(element.id))
			return "no segment element";
		if (element.id == ID_CLUSTER
				? state == EBML_CUT && !segment->unknown_len &&
					  walk_assembles(mkv->view)
				: state == EBML_CUT || element.end > view_size(mkv->view)) {
			mkv->valid_end = at;
			return state == EBML_CUT && !segment->unknown_len ? long_one : "cut";
		}
		problem = add_element(mkv, &element, end);
		if (problem)
			return problem;
	}
}

static bool is_master(uint32_t id)
{
	for (size_t i = 0; i < sizeof(masters) / sizeof(*masters); i++)
		if (masters[i] == id)
			return true;
	return false;
}

/* Whether the last element of the segment confirms itself: its children lead to its end, and the
 * last of them is padding of zeros, or plain. Frames do not. */
static bool is_tail_valid(const struct mkv *mkv, uint64_t end)
{
	struct ebml_element element = mkv->last, child, last;

	for (int depth = 0; depth < DEPTH_MAX && is_master(element.id); depth++) {
		last.end = element.data;
		while (ebml_read(mkv->view, last.end, element.end, &child) == EBML_INTACT &&
			!child.unknown_len)
			last = child;
		if (last.end != element.end || last.end == element.data)
			return false;
		element = last;
	}
	if (element.id == ID_SIMPLE_BLOCK || element.id == ID_BLOCK_GROUP)
		return false;
	return element.id == ID_VOID
		       ? walk_before_fill(mkv->view, element.data, end) == element.data
		       : plain_at_end(mkv->view, element.data, end);
}

static enum verdict judge_segment(struct mkv *mkv, const struct ebml_element *segment)
{
	struct finding *finding = mkv->finding;
	uint64_t end, size = view_size(mkv->view);
	const char *problem = walk_segment(mkv, segment, &end);

	mkv_blocks_prove(&mkv->blocks);
	if (!mkv->info && !mkv->tracks && !mkv->clusters)
		return verdict_because(CARVE_REJECT, finding,
			"no known element in the segment at %" PRIu64, segment->at);
	finding->extension = mkv->webm ? "webm" : mkv->video || !mkv->tracks ? "mkv" : "mka";
	finding->length = mkv->valid_end;
	if (problem && strcmp(problem, "cut") == 0)
		return walk_cut(mkv->view, finding, segment->unknown_len ? size + 1 : segment->end,
			view_ends_with_image(mkv->view) ? size : mkv->valid_end);
	if (problem)
		return verdict_because(CARVE_TRUNCATED, finding, "%s at %" PRIu64, problem, end);
	if (mkv->crc_wrong && (mkv->crc_end == end || view_is_trial(mkv->view))) {
		finding->length = mkv->crc_wrong;
		return verdict_because(CARVE_TRUNCATED, finding,
			"wrong CRC of the %selement at %" PRIu64,
			mkv->crc_end == end ? "last " : "", mkv->crc_wrong);
	}
	finding->length = end;
	if (mkv->crc_wrong)
		return verdict_because(CARVE_UNVERIFIED, finding,
			"wrong CRC of the element at %" PRIu64, mkv->crc_wrong);
	if (segment->unknown_len || mkv->live)
		return verdict_because(CARVE_UNVERIFIED, finding,
			"written live, without lengths: ends where no element follows");
	if (!mkv->clusters)
		return verdict_because(
			CARVE_UNVERIFIED, finding, "no clusters before %" PRIu64, end);
	if (!is_tail_valid(mkv, end))
		return verdict_because(CARVE_UNVERIFIED, finding,
			"the last %" PRIu64 " bytes cannot be verified", end - mkv->last.data);
	return CARVE_COMPLETE;
}

static enum verdict check_from(
	struct view *view, const struct carve_state *from, struct finding *finding)
{
	struct mkv mkv = { .view = view, .finding = finding, .resume = from };
	struct ebml_element head, type, segment;
	uint64_t size = view_size(view), at;
	const uint8_t *p;
	size_t len;

	if (ebml_read(view, 0, size, &head) != EBML_INTACT || head.id != ID_EBML ||
		head.unknown_len || head.end - head.data > 4096)
		return verdict_because(CARVE_REJECT, finding, "no EBML head at 0");
	if (!ebml_find(view, head.data, head.end, ID_DOC_TYPE, &type) || type.end - type.data > 16)
		return verdict_because(CARVE_REJECT, finding, "no document type in the EBML head");
	len = (size_t)(type.end - type.data);
	p = len >= 4 ? view_peek(view, type.data, len) : NULL;
	mkv.webm = p && memcmp(p, "webm", 4) == 0;
	if (!p || (!mkv.webm && (len < 8 || memcmp(p, "matroska", 8) != 0)))
		return verdict_because(CARVE_REJECT, finding,
			"the document type at %" PRIu64 " is neither matroska nor webm", type.data);
	/* Padding may precede the segment. */
	for (at = head.end; ebml_read(view, at, size, &segment) == EBML_INTACT &&
			    segment.id == ID_VOID && !segment.unknown_len;)
		at = segment.end;
	if (segment.id != ID_SEGMENT)
		return verdict_because(CARVE_REJECT, finding, "no segment at %" PRIu64, at);
	mkv.valid_end = segment.data;
	return walk_past_unread(view, finding, judge_segment(&mkv, &segment),
		segment.unknown_len ? 0 : segment.end);
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

const struct carver mkv_carver = {
	.name = "mkv",
	.summary = "Matroska and WebM, by their elements, clusters and blocks",
	.check = check,
	.resume = resume,
	.map = &mkv_map,
};
