/*
 * RIFF files (Microsoft and IBM, Multimedia Programming Interface 1.0; riff.c): audio (WAVE, RF64),
 * video (AVI), MIDI (RMID), sound fonts (sfbk), voice (QLCM), drawings (CDR), and any other form.
 * WebP and animated cursors have carvers of their own.
 *
 * The size at the start gives the length, and the chunks have to lead exactly there; so have those
 * in lists. Nothing verifies uncompressed samples (view_unverified). In the last chunk, samples are
 * checked, which are not random (pcm.c), some compressed
 * ones (riff_packets.c), and indexes; if nothing confirms a large one, the verdict is unverified.
 * AVI needs its first list, its chunks' names in 'movi' (riff_avi.c), and an index that describes
 * them; OpenDML has several 'RIFF' in a row.
 *
 * Recording programs write the sizes last. An audio file whose sizes are 0 or FFFFFFFF ends where
 * its samples turn into random bytes, a video after its last chunk.
 */
#include <inttypes.h>
#include <stddef.h>
#include <string.h>

#include "bytes.h"
#include "carver.h"
#include "dates.h"
#include "embedded.h"
#include "noise.h"
#include "predictor.h"
#include "riff.h"
#include "riff_audio.h"
#include "riff_avi.h"
#include "walk.h"

/* Bytes of a WAVE with the shortest 'fmt ': some programs write a smaller size until they know
 * it. */
#define UNCOUNTED_MAX 12 /* a head, or a chunk "fact" */
#define TAGS_MAX 4
#define TAG_MAX (UINT64_C(1) << 24)
#define WAVE_MIN 34
#define FILLING_OTHERS 64 /* bytes that are not zeros in what fills room */

struct riff_form {
	char form[5];
	const char *extension;
};

static const struct riff_form forms[] = {
	{ "WAVE", "wav" },
	{ "AVI ", "avi" },
	{ "RMID", "rmi" },
	{ "sfbk", "sf2" },
	{ "QLCM", "qcp" },
	{ "CDXA", "dat" },
	{ "AMV ", "amv" },
	{ "XWMA", "xwma" },
	{ "DLS ", "dls" },
	{ "PAL ", "pal" },
	{ "RDIB", "rdi" },
};

struct riff_file {
	struct view *view;
	struct finding *finding;
	struct riff riff;
	struct riff_chunk last;  /* the last innermost chunk */
	struct riff_audio wave;  /* 'fmt ', and 'data' of a WAVE or RMID */
	uint64_t valid_end;      /* confirmed by the chunk that follows */
	uint64_t movi;           /* where the type of the list is, or 0 */
	uint64_t unverified_len; /* bytes of the last chunk that nothing confirms */
	unsigned chunk_count;
	bool head;                   /* 'fmt ' or 'hdrl' was found */
	bool indexed;                /* 'idx1' was found */
	const char *doubt;           /* what makes it unverified, or NULL */
	bool sized;                  /* the head says where the file ends */
	bool reads_codes;            /* of video */
	struct riff_avi_video video; /* last: see struct saved */
};

static bool is_form(const struct riff_file *file, const char *form)
{
	return riff_is(file->riff.form, form);
}

static bool is_audio(const struct riff_file *file)
{
	return is_form(file, "WAVE") || is_form(file, "QLCM");
}

static enum verdict truncated_at(struct riff_file *file, const char *problem, uint64_t at)
{
	file->finding->length = file->valid_end;
	return verdict_because(CARVE_TRUNCATED, file->finding, "%s at %" PRIu64, problem, at);
}

/* A date "2004-05-06" of the list INFO. */
static void read_date(struct riff_file *file, const struct riff_chunk *chunk)
{
	const uint8_t *p = chunk->len >= 10 ? view_peek(file->view, chunk->data, 10) : NULL;
	int parts[3] = { 0 }, part = 0;

	for (int i = 0; p && i < 10; i++) {
		if (i == 4 || i == 7)
			part++;
		else if (p[i] < '0' || p[i] > '9')
			return;
		else
			parts[part] = parts[part] * 10 + p[i] - '0';
	}
	if (p && !file->finding->time)
		file->finding->time = utc_seconds(parts[0], parts[1], parts[2], 0, 0, 0);
}

