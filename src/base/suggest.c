#include "base/suggest.h"

#include <stdint.h>
#include <string.h>

#include "base/strbuf.h"

#define LONGEST 63     /* longer words are near nothing */
#define LIST_LIMIT 200 /* bytes of the list of known names */

static size_t min_size(size_t a, size_t b)
{
	return a < b ? a : b;
}

/*
 * Damerau's distance in its restricted form (optimal string alignment). rows[i % 3][j] is the
 * distance between the first i bytes of a and the first j of b; a swap looks back two rows.
 */
size_t edit_distance(const char *a, const char *b)
{
	size_t a_len = strlen(a), b_len = strlen(b);
	size_t rows[3][LONGEST + 1];

	if (a_len > LONGEST || b_len > LONGEST)
		return SIZE_MAX;
	for (size_t j = 0; j <= b_len; j++)
		rows[0][j] = j;
	for (size_t i = 1; i <= a_len; i++) {
		size_t *row = rows[i % 3], *above = rows[(i - 1) % 3];

		row[0] = i;
		for (size_t j = 1; j <= b_len; j++) {
			row[j] = above[j - 1] + (a[i - 1] != b[j - 1]);
			row[j] = min_size(row[j], min_size(above[j], row[j - 1]) + 1);
			if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
				row[j] = min_size(row[j], rows[(i - 2) % 3][j - 2] + 1);
		}
	}
	return rows[a_len % 3][b_len];
}

void suggestion_offer(struct suggestion *suggestion, const char *name)
{
	size_t distance = edit_distance(suggestion->word, name);
	size_t len = strlen(suggestion->word);

	/* One mistake in three letters: with more, a suggestion is a guess. */
	if (distance > (len < 3 ? 1 : len / 3) || distance >= len)
		return;
	if (!suggestion->best || distance < suggestion->distance) {
		suggestion->best = name;
		suggestion->distance = distance;
	}
}

char *suggest_names(const char *word, const char *const *names, size_t count)
{
	struct suggestion near = { .word = word };
	struct strbuf out = { 0 };

	for (size_t i = 0; i < count; i++)
		suggestion_offer(&near, names[i]);
	if (near.best)
		strbuf_print(&out, "did you mean '%s'? ", near.best);
	if (count)
		strbuf_text(&out, near.best ? "Known are " : "known are ");
	else
		strbuf_text(&out, "none are known");
	for (size_t i = 0; i < count; i++) {
		if (out.len > LIST_LIMIT) {
			strbuf_text(&out, ", ...");
			break;
		}
		strbuf_print(&out, "%s%s", i ? ", " : "", names[i]);
	}
	return out.bytes;
}
