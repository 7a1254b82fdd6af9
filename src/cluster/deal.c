/*
 * Units are dealt to the helpers one after another, whoever has done one gets the next: so whatever
 * is slow, or busy, takes fewer. Each has one in hand more than it searches, so that it need not
 * wait. Pieces of hits arrive in the order of each helper's units and are used in the order of the
 * image. What a helper may send ahead is bounded by its credit (helper.c), which is given back when
 * a piece is used: the helper with the next piece always has some, for all of its earlier ones were
 * used.
 */
#include <errno.h>
#include <stdlib.h>

#include "base/memory.h"
#include "cluster/conductor.h"
#include "cluster/credit.h"
#include "cluster/wire.h"

#define UNITS_IN_HAND 2
#define CHUNK_LEN ((uint64_t)32 << 20)
#define UNIT_MOST ((uint64_t)64 << 20)
/* Of one process, so that the last ones end at about the same time. */
#define UNITS_EACH 16

static uint64_t round_up(uint64_t value, uint64_t step)
{
	return (value + step - 1) / step * step;
}

/* Whole chunks of the image from the range's beginning on. */
static uint64_t unit_len_for(const struct run_begin *begin)
{
	uint64_t chunk = begin->chunk_size ? begin->chunk_size : CHUNK_LEN;
	uint64_t len = begin->unit_size;

	if (!len)
		len = (begin->end - begin->position) / (post_count() * UNITS_EACH);
	if (!begin->unit_size && len > UNIT_MOST)
		len = UNIT_MOST;
	if (!len)
		len = 1;
	return len < chunk && begin->unit_size ? len : round_up(len, chunk);
}

/* Whether it reaches beyond the unit in use: what lies in that one its helper knows itself. */
static bool is_news(uint64_t until)
{
	const struct dealt *unit;

	if (conductor.units_used == conductor.units_dealt || until <= conductor.hidden_told)
		return false;
	unit = &conductor.units[conductor.units_used % conductor.unit_room];
	return until > unit->offset + unit->length;
}

static void tell_hidden(uint64_t until)
{
	conductor.hidden_told = until;
	for (unsigned rank = 0; rank < post_count(); rank++) {
		struct pack pack = { 0 };

		pack_number(&pack, until);
		post_send(rank, POST_HIDE, &pack);
	}
}

void deal_hide(uint64_t until)
{
	pthread_mutex_lock(&conductor.lock);
	if (is_news(until))
		tell_hidden(until);
	pthread_mutex_unlock(&conductor.lock);
}

static void grow_units(void)
{
	size_t room = conductor.unit_room ? conductor.unit_room * 2 : 64;
	struct dealt *units = xcalloc(room, sizeof(*units));

	for (uint64_t n = conductor.units_used; n < conductor.units_dealt; n++)
		units[n % room] = conductor.units[n % conductor.unit_room];
	free(conductor.units);
	conductor.units = units;
	conductor.unit_room = room;
}

/* The next unit; one of length 0 when there are no more. */
static void deal(unsigned rank)
{
	uint64_t left = conductor.finish - conductor.next;
	uint64_t len = left < conductor.unit_len ? left : conductor.unit_len;
	struct pack pack = { 0 };

	if (!conductor.dealing)
		return;
	pack_number(&pack, conductor.next);
	pack_number(&pack, len);
	pack_number(&pack, len == left);
	if (len) {
		if (conductor.units_dealt - conductor.units_used == conductor.unit_room)
			grow_units();
		conductor.units[conductor.units_dealt++ % conductor.unit_room] =
			(struct dealt){ conductor.next, len, rank };
		conductor.next += len;
	}
	post_send(rank, POST_UNIT, &pack);
}

void deal_begin(const struct run_begin *begin)
{
	conductor.next = begin->position;
	conductor.finish = begin->end;
	conductor.unit_len = unit_len_for(begin);
	conductor.dealing = true;
	for (unsigned i = 0; i < UNITS_IN_HAND; i++)
		for (unsigned rank = 0; rank < post_count(); rank++)
			deal(rank);
}

void deal_deliver(struct post *post)
{
	struct peer *peer = &conductor.peers[post->from];
	struct unpack unpack = { post->bytes, post->len, false };
	struct parcel *parcel;

	if (!conductor.dealing) {
		free(post->bytes);
		return;
	}
	parcel = xcalloc(1, sizeof(*parcel));
	parcel->bytes = post->bytes;
	parcel->len = post->len;
	*peer->end = parcel;
	peer->end = &parcel->next;
	unpack_number(&unpack);     /* until */
	if (unpack_number(&unpack)) /* ends a unit */
		deal(post->from);
}

static void drop_in_hand(void)
{
	if (!conductor.in_hand)
		return;
	free(conductor.in_hand->bytes);
	free(conductor.in_hand);
	conductor.in_hand = NULL;
}

