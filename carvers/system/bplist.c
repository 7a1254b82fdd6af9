/*
 * Apple's binary property lists (CFBinaryPList.c, the format's published source).
 *
 *	file:    'bplist00', objects, table of offsets, trailer of 32 bytes
 *	object:  a byte of type and length, more length if that is 15, content; arrays, sets and
 *		dictionaries contain numbers of objects
 *	trailer: 6 unused bytes, width of offsets, width of references, number of objects, the top
 *		one, offset of the table (each 8 bytes, big-endian)
 *
 * Only the trailer gives the length, so it is searched: its fields have to agree with its offset.
 * Then every offset has to lead to an object whose content lies between the header and the table,
 * objects that are referred to have to exist, and objects have to fill all space, unless they share
 * it. A file without such a trailer is walked object by object, with the width of references that
 * leads furthest.
 */
#include <inttypes.h>
#include <stdbool.h>
#include <string.h>

#include "bytes.h"
#include "walk.h"

#define MAGIC_LEN 8
#define TRAILER_LEN 32
/* The trailer is searched in this many times the length of the objects found, and a little more: an
 * offset has at most 8 bytes, and an object at least one. */
#define SEARCH_FACTOR 9
#define SEARCH_MORE 4096
#define OBJECTS_MIN 4 /* that a cut file must have to be accepted */

struct bplist {
	struct view *view;
	uint8_t offset_len, reference_len;
	uint64_t count, top, table; /* number of objects, the top one, offset of the table */
};

struct bplist_object {
	uint64_t len; /* with its head */
	uint64_t references, reference_count;
};

/* A big-endian integer of 1 to 8 bytes. */
static uint64_t integer(const uint8_t *p, uint8_t len)
{
	uint64_t value = 0;

	while (len--)
		value = value << 8 | *p++;
	return value;
}

/* The length of an object whose first byte has 15 for it: an integer object follows; *len: the
 * length of both. */
static bool long_length(struct view *view, uint64_t at, uint64_t *count, uint64_t *len)
{
	const uint8_t *p = view_peek(view, at + 1, 1);
	uint8_t width;

	if (!p || *p >> 4 != 1 || (*p & 15) > 3)
		return false;
	width = (uint8_t)(1 << (*p & 15));
	p = view_peek(view, at + 2, width);
	if (!p)
		return false;
	*count = integer(p, width);
	*len = 2 + width;
	return *count <= UINT32_MAX;
}

/* Reads the object at `at`: false when there is none. */
static bool read_object(
	struct view *view, uint64_t at, uint8_t reference_len, struct bplist_object *object)
{
	const uint8_t *p = view_peek(view, at, 1);
	uint8_t kind = p ? *p >> 4 : 0xff, low = p ? *p & 15 : 0;
	uint64_t count = low, head = 1;

	memset(object, 0, sizeof(*object));
	switch (kind) {
	case 0:
		object->len = 1;
		return low == 0 || low == 8 || low == 9 || low == 15;
	case 1:
		object->len = 1u + (1u << low);
		return low <= 4;
	case 2:
		object->len = 1u + (1u << low);
		return low == 2 || low == 3;
	case 3:
		object->len = 9;
		return low == 3;
	case 8:
		object->len = 2u + low;
		return true;
	case 4:
	case 5:
	case 6:
	case 0xa:
	case 0xb:
	case 0xc:
	case 0xd:
		break;
	default:
		return false;
	}
	if (low == 15 && !long_length(view, at, &count, &head))
		return false;
	if (kind >= 0xa) {
		object->references = at + head;
		object->reference_count = kind == 0xd ? 2 * count : count;
		object->len = head + object->reference_count * reference_len;
	} else {
		object->len = head + (kind == 6 ? 2 * count : count);
	}
	return true;
}

/* Whether a collection refers only to objects that exist. */
static bool check_references(const struct bplist *bplist, const struct bplist_object *object)
{
	uint8_t len = bplist->reference_len;
	uint64_t at = object->references, end = at + object->reference_count * len;

	while (at < end) {
		size_t got, step;
		const uint8_t *p = walk_window(bplist->view, at, end, &got);

		if (!p || got < len)
			return false;
		step = got - got % len;
		for (size_t i = 0; i < step; i += len)
			if (integer(p + i, len) >= bplist->count)
				return false;
		at += step;
	}
	return true;
}