/* Adobe Premiere 4 has its remarks in a chunk whose id is zeros; it fills the rest of its list. */
static bool is_remark(const struct riff *list, struct riff_chunk *chunk)
{
	const uint8_t *p = view_peek(list->view, list->at, 8);

	if (!p || list->big_endian || le32(p) != 0 || le32(p + 4) == 0)
		return false;
	*chunk = (struct riff_chunk){ .at = list->at, .data = list->at + 8, .len = le32(p + 4) };
	chunk->end = chunk->data + chunk->len;
	return chunk->end + (chunk->len & 1) == list->end;
}

/* ---- states -------------------------------------------------------------------------------- */

/* Before a chunk of the list 'movi'. */
struct saved {
	struct riff inside;
	struct riff_chunk movi;
	int64_t time;
	char title[128];
	struct riff_file file; /* last: its video's last part is left out */
};

struct saver {
	const struct riff_file *file;
	const struct riff_chunk *movi;
};

static void save(void *context, const struct riff *inside)
{
	const struct saver *saver = context;
	const struct riff_file *file = saver->file;
	struct saved saved;
	struct carve_state state = { .offset = inside->at, .data = &saved };
	size_t len =
		offsetof(struct riff_file, video.stream) + mpeg4_stream_len(&file->video.stream);

	memset(&saved, 0, offsetof(struct saved, file));
	saved.inside = *inside;
	saved.movi = *saver->movi;
	saved.time = file->finding->time;
	memcpy(saved.title, file->finding->title, sizeof(saved.title));
	memcpy(&saved.file, file, len);
	saved.inside.view = saved.file.view = saved.file.riff.view = NULL;
	saved.file.finding = NULL;
	state.len = offsetof(struct saved, file) + len;
	view_save(file->view, &state);
}

static bool restore(struct view *view, const struct carve_state *state, struct finding *finding,
	struct saved *saved)
{
	if (state->len < offsetof(struct saved, file.video.stream) || state->len > sizeof(*saved))
		return false;
	memset(saved, 0, sizeof(*saved));
	memcpy(saved, state->data, state->len);
	saved->inside.view = saved->file.view = saved->file.riff.view = view;
	saved->file.finding = finding;
	finding->time = saved->time;
	memcpy(finding->title, saved->title, sizeof(finding->title));
	return true;
}

/* ---- chunks -------------------------------------------------------------------------------- */

/* Walks the list 'movi' from a chunk in it on. NULL, or what is wrong at *at. */
static const char *walk_movi(struct riff_file *file, const struct riff_chunk *list,
	const struct riff *inside, uint64_t *at)
{
	struct saver saver = { .file = file, .movi = list };
	struct riff_avi_walk walk = { .inside = *inside,
		.video = file->video.found ? &file->video : NULL,
		.save = file->sized && view_wants_states(file->view) ? save : NULL,
		.context = &saver };
	enum riff_avi_state state;

	walk.inside.end = list->end;
	*at = inside->at;
	state = riff_avi_walk_movi(&walk, at);
	if (state == RIFF_AVI_INTACT)
		file->last = *list;
	file->valid_end = *at;
	return state == RIFF_AVI_BROKEN    ? "not a chunk of a stream"
	       : state == RIFF_AVI_INVALID ? "invalid codes of video"
					   : NULL;
}

/* In a file of pieces: whether what only fills room has a sector that may be another file's. Writers leave zeros there, and a few
 * bytes, as FFmpeg does where OpenDML's index would be. */
static void doubt_filling(struct riff_file *file, const struct riff_chunk *chunk)
{
	uint64_t others = 0;
	size_t len;

	if (!view_thorough(file->view) || !riff_is(chunk->id, "JUNK") || chunk->len < SECTOR)
		return;
	for (uint64_t at = chunk->data; at < chunk->end && others <= FILLING_OTHERS; at += len) {
		const uint8_t *p = walk_window(file->view, at, chunk->end, &len);

		if (!p)
			return;
		for (size_t i = 0; i < len; i++)
			others += p[i] != 0;
	}
	if (others > FILLING_OTHERS)
		file->doubt = "what fills room in it may be another file's";
}

