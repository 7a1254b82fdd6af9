/*
 * Units are dealt to the workers one at a time: the worker that finishes one gets the next, so that
 * one that is slow, or busy, takes fewer. Each has one unit more in hand than it searches, so that
 * it need not wait. Results arrive in the order of each worker's units and are used in the order of
 * the image. What a worker may send ahead is bounded by its credit (credit.h), which it gets back
 * when a result is used: the worker with the next result always has some, because all of its earlier
 * ones were used.
 */
#include "cluster/scheduler.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "cluster/coordinator.h"
#include "cluster/credit.h"
#include "cluster/messages.h"

#define UNITS_IN_HAND 2
#define CHUNK_LEN ((uint64_t)32 << 20)
#define UNIT_MAX ((uint64_t)64 << 20)
/* For each process, so that the last ones end at about the same time. */
#define UNITS_EACH 16

/* Dealt to a worker, and its results not all used. */
struct dealt {
	uint64_t offset, length;
	unsigned rank;
};

/* Under the coordinator's lock. */
static struct {
	bool dealing;
	uint64_t next, finish, unit_len;
	struct dealt *units; /* unit n is units[n % unit_room] */
	uint64_t units_dealt, units_used;
	size_t unit_room;
	struct parcel *in_hand;   /* the result that was handed out last */
	struct message_room room; /* what it was decoded into */
	uint64_t hidden_sent;     /* scheduler_hide: the workers know of this */
} scheduler;

/* ---- dealing ------------------------------------------------------------------------------- */

static uint64_t round_up(uint64_t value, uint64_t step)
{
	return (value + step - 1) / step * step;
}

/* Whole chunks of the image from the range's beginning on. */
static uint64_t unit_len_for(const struct cluster_begin *begin)
{
	uint64_t asked = begin->options->unit_size, len = asked;
	uint64_t chunk = begin->options->chunk_size ? begin->options->chunk_size : CHUNK_LEN;

	if (!asked)
		len = (begin->end - begin->position) / (transport_count() * UNITS_EACH);
	if (!asked && len > UNIT_MAX)
		len = UNIT_MAX;
	if (!len)
		len = 1;
	return len < chunk && asked ? len : round_up(len, chunk);
}

static void grow_units(void)
{
	size_t room = scheduler.unit_room ? scheduler.unit_room * 2 : 64;
	struct dealt *units = xcalloc(room, sizeof(*units));

	for (uint64_t n = scheduler.units_used; n < scheduler.units_dealt; n++)
		units[n % room] = scheduler.units[n % scheduler.unit_room];
	free(scheduler.units);
	scheduler.units = units;
	scheduler.unit_room = room;
}

/* The next unit; one of length 0 when there are no more. */
static void deal(unsigned rank)
{
	uint64_t left = scheduler.finish - scheduler.next;
	uint64_t len = left < scheduler.unit_len ? left : scheduler.unit_len;
	struct codec_writer writer = { 0 };

	if (!scheduler.dealing)
		return;
	codec_put(&writer, scheduler.next);
	codec_put(&writer, len);
	codec_put(&writer, len == left);
	if (len) {
		if (scheduler.units_dealt - scheduler.units_used == scheduler.unit_room)
			grow_units();
		scheduler.units[scheduler.units_dealt++ % scheduler.unit_room] =
			(struct dealt){ scheduler.next, len, rank };
		scheduler.next += len;
	}
	transport_send(rank, MESSAGE_UNIT, &writer);
}

void scheduler_begin(const struct cluster_begin *begin)
{
	scheduler.next = begin->position;
	scheduler.finish = begin->end;
	scheduler.unit_len = unit_len_for(begin);
	scheduler.dealing = true;
	for (unsigned i = 0; i < UNITS_IN_HAND; i++)
		for (unsigned rank = 0; rank < transport_count(); rank++)
			deal(rank);
}

/* ---- hidden files -------------------------------------------------------------------------- */

static const struct dealt *unit_in_use(void)
{
	return &scheduler.units[scheduler.units_used % scheduler.unit_room];
}

