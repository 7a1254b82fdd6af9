/*
 * OneNote's revision store ([MS-ONESTORE] 2.3 and 2.4).
 *
 *	header: 1024 bytes; offsets of the root list and of the hashed chunks' list; the file's
 *	        length
 *	list:   fragments: a mark, nodes, the next fragment's offset, a mark
 *	node:   a number, its size, the width of its offsets; what it refers to: data or a
 *	        list
 *
 * All lists are walked from the root on: each fragment has to begin and end with its mark, and what
 * its nodes refer to has to be in the file. The header states the file's length. The data's content
 * is not checked, and named as unverified; a file that continues after its last fragment, but for zeros,
 * is unverified. A file that was inserted is named as embedded. A file is valid up to the end of the fragment that reaches furthest, of those
 * found before an invalid one.
 */
#include <inttypes.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "bytes.h"
#include "one.h"
#include "stretches.h"
#include "walk.h"

#define HEADER_LEN 1024
#define FRAGMENT_START UINT64_C(0xa4567ab1f5f7f4c4)
#define FRAGMENT_END UINT64_C(0x8bc215c38233ba4b)
#define START_LEN 16
#define END_LEN 20
#define WAITING 512 /* lists found but not yet walked */
#define MAX_FRAGMENTS 65536
#define FILE_REFERENCE 0x094 /* a node's number */
#define FILE_HEAD_LEN 36
#define FRAGMENT_WORK 64 /* units (view_work) to sort one */

struct one_ref {
	uint64_t at, len;
};

struct one_store {
	struct view *view;
	uint64_t len, valid_end;
	struct one_ref waiting[WAITING];
	unsigned waiting_count, fragment_count;
	struct stretches fragments; /* the valid ones */
	uint64_t walked;            /* bytes of fragments: a real file has at most its length */
	const char *problem;
	uint64_t problem_at;
};

/* Notes what is wrong, if nothing before it was. */
static bool set_problem(struct one_store *store, const char *problem, uint64_t at)
{
	if (!store->problem || at < store->problem_at) {
		store->problem = problem;
		store->problem_at = at;
	}
	return false;
}

static bool is_nil(const struct one_ref *ref)
{
	return ref->len == 0 || ref->at == UINT64_MAX || ref->at == UINT32_MAX;
}

/* Whether the referenced range is in the file. */
static bool is_in_file(const struct one_store *store, const struct one_ref *ref)
{
	return ref->at <= store->len && ref->len <= store->len - ref->at;
}

static bool add_list(struct one_store *store, const struct one_ref *ref, uint64_t from)
{
	if (is_nil(ref))
		return true;
	if (!is_in_file(store, ref))
		return set_problem(store, "a node that refers past the end", from);
	if (store->waiting_count == WAITING)
		return set_problem(store, "too many nested lists", from);
	store->waiting[store->waiting_count++] = *ref;
	return true;
}

static uint64_t read_le(const uint8_t *p, int len)
{
	return len == 8 ? le64(p) : len == 4 ? le32(p) : len == 2 ? le16(p) : p[0];
}

/* Reads the reference after a node's header; false if `len` bytes have no room for it. */
static bool read_reference(const uint8_t *p, uint32_t header, uint32_t len, struct one_ref *ref)
{
	static const int at_lens[] = { 8, 4, 2, 4 }, len_lens[] = { 4, 8, 1, 2 };
	unsigned at_form = header >> 23 & 3, len_form = header >> 25 & 3;
	int at_len = at_lens[at_form], len_len = len_lens[len_form];

	if (len < 4 + (uint32_t)(at_len + len_len))
		return false;
	ref->at = read_le(p + 4, at_len);
	ref->len = read_le(p + 4 + at_len, len_len);
	if (at_len < 8 && ref->at == (UINT64_C(1) << 8 * at_len) - 1)
		ref->at = UINT64_MAX;
	else if (at_form >= 2)
		ref->at *= 8;
	if (len_form >= 2)
		ref->len *= 8;
	return true;
}

/* Names the file that was inserted, if its data starts there ([MS-ONESTORE] 2.6.13). */
static void name_file(struct one_store *store, const struct one_ref *ref)
{
	static const uint8_t mark[16] = { 0xe7, 0x16, 0xe3, 0xbd, 0x65, 0x26, 0x11, 0x45, 0xa4,
		0xc4, 0x8d, 0x4d, 0x0b, 0x7a, 0x9e, 0xac };
	const uint8_t *p = ref->len > FILE_HEAD_LEN ? view_peek(store->view, ref->at, 16) : NULL;

	if (p && memcmp(p, mark, 16) == 0)
		view_embedded(store->view, ref->at + FILE_HEAD_LEN);
}