/* Checks every object in the table: the sum of their lengths, 0 when one is impossible. */
static uint64_t check_objects(const struct bplist *bplist)
{
	uint64_t sum = 0, room = bplist->table - MAGIC_LEN;

	for (uint64_t i = 0; i < bplist->count; i++) {
		const uint8_t *p = view_peek(
			bplist->view, bplist->table + i * bplist->offset_len, bplist->offset_len);
		uint64_t at = p ? integer(p, bplist->offset_len) : 0;
		struct bplist_object object;

		if (at < MAGIC_LEN || at >= bplist->table ||
			!read_object(bplist->view, at, bplist->reference_len, &object) ||
			object.len > bplist->table - at)
			return 0;
		/* Few objects are shared; many would be read again and again. */
		sum += object.len;
		if (sum > 2 * room || !check_references(bplist, &object))
			return 0;
	}
	return sum;
}

/* Whether a trailer is at `at`, by its own fields. */
static bool is_trailer(struct bplist *bplist, const uint8_t *p, uint64_t at)
{
	if (p[0] || p[1] || p[2] || p[3] || p[4] || p[6] < 1 || p[6] > 8 || p[7] < 1 || p[7] > 8)
		return false;
	bplist->offset_len = p[6];
	bplist->reference_len = p[7];
	bplist->count = be64(p + 8);
	bplist->top = be64(p + 16);
	bplist->table = be64(p + 24);
	return bplist->table > MAGIC_LEN && bplist->table < at && bplist->count > 0 &&
	       bplist->count <= at && bplist->top < bplist->count &&
	       at - bplist->table == bplist->count * bplist->offset_len;
}

/* Searches [at, end) for a trailer: where it ends, 0 when there is none. */
static uint64_t find_trailer(struct bplist *bplist, uint64_t at, uint64_t end)
{
	const uint8_t *p;
	size_t len;

	while ((p = walk_window(bplist->view, at, end, &len)) && len >= TRAILER_LEN) {
		for (size_t i = 0; i + TRAILER_LEN <= len; i++)
			if (p[i] == 0 && is_trailer(bplist, p + i, at + i))
				return at + i + TRAILER_LEN;
		at += len - TRAILER_LEN + 1;
	}
	return 0;
}

/* Walks objects one after another: returns the end of the last one, and how many there were. A zero
 * may be an object, or a wiped disk; it counts if another object follows. */
static uint64_t walk_objects(struct view *view, uint8_t reference_len, uint64_t *count)
{
	uint64_t at = MAGIC_LEN, end = MAGIC_LEN;
	struct bplist_object object;
	int zeros = 0;

	*count = 0;
	while (read_object(view, at, reference_len, &object) &&
		object.len <= view_size(view) - at && zeros < 16) {
		const uint8_t *p = view_peek(view, at, 1);

		at += object.len;
		if (p && *p == 0) {
			zeros++;
			continue;
		}
		zeros = 0;
		end = at;
		++*count;
	}
	return end;
}

static enum verdict check(struct view *view, struct finding *finding)
{
	static const uint8_t widths[] = { 1, 2, 4 };
	struct bplist bplist = { .view = view };
	const uint8_t *p = view_peek(view, 0, MAGIC_LEN);
	uint64_t walked = 0, count = 0, end, sum, search;

	if (!p || memcmp(p, "bplist0", 7) != 0 || p[7] < '0' || p[7] > '9')
		return verdict_because(CARVE_REJECT, finding, "no header");
	for (size_t i = 0; i < sizeof(widths); i++) {
		uint64_t found, at = walk_objects(view, widths[i], &found);

		if (at > walked) {
			walked = at;
			count = found;
		}
	}
	search = walked * SEARCH_FACTOR + SEARCH_MORE;
	end = find_trailer(&bplist, MAGIC_LEN, search);
	sum = end ? check_objects(&bplist) : 0;
	finding->length = end;
	if (sum == bplist.table - MAGIC_LEN && end)
		return CARVE_COMPLETE;
	if (sum)
		return verdict_because(CARVE_UNVERIFIED, finding,
			"objects of %" PRIu64 " bytes in total instead of %" PRIu64, sum,
			bplist.table - MAGIC_LEN);
	finding->length = 0;
	/* All writers put the outermost collection first. In programs, text follows the magic. */
	p = view_peek(view, MAGIC_LEN, 1);
	if (!p || *p < 0xa0)
		count = 0;
	if (count < OBJECTS_MIN)
		return verdict_because(CARVE_REJECT, finding,
			end ? "an object is impossible" : "no trailer, and too few objects");
	if (walked > view_size(view))
		walked = view_size(view);
	finding->length = walked;
	return verdict_because(CARVE_TRUNCATED, finding,
		end ? "impossible objects after %" PRIu64
		    : "no trailer after the objects up to %" PRIu64,
		walked);
}

const struct carver bplist_carver = {
	.name = "bplist",
	.summary = "Binary property lists, by their trailer, table and objects",
	.check = check,
};
