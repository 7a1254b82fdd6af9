/*
 * RIFF files (Microsoft and IBM, Multimedia Programming Interface 1.0; riff.c): sound (WAVE, RF64),
 * films (AVI), MIDI (RMID), sound fonts (sfbk), voice (QLCM), drawings (CDR), and whatever other
 * form a program has. WebP and animated cursors have carvers of their own.
 *
 * The size in front tells the length, and the chunks have to lead to just there; so have those in
 * lists. What is in the last chunk is seen for samples, which are not random (samples.c), for some
 * packed ones (riff_packets.c), and for indexes; where nothing bears out a large one, the verdict
 * is unverified. Films need their first list, their chunks' names in 'movi' (riff_film.c), and an
 * index that describes them; OpenDML has several 'RIFF' in a row.
 *
 * Programs that record write the sizes last. A sound file whose sizes are 0 or FFFFFFFF is taken up
 * to where its samples turn to random bytes, a film as far as its chunks go on.
 */
#include <inttypes.h>
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

/* Bytes of a WAVE with the shortest 'fmt ': some write less than that before they know the size. */
#define WAVE_MIN 34

struct form {
	char form[5];
	const char *extension;
};

static const struct form forms[] = {
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
	struct riff_chunk last; /* the innermost chunk that was passed last */
	struct riff_audio wave; /* 'fmt ', and 'data' of a WAVE or RMID */
	uint64_t sound;         /* behind what another chunk stands behind */
	uint64_t movi;          /* where the type of the list stands, or 0 */
	uint64_t unconfirmed;   /* bytes of the last chunk that nothing bears out */
	unsigned chunk_count;
	bool head;         /* 'fmt ' or 'hdrl' was there */
	bool indexed;      /* 'idx1' was there */
	const char *doubt; /* what makes it unverified, or NULL */
};

static bool is_form(const struct riff_file *file, const char *form)
{
	return riff_is(file->riff.form, form);
}

static bool is_sound(const struct riff_file *file)
{
	return is_form(file, "WAVE") || is_form(file, "QLCM");
}

