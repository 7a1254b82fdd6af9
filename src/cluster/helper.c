/* What the conductor has said is noted by the thread of the post, and waited for by the helper's
 * own. */
#include "cluster/helper.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/pool.h"
#include "base/thread.h"
#include "cluster/conductor.h"
#include "cluster/credit.h"
#include "cluster/wire.h"
#include "run/run.h"

/* More than the conductor deals in advance. */
#define UNITS_MOST 8

struct given {
	struct range range;
	bool last;
};

static struct {
	pthread_mutex_t lock;
	pthread_cond_t changed;
	bool spoken, begun, ended, cancelled;
	char *mark;
	struct given units[UNITS_MOST];
	uint64_t got, taken; /* units; one of length 0 is the last */
	size_t unused;       /* of what was sent, as credit_of counts */
	void (*hide)(void *context, uint64_t until);
	void *hide_context;
	bool has_combined;
	struct run_combined combined;
	bool has_image;
	size_t image;
} helper = { .lock = PTHREAD_MUTEX_INITIALIZER };

void helper_init(void)
{
	thread_cond_init(&helper.changed);
}

bool helper_has_spoken(void)
{
	return helper.spoken;
}

/* Until something has changed, or a tenth of a second. False when a signal was caught. */
static bool wait_a_moment(void)
{
	thread_cond_wait(&helper.changed, &helper.lock, 0.1);
	return !run_caught_signal();
}

/* ---- what arrives -------------------------------------------------------------------------- */

static void take_unit(struct unpack *unpack)
{
	struct given *given = &helper.units[helper.got % UNITS_MOST];

	if (helper.got - helper.taken == UNITS_MOST)
		return;
	given->range.offset = unpack_number(unpack);
	given->range.length = unpack_number(unpack);
	given->last = unpack_number(unpack);
	helper.got++;
}

static void note(struct post *post)
{
	struct unpack unpack = { post->bytes, post->len, false };
	uint64_t until;
	size_t used;

	switch (post->kind) {
	case POST_BEGIN:
		free(helper.mark);
		helper.mark = unpack_text_new(&unpack);
		helper.begun = true;
		break;
	case POST_UNIT:
		take_unit(&unpack);
		break;
	case POST_CREDIT:
		used = (size_t)unpack_number(&unpack);
		helper.unused -= used < helper.unused ? used : helper.unused;
		break;
	case POST_HIDE:
		until = unpack_number(&unpack);
		serve_hide(until);
		if (helper.hide)
			helper.hide(helper.hide_context, until);
		break;
	case POST_IMAGE:
		helper.image = (size_t)unpack_number(&unpack);
		helper.has_image = true;
		break;
	case POST_COMBINED:
		if (post->len == sizeof(helper.combined))
			memcpy(&helper.combined, post->bytes, post->len);
		helper.has_combined = true;
		break;
	case POST_CANCEL:
		serve_cancel();
		helper.cancelled = true;
		break;
	default:
		helper.ended = true;
		break;
	}
}

void helper_deliver(struct post *post)
{
	if (post->kind == POST_CHECK || post->kind == POST_WRITE) {
		serve_deliver(post);
		return;
	}
	pthread_mutex_lock(&helper.lock);
	note(post);
	pthread_cond_broadcast(&helper.changed);
	pthread_mutex_unlock(&helper.lock);
	free(post->bytes);
}

/* ---- what it says -------------------------------------------------------------------------- */

static void say_hello(const struct run_join *join)
{
	struct pack pack = { 0 };

	pack_number(&pack, pool_threads(join->pool));
	pack_text(&pack, join->engine);
	pack_number(&pack, join->alike.count);
	for (size_t i = 0; i < join->alike.count; i++)
		pack_text(&pack, join->alike.values[i]);
	helper.spoken = true;
	post_send(0, POST_HELLO, &pack);
}

int helper_join(const struct run_join *join, struct error *error)
{
	bool begun;
	int status;

	say_hello(join);
	pthread_mutex_lock(&helper.lock);
	while (!helper.begun && !helper.ended && wait_a_moment())
		;
	begun = helper.begun && !helper.ended;
	pthread_mutex_unlock(&helper.lock);
	if (!begun)
		return 0;
	status = serve_begin(join, helper.mark, error);
	if (status)
		return status;
	pthread_mutex_lock(&helper.lock);
	helper.hide = join->hide;
	helper.hide_context = join->context;
	pthread_mutex_unlock(&helper.lock);
	post_send(0, POST_JOINED, NULL);
	return 1;
}

