#include "rules/names.h"

#include <string.h>

#include "rules/buffer.h"

#define LONGEST 63     /* names beyond this are like nothing */
#define LIST_LIMIT 600 /* bytes of the list of known names */

static unsigned least(unsigned a, unsigned b, unsigned c)
{
	unsigned ab = a < b ? a : b;

	return ab < c ? ab : c;
}

/* How many characters must be inserted, removed or changed to make b of a. */
static unsigned distance(const char *a, const char *b)
{
	size_t a_len = strlen(a), b_len = strlen(b);
	unsigned row[LONGEST + 1];

	if (a_len > LONGEST || b_len > LONGEST)
		return LONGEST;
	for (unsigned j = 0; j <= b_len; j++)
		row[j] = j;
	for (unsigned i = 1; i <= a_len; i++) {
		unsigned diagonal = row[0];

		row[0] = i;
		for (unsigned j = 1; j <= b_len; j++) {
			unsigned above = row[j];

			row[j] =
				least(above + 1, row[j - 1] + 1, diagonal + (a[i - 1] != b[j - 1]));
			diagonal = above;
		}
	}
	return row[b_len];
}

static const char *nearest(const char *wanted, const char *const *known, size_t count)
{
	unsigned best_distance = (unsigned)strlen(wanted) / 3 + 1;
	const char *best = NULL;

	for (size_t i = 0; i < count; i++) {
		unsigned d = distance(wanted, known[i]);

		if (d < best_distance || (d == best_distance && !best && d < strlen(wanted))) {
			best_distance = d;
			best = known[i];
		}
	}
	return best;
}

char *names_advice(const char *wanted, const char *const *known, size_t count)
{
	const char *near = nearest(wanted, known, count);
	struct buffer out = { 0 };

	if (near)
		buffer_print(&out, "did you mean '%s'? ", near);
	if (count)
		buffer_print(&out, near ? "Known are " : "known are ");
	else
		buffer_print(&out, "none are known");
	for (size_t i = 0; i < count; i++) {
		if (out.len > LIST_LIMIT) {
			buffer_print(&out, ", ...");
			break;
		}
		buffer_print(&out, "%s%s", i ? ", " : "", known[i]);
	}
	return out.text;
}
