/*
 * Disk images in the Advanced Forensic Format, version 1 (Garfinkel et al., AFF: A New Format for Storing Hard Drive
 * Images, 2006; AFFLIB).
 *
 *	file:    'AFF10' 0D 0A 00, segments
 *	segment: 'AFF' 00, length of the name, of the data, argument (4 each, big-endian), name, data,
 *	         'ATT' 00, length of all of it (4)
 *
 * The segments follow each other; no name: it was deleted. 'pagesize' has the size of pages as its argument, 'imagesize'
 * is of two words, the lower first. 'page0', ... are the image: if bit 0 of the argument is set they are compressed, by
 * zlib if bits 4 to 7 are 0. 'md5' is the image's.
 *
 * burin follows the chain, inflates zlib's pages, and checks the MD5 if all pages are there in order, stored or
 * by zlib. Nothing shows that no segment follows, or verifies the last ones: a chain that ends is
 * unverified; one that breaks is truncated there, in a page of zlib's where that is invalid.
 */
#include <inttypes.h>
#include <stdbool.h>
#include <string.h>

#include "bytes.h"
#include "inflated.h"
#include "md5.h"
#include "walk.h"

#define HEADER_LEN 8
#define HEAD_LEN 16
#define TAIL_LEN 8
#define NAME_LEN_MAX 64
#define PAGE_COMPRESSED 1u
#define PAGE_ALGORITHM 0xf0u
#define ADLER_BITS 32

struct aff {
	struct view *view;
	uint64_t at; /* the next segment */
	uint64_t pages, page_size, image_size;
	struct md5 md5;
	bool in_order; /* so far the MD5 is of all pages, from the first one */
	bool has_md5;
	uint8_t stored_md5[MD5_LEN];
	uint64_t wrong_page, wrong_at; /* the first page that is invalid; wrong_at 0: none is */
};

struct segment {
	char name[NAME_LEN_MAX + 1];
	uint64_t data, end; /* the data is [data, end) */
	uint32_t argument;
};

enum step { STEP_NEXT, STEP_END, STEP_CUT, STEP_BROKEN };

static enum step read_head(struct aff *aff, struct segment *segment)
{
	const uint8_t *p = view_peek(aff->view, aff->at, HEAD_LEN);
	uint64_t left = view_size(aff->view) - aff->at;
	uint32_t name_len, data_len;

	if (!p || memcmp(p, "AFF", 4) != 0)
		return STEP_END;
	name_len = be32(p + 4);
	data_len = be32(p + 8);
	segment->argument = be32(p + 12);
	segment->data = aff->at + HEAD_LEN + name_len;
	segment->end = segment->data + data_len;
	if (name_len > NAME_LEN_MAX)
		return STEP_BROKEN;
	p = view_peek(aff->view, aff->at + HEAD_LEN, name_len);
	if (!p)
		return STEP_CUT;
	for (uint32_t i = 0; i < name_len; i++)
		if (p[i] < ' ' || p[i] > '~')
			return STEP_BROKEN;
	memcpy(segment->name, p, name_len);
	segment->name[name_len] = 0;
	return HEAD_LEN + (uint64_t)name_len + data_len + TAIL_LEN > left ? STEP_CUT : STEP_NEXT;
}

static bool read_tail(const struct aff *aff, const struct segment *segment)
{
	const uint8_t *p = view_peek(aff->view, segment->end, TAIL_LEN);
	uint64_t after;

	return (p && memcmp(p, "ATT", 4) == 0 &&
		       be32(p + 4) == segment->end + TAIL_LEN - aff->at) ||
	       walk_unread(aff->view, segment->end, segment->end + TAIL_LEN, &after);
}

static bool is_page(const struct segment *segment, uint64_t *number)
{
	const char *p = segment->name + 4;

	if (strncmp(segment->name, "page", 4) != 0 || !*p || strlen(p) > 12)
		return false;
	for (*number = 0; *p >= '0' && *p <= '9'; p++)
		*number = *number * 10 + (uint64_t)(*p - '0');
	return !*p;
}

static bool add_output(void *context, const uint8_t *bytes, size_t len)
{
	struct aff *aff = context;

	if (aff->in_order)
		md5_add(&aff->md5, bytes, len);
	return true;
}

/* Returns where the page becomes invalid, or 0. */
static uint64_t check_page(struct aff *aff, const struct segment *segment, uint64_t number)
{
	struct inflated inflated = { .inspect = add_output, .context = aff };
	uint64_t at = segment->data, after;

	aff->in_order &= number == aff->pages++;
	if (!(segment->argument & PAGE_COMPRESSED)) {
		aff->in_order = aff->in_order &&
				md5_add_view(&aff->md5, aff->view, segment->data, segment->end);
		return 0;
	}
	if (segment->argument & PAGE_ALGORITHM) {
		aff->in_order = false;
		return 0;
	}
	if (inflated_walk(&inflated, aff->view, INFLATED_ZLIB, &at, segment->end) ==
			INFLATED_DONE &&
		at == segment->end && (!aff->page_size || inflated.output_len <= aff->page_size)) {
		view_proved(aff->view, segment->data, segment->end, ADLER_BITS);
		return 0;
	}
	aff->in_order = false;
	return walk_unread(aff->view, segment->data, segment->end, &after) ? 0 : at;
}

