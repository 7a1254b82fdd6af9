#include "assemble/device_server.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>

#include "assemble/crc_search_codec.h"
#include "assemble/searcher.h"
#include "assemble/word_search_codec.h"
#include "base/channel.h"
#include "base/memory.h"
#include "carve/check_messages.h"
#include "carve/coded_codec.h"
#include "carvers/coded.h"
#include "evidence/extent_image.h"

#define CLUSTER_MAX ((uint64_t)1 << 24)

struct device_server {
	const struct assemble_options *options;
	struct image *evidence;
	struct clusters clusters;  /* that the searcher was made for: all are free */
	struct searcher *searcher; /* NULL: none was needed yet */
	pthread_rwlock_t
		lock; /* of the searcher: held by those who ask it, or alone to change it */
};

struct device_server *device_server_new(const struct assemble_options *options)
{
	struct device_server *server;

	if (!options->tool)
		return NULL;
	server = xcalloc(1, sizeof(*server));
	server->options = options;
	server->evidence = extent_image_evidence(options->image);
	server->clusters.size = USUAL_CLUSTER;
	pthread_rwlock_init(&server->lock, NULL);
	return server;
}

void device_server_free(struct device_server *server)
{
	if (!server)
		return;
	searcher_free(server->searcher);
	pthread_rwlock_destroy(&server->lock);
	free(server);
}

/* Which has a device, unless it failed. */
static struct searcher *searcher_of(struct device_server *server)
{
	if (!server->searcher)
		server->searcher = searcher_new(
			server->options->tool, server->options->devices, &server->clusters);
	return server->searcher;
}

static void put_status(struct codec_writer *answer, int status)
{
	codec_put(answer, (uint64_t)-status);
}

/* Of a process that was started again, they may be kept. */
static int keep_heads(struct device_server *server, const struct clusters *clusters)
{
	const struct assemble_options *options = server->options;
	bool same = clusters->size == server->clusters.size &&
		    clusters->origin == server->clusters.origin &&
		    clusters->end == server->clusters.end;

	if (!same) {
		searcher_free(server->searcher);
		server->searcher = NULL;
		server->clusters = *clusters;
	}
	if (!searcher_has_device(searcher_of(server)))
		return -EIO;
	if (!searcher_kept(server->searcher) &&
		!searcher_keep_heads(server->searcher, server->evidence, &server->clusters,
			options->kept_text, options->pool, options->interrupted))
		return -EINTR;
	return searcher_has_device(server->searcher) ? 0 : -EIO;
}

static bool answer_keep(
	struct device_server *server, struct codec_reader *question, struct codec_writer *answer)
{
	struct clusters clusters = { .size = codec_get(question, CLUSTER_MAX),
		.origin = codec_get(question, CLUSTER_MAX),
		.end = codec_get(question, image_info(server->evidence)->size) };
	int status;

	if (!codec_at_end(question) || clusters.size < SEARCH_HEAD_MIN ||
		(clusters.size & (clusters.size - 1)) || clusters.origin >= clusters.size ||
		clusters.origin >= clusters.end)
		return false;
	status = keep_heads(server, &clusters);
	put_status(answer, status);
	codec_put(answer, status ? 0 : searcher_kept_len(server->searcher));
	codec_put(answer, status ? 0 : searcher_kept(server->searcher));
	return true;
}

static bool answer_breaks(
	struct device_server *server, struct codec_reader *question, struct codec_writer *answer)
{
	struct searcher *searcher = server->searcher;
	struct crc_hits *hits = xcalloc(1, sizeof(*hits));
	struct crc_search search;
	bool valid;

	crc_search_load(&search, question);
	valid = codec_at_end(question);
	if (valid && searcher_has_device(searcher))
		searcher_find_breaks(searcher, &search, hits);
	if (valid) {
		put_status(answer, searcher_has_device(searcher) ? 0 : -EIO);
		crc_hits_save(hits, answer);
	}
	crc_search_free(&search);
	free(hits);
	return valid;
}

static bool answer_words(
	struct device_server *server, struct codec_reader *question, struct codec_writer *answer)
{
	struct searcher *searcher = server->searcher;
	struct asked_words *asked = xcalloc(1, sizeof(*asked));
	struct word_answer *hits = xmalloc(sizeof(*hits));
	bool valid;

