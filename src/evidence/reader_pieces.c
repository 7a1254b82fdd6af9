/*
 * Which bytes are read for which slot, and cutting them into pieces: what both ways of filling the
 * ring have in common.
 *
 * Holes of sparse images are not read. They make zeros of pieces that lie in them, which must be
 * in the ring all the same: engines search them there, patterns may match zeros, and hashes count
 * them. Where all that is to be read for a slot lies in a hole, its memory is zeroed only when it
 * has held something else, and the slot says so: whoever knows what zeros mean to him may pass over
 * it (run/run_scan.c does). So an empty TB costs some seconds. A hole that is filled, or a file that is
 * cut off, while the run goes on is like any other change of evidence: a slot holds what was there
 * when it was asked for.
 */
#include <string.h>

#include "base/memory.h"
#include "evidence/reader_ring.h"

/* On a dying disk this much may take minutes; reader_close waits no longer than that. */
#define RECOVER_LEN 65536

uint64_t reader_round_up(uint64_t value, uint64_t step)
{
	return (value + step - 1) / step * step;
}

uint64_t reader_slot_start(const struct reader *reader, uint64_t number)
{
	return reader->begin + number * reader->slot_len;
}

/* Where reading for slot `number` begins, which is where that for the one before ends. */
static uint64_t read_from(const struct reader *reader, uint64_t number)
{
	uint64_t from;

	if (number == 0)
		return reader->begin;
	if (number == reader->count)
		return reader->limit;
	from = reader_round_up(reader_slot_start(reader, number) + reader->overlap, reader->align);
	return from < reader->limit ? from : reader->limit;
}

uint8_t *reader_byte(const struct fill *fill, uint64_t offset)
{
	return fill->memory + fill->start % DIRECT_ALIGN + (offset - fill->start);
}

/* Passes over slots of which everything was asked for, so that `asking` is one that can't be handed
 * out yet, whose place in `order` no later slot takes. */
static void pass_asked(struct reader *reader)
{
	while (reader->asking < reader->given) {
		const struct fill *fill = reader->order[reader->asking % reader->slots];

		if (fill->next < fill->end)
			return;
		reader->asking++;
	}
}

/* NULL when others still copy from all that are free. */
static struct fill *coldest(const struct reader *reader)
{
	struct fill *found = NULL;

	for (unsigned i = 0; i < reader->places; i++) {
		struct fill *fill = &reader->fills[i];

		if (!fill->assigned && !fill->held && !fill->pins &&
			(!found || fill->released < found->released))
			found = fill;
	}
	return found;
}

bool reader_assign(struct reader *reader)
{
	struct fill *fill;

	while (reader->busy < reader->slots && reader->given < reader->count &&
		(fill = coldest(reader))) {
		fill->assigned = true;
		fill->hole = false;
		fill->start = reader_slot_start(reader, reader->given);
		fill->from = fill->next = read_from(reader, reader->given);
		fill->end = read_from(reader, reader->given + 1);
		ranges_free(&fill->bad);
		reader->busy++;
		reader->order[reader->given++ % reader->slots] = fill;
	}
	pass_asked(reader);
	return reader->asking < reader->given;
}

/* Finds descriptors for a piece and shortens it to what lies in one file. Only what is aligned all
 * over is read directly; the piece ends where that does. */
static void place(struct reader *reader, struct piece *piece)
{
	uint64_t follow;
	size_t aligned_len;
	int fd;

	piece->fd = -1;
	if (!reader->extents || image_extent(reader->image, piece->offset, false, &piece->fd,
					&piece->fd_offset, &follow))
		return;
	if (follow < piece->len)
		piece->len = (size_t)follow;
	aligned_len = piece->len / DIRECT_ALIGN * DIRECT_ALIGN;
	if (reader->direct && aligned_len && piece->fd_offset % DIRECT_ALIGN == 0 &&
		(uintptr_t)piece->to % DIRECT_ALIGN == 0 &&
		!image_extent(
			reader->image, piece->offset, true, &fd, &piece->fd_offset, &follow)) {
		piece->fd = fd;
		piece->len = aligned_len;
		piece->direct = true;
	}
}

/* Whether all of [offset, offset + len) lies in a hole. Bytes are asked for in order, so each
 * boundary between holes and data costs one question. */
static bool in_hole(struct reader *reader, uint64_t offset, uint64_t len)
{
	uint64_t known_len;

	if (offset < reader->known_from || offset >= reader->known_end) {
		reader->known_hole = image_hole(reader->image, offset, &known_len);
		reader->known_from = offset;
		reader->known_end = offset + known_len;
	}
	return reader->known_hole && len <= reader->known_end - offset;
}

/* All that is to be read for the place lies in a hole. Where it served one before, its memory is
 * zero. */
static void take_hole(struct reader *reader, struct piece *piece)
{
	struct fill *fill = piece->fill;

	piece->hole = true;
	piece->to = fill->memory;
	piece->len = fill->zeros ? 0 : reader->stride;
	fill->hole = fill->zeros = true;
	fill->next = fill->end;
}

static void take_part(struct reader *reader, struct piece *piece, uint64_t left)
{
	struct fill *fill = piece->fill;
	size_t piece_len = reader->piece_len - (size_t)(fill->next % reader->piece_len);

	piece->len = left < piece_len ? (size_t)left : piece_len;
	piece->to = reader_byte(fill, fill->next);
	piece->hole = in_hole(reader, fill->next, piece->len);
	if (!piece->hole)
		place(reader, piece);
	fill->zeros = false;
	fill->next += piece->len;
}

bool reader_take(struct reader *reader, struct piece *piece)
{
	struct fill *fill = reader->order[reader->asking % reader->slots];
	uint64_t left;

	if (reader->asking == reader->given)
		return false;
	left = fill->end - fill->next;
	*piece = (struct piece){ .fill = fill, .offset = fill->next };
	if (fill->next == fill->from && in_hole(reader, fill->from, left))
		take_hole(reader, piece);
	else
		take_part(reader, piece, left);
	fill->pending++;
	pass_asked(reader);
	return true;
}

static void note_bad(void *arg, uint64_t offset, size_t len)
{
	ranges_add(arg, offset, len);
}

void reader_recover(struct reader *reader, const struct piece *piece, struct ranges *bad)
{
	size_t done = 0;

	while (done < piece->len && !atomic_load(&reader->closing)) {
		size_t left = piece->len - done, part_len = left < RECOVER_LEN ? left : RECOVER_LEN;

		image_read_pieces(reader->image, piece->offset + done, piece->to + done, part_len,
			note_bad, bad);
		done += part_len;
	}
}

void reader_add(struct ranges *into, const struct ranges *from)
{
	for (size_t i = 0; i < from->count; i++)
		ranges_add(into, from->items[i].offset, from->items[i].length);
}

void reader_finish(struct reader *reader, struct piece *piece, struct ranges *bad)
{
	reader_add(&piece->fill->bad, bad);
	ranges_free(bad);
	piece->fill->pending--;
	if (reader_done(piece->fill))
		pthread_cond_broadcast(&reader->done);
}

void reader_break(struct reader *reader, int rc)
{
	reader->broken = rc;
	pthread_cond_broadcast(&reader->done);
}

bool reader_done(const struct fill *fill)
{
	return fill->next == fill->end && !fill->pending;
}