/* Walks the chunks in a list, and those in lists in it, one after the other. NULL, or what is wrong
 * at *at. */
static const char *walk_list(struct riff_file *file, const struct riff_chunk *list, uint64_t *at)
{
	struct riff inside;
	struct riff_chunk chunk;
	enum riff_step step;

	*at = list->at;
	if (!riff_enter(&file->riff, list, 4, &inside))
		return "a list without type";
	if (riff_is(inside.form, "movi") && is_form(file, "AVI ")) {
		file->movi = list->data;
		return walk_movi(file, list, &inside, at);
	}
	file->head |= riff_is(inside.form, "hdrl");
	while ((step = riff_next(&inside, &chunk)) == RIFF_CHUNK) {
		*at = chunk.at;
		if (chunk.at <= view_size(file->view))
			file->valid_end = chunk.at;
		file->last = chunk;
		doubt_filling(file, &chunk);
		riff_read_title(&inside, &chunk, file->finding);
		if (file->reads_codes)
			riff_avi_read_stream(&inside, &chunk, &file->video);
		if (riff_is(chunk.id, "smpl") && riff_is(inside.form, "sdta"))
			view_unverified(file->view, chunk.data, chunk.end);
		if (riff_is(chunk.id, "ICRD"))
			read_date(file, &chunk);
		if (riff_is(chunk.id, "IDIT"))
			file->finding->time = riff_avi_date(&inside, &chunk);
		if (riff_is(chunk.id, "LIST") && chunk.len >= 4)
			inside.at = chunk.data + 4;
	}
	*at = inside.at;
	if (step == RIFF_BROKEN && is_remark(&inside, &chunk)) {
		file->last = chunk;
		return NULL;
	}
	return step == RIFF_BROKEN ? "no chunk" : NULL;
}

/* Adds a chunk. NULL, or what is wrong at *at. */
static const char *add_chunk(struct riff_file *file, const struct riff_chunk *chunk, uint64_t *at)
{
	*at = chunk->at;
	file->last = *chunk;
	doubt_filling(file, chunk);
	/* ID3 tags, compressed audio. */
	embedded_find(file->view, chunk->data, chunk->end, 8);
	if (riff_is(chunk->id, "fmt "))
		file->head = riff_audio_read_format(&file->riff, chunk, &file->wave);
	if (riff_is(chunk->id, "data") && (is_audio(file) || is_form(file, "RMID"))) {
		file->wave.data = *chunk;
		if (!pcm_is_plain(&file->wave.samples))
			view_embedded(file->view, chunk->data);
	}
	if (riff_is(chunk->id, "LIST"))
		return walk_list(file, chunk, at);
	if (riff_is(chunk->id, "idx1") && file->movi && chunk->end <= view_size(file->view)) {
		file->indexed = true;
		if (riff_avi_index_matches(&file->riff, chunk, file->movi, &file->video))
			return NULL;
		if (view_thorough(file->view)) /* a piece with other chunks, or another index */
			return "an index that does not match the chunks";
		file->doubt = "the index does not match the chunks";
	}
	return NULL;
}

/* All bytes of the last chunk are the same, as in padding. */
static bool is_filler(struct view *view, const struct riff_chunk *chunk)
{
	return chunk->end > chunk->data &&
	       walk_before_fill(view, chunk->data, chunk->end) == chunk->data;
}

/* Standard MIDI: the tracks' lengths lead to the chunk's end. */
static bool is_midi(struct view *view, const struct riff_chunk *chunk)
{
	uint64_t at = chunk->data;
	const uint8_t *p;

	while (at + 8 <= chunk->end) {
		p = view_peek(view, at, 8);
		if (!p || memcmp(p, at == chunk->data ? "MThd" : "MTrk", 4) != 0)
			return false;
		at += 8 + (uint64_t)be32(p + 4);
	}
	return at == chunk->end;
}

/* The verdict on samples in the last chunk. */
static enum verdict judge_samples(struct riff_file *file)
{
	const struct riff_chunk *data = &file->wave.data;
	enum predictor_end tail;
	uint64_t at;