	asked_words_load(asked, question);
	valid = codec_at_end(question);
	if (valid) {
		searcher_find_words(searcher, server->options->kept_text, &asked->question, hits);
		put_status(answer, searcher_has_device(searcher) ? 0 : -EIO);
		word_answer_save(hits, answer);
	}
	free(asked);
	free(hits);
	return valid;
}

/* Questions as they came, and room for what is answered. */
struct coded_questions {
	struct coded_question items[CODED_QUESTIONS_MAX];
	struct carve_coded *coded; /* of each */
	size_t count;
	uint64_t clusters; /* of all */
};

/* kept: clusters; UINT64_MAX: that does not matter any more. */
static bool load_question(
	struct coded_questions *questions, size_t number, uint64_t kept, struct codec_reader *from)
{
	struct coded_question *question = &questions->items[number];
	uint64_t most = (uint64_t)CHANNEL_MESSAGE_MAX / 2 * 8 - questions->clusters;

	question->first = codec_get(from, UINT64_MAX);
	question->count = codec_get(from, UINT64_MAX);
	question->coded = &questions->coded[number];
	coded_load(&questions->coded[number], from);
	if (!codec_ok(from) || question->first % 64 || !question->count || question->count % 64 ||
		question->count > most || question->first > kept ||
		question->count > kept - question->first)
		return false;
	questions->clusters += question->count;
	return true;
}

static bool load_questions(
	struct coded_questions *questions, uint64_t kept, struct codec_reader *from)
{
	questions->count = (size_t)codec_get(from, CODED_QUESTIONS_MAX);
	questions->coded = xcalloc(questions->count + 1, sizeof(*questions->coded));
	for (size_t i = 0; i < questions->count; i++)
		if (!load_question(questions, i, kept, from))
			return false;
	return codec_at_end(from) && questions->count;
}

/* Answers about clusters that are kept, or an error. */
static void find_coded(
	struct searcher *searcher, struct coded_questions *questions, struct codec_writer *answer)
{
	uint64_t *bits = xcalloc(questions->clusters / 64, sizeof(*bits)), *at = bits;
	bool is_rough, found;

	for (size_t i = 0; i < questions->count; i++) {
		questions->items[i].bits = at;
		at += questions->items[i].count / 64;
	}
	found = searcher_find_coded(searcher, questions->items, questions->count, &is_rough);
	put_status(answer, found ? 0 : -EIO);
	for (size_t i = 0; found && i < questions->count; i++)
		codec_put_bytes(answer, questions->items[i].bits, questions->items[i].count / 8);
	free(bits);
}

static bool answer_coded(
	struct device_server *server, struct codec_reader *question, struct codec_writer *answer)
{
	struct searcher *searcher = server->searcher;
	struct coded_questions *questions = xcalloc(1, sizeof(*questions));
	/* It may have failed since it kept them. */
	bool works = searcher_has_device(searcher);
	bool valid =
		load_questions(questions, works ? searcher_kept(searcher) : UINT64_MAX, question);

	if (valid && works)
		find_coded(searcher, questions, answer);
	else if (valid)
		put_status(answer, -EIO);
	free(questions->coded);
	free(questions);
	return valid;
}

/* For those who ask: once there is one there always is. */
static void lock_searcher(struct device_server *server)
{
	pthread_rwlock_rdlock(&server->lock);
	if (server->searcher)
		return;
	pthread_rwlock_unlock(&server->lock);
	pthread_rwlock_wrlock(&server->lock);
	searcher_of(server);
	pthread_rwlock_unlock(&server->lock);
	pthread_rwlock_rdlock(&server->lock);
}

bool device_server_answer(struct device_server *server, uint32_t kind,
	struct codec_reader *question, struct codec_writer *answer)
{
	bool valid;

	if (kind == CHECK_KEEP) {
		pthread_rwlock_wrlock(&server->lock);
		valid = answer_keep(server, question, answer);
	} else {
		lock_searcher(server);
		if (kind == CHECK_FIND_BREAKS)
			valid = answer_breaks(server, question, answer);
		else if (kind == CHECK_FIND_WORDS)
			valid = answer_words(server, question, answer);
		else
			valid = answer_coded(server, question, answer);
	}
	pthread_rwlock_unlock(&server->lock);
	return valid;
}