/* Whether it reaches past the unit in use: the worker of that one knows what lies in it. */
static bool is_news(uint64_t until)
{
	const struct dealt *unit;

	if (scheduler.units_used == scheduler.units_dealt || until <= scheduler.hidden_sent)
		return false;
	unit = unit_in_use();
	return until > unit->offset + unit->length;
}

void scheduler_hide(uint64_t until)
{
	pthread_mutex_lock(&coordinator.lock);
	if (is_news(until)) {
		scheduler.hidden_sent = until;
		for (unsigned rank = 0; rank < transport_count(); rank++) {
			struct codec_writer writer = { 0 };

			codec_put(&writer, until);
			transport_send(rank, MESSAGE_HIDE, &writer);
		}
	}
	pthread_mutex_unlock(&coordinator.lock);
}

/* ---- results ------------------------------------------------------------------------------- */

void scheduler_deliver(struct message *message)
{
	struct peer *peer = &coordinator.peers[message->from];
	struct codec_reader reader = codec_reader_from(message->bytes, message->len);
	struct parcel *parcel;

	if (!scheduler.dealing) {
		free(message->bytes);
		return;
	}
	parcel = xcalloc(1, sizeof(*parcel));
	parcel->bytes = message->bytes;
	parcel->len = message->len;
	*peer->end = parcel;
	peer->end = &parcel->next;
	if (message_ends_unit(&reader))
		deal(message->from);
}

static void free_parcel(struct parcel *parcel)
{
	if (!parcel)
		return;
	free(parcel->bytes);
	free(parcel);
}

static struct parcel *dequeue(struct peer *peer)
{
	struct parcel *parcel = peer->first;

	if (!parcel)
		return NULL;
	peer->first = parcel->next;
	if (!peer->first)
		peer->end = &peer->first;
	return parcel;
}

static void return_credit(unsigned rank, size_t credit)
{
	struct codec_writer writer = { 0 };

	codec_put(&writer, credit);
	transport_send(rank, MESSAGE_CREDIT, &writer);
}

static void use_parcel(struct parcel *parcel, struct cluster_result *result)
{
	struct codec_reader reader = codec_reader_from(parcel->bytes, parcel->len);
	const struct dealt *unit = unit_in_use();

	message_get_result(&reader, &scheduler.room, result, coordinator_keep);
	assert(codec_at_end(&reader)); /* every process runs the same program */
	assert(result->until > unit->offset && result->until <= unit->offset + unit->length);
	if (result->ends_unit)
		coordinator.peers[unit->rank].spent = result->spent;
	return_credit(unit->rank, credit_of(parcel->len, result->ends_unit));
	scheduler.units_used += result->ends_unit;
}

/* With the lock. */
static int next_result(struct cluster_result *result, struct error *error)
{
	int status = coordinator_failure(error);

	if (status)
		return status;
	if (scheduler.units_used == scheduler.units_dealt)
		return 0;
	scheduler.in_hand = dequeue(&coordinator.peers[unit_in_use()->rank]);
	if (!scheduler.in_hand)
		return -EAGAIN;
	use_parcel(scheduler.in_hand, result);
	return 1;
}

static void drop_in_hand(void)
{
	free_parcel(scheduler.in_hand);
	scheduler.in_hand = NULL;
}

int scheduler_next(struct cluster_result *result, struct error *error)
{
	int status;

	pthread_mutex_lock(&coordinator.lock);
	drop_in_hand();
	status = next_result(result, error);
	if (status == -EAGAIN) {
		coordinator_wait();
		status = next_result(result, error);
	}
	pthread_mutex_unlock(&coordinator.lock);
	return status;
}

void scheduler_end(void)
{
	struct parcel *parcel;

	drop_in_hand();
	for (unsigned rank = 0; rank < transport_count(); rank++)
		while ((parcel = dequeue(&coordinator.peers[rank])))
			free_parcel(parcel);
	free(scheduler.units);
	message_room_free(&scheduler.room);
	memset(&scheduler, 0, sizeof(scheduler));
}