	if (data->at != file->last.at)
		return CARVE_COMPLETE;
	file->unverified_len = data->end - data->data;
	if (!riff_audio_check(file->view, &file->wave, &tail, &at))
		return CARVE_COMPLETE;
	switch (tail) {
	case PREDICTOR_FOREIGN:
		file->valid_end = at;
		return truncated_at(file, "foreign bytes instead of samples", at);
	case PREDICTOR_UNKNOWN:
		return verdict_because(CARVE_UNVERIFIED, file->finding,
			"the last samples before %" PRIu64 " cannot be verified", data->end);
	case PREDICTOR_CONTINUOUS:
		file->unverified_len = 0;
		break;
	}
	return CARVE_COMPLETE;
}

/* The verdict on a file whose chunks led to its end. */
static enum verdict judge_chunks(struct riff_file *file, uint64_t end)
{
	const struct riff_chunk *last = &file->last;

	file->finding->length = end;
	if (is_form(file, "WAVE") && !file->wave.data.at)
		return verdict_because(
			CARVE_UNVERIFIED, file->finding, "no samples before %" PRIu64, end);
	if (file->wave.data.len && is_audio(file)) {
		enum verdict verdict = judge_samples(file);

		if (verdict != CARVE_COMPLETE)
			return verdict;
	} else if (riff_is(last->id, "idx1")) {
		file->unverified_len = 0;
	} else if (!(is_form(file, "RMID") && is_midi(file->view, last)) &&
		   !(file->movi && riff_is(last->id, "LIST"))) {
		file->unverified_len = last->end - last->data;
	}
	file->finding->length = end;
	if (file->doubt)
		return verdict_because(CARVE_UNVERIFIED, file->finding, "%s", file->doubt);
	if (file->unverified_len && (last->at == file->wave.data.at ||
					    (!plain_at_end(file->view, last->data, last->end) &&
						    !is_filler(file->view, last))))
		return verdict_because(CARVE_UNVERIFIED, file->finding,
			"the last %" PRIu64 " bytes cannot be verified", file->unverified_len);
	return CARVE_COMPLETE;
}

/* OpenDML: walks the further 'RIFF' after the first. False: corrupt or cut at file->valid_end. */
static bool walk_further_parts(struct riff_file *file, uint64_t *end)
{
	struct riff first = file->riff;

	while (riff_open(&file->riff, file->view, *end) && is_form(file, "AVIX")) {
		struct riff_chunk chunk;
		enum riff_step step;

		while ((step = riff_next(&file->riff, &chunk)) == RIFF_CHUNK) {
			uint64_t at = chunk.data + 4;
			struct riff_avi_walk walk = { .inside = file->riff,
				.video = file->video.found ? &file->video : NULL };

			file->valid_end = chunk.at;
			file->last = chunk;
			walk.inside.at = at;
			walk.inside.end = chunk.end;
			if (riff_is(chunk.id, "LIST") &&
				riff_avi_walk_movi(&walk, &at) != RIFF_AVI_INTACT) {
				file->valid_end = at;
				return false;
			}
		}
		if (step != RIFF_END || file->riff.end > view_size(file->view))
			return false;
		view_part(file->view, *end);
		*end = file->riff.end;
	}
	file->riff = first;
	return true;
}

/* Where the valid part ends if no chunk follows `last`: its length may be foreign bytes already,
 * but samples can be checked. */
static uint64_t find_valid_end(const struct riff_file *file, const struct riff_chunk *last)
{
	enum predictor_end tail;
	uint64_t at;

	if (!file->chunk_count || riff_is(last->id, "LIST"))
		return file->riff.at;
	if (last->at != file->wave.data.at ||
		!riff_audio_check(file->view, &file->wave, &tail, &at))
		return last->at;
	return tail == PREDICTOR_FOREIGN ? at : last->end;
}

/* The end of the file that ends at `end` by its own account, with the tags that programs append without counting them. */
static uint64_t tagged_end(struct riff_file *file, uint64_t end)
{
	for (int i = 0; i < TAGS_MAX; i++) {
		const uint8_t *p = view_peek(file->view, end, 12);
		uint64_t len = p ? le32(p + 4) : 0;
		bool list = p && memcmp(p, "LIST", 4) == 0 && memcmp(p + 8, "INFO", 4) == 0;
		bool tag = p && (memcmp(p, "id3 ", 4) == 0 || memcmp(p, "ID3 ", 4) == 0) &&
			   memcmp(p + 8, "ID3", 3) == 0;

		len += len & 1;
		if ((!list && !tag) || len > TAG_MAX || end + 8 + len > view_size(file->view))
			break;
		embedded_find(file->view, end + 8, end + 8 + len, 8);
		end += 8 + len;
	}
	return end;
}

