#include "assemble/searcher.h"

#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/log.h"
#include "base/memory.h"

#define PART 1024 /* clusters that a thread reads before it takes others */
#define READ_WHOLE \
	4096 /* bytes: clusters up to this size are read whole, as their pages are anyway */
#define SPANS_LEN ((size_t)32 << 20) /* bytes that are kept */
#define SPANS (SPANS_LEN / SEARCHER_SPAN / SEARCH_HEAD_MIN)

/* A span that is kept, or was: they share slots. */
struct kept_span {
	pthread_mutex_t lock;
	uint64_t first;
	uint8_t *heads; /* NULL: none is */
};

/* What a thread asks, on its stack. */
struct asking {
	struct asking *next;
	const struct coded_question *questions;
	size_t count;
	bool is_done, is_answered;
};

struct searcher {
	const struct search_tool *tool;
	struct search_device *device;
	pthread_mutex_t lock;
	pthread_cond_t answered;
	struct asking *asking; /* those that wait, the first one first */
	unsigned asked; /* questions that the device has; when it has enough the others wait */
	_Atomic bool is_failed; /* the device, or there is none */
	uint64_t size, origin;  /* of clusters */
	size_t head_len;        /* bytes of each that decide... */
	size_t kept_len;        /* ...and that the device keeps */
	uint64_t kept;          /* clusters, by the device */
	size_t span_count;      /* of spans, that are used */
	struct kept_span spans[SPANS];
};

struct searcher *searcher_new(
	const struct search_tool *tool, const char *devices, const struct clusters *clusters)
{
	struct searcher *searcher = xcalloc(1, sizeof(*searcher));
	struct error error = { 0 };

	searcher->tool = tool;
	searcher->size = clusters->size;
	searcher->origin = clusters->origin;
	searcher->head_len =
		clusters->size < SEARCH_HEAD_MAX ? (size_t)clusters->size : SEARCH_HEAD_MAX;
	searcher->span_count = SPANS_LEN / SEARCHER_SPAN / searcher->head_len;
	searcher->is_failed = !tool;
	pthread_mutex_init(&searcher->lock, NULL);
	pthread_cond_init(&searcher->answered, NULL);
	for (size_t i = 0; i < SPANS; i++)
		pthread_mutex_init(&searcher->spans[i].lock, NULL);
	if (tool && tool->open(&searcher->device, devices, &error)) {
		log_warn("files in pieces are searched without a GPU: %s", error.text);
		searcher->is_failed = true;
	}
	return searcher;
}

void searcher_free(struct searcher *searcher)
{
	if (!searcher)
		return;
	if (searcher->device)
		searcher->tool->close(searcher->device);
	pthread_mutex_destroy(&searcher->lock);
	pthread_cond_destroy(&searcher->answered);
	for (size_t i = 0; i < SPANS; i++) {
		pthread_mutex_destroy(&searcher->spans[i].lock);
		free(searcher->spans[i].heads);
	}
	free(searcher);
}

bool searcher_has_device(const struct searcher *searcher)
{
	return !searcher->is_failed;
}

/* The device has answered with an error, which it has logged. */
static bool is_answered(struct searcher *searcher, int status)
{
	if (status)
		searcher->is_failed = true;
	return !status;
}

void searcher_find_breaks(
	struct searcher *searcher, const struct crc_search *search, struct crc_hits *hits)
{
	if (searcher->is_failed ||
		!is_answered(searcher, searcher->tool->find_breaks(searcher->device, search, hits)))
		search_cpu.find_breaks(NULL, search, hits);
}

void searcher_find_words(struct searcher *searcher, const struct kept_text *kept,
	const struct word_question *question, struct word_answer *hits)
{
	hits->answered = hits->count = 0;
	if (searcher->is_failed || !searcher->tool->find_words ||
		is_answered(searcher,
			searcher->tool->find_words(searcher->device, kept, question, hits)))
		return;
	hits->answered = hits->count = 0;
}

/* ---- the first bytes of clusters ----------------------------------------------------------- */

uint64_t searcher_place(const struct searcher *searcher, uint64_t number)
{
	return searcher->origin + number * searcher->size;
}

bool searcher_number(const struct searcher *searcher, uint64_t offset, uint64_t *number)
{
	*number = (offset - searcher->origin) / searcher->size;
	return offset >= searcher->origin && (offset - searcher->origin) % searcher->size == 0;
}

