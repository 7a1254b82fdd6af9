/*
 * Both lists are in order of offset. Files at the same offset are paired by how similar they are,
 * since one tool may have several there. What remains is only in one side.
 */
#include "compare/compare.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "compare/explain.h"

const char *compare_difference_name(enum compare_difference difference)
{
	switch (difference) {
	case DIFFERS_LENGTH:
		return "length";
	case DIFFERS_TYPE:
		return "type";
	case DIFFERS_STATUS:
		return "status";
	case DIFFERS_HASH:
		return "hash";
	default:
		return "pieces";
	}
}

const char *compare_why_name(enum compare_why why)
{
	static const char *const names[] = {
		[COMPARE_SAME] = "same",
		[COMPARE_UNKNOWN] = "not told",
		[COMPARE_OUTSIDE] = "not searched",
		[COMPARE_UNALIGNED] = "unaligned",
		[COMPARE_HIDDEN] = "hidden",
		[COMPARE_NO_RULE] = "rule missing",
		[COMPARE_NO_SUCH_TYPE] = "type missing",
		[COMPARE_NO_HEADER] = "no header",
		[COMPARE_NO_FOOTER] = "no footer",
		[COMPARE_REJECTED] = "rejected",
		[COMPARE_OTHER_RULE] = "other rule",
		[COMPARE_WOULD_CARVE] = "left out",
		[COMPARE_DOUBTFUL] = "doubtful",
		[COMPARE_CUT] = "truncated",
		[COMPARE_FRAGMENTS] = "fragments",
		[COMPARE_TOO_LONG] = "too long",
		[COMPARE_TOO_SHORT] = "too short",
		[COMPARE_OTHER_NAME] = "named otherwise",
	};

	return names[why];
}

/* ---- pairs --------------------------------------------------------------------------------- */

static bool lengths_agree(const struct listed *a, const struct listed *b)
{
	return a->length <= b->length + b->length_off && b->length <= a->length + a->length_off;
}

/* -1: no algorithm that both have; else whether the hashes agree. */
static int hashes_agree(const struct hashes *a, const struct hashes *b)
{
	if (*a->sha256 && *b->sha256)
		return strcmp(a->sha256, b->sha256) == 0;
	if (*a->sha1 && *b->sha1)
		return strcmp(a->sha1, b->sha1) == 0;
	if (*a->md5 && *b->md5)
		return strcmp(a->md5, b->md5) == 0;
	return -1;
}

static int similarity(const struct listed *a, const struct listed *b)
{
	return 4 * (hashes_agree(&a->hashes, &b->hashes) == 1) + 2 * compare_type_alike(a, b) +
	       lengths_agree(a, b);
}

static unsigned differences_of(const struct listed *a, const struct listed *b)
{
	unsigned differences = 0;

	if (!lengths_agree(a, b))
		differences |= DIFFERS_LENGTH;
	if (!compare_type_alike(a, b) && (*a->type || *b->type))
		differences |= DIFFERS_TYPE;
	if (*a->status && *b->status && strcmp(a->status, b->status) != 0)
		differences |= DIFFERS_STATUS;
	if (hashes_agree(&a->hashes, &b->hashes) == 0 && lengths_agree(a, b))
		differences |= DIFFERS_HASH;
	if (a->run_count != b->run_count)
		differences |= DIFFERS_PIECES;
	return differences;
}

static void add_row(struct comparison *comparison, const struct listed *a, const struct listed *b)
{
	comparison->rows = xgrow(comparison->rows, &comparison->capacity, comparison->count,
		sizeof(*comparison->rows));
	comparison->rows[comparison->count++] = (struct compared){ a, b,
		a && b ? differences_of(a, b) : 0, COMPARE_SAME, xstrdup("") };
}

/* Few files share an offset as a rule. If both sides have more than this, they are paired in order:
 * a hostile report must not make this slow. */
#define GROUP_MAX 16