/* from: NULL, or where the walk goes on. */
static enum verdict walk_chunks(struct riff_file *file, const struct saved *from)
{
	struct riff_chunk chunk = { .at = 0 }, last = { .at = 0 };
	struct riff *riff = &file->riff;
	enum verdict verdict;
	const char *problem;
	uint64_t at, end;

	for (;;) {
		enum riff_step step = from ? RIFF_CHUNK : riff_next(riff, &chunk);

		if (from)
			chunk = from->movi;
		if (step != RIFF_CHUNK && riff->at < riff->end && riff->end - riff->at <= 8 &&
			riff->at <= view_size(file->view) && file->chunk_count > 1) {
			/* Some writers include their head in the size. */
			riff->end = riff->at;
			step = RIFF_END;
		}
		if (step == RIFF_BROKEN && file->chunk_count && chunk.at == riff->at &&
			chunk.end > riff->end && chunk.end - riff->end <= UNCOUNTED_MAX) {
			/* Others leave something out of it. */
			riff->end = chunk.end;
			continue;
		}
		if (step == RIFF_BROKEN && riff_is(chunk.id, "data") && chunk.end > riff->end &&
			chunk.at == riff->at)
			file->wave.data = chunk;
		if (step == RIFF_END ||
			(step == RIFF_BROKEN && riff_audio_is_unclosed(riff, &file->wave)))
			break;
		if (step == RIFF_CUT)
			return walk_cut(file->view, file->finding, riff->end,
				file->chunk_count ? riff->at : 12);
		if (step == RIFF_BROKEN) {
			file->valid_end = find_valid_end(file, &last);
			return truncated_at(file, "no chunk", riff->at);
		}
		file->valid_end = chunk.at;
		problem = from ? walk_movi(file, &from->movi, &from->inside, &at)
			       : add_chunk(file, &chunk, &at);
		from = NULL;
		if (problem)
			return truncated_at(file, problem, at);
		if (riff_audio_is_unclosed(riff, &file->wave) &&
			(chunk.end > view_size(file->view) || !chunk.len))
			break;
		if (chunk.end > view_size(file->view))
			return walk_cut(file->view, file->finding, riff->end,
				file->movi == chunk.data ? file->valid_end : view_size(file->view));
		file->chunk_count++;
		last = chunk;
	}
	if (riff_audio_is_unclosed(riff, &file->wave))
		return riff_audio_judge_unclosed(file->view, file->finding, &file->wave);
	end = riff->end;
	if (end > view_size(file->view))
		return walk_cut(file->view, file->finding, end, view_size(file->view));
	if (file->movi && !walk_further_parts(file, &end))
		return truncated_at(
			file, "a further part of the video is cut or corrupt", file->valid_end);
	verdict = judge_chunks(file, end);
	if (file->finding->length == end && is_form(file, "WAVE") && !file->riff.big_endian)
		file->finding->length = tagged_end(file, end);
	return verdict;
}

static const char *extension(const struct riff_file *file)
{
	for (size_t i = 0; i < sizeof(forms) / sizeof(forms[0]); i++)
		if (is_form(file, forms[i].form))
			return forms[i].extension;
	if (memcmp(file->riff.form, "CDR", 3) == 0 || memcmp(file->riff.form, "cdr", 3) == 0)
		return "cdr";
	return "riff";
}

/* How many chunks a cut file must have. In a list of words a form and a chunk occur by chance, if
 * the chunk's length is four large letters. */
static uint32_t chunks_needed(const struct riff_file *file)
{
	return strcmp(extension(file), "riff") == 0 ? 3 : 1;
}