size_t searcher_head_len(const struct searcher *searcher)
{
	return searcher->head_len;
}

/* The first `len` bytes of each cluster of a span. */
static void read_span(const struct searcher *searcher, struct image *image, uint64_t first,
	size_t len, uint8_t *heads)
{
	uint64_t size = searcher->size, offset = searcher_place(searcher, first);
	size_t whole_len = (size_t)size * SEARCHER_SPAN;
	uint8_t *whole;

	if (size == len) {
		image_read_around(image, offset, heads, whole_len);
		return;
	}
	if (size > READ_WHOLE) {
		for (size_t i = 0; i < SEARCHER_SPAN; i++)
			image_read_around(image, offset + i * size, heads + i * len, len);
		return;
	}
	whole = xmalloc(whole_len);
	image_read_around(image, offset, whole, whole_len);
	for (size_t i = 0; i < SEARCHER_SPAN; i++)
		memcpy(heads + i * len, whole + i * size, len);
	free(whole);
}

void searcher_read_heads(
	struct searcher *searcher, struct image *image, uint64_t first, uint8_t *heads)
{
	struct kept_span *span = &searcher->spans[first / SEARCHER_SPAN % searcher->span_count];
	size_t len = SEARCHER_SPAN * searcher->head_len;

	pthread_mutex_lock(&span->lock);
	if (!span->heads || span->first != first) {
		if (!span->heads)
			span->heads = xmalloc(len);
		read_span(searcher, image, first, searcher->head_len, span->heads);
		span->first = first;
	}
	memcpy(heads, span->heads, len);
	pthread_mutex_unlock(&span->lock);
}

/* What the threads that read share. */
struct reading {
	const struct searcher *searcher;
	struct image *image;
	const struct clusters *clusters;
	bool (*interrupted)(void);
	uint64_t first;
	size_t count;
	uint8_t *bytes;
	_Atomic size_t next;
	_Atomic bool stopped;
};

/* What is not in the image, or a complete file's, is zeros: nobody asks for it. */
static void read_head(const struct reading *reading, uint64_t number, uint8_t *bytes)
{
	uint64_t offset = searcher_place(reading->searcher, number), end = reading->clusters->end;
	uint64_t left = offset < end ? end - offset : 0;
	size_t kept = reading->searcher->kept_len, len = left < kept ? (size_t)left : kept;

	if (!len || !clusters_are_free(reading->clusters, offset, 1))
		len = 0;
	if (len)
		image_read_around(reading->image, offset, bytes, len);
	memset(bytes + len, 0, kept - len);
}

/* As read_head, of a span, which is read at once where the image has it whole. */
static void read_head_span(const struct reading *reading, uint64_t first, uint8_t *bytes)
{
	const struct searcher *searcher = reading->searcher;
	size_t kept = searcher->kept_len;
	uint64_t free = 0; /* a bit for each cluster */

	if (searcher_place(searcher, first + SEARCHER_SPAN) > reading->clusters->end) {
		for (size_t i = 0; i < SEARCHER_SPAN; i++)
			read_head(reading, first + i, bytes + i * kept);
		return;
	}
	for (size_t i = 0; i < SEARCHER_SPAN; i++)
		free |= (uint64_t)clusters_are_free(
				reading->clusters, searcher_place(searcher, first + i), 1)
			<< i;
	if (free)
		read_span(searcher, reading->image, first, kept, bytes);
	for (size_t i = 0; i < SEARCHER_SPAN; i++)
		if (!(free >> i & 1))
			memset(bytes + i * kept, 0, kept);
}

static void read_heads(void *context, unsigned number, unsigned worker)
{
	struct reading *reading = context;
	size_t from;

	(void)number;
	(void)worker;
	while ((from = atomic_fetch_add(&reading->next, PART)) < reading->count &&
		!reading->stopped) {
		size_t to = from + PART < reading->count ? from + PART : reading->count;

		for (size_t i = from; i < to; i += SEARCHER_SPAN)
			read_head_span(reading, reading->first + i,
				reading->bytes + i * reading->searcher->kept_len);
		if (image_was_cut(reading->image) ||
			(reading->interrupted && reading->interrupted()))
			reading->stopped = true;
	}
}

