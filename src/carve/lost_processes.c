#include "carve/lost_processes.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/memory.h"
#include "base/strbuf.h"

/* Of which each is kept in mind, ... */
#define PLACES_MAX 1024
/* ...warned of, and named in the end. */
#define PLACES_TOLD 8
#define HOW_LEN 96

/* One file, or what is not known, in one way. */
struct loss {
	enum lost_task task;
	struct lost_place place;
	char how[HOW_LEN];
	uint64_t times; /* that nothing explains */
};

struct lost_processes {
	const char *image_path;
	const struct rules *rules;
	pthread_mutex_t lock;
	struct loss losses[PLACES_MAX];
	size_t count;
	uint64_t others; /* losses for which there is no room */
};

struct lost_processes *lost_processes_new(const char *image_path, const struct rules *rules)
{
	struct lost_processes *lost = xcalloc(1, sizeof(*lost));

	lost->image_path = image_path;
	lost->rules = rules;
	pthread_mutex_init(&lost->lock, NULL);
	return lost;
}

void lost_processes_free(struct lost_processes *lost)
{
	if (!lost)
		return;
	pthread_mutex_destroy(&lost->lock);
	free(lost);
}

static bool is_same_place(const struct lost_place *one, const struct lost_place *other)
{
	return one->known == other->known &&
	       (!one->known || (one->start == other->start && one->rule == other->rule));
}

/* How, and where if that is known. */
static void print_loss(
	const struct lost_processes *lost, const struct loss *loss, struct strbuf *text)
{
	strbuf_text(text, loss->how);
	if (loss->place.known)
		strbuf_print(text, " at %" PRIu64 " (%s)", loss->place.start,
			lost->rules->rules[loss->place.rule].name);
}

static void warn_of(const struct lost_processes *lost, const struct loss *loss)
{
	struct strbuf text = { 0 };

	print_loss(lost, loss, &text);
	log_warn("%s: %s %s; it is begun again", lost->image_path,
		loss->task == LOST_CHECKING ? "a process that checks possible files"
					    : "the process that puts files in pieces together",
		text.bytes);
	strbuf_free(&text);
}

static struct loss *find_loss(struct lost_processes *lost, enum lost_task task,
	const struct lost_place *place, const char *how)
{
	for (size_t i = 0; i < lost->count; i++) {
		struct loss *loss = &lost->losses[i];

		if (loss->task == task && is_same_place(&loss->place, place) &&
			!strncmp(loss->how, how, HOW_LEN - 1))
			return loss;
	}
	return NULL;
}

void lost_processes_note(struct lost_processes *lost, enum lost_task task,
	const struct lost_place *place, const char *how)
{
	struct loss *loss;

	if (!lost)
		return;
	pthread_mutex_lock(&lost->lock);
	loss = find_loss(lost, task, place, how);
	if (!loss && lost->count < PLACES_MAX) {
		loss = &lost->losses[lost->count++];
		*loss = (struct loss){ .task = task, .place = *place };
		snprintf(loss->how, sizeof(loss->how), "%s", how);
		if (lost->count <= PLACES_TOLD)
			warn_of(lost, loss);
	}
	if (loss)
		loss->times++;
	else
		lost->others++;
	pthread_mutex_unlock(&lost->lock);
}

void lost_processes_explain(
	struct lost_processes *lost, enum lost_task task, const struct lost_place *place)
{
	if (!lost)
		return;
	pthread_mutex_lock(&lost->lock);
	for (size_t i = 0; i < lost->count; i++)
		if (lost->losses[i].task == task &&
			(!place || is_same_place(&lost->losses[i].place, place)))
			lost->losses[i].times = 0;
	pthread_mutex_unlock(&lost->lock);
}

char *lost_processes_sentence(struct lost_processes *lost)
{
	struct strbuf places = { 0 };
	uint64_t times;
	size_t told = 0;
	char *sentence = NULL;

	pthread_mutex_lock(&lost->lock);
	times = lost->others;
	for (size_t i = 0; i < lost->count; i++) {
		const struct loss *loss = &lost->losses[i];

		times += loss->times;
		if (!loss->times || told++ >= PLACES_TOLD)
			continue;
		strbuf_text(&places, told > 1 ? ", " : "");
		print_loss(lost, loss, &places);
	}
	pthread_mutex_unlock(&lost->lock);
	if (times)
		sentence = xasprintf("a process for checks was lost %" PRIu64
				     " time%s, and what it did was done again: it %s%s",
			times, times == 1 ? "" : "s",
			places.bytes ? places.bytes : "crashed at too many places to name",
			told > PLACES_TOLD ? ", ..." : "");
	strbuf_free(&places);
	return sentence;
}

void lost_processes_save(const struct lost_processes *lost, struct codec_writer *writer)
{
	codec_put(writer, lost->others);
	codec_put(writer, lost->count);
	for (size_t i = 0; i < lost->count; i++) {
		codec_put(writer, lost->losses[i].task);
		codec_put(writer, lost->losses[i].place.known);
		codec_put(writer, lost->losses[i].place.rule);
		codec_put(writer, lost->losses[i].place.start);
		codec_put_text(writer, lost->losses[i].how);
		codec_put(writer, lost->losses[i].times);
	}
}

void lost_processes_load(struct lost_processes *lost, struct codec_reader *reader)
{
	uint64_t count;

	lost->others = codec_get(reader, UINT64_MAX);
	count = codec_get(reader, PLACES_MAX);
	for (; lost->count < count && codec_ok(reader); lost->count++) {
		struct loss *loss = &lost->losses[lost->count];

		loss->task = (enum lost_task)codec_get(reader, LOST_ASSEMBLING);
		loss->place.known = codec_get_flag(reader);
		loss->place.rule = (uint32_t)codec_get(reader, lost->rules->count - 1);
		loss->place.start = codec_get(reader, UINT64_MAX);
		codec_copy_text(reader, loss->how, sizeof(loss->how));
		loss->times = codec_get(reader, UINT64_MAX);
	}
}