/* The most similar pairs first. */
static void pair_by_similarity(struct comparison *comparison, const struct listed *a,
	size_t a_count, const struct listed *b, size_t b_count)
{
	int8_t *similarities = xcalloc(a_count * b_count, 1);
	bool *used = xcalloc(b_count, sizeof(*used)), *done = xcalloc(a_count, sizeof(*done));

	for (size_t i = 0; i < a_count * b_count; i++)
		similarities[i] = (int8_t)similarity(&a[i / b_count], &b[i % b_count]);
	for (int wanted = 7; wanted >= 0; wanted--)
		for (size_t i = 0; i < a_count * b_count; i++)
			if (similarities[i] == wanted && !done[i / b_count] && !used[i % b_count]) {
				done[i / b_count] = used[i % b_count] = true;
				add_row(comparison, &a[i / b_count], &b[i % b_count]);
			}
	for (size_t i = 0; i < a_count; i++)
		if (!done[i])
			add_row(comparison, &a[i], NULL);
	for (size_t j = 0; j < b_count; j++)
		if (!used[j])
			add_row(comparison, NULL, &b[j]);
	free(similarities);
	free(used);
	free(done);
}

static void pair_group(struct comparison *comparison, const struct listed *a, size_t a_count,
	const struct listed *b, size_t b_count)
{
	size_t less = a_count < b_count ? a_count : b_count;

	if (less && less <= GROUP_MAX && a_count + b_count > 2) {
		pair_by_similarity(comparison, a, a_count, b, b_count);
		return;
	}
	for (size_t i = 0; i < less; i++)
		add_row(comparison, &a[i], &b[i]);
	for (size_t i = less; i < a_count; i++)
		add_row(comparison, &a[i], NULL);
	for (size_t j = less; j < b_count; j++)
		add_row(comparison, NULL, &b[j]);
}

/* How many files, from `first` on, start at offset. */
static size_t group_len(const struct listing *listing, size_t first, uint64_t offset)
{
	size_t end = first;

	while (end < listing->count && listing->files[end].offset == offset)
		end++;
	return end - first;
}

static void pair_all(struct comparison *comparison)
{
	const struct listing *a = comparison->a.listing, *b = comparison->b.listing;
	size_t i = 0, j = 0;

	while (i < a->count || j < b->count) {
		uint64_t offset = i == a->count                             ? b->files[j].offset
				  : j == b->count                           ? a->files[i].offset
				  : a->files[i].offset < b->files[j].offset ? a->files[i].offset
									    : b->files[j].offset;
		size_t in_a = group_len(a, i, offset), in_b = group_len(b, j, offset);

		pair_group(comparison, a->files + i, in_a, b->files + j, in_b);
		i += in_a;
		j += in_b;
	}
}

/* ---- all ----------------------------------------------------------------------------------- */

static void explain_row(struct comparison *comparison, struct explainer *of_a,
	struct explainer *of_b, struct compared *row)
{
	if (!row->b) {
		comparison->only_a++;
		explain_missing(of_b, row->a, row);
	} else if (!row->a) {
		comparison->only_b++;
		explain_missing(of_a, row->b, row);
	} else if (row->differences) {
		comparison->different++;
		explain_difference(comparison->a.listing, comparison->b.listing, row);
	} else {
		comparison->same++;
	}
	comparison->whys[row->why]++;
}

void compare_runs(struct comparison **result, const struct compare_side *a,
	const struct compare_side *b, struct image *image)
{
	struct comparison *comparison = xcalloc(1, sizeof(*comparison));
	struct explainer *of_a = explainer_new(a, image, "B"), *of_b = explainer_new(b, image, "A");

	comparison->a = *a;
	comparison->b = *b;
	pair_all(comparison);
	for (size_t i = 0; i < comparison->count; i++)
		explain_row(comparison, of_a, of_b, &comparison->rows[i]);
	explainer_free(of_a);
	explainer_free(of_b);
	*result = comparison;
}

void comparison_free(struct comparison *comparison)
{
	if (!comparison)
		return;
	for (size_t i = 0; i < comparison->count; i++)
		free(comparison->rows[i].text);
	free(comparison->rows);
	free(comparison);
}