/* Reads the node at `at`, before `end`; *next is the node after it, or 0 after the last. */
static bool read_node(struct one_store *store, uint64_t at, uint64_t end, uint64_t *next)
{
	const uint8_t *p = view_peek(store->view, at, 4);
	uint32_t header = p ? le32(p) : 0, id = header & 0x3ff, len = header >> 10 & 0x1fff;
	unsigned kind = header >> 27 & 15;
	struct one_ref ref;

	*next = 0;
	if (id == 0 || id == 0xff)
		return true;
	if (len < 4 || len > end - at)
		return set_problem(store, "an impossible node length", at);
	*next = at + len;
	if (kind != 1 && kind != 2)
		return true;
	p = view_peek(store->view, at, len);
	if (!p || !read_reference(p, header, len, &ref))
		return set_problem(store, "a node too short for its reference", at);
	if (kind == 2)
		return add_list(store, &ref, at);
	if (id == FILE_REFERENCE && !is_nil(&ref) && is_in_file(store, &ref))
		name_file(store, &ref);
	return is_nil(&ref) || is_in_file(store, &ref) ||
	       set_problem(store, "a node that refers past the end", at);
}

/* Names what is not in a fragment. */
static void name_unverified(struct one_store *store)
{
	uint64_t end;

	if (!view_work(store->view, FRAGMENT_WORK * store->fragments.count))
		return;
	end = stretches_name_gaps(store->view, &store->fragments, HEADER_LEN);
	view_unverified(store->view, end, store->len);
}

static bool read_fragment(struct one_store *store, const struct one_ref *ref)
{
	uint64_t at = ref->at, end = at + ref->len, next = at + START_LEN;
	const uint8_t *p;
	struct one_ref following;

	store->walked += ref->len;
	if (ref->len < START_LEN + END_LEN || store->walked > store->len ||
		++store->fragment_count > MAX_FRAGMENTS)
		return set_problem(store, "an impossible list", at);
	p = view_peek(store->view, at, 8);
	if (!p || le64(p) != FRAGMENT_START)
		return set_problem(store, "no start mark of a list", at);
	p = view_peek(store->view, end - END_LEN, END_LEN);
	if (!p || le64(p + 12) != FRAGMENT_END)
		return set_problem(store, "no end mark of a list", end - 8);
	following.at = le64(p);
	following.len = le32(p + 8);
	while (next && end - END_LEN - next >= 4)
		if (!read_node(store, next, end - END_LEN, &next))
			return false;
	if (end > store->valid_end && (!store->problem || end <= store->problem_at))
		store->valid_end = end;
	stretches_add(store->view, &store->fragments, MAX_FRAGMENTS, at, end);
	return add_list(store, &following, end - END_LEN);
}

/* Walks all lists. Those after an invalid one still show how far the file is valid. */
static void walk_lists(
	struct one_store *store, const struct one_ref *root, const struct one_ref *hashed)
{
	add_list(store, hashed, 148);
	add_list(store, root, 172);
	while (store->waiting_count) {
		struct one_ref ref = store->waiting[--store->waiting_count];

		read_fragment(store, &ref);
	}
}

static enum verdict check_store(struct one_store *store, struct finding *finding)
{
	struct view *view = store->view;
	const uint8_t *p = view_peek(view, 0, HEADER_LEN);
	struct one_ref root, hashed;
	uint64_t size = view_size(view);

	if (!p)
		return verdict_because(CARVE_REJECT, finding, "the header is cut off");
	hashed = (struct one_ref){ .at = le64(p + 148), .len = le32(p + 156) };
	root = (struct one_ref){ .at = le64(p + 172), .len = le32(p + 180) };
	store->len = le64(p + 196);
	if (store->len < HEADER_LEN || store->len > UINT64_MAX / 2 || is_nil(&root))
		return verdict_because(CARVE_REJECT, finding, "an impossible length at 196");
	walk_lists(store, &root, &hashed);
	if (!store->valid_end)
		return verdict_because(
			CARVE_REJECT, finding, "%s at %" PRIu64, store->problem, store->problem_at);
	if (store->len > size)
		return walk_cut(view, finding, store->len,
			view_ends_with_image(view) ? size : store->valid_end);
	finding->length = store->valid_end;
	if (store->problem)
		return verdict_because(CARVE_TRUNCATED, finding, "%s at %" PRIu64, store->problem,
			store->problem_at);
	finding->length = store->len;
	name_unverified(store);
	if (store->valid_end < store->len && !walk_zeros(view, store->valid_end, store->len))
		return verdict_because(CARVE_UNVERIFIED, finding,
			"nothing verifies the data after %" PRIu64, store->valid_end);
	return CARVE_COMPLETE;
}

enum verdict one_check_store(struct view *view, struct finding *finding)
{
	struct one_store store = { .view = view };
	enum verdict verdict = check_store(&store, finding);

	free(store.fragments.list);
	return verdict;
}