int helper_unit(bool wait, struct range *unit, bool *last)
{
	int result = -EAGAIN;

	pthread_mutex_lock(&helper.lock);
	while (wait && helper.got == helper.taken && !helper.ended && wait_a_moment())
		;
	if (helper.got != helper.taken) {
		const struct given *given = &helper.units[helper.taken % UNITS_MOST];

		*unit = given->range;
		*last = given->last;
		result = given->range.length != 0;
		helper.taken += result; /* the end stays */
	} else if (wait) {
		result = 0;
	}
	pthread_mutex_unlock(&helper.lock);
	return result;
}

static void put_outcomes(struct pack *pack, const struct run_piece *piece)
{
	pack_number(pack, piece->outcome_count);
	for (size_t i = 0; i < piece->outcome_count; i++) {
		pack_number(pack, piece->outcomes[i].start);
		pack_number(pack, piece->outcomes[i].rule);
		wire_put_outcome(pack, &piece->outcomes[i].outcome);
	}
}

int helper_give(const struct run_piece *piece)
{
	struct pack pack = { 0 };
	size_t credit;
	bool wanted;

	pack_number(&pack, piece->until);
	pack_number(&pack, piece->ends_unit);
	if (piece->ends_unit)
		pack_raw(&pack, &piece->spent, sizeof(piece->spent));
	pack_bytes(&pack, piece->hits, piece->hit_count * sizeof(*piece->hits));
	pack_bytes(&pack, piece->unread, piece->unread_count * sizeof(*piece->unread));
	pack_bytes(&pack, piece->classes, piece->classes_len);
	put_outcomes(&pack, piece);
	credit = credit_of(pack.len, piece->ends_unit);
	pthread_mutex_lock(&helper.lock);
	while (helper.unused && helper.unused + credit > CREDIT_LEN && !helper.ended &&
		!helper.cancelled && wait_a_moment())
		;
	wanted = !helper.ended && !helper.cancelled && !run_caught_signal();
	helper.unused += credit;
	pthread_mutex_unlock(&helper.lock);
	if (wanted)
		post_send(0, POST_PIECE, &pack);
	free(pack.bytes);
	return wanted ? 0 : -ECANCELED;
}

void helper_fail(const struct error *error)
{
	struct pack pack = { 0 };

	pack_number(&pack, (uint64_t)error->code);
	pack_text(&pack, error->text);
	helper.spoken = true;
	post_send(0, POST_FAILED, &pack);
}

void helper_leave(void)
{
	pthread_mutex_lock(&helper.lock);
	while (!helper.ended)
		wait_a_moment();
	free(helper.mark);
	helper.mark = NULL;
	helper.begun = false;
	helper.hide = NULL;
	pthread_mutex_unlock(&helper.lock);
	serve_end();
}

/* ---- whole images -------------------------------------------------------------------------- */

bool helper_image(size_t *number)
{
	bool has;

	helper.spoken = true;
	pthread_mutex_lock(&helper.lock);
	while (!helper.has_image && !helper.ended && wait_a_moment())
		;
	has = helper.has_image;
	*number = helper.image;
	helper.has_image = false;
	pthread_mutex_unlock(&helper.lock);
	return has;
}

void helper_carved(int code, const struct run_sums *sums)
{
	struct pack pack = { 0 };

	pack_number(&pack, (uint64_t)code);
	pack_bytes(&pack, sums, sizeof(*sums));
	post_send(0, POST_CARVED, &pack);
}

/* ---- measurements -------------------------------------------------------------------------- */

int helper_combine(struct run_combined *combined, struct error *error)
{
	struct pack pack = { 0 };
	int status = 0;

	pack_raw(&pack, combined, sizeof(*combined));
	helper.spoken = true;
	post_send(0, POST_COMBINE, &pack);
	pthread_mutex_lock(&helper.lock);
	while (!status && !helper.has_combined) {
		if (helper.ended || !wait_a_moment())
			status = error_set(error, EXIT_IO, ECANCELED, "the measurement was ended");
		else if (!post_rank())
			status = combine_failure(error);
	}
	*combined = helper.combined;
	helper.has_combined = false;
	pthread_mutex_unlock(&helper.lock);
	return status;
}