/* The next piece of the helper whose unit is next; NULL when it has not come. */
static struct parcel *take_parcel(struct peer *peer)
{
	struct parcel *parcel = peer->first;

	if (!parcel)
		return NULL;
	peer->first = parcel->next;
	if (!peer->first)
		peer->end = &peer->first;
	return parcel;
}

static bool is_sound(const struct run_piece *piece, const struct unpack *unpack,
	const struct dealt *unit, size_t hits_len, size_t unread_len)
{
	return !unpack->bad && hits_len % sizeof(struct run_hit) == 0 &&
	       unread_len % sizeof(struct range) == 0 && piece->until > unit->offset &&
	       piece->until <= unit->offset + unit->length;
}

static void give_credit(unsigned rank, size_t credit)
{
	struct pack pack = { 0 };

	pack_number(&pack, credit);
	post_send(rank, POST_CREDIT, &pack);
}

/* What they hold is the taker's. */
static void open_outcomes(struct unpack *unpack, struct run_piece *piece)
{
	uint64_t count = unpack_number(unpack);

	while (piece->outcome_count < count && !unpack->bad) {
		struct run_outcome *outcome;

		conductor.outcomes = xgrow(conductor.outcomes, &conductor.outcome_room,
			piece->outcome_count, sizeof(*conductor.outcomes));
		outcome = &conductor.outcomes[piece->outcome_count++];
		outcome->start = unpack_number(unpack);
		outcome->rule = (uint32_t)unpack_number(unpack);
		wire_get_outcome(unpack, &outcome->outcome, ask_keep);
	}
	piece->outcomes = conductor.outcomes;
}

static int refuse(const struct run_piece *piece, unsigned rank, struct error *error)
{
	for (size_t i = 0; i < piece->outcome_count; i++)
		outcome_free(&piece->outcomes[i].outcome);
	return error_set(error, EXIT_IO, EBADMSG,
		"a fault in burin: rank %u sent hits that make no sense", rank);
}

static int open_parcel(struct parcel *parcel, struct run_piece *piece, struct error *error)
{
	const struct dealt *unit = &conductor.units[conductor.units_used % conductor.unit_room];
	struct unpack unpack = { parcel->bytes, parcel->len, false };
	size_t hits_len, unread_len;

	piece->until = unpack_number(&unpack);
	piece->ends_unit = unpack_number(&unpack);
	if (piece->ends_unit)
		unpack_raw(&unpack, &piece->spent, sizeof(piece->spent));
	piece->hits = unpack_bytes(&unpack, &hits_len);
	piece->unread = unpack_bytes(&unpack, &unread_len);
	piece->classes = unpack_bytes(&unpack, &piece->classes_len);
	piece->hit_count = hits_len / sizeof(*piece->hits);
	piece->unread_count = unread_len / sizeof(*piece->unread);
	piece->outcome_count = 0;
	open_outcomes(&unpack, piece);
	if (!is_sound(piece, &unpack, unit, hits_len, unread_len))
		return refuse(piece, unit->rank, error);
	if (piece->ends_unit)
		conductor.peers[unit->rank].spent = piece->spent;
	give_credit(unit->rank, credit_of(parcel->len, piece->ends_unit));
	conductor.units_used += piece->ends_unit;
	return 1;
}

/* With the lock. */
static int next_piece(struct run_piece *piece, struct error *error)
{
	struct parcel *parcel;
	const struct dealt *unit;
	int status = conductor_failure(error);

	if (status)
		return status;
	if (conductor.units_used == conductor.units_dealt)
		return 0;
	unit = &conductor.units[conductor.units_used % conductor.unit_room];
	parcel = take_parcel(&conductor.peers[unit->rank]);
	if (!parcel)
		return -EAGAIN;
	conductor.in_hand = parcel;
	return open_parcel(parcel, piece, error);
}

int deal_next(struct run_piece *piece, struct error *error)
{
	int status;

	pthread_mutex_lock(&conductor.lock);
	drop_in_hand();
	status = next_piece(piece, error);
	if (status == -EAGAIN) {
		conductor_wait(&conductor.changed);
		status = next_piece(piece, error);
	}
	pthread_mutex_unlock(&conductor.lock);
	return status;
}

void deal_end(void)
{
	struct parcel *parcel;

	conductor.dealing = false;
	drop_in_hand();
	for (unsigned rank = 0; rank < post_count(); rank++)
		while ((parcel = take_parcel(&conductor.peers[rank]))) {
			free(parcel->bytes);
			free(parcel);
		}
	free(conductor.units);
	free(conductor.outcomes);
	conductor.outcomes = NULL;
	conductor.outcome_room = 0;
	conductor.hidden_told = 0;
	conductor.units = NULL;
	conductor.unit_room = 0;
	conductor.units_dealt = conductor.units_used = 0;
}