static bool keep_image(struct searcher *searcher, const struct clusters *clusters)
{
	int status = searcher->tool->keep_image(searcher->device, searcher->size, searcher->origin,
		clusters->end, &searcher->kept_len, &searcher->kept);

	if (status == -EINTR)
		return false;
	is_answered(searcher, status);
	return true;
}

/* Of the next clusters, what the scan has kept. 0: nothing, or not all of it. */
static size_t take_kept(const struct searcher *searcher, const struct kept_text *kept)
{
	const struct search_tool *tool = searcher->tool;

	if (!kept || !tool->take)
		return 0;
	return tool->take(searcher->device, kept, searcher_place(searcher, searcher->kept),
		searcher->size, searcher->kept_len);
}

bool searcher_keep_heads(struct searcher *searcher, struct image *image,
	const struct clusters *clusters, const struct kept_text *kept, struct pool *pool,
	bool (*interrupted)(void))
{
	uint64_t count = (clusters->end - searcher->origin + searcher->size - 1) / searcher->size;
	int status = 0;

	/* Where there is not room for all that decides, its beginning refuses most clusters, too. */
	searcher->kept_len = searcher->head_len;
	if (!searcher->is_failed && searcher->tool->keep_image)
		return keep_image(searcher, clusters);
	if (!searcher->is_failed &&
		searcher->tool->room(searcher->device) / searcher->kept_len < count)
		searcher->kept_len = SEARCH_HEAD_MIN;
	while (!searcher->is_failed && !status && searcher->kept < count) {
		struct reading reading = { .searcher = searcher,
			.image = image,
			.clusters = clusters,
			.interrupted = interrupted,
			.first = searcher->kept };
		size_t taken = take_kept(searcher, kept);

		searcher->kept += taken;
		if (taken)
			continue;
		reading.bytes =
			searcher->tool->stage(searcher->device, searcher->kept_len, &reading.count);
		if (!reading.bytes)
			break;
		pool_share(pool, POOL_CHECK, pool_threads(pool), read_heads, &reading);
		if (reading.stopped)
			return false;
		status = searcher->tool->keep(searcher->device, reading.count);
		if (!status)
			searcher->kept += reading.count;
	}
	return true;
}

uint64_t searcher_kept(const struct searcher *searcher)
{
	return searcher->is_failed ? 0 : searcher->kept;
}

size_t searcher_kept_len(const struct searcher *searcher)
{
	return searcher->kept_len;
}

/* Asks what the threads that came first want to know. The lock is held, but not meanwhile. */
static void ask_together(struct searcher *searcher)
{
	struct coded_question questions[CODED_QUESTIONS_MAX];
	struct asking *first = searcher->asking, *asking = first;
	size_t count = 0;
	bool works;

	for (; asking && count + asking->count <= CODED_QUESTIONS_MAX; asking = asking->next) {
		memcpy(questions + count, asking->questions, asking->count * sizeof(*questions));
		count += asking->count;
	}
	searcher->asking = asking;
	searcher->asked++;
	pthread_mutex_unlock(&searcher->lock);
	works = !searcher->is_failed &&
		is_answered(
			searcher, searcher->tool->find_coded(searcher->device, questions, count));
	pthread_mutex_lock(&searcher->lock);
	searcher->asked--;
	/* Each is on the stack of a thread that goes on once it is done and has the lock. */
	for (; first != asking; first = first->next) {
		first->is_done = true;
		first->is_answered = works;
	}
	pthread_cond_broadcast(&searcher->answered);
}

bool searcher_find_coded(struct searcher *searcher, const struct coded_question *questions,
	size_t count, bool *is_rough)
{
	struct asking own = { .questions = questions, .count = count }, **last = &searcher->asking;

	assert(count <= CODED_QUESTIONS_MAX);
	*is_rough = searcher->kept_len < searcher->head_len;
	pthread_mutex_lock(&searcher->lock);
	while (*last)
		last = &(*last)->next;
	*last = &own;
	while (!own.is_done) {
		if (!searcher->asking || searcher->asked == SEARCHES_MAX)
			pthread_cond_wait(&searcher->answered, &searcher->lock);
		else
			ask_together(searcher);
	}
	pthread_mutex_unlock(&searcher->lock);
	return own.is_answered;
}