static enum verdict truncated(struct riff_file *file, const char *problem, uint64_t at)
{
	file->finding->length = file->sound;
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

/* The chunks in a list, and those in lists in it, one after the other. NULL, or what is wrong at
 * *at. */
static const char *pass_list(struct riff_file *file, const struct riff_chunk *list, uint64_t *at)
{
	struct riff inside;
	struct riff_chunk chunk;
	enum riff_step step;

	*at = list->at;
	if (!riff_enter(&file->riff, list, 4, &inside))
		return "a list without type";
	if (riff_is(inside.form, "movi") && is_form(file, "AVI ")) {
		enum riff_avi_state state;

		file->movi = list->data;
		*at = inside.at;
		state = riff_avi_walk_movi(&file->riff, at, list->end);
		if (state == RIFF_AVI_INTACT)
			file->last = *list;
		file->sound = *at;
		return state == RIFF_AVI_BROKEN ? "no chunk of a stream" : NULL;
	}
	file->head |= riff_is(inside.form, "hdrl");
	while ((step = riff_next(&inside, &chunk)) == RIFF_CHUNK) {
		*at = chunk.at;
		if (chunk.at <= view_size(file->view))
			file->sound = chunk.at;
		file->last = chunk;
		riff_read_title(&inside, &chunk, file->finding);
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
	return step == RIFF_BROKEN ? "no chunk starts" : NULL;
}

/* NULL, or what is wrong at *at. */
static const char *pass_chunk(struct riff_file *file, const struct riff_chunk *chunk, uint64_t *at)
{
	*at = chunk->at;
	file->last = *chunk;
	/* ID3 tags, packed sound. */
	embedded_find(file->view, chunk->data, chunk->end, 8);
	if (riff_is(chunk->id, "fmt "))
		file->head = riff_audio_read_format(&file->riff, chunk, &file->wave);
	if (riff_is(chunk->id, "data") && (is_sound(file) || is_form(file, "RMID")))
		file->wave.data = *chunk;
	if (riff_is(chunk->id, "LIST"))
		return pass_list(file, chunk, at);
	if (riff_is(chunk->id, "idx1") && file->movi && chunk->end <= view_size(file->view)) {
		file->indexed = true;
		if (!riff_avi_index_matches(&file->riff, chunk, file->movi))
			file->doubt = "the index does not describe the film";
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

/* Samples that turn to other bytes, in the last chunk or before others. */
static enum verdict judge_samples(struct riff_file *file)
{
	const struct riff_chunk *data = &file->wave.data;
	enum predictor_end tail;
	uint64_t at;

	if (data->at != file->last.at)
		return CARVE_COMPLETE;
	file->unconfirmed = data->end - data->data;
	if (!riff_audio_check(file->view, &file->wave, &tail, &at))
		return CARVE_COMPLETE;
	switch (tail) {
	case PREDICTOR_FOREIGN:
		file->sound = at;
		return truncated(file, "no samples any more", at);
	case PREDICTOR_UNKNOWN:
		return verdict_because(CARVE_UNVERIFIED, file->finding,
			"nothing tells whether the last samples before %" PRIu64 " are the file's",
			data->end);
	case PREDICTOR_CONTINUOUS:
		file->unconfirmed = 0;
		break;
	}
	return CARVE_COMPLETE;
}

/* The verdict on a file whose chunks led to its end. */
static enum verdict judge(struct riff_file *file, uint64_t end)
{
	const struct riff_chunk *last = &file->last;

	file->finding->length = end;
	if (is_form(file, "WAVE") && !file->wave.data.at)
		return verdict_because(
			CARVE_UNVERIFIED, file->finding, "no samples before %" PRIu64, end);
	if (file->wave.data.len && is_sound(file)) {
		enum verdict verdict = judge_samples(file);

		if (verdict != CARVE_COMPLETE)
			return verdict;
	} else if (riff_is(last->id, "idx1")) {
		file->unconfirmed = 0;
	} else if (!(is_form(file, "RMID") && is_midi(file->view, last)) &&
		   !(file->movi && riff_is(last->id, "LIST"))) {
		file->unconfirmed = last->end - last->data;
	}
	file->finding->length = end;
	if (file->doubt)
		return verdict_because(CARVE_UNVERIFIED, file->finding, "%s", file->doubt);
	if (file->unconfirmed && (last->at == file->wave.data.at ||
					 (!plain_at_end(file->view, last->data, last->end) &&
						 !is_filler(file->view, last))))
		return verdict_because(CARVE_UNVERIFIED, file->finding,
			"whether the last %" PRIu64 " bytes are the file's can't be seen",
			file->unconfirmed);
	return CARVE_COMPLETE;
}

/* OpenDML: more of the film behind the first 'RIFF'. False: broken or cut at file->sound. */
static bool pass_more(struct riff_file *file, uint64_t *end)
{
	struct riff first = file->riff;

	while (riff_open(&file->riff, file->view, *end) && is_form(file, "AVIX")) {
		struct riff_chunk chunk;
		enum riff_step step;

		while ((step = riff_next(&file->riff, &chunk)) == RIFF_CHUNK) {
			uint64_t at = chunk.data + 4;

			file->sound = chunk.at;
			file->last = chunk;
			if (riff_is(chunk.id, "LIST") && riff_avi_walk_movi(&file->riff, &at,
								 chunk.end) != RIFF_AVI_INTACT) {
				file->sound = at;
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

/* Where what is sound ends when no chunk stands behind `last`: a chunk's length may be the first
 * foreign bytes, but samples can be looked at. */
static uint64_t confirmed(const struct riff_file *file, const struct riff_chunk *last)
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

static enum verdict walk(struct riff_file *file)
{
	struct riff_chunk chunk = { .at = 0 }, last = { .at = 0 };
	struct riff *riff = &file->riff;
	const char *problem;
	uint64_t at, end;

	for (;;) {
		enum riff_step step = riff_next(riff, &chunk);

		if (step != RIFF_CHUNK && riff->at < riff->end && riff->end - riff->at <= 8 &&
			riff->at <= view_size(file->view) && file->chunk_count > 1) {
			/* Some count their head in. */
			riff->end = riff->at;
			step = RIFF_END;
		}
		if (step == RIFF_BROKEN && file->chunk_count && chunk.at == riff->at &&
			chunk.end > riff->end && chunk.end - riff->end <= 8) {
			/* Others leave something out. */
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
			file->sound = confirmed(file, &last);
			return truncated(file, "no chunk starts", riff->at);
		}
		file->sound = chunk.at;
		problem = pass_chunk(file, &chunk, &at);
		if (problem)
			return truncated(file, problem, at);
		if (riff_audio_is_unclosed(riff, &file->wave) &&
			(chunk.end > view_size(file->view) || !chunk.len))
			break;
		if (chunk.end > view_size(file->view))
			return walk_cut(file->view, file->finding, riff->end,
				file->movi == chunk.data ? file->sound : view_size(file->view));
		file->chunk_count++;
		last = chunk;
	}
	if (riff_audio_is_unclosed(riff, &file->wave))
		return riff_audio_judge_unclosed(file->view, file->finding, &file->wave);
	end = riff->end;
	if (end > view_size(file->view))
		return walk_cut(file->view, file->finding, end, view_size(file->view));
	if (file->movi && !pass_more(file, &end))
		return truncated(file, "a further part of the film is cut or broken", file->sound);
	return judge(file, end);
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

/* How many chunks a cut file must have. In a list of words chance makes a form and a chunk, as long
 * as its four letters are large. */
static uint32_t sure_count(const struct riff_file *file)
{
	return strcmp(extension(file), "riff") == 0 ? 3 : 1;
}

/* Whether the first chunk is one that chance does not make. */
static const char *start_problem(struct riff_file *file)
{
	struct riff riff = file->riff;
	struct riff_chunk chunk;

	for (int i = 0; i < 4; i++)
		if (riff.form[i] < ' ' || riff.form[i] > '~')
			return "no name of a form at 8";
	if (riff_is(riff.form, "WEBP") || riff_is(riff.form, "ACON") || riff_is(riff.form, "AVIX"))
		return "a form with a carver of its own, or a part of a film";
	if (riff_next(&riff, &chunk) == RIFF_CHUNK)
		return NULL;
	return "no chunk starts at 12";
}

static enum verdict check(struct view *view, struct finding *finding)
{
	struct riff_file file = { .view = view, .finding = finding };
	const uint8_t *p = view_peek(view, 0, 12);
	enum verdict verdict;
	const char *problem;
	uint32_t len;
	bool riff;

	if (!p)
		return verdict_because(CARVE_REJECT, finding, "no head of a RIFF file at 0");
	riff = memcmp(p, "RIFF", 4) == 0;
	len = le32(p + 4);
	if (!riff_open(&file.riff, view, 0) && !(riff && len < 4))
		return verdict_because(CARVE_REJECT, finding, "no head of a RIFF file at 0");
	/* Not set: the chunks alone lead on. */
	if (file.riff.end <= 12 || (len == UINT32_MAX && !file.riff.data_len) ||
		(is_form(&file, "WAVE") && file.riff.end < WAVE_MIN))
		file.riff.end = view_size(view) > 12 ? view_size(view) : 12;
	problem = start_problem(&file);
	if (problem)
		return verdict_because(CARVE_REJECT, finding, "%s", problem);
	finding->extension = extension(&file);
	verdict = walk(&file);
	/* A last byte of padding that is missing. */
	if (finding->length > view_size(view))
		finding->length = view_size(view);
	if ((is_form(&file, "WAVE") || is_form(&file, "AVI ")) && !file.head) {
		*finding = (struct finding){ 0 };
		return verdict_because(CARVE_REJECT, finding, "no format before the data");
	}
	if (verdict == CARVE_TRUNCATED && file.chunk_count < sure_count(&file) && !file.head) {
		*finding = (struct finding){ 0 };
		return verdict_because(CARVE_REJECT, finding, "too few chunks for what is cut");
	}
	return verdict;
}

const struct carver riff_carver = {
	.name = "riff",
	.summary = "WAV, AVI and other RIFF files, by their chunks, samples and indexes",
	.check = check,
};