static void read_data(struct aff *aff, const struct segment *segment)
{
	uint64_t len = segment->end - segment->data;
	const uint8_t *p = len <= MD5_LEN ? view_peek(aff->view, segment->data, (size_t)len) : NULL;

	if (strcmp(segment->name, "pagesize") == 0)
		aff->page_size = segment->argument;
	else if (p && len == 8 && strcmp(segment->name, "imagesize") == 0)
		aff->image_size = (uint64_t)be32(p + 4) << 32 | be32(p);
	else if (p && len == MD5_LEN && strcmp(segment->name, "md5") == 0) {
		memcpy(aff->stored_md5, p, MD5_LEN);
		aff->has_md5 = true;
	}
}

/* Moves aff->at over a segment; *valid is how far it is valid if it is broken. */
static enum step read_segment(struct aff *aff, uint64_t *valid)
{
	struct segment segment;
	enum step step = read_head(aff, &segment);
	uint64_t number, wrong;
	bool ended;

	*valid = aff->at;
	if (step != STEP_NEXT)
		return step;
	ended = read_tail(aff, &segment);
	if (!ended && aff->at == HEADER_LEN)
		return STEP_BROKEN;
	if (is_page(&segment, &number)) {
		wrong = check_page(aff, &segment, number);
		if (!ended && wrong)
			*valid = walk_before_fill(aff->view, segment.data, wrong);
		else if (wrong && !aff->wrong_at) {
			aff->wrong_at = wrong;
			aff->wrong_page = number;
		}
	} else if (ended) {
		read_data(aff, &segment);
	}
	if (!ended)
		return STEP_BROKEN;
	aff->at = segment.end + TAIL_LEN;
	return STEP_NEXT;
}

/* The verdict on a chain that ends. */
static enum verdict judge(struct aff *aff, struct finding *finding)
{
	uint8_t md5[MD5_LEN];

	if (aff->wrong_at)
		return verdict_because(walk_over_wrong(aff->view), finding,
			"page %" PRIu64 " is wrong at %" PRIu64, aff->wrong_page, aff->wrong_at);
	if (!aff->image_size || !aff->pages)
		return verdict_because(CARVE_UNVERIFIED, finding,
			"no segment at %" PRIu64 ", and no %s before it", aff->at,
			aff->pages ? "size of the image" : "page");
	if (!aff->in_order || !aff->has_md5 || aff->md5.len != aff->image_size)
		return verdict_because(CARVE_UNVERIFIED, finding,
			"no segment at %" PRIu64 ", and no MD5 that could be checked", aff->at);
	md5_end(&aff->md5, md5);
	if (memcmp(md5, aff->stored_md5, MD5_LEN) != 0)
		return verdict_because(
			walk_over_wrong(aff->view), finding, "the MD5 of the image is wrong");
	view_agrees(aff->view);
	return verdict_because(CARVE_UNVERIFIED, finding,
		"no segment at %" PRIu64
		", and the number of segments is not stored; the MD5 of the image agrees",
		aff->at);
}

static enum verdict check(struct view *view, struct finding *finding)
{
	struct aff aff = { .view = view, .at = HEADER_LEN, .in_order = true };
	const uint8_t *p = view_peek(view, 0, HEADER_LEN);
	enum step step;
	uint64_t valid;

	if (!p || memcmp(p, "AFF10\r\n", HEADER_LEN) != 0)
		return verdict_because(CARVE_REJECT, finding, "no header at 0");
	md5_start(&aff.md5);
	while ((step = read_segment(&aff, &valid)) == STEP_NEXT)
		;
	if (aff.at == HEADER_LEN)
		return verdict_because(CARVE_REJECT, finding, "no segment at %d", HEADER_LEN);
	view_holds(view, HEADER_LEN, aff.at);
	if (step == STEP_CUT)
		return walk_cut(view, finding, view_size(view) + 1,
			view_ends_with_image(view) ? view_size(view) : aff.at);
	finding->length = valid;
	if (step == STEP_BROKEN)
		return verdict_because(
			CARVE_TRUNCATED, finding, "the segment at %" PRIu64 " is broken", aff.at);
	return judge(&aff, finding);
}

const struct carver aff1_carver = {
	.name = "aff1",
	.summary = "disk images (AFF 1), by their segments and pages",
	.check = check,
};
