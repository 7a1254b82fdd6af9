/*
 * Signed Mach-O files in pieces. The signature has a hash of each page of 4,096 bytes mostly (macho_pages.c), so that all clusters of
 * that length or more have their place, in any order, once it is found itself: the commands show where, and it begins with a
 * magic number, as does each program of a universal file.
 */
#include <stdlib.h>
#include <string.h>

#include "bytes.h"
#include "macho.h"
#include "macho_pages.h"
#include "macho_signature.h"
#include "page_hash.h"
#include "sorted.h"

#define BIT 8             /* of what is answered */
#define RIGHT (99 * BIT)  /* of a cluster whose hashes are those of its place */
#define MARK (40 * BIT)   /* of one with the magic number of its place */
#define WRONG (-30 * BIT) /* of one without */
#define PAGES_MAX ((size_t)1 << 18)
#define MAGIC_LEN 4
#define DIGEST_START 8 /* bytes of a digest that are compared */

struct page {
	uint64_t digest, at; /* in the file */
	uint32_t program;
};

/* A magic number that the file has at a place. */
struct mark {
	uint64_t at;
	bool is_signature; /* or a program's */
};

struct places {
	struct macho_pages programs[MACHO_SLICES_MAX]; /* whose hashes are known */
	size_t program_count;
	struct mark marks[2 * MACHO_SLICES_MAX];
	size_t mark_count;
	struct page *pages; /* by digest */
	size_t page_count;
};

static int compare_pages(const void *a, const void *b)
{
	const struct page *left = a, *right = b;

	if (left->digest != right->digest)
		return left->digest < right->digest ? -1 : 1;
	return left->at < right->at ? -1 : left->at > right->at;
}

static bool add_pages(struct view *view, struct places *places, uint64_t *known)
{
	uint32_t program = (uint32_t)places->program_count - 1;
	const struct macho_pages *pages = &places->programs[program];
	struct page *grown;

	if (pages->count > PAGES_MAX - places->page_count)
		return false;
	grown = realloc(places->pages, (places->page_count + pages->count) * sizeof(*grown));
	if (!grown) {
		view_no_memory(view);
		return false;
	}
	places->pages = grown;
	for (uint32_t i = 0; i < pages->count; i++) {
		const uint8_t *p = view_peek(
			view, pages->hashes + (uint64_t)i * pages->digest_len, DIGEST_START);

		if (!p)
			return false;
		*known = page_hash_mix(*known ^ le64(p));
		places->pages[places->page_count++] = (struct page){ le64(p),
			pages->base + (uint64_t)i * pages->page_len, program };
	}
	return true;
}

/* Reads the program at `base`, as far as it is known. False: too much is. */
static bool add_program(struct view *view, struct places *places, uint64_t base, uint64_t *length,
	bool *is_whole, uint64_t *known)
{
	struct macho_pages *pages = &places->programs[places->program_count];
	struct macho_layout layout;

	places->marks[places->mark_count++] = (struct mark){ base, false };
	if (!macho_read_layout(view, base, &layout)) {
		*is_whole = false;
		return true;
	}
	*known = page_hash_mix(*known + base + 1);
	*length = base + layout.end > *length ? base + layout.end : *length;
	if (!layout.signature)
		return true;
	places->marks[places->mark_count++] = (struct mark){ base + layout.signature, true };
	if (!macho_pages_read(view, base + layout.signature,
		    layout.signature_end - layout.signature, layout.signature, pages)) {
		*is_whole = false;
		return true;
	}
	pages->base = base;
	places->program_count++;
	return add_pages(view, places, known);
}

static bool read_programs(
	struct view *view, struct places *places, uint64_t *length, bool *is_whole, uint64_t *known)
{
	const uint8_t *p = view_peek(view, 0, 8);
	uint32_t magic = p ? be32(p) : 0, count = p ? be32(p + 4) : 0;
	bool wide = magic == 0xcafebabf;
	struct macho_slice slice;

	if (magic != 0xcafebabe && !wide)
		return add_program(view, places, 0, length, is_whole, known);
	if (count - 1 >= MACHO_SLICES_MAX)
		return false;
	for (uint32_t i = 0; i < count; i++) {
		if (!macho_read_slice(view, i, wide, &slice))
			return false;
		*length = slice.at + slice.len > *length ? slice.at + slice.len : *length;
		if (!add_program(view, places, slice.at, length, is_whole, known))
			return false;
	}
	return true;
}

static void end(void *context)
{
	struct places *places = context;

	free(places->pages);
	free(places);
}