/* What shows that the beginning is not of a RIFF file for this carver, or NULL. */
static const char *start_problem(struct riff_file *file)
{
	struct riff riff = file->riff;
	struct riff_chunk chunk;

	for (int i = 0; i < 4; i++)
		if (riff.form[i] < ' ' || riff.form[i] > '~')
			return "no form name at 8";
	if (riff_is(riff.form, "WEBP") || riff_is(riff.form, "ACON") || riff_is(riff.form, "AVIX"))
		return "a form with its own carver, or a part of a video";
	if (riff_next(&riff, &chunk) == RIFF_CHUNK)
		return NULL;
	return "no chunk starts at 12";
}

/* The verdict on a file whose start was read; from: as for walk_chunks. */
static enum verdict judge(struct riff_file *file, const struct saved *from)
{
	struct view *view = file->view;
	struct finding *finding = file->finding;
	uint64_t end = file->riff.end;
	enum verdict verdict;

	finding->extension = extension(file);
	verdict = walk_chunks(file, from);
	if (file->sized)
		verdict = walk_past_unread(view, finding, verdict, end);
	if (is_form(file, "WAVE") && file->wave.samples.frame_len &&
		pcm_is_plain(&file->wave.samples))
		view_unverified(view, file->wave.data.data, file->wave.data.end);
	/* The last padding byte is missing. */
	if (finding->length > view_size(view))
		finding->length = view_size(view);
	if ((is_form(file, "WAVE") || is_form(file, "AVI ")) && !file->head) {
		*finding = (struct finding){ 0 };
		return verdict_because(CARVE_REJECT, finding, "no format before the data");
	}
	if (verdict == CARVE_TRUNCATED && file->chunk_count < chunks_needed(file) && !file->head) {
		*finding = (struct finding){ 0 };
		return verdict_because(CARVE_REJECT, finding, "too few chunks for a cut file");
	}
	return verdict;
}

static enum verdict check(struct view *view, struct finding *finding)
{
	struct riff_file file = {
		.view = view, .finding = finding, .reads_codes = walk_assembles(view)
	};
	const uint8_t *p = view_peek(view, 0, 12);
	const char *problem;
	uint32_t len;
	bool riff;

	if (!p)
		return verdict_because(CARVE_REJECT, finding, "no head of a RIFF file at 0");
	riff = memcmp(p, "RIFF", 4) == 0;
	len = le32(p + 4);
	if (!riff_open(&file.riff, view, 0) && !(riff && len < 4))
		return verdict_because(CARVE_REJECT, finding, "no head of a RIFF file at 0");
	/* Not set: only the chunks lead to the end. */
	if (file.riff.end <= 12 || (len == UINT32_MAX && !file.riff.data_len) ||
		(is_form(&file, "WAVE") && file.riff.end < WAVE_MIN))
		file.riff.end = view_size(view) > 12 ? view_size(view) : 12;
	else
		file.sized = true;
	problem = start_problem(&file);
	if (problem)
		return verdict_because(CARVE_REJECT, finding, "%s", problem);
	return judge(&file, NULL);
}

static enum verdict resume(
	struct view *view, const struct carve_state *state, struct finding *finding)
{
	struct saved saved;

	if (restore(view, state, finding, &saved))
		return judge(&saved.file, &saved);
	view_start_over(view);
	return verdict_because(CARVE_REJECT, finding, "no state");
}

static bool describe(struct view *view, struct carve_stored *stored)
{
	struct riff_audio wave = { .data = { .at = 0 } };
	struct riff riff;
	struct riff_chunk chunk;
	bool has_format = false;

	if (!riff_open(&riff, view, 0) || !riff_is(riff.form, "WAVE"))
		return false;
	while (riff_next(&riff, &chunk) == RIFF_CHUNK) {
		if (riff_is(chunk.id, "fmt "))
			has_format = riff_audio_read_format(&riff, &chunk, &wave);
		if (riff_is(chunk.id, "data"))
			return has_format &&
			       pcm_describe(&wave.samples, chunk.data, chunk.end, riff.end, stored);
	}
	return false;
}

const struct carver riff_carver = {
	.name = "riff",
	.summary = "WAV, AVI and other RIFF files, by their chunks, samples and indexes",
	.check = check,
	.resume = resume,
	.stored = describe,
	.map = &riff_avi_map,
};
