/*
 * OneNote's revision store ([MS-ONESTORE] 2.3 and 2.4).
 *
 *	header: 1024 bytes; places of the root list and of the hashed chunks', the file's length
 *	list:   fragments: a mark, nodes, the next fragment's place, a mark
 *	node:   a number, its size, how long places in it are written; what it points to: data or a
 *	        list
 *
 * All lists are walked from the root on: each fragment has to begin and end with its mark, and what
 * its nodes point to has to be in the file. The file is as long as its header says. What the data
 * hold is not checked. A file is sound up to the end of the fragment that reaches furthest, of
 * those found before one was wrong.
 */
#include <inttypes.h>
#include <stdbool.h>
#include <string.h>

#include "bytes.h"
#include "one.h"
#include "walk.h"

#define HEADER_LEN 1024
#define FRAGMENT_START UINT64_C(0xa4567ab1f5f7f4c4)
#define FRAGMENT_END UINT64_C(0x8bc215c38233ba4b)
#define START_LEN 16
#define END_LEN 20
#define WAITING 512 /* lists that are known but not walked */
#define MAX_FRAGMENTS 65536

struct place {
	uint64_t at, len;
};

struct store {
	struct view *view;
	uint64_t len, sound;
	struct place waiting[WAITING];
	unsigned waiting_count, fragment_count;
	uint64_t walked; /* bytes of fragments: no honest file has more of them than its length */
	const char *problem;
	uint64_t problem_at;
};

/* Notes what is wrong, if nothing was in front of it. */
static bool wrong(struct store *store, const char *problem, uint64_t at)
{
	if (!store->problem || at < store->problem_at) {
		store->problem = problem;
		store->problem_at = at;
	}
	return false;
}

static bool is_nil(const struct place *place)
{
	return place->len == 0 || place->at == UINT64_MAX || place->at == UINT32_MAX;
}

/* Whether what is pointed to is in the file. */
static bool possible(const struct store *store, const struct place *place)
{
	return place->at <= store->len && place->len <= store->len - place->at;
}

static bool wait_for(struct store *store, const struct place *place, uint64_t from)
{
	if (is_nil(place))
		return true;
	if (!possible(store, place))
		return wrong(store, "a node that points behind the end", from);
	if (store->waiting_count == WAITING)
		return wrong(store, "too many lists in each other", from);
	store->waiting[store->waiting_count++] = *place;
	return true;
}

static uint64_t read_le(const uint8_t *p, int len)
{
	return len == 8 ? le64(p) : len == 4 ? le32(p) : len == 2 ? le16(p) : p[0];
}

/* The reference behind a node's header, if there is room for it in `len` bytes. */
static bool read_reference(const uint8_t *p, uint32_t header, uint32_t len, struct place *place)
{
	static const int at_lens[] = { 8, 4, 2, 4 }, len_lens[] = { 4, 8, 1, 2 };
	unsigned at_form = header >> 23 & 3, len_form = header >> 25 & 3;
	int at_len = at_lens[at_form], len_len = len_lens[len_form];

	if (len < 4 + (uint32_t)(at_len + len_len))
		return false;
	place->at = read_le(p + 4, at_len);
	place->len = read_le(p + 4 + at_len, len_len);
	if (at_len < 8 && place->at == (UINT64_C(1) << 8 * at_len) - 1)
		place->at = UINT64_MAX;
	else if (at_form >= 2)
		place->at *= 8;
	if (len_form >= 2)
		place->len *= 8;
	return true;
}

/* Takes the node at `at`, before `end`; *next is behind it, or 0 behind the last. */
static bool read_node(struct store *store, uint64_t at, uint64_t end, uint64_t *next)
{
	const uint8_t *p = view_peek(store->view, at, 4);
	uint32_t header = p ? le32(p) : 0, id = header & 0x3ff, len = header >> 10 & 0x1fff;
	unsigned kind = header >> 27 & 15;
	struct place place;

	*next = 0;
	if (id == 0 || id == 0xff)
		return true;
	if (len < 4 || len > end - at)
		return wrong(store, "a node of impossible length", at);
	*next = at + len;
	if (kind != 1 && kind != 2)
		return true;
	p = view_peek(store->view, at, len);
	if (!p || !read_reference(p, header, len, &place))
		return wrong(store, "a node that is too short", at);
	if (kind == 2)
		return wait_for(store, &place, at);
	return is_nil(&place) || possible(store, &place) ||
	       wrong(store, "a node that points behind the end", at);
}

static bool read_fragment(struct store *store, const struct place *place)
{
	uint64_t at = place->at, end = at + place->len, next = at + START_LEN;
	const uint8_t *p;
	struct place following;

	store->walked += place->len;
	if (place->len < START_LEN + END_LEN || store->walked > store->len ||
		++store->fragment_count > MAX_FRAGMENTS)
		return wrong(store, "an impossible list", at);
	p = view_peek(store->view, at, 8);
	if (!p || le64(p) != FRAGMENT_START)
		return wrong(store, "no list's beginning", at);
	p = view_peek(store->view, end - END_LEN, END_LEN);
	if (!p || le64(p + 12) != FRAGMENT_END)
		return wrong(store, "no list's end", end - 8);
	following.at = le64(p);
	following.len = le32(p + 8);
	while (next && end - END_LEN - next >= 4)
		if (!read_node(store, next, end - END_LEN, &next))
			return false;
	if (end > store->sound && (!store->problem || end <= store->problem_at))
		store->sound = end;
	return wait_for(store, &following, end - END_LEN);
}

/* What is wrong in one list does not keep the others from telling how far the file is sound. */
static void walk_lists(struct store *store, const struct place *root, const struct place *hashed)
{
	wait_for(store, hashed, 148);
	wait_for(store, root, 172);
	while (store->waiting_count) {
		struct place place = store->waiting[--store->waiting_count];

		read_fragment(store, &place);
	}
}

enum verdict one_check_store(struct view *view, struct finding *finding)
{
	struct store store = { .view = view };
	const uint8_t *p = view_peek(view, 0, HEADER_LEN);
	struct place root, hashed;
	uint64_t size = view_size(view);

	if (!p)
		return verdict_because(CARVE_REJECT, finding, "the header is cut off");
	hashed = (struct place){ .at = le64(p + 148), .len = le32(p + 156) };
	root = (struct place){ .at = le64(p + 172), .len = le32(p + 180) };
	store.len = le64(p + 196);
	if (store.len < HEADER_LEN || store.len > UINT64_MAX / 2 || is_nil(&root))
		return verdict_because(CARVE_REJECT, finding, "an impossible length at 196");
	walk_lists(&store, &root, &hashed);
	if (!store.sound)
		return verdict_because(
			CARVE_REJECT, finding, "%s at %" PRIu64, store.problem, store.problem_at);
	if (store.len > size)
		return walk_cut(
			view, finding, store.len, view_ends_with_image(view) ? size : store.sound);
	finding->length = store.sound;
	if (store.problem)
		return verdict_because(CARVE_TRUNCATED, finding, "%s at %" PRIu64, store.problem,
			store.problem_at);
	finding->length = store.len;
	return CARVE_COMPLETE;
}