static void *begin(struct view *view, uint64_t *length, bool *is_whole, uint64_t *known)
{
	struct places *places = calloc(1, sizeof(*places));

	if (!places) {
		view_no_memory(view);
		return NULL;
	}
	*length = 0;
	*is_whole = true;
	*known = 0;
	/* Without a signature nothing is known of the content. */
	if (read_programs(view, places, length, is_whole, known) && *length &&
		(places->program_count || !*is_whole)) {
		if (places->page_count)
			qsort(places->pages, places->page_count, sizeof(*places->pages),
				compare_pages);
		return places;
	}
	end(places);
	return NULL;
}

/* ---- clusters ------------------------------------------------------------------------------- */

/* What is asked of: bytes, and rows of as many of them in the file. */
struct question {
	const struct places *places;
	uint64_t from;
	size_t count;
	const uint8_t *bytes;
	size_t len;
	int *bits;
};

/* The row that has [at, at + len) of the file; count: none has all of it. */
static size_t row_of(const struct question *question, uint64_t at, size_t len)
{
	uint64_t row = (at - question->from) / question->len;

	if (at < question->from || row >= question->count ||
		(at - question->from) % question->len > question->len - len)
		return question->count;
	return (size_t)row;
}

static bool is_magic(const struct mark *mark, const uint8_t *p)
{
	if (mark->is_signature)
		return be32(p) == MACHO_SIGNATURE;
	return le32(p) == 0xfeedface || le32(p) == 0xfeedfacf || be32(p) == 0xfeedface ||
	       be32(p) == 0xfeedfacf;
}

static void ask_marks(const struct question *question)
{
	for (size_t i = 0; i < question->places->mark_count; i++) {
		const struct mark *mark = &question->places->marks[i];
		size_t row = row_of(question, mark->at, MAGIC_LEN);

		if (row < question->count)
			question->bits[row] =
				is_magic(mark, question->bytes +
						       (mark->at - question->from) % question->len)
					? MARK
					: WRONG;
	}
}

/* The first of the pages that may have a digest. */
static const struct page *find_page(const struct places *places, uint64_t digest)
{
	return places->pages + sorted_first(places->pages, places->page_count,
				       sizeof(*places->pages), offsetof(struct page, digest),
				       digest);
}

/* Rows whose bytes at `inside` are a page of these, with len bytes: those where this is the page's hash. */
static void ask_page(const struct question *question, uint32_t program, size_t inside, size_t len,
	uint8_t *right)
{
	const struct macho_pages *pages = &question->places->programs[program];
	uint8_t digest[MACHO_DIGEST_LEN];
	const struct page *page, *stop = question->places->pages + question->places->page_count;

	macho_pages_digest(pages, question->bytes + inside, len, digest);
	for (page = find_page(question->places, le64(digest));
		page < stop && page->digest == le64(digest); page++) {
		uint64_t at = page->at - pages->base;
		size_t row = row_of(question, page->at, len);

		if (page->program != program || row == question->count ||
			(page->at - question->from) % question->len != inside ||
			len != (pages->limit - at < pages->page_len ? pages->limit - at
								    : pages->page_len))
			continue;
		right[row]++;
	}
}

/* Rows in which whole pages are. */
static void ask_program(const struct question *question, uint32_t program, uint8_t *right)
{
	const struct macho_pages *pages = &question->places->programs[program];
	size_t rest = (size_t)(pages->limit % pages->page_len);
	size_t skip =
		(size_t)((pages->page_len - (question->from - pages->base) % pages->page_len) %
			 pages->page_len);

	memset(right, 0, question->count);
	if (question->len % pages->page_len || question->len / pages->page_len > UINT8_MAX)
		return;
	for (size_t inside = skip; inside + pages->page_len <= question->len;
		inside += pages->page_len) {
		ask_page(question, program, inside, pages->page_len, right);
		if (rest)
			ask_page(question, program, inside, rest, right);
	}
	for (size_t row = 0; row < question->count; row++) {
		uint64_t start = question->from + row * question->len;
		uint64_t stop = start + question->len, limit = pages->base + pages->limit;
		uint64_t first = start > pages->base ? start : pages->base;
		uint64_t wanted;

		if (stop <= pages->base || start >= limit)
			continue;
		stop = stop < limit ? stop : limit;
		wanted = (stop - first + pages->page_len - 1) / pages->page_len;
		question->bits[row] = right[row] >= wanted ? RIGHT : 4 * WRONG;
	}
}

static void ask(const void *places, uint64_t from, size_t count, const uint8_t *bytes, size_t len,
	int *bits)
{
	const struct question question = { places, from, count, bytes, len, bits };
	uint8_t *right = malloc(count + 1);

	memset(bits, 0, count * sizeof(*bits));
	ask_marks(&question);
	for (uint32_t i = 0; right && i < question.places->program_count; i++)
		ask_program(&question, i, right);
	free(right);
}

const struct carve_places macho_places = { begin, ask, end };
