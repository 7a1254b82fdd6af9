#include "assemble/code_breaks.h"

#include <stdlib.h>

#include "base/memory.h"

#define LOOKS 4096
#define LOOK_WORK 64 /* units, beside what the carver takes */

/* A break, and clusters that were looked at, a slot for several. */
struct described {
	uint64_t at;
	void *made; /* by the carver; NULL: it does not know */
	struct {
		uint64_t offset; /* + 1; 0: none */
		uint32_t bits;
	} looks[LOOKS];
};

struct code_breaks {
	struct workbench *bench;
	const struct partial *partial;
	const struct carve_codes *codes;
	struct described **items;
	size_t count, capacity;
	uint64_t refused, refused_bytes;
};

struct code_breaks *code_breaks_new(struct workbench *bench, const struct partial *partial)
{
	struct code_breaks *breaks;

	if (!bench->rule->carver->codes)
		return NULL;
	breaks = xcalloc(1, sizeof(*breaks));
	breaks->bench = bench;
	breaks->partial = partial;
	breaks->codes = bench->rule->carver->codes;
	return breaks;
}

static struct described *find(const struct code_breaks *breaks, uint64_t at)
{
	for (size_t i = 0; i < breaks->count; i++)
		if (breaks->items[i]->at == at)
			return breaks->items[i];
	return NULL;
}

static struct described *describe(struct code_breaks *breaks, uint64_t at)
{
	struct described *described = find(breaks, at);

	if (described)
		return described;
	breaks->items =
		xgrow(breaks->items, &breaks->capacity, breaks->count, sizeof(struct described *));
	described = xcalloc(1, sizeof(*described));
	breaks->items[breaks->count++] = described;
	described->at = at;
	described->made = workbench_begin_codes(breaks->bench, &breaks->partial->extents, at);
	return described;
}

bool code_breaks_knows(struct code_breaks *breaks, uint64_t at)
{
	return describe(breaks, at)->made;
}

/* The first bytes of the cluster. */
static size_t read_head(const struct workbench *bench, uint64_t offset, struct view *view,
	uint8_t head[CARVE_CODES_LEN])
{
	uint64_t left = bench->clusters->end - offset, len = bench->clusters->size;

	len = len < CARVE_CODES_LEN ? len : CARVE_CODES_LEN;
	len = len < left ? len : left;
	view_read_image(view, bench->evidence, offset, head, (size_t)len);
	return (size_t)len;
}

unsigned code_breaks_bits(struct code_breaks *breaks, const struct step *step)
{
	struct workbench *bench = breaks->bench;
	uint64_t target = step_target(bench->clusters, breaks->partial, step), slot, work;
	uint8_t head[CARVE_CODES_LEN];
	struct described *described;
	unsigned bits;
	size_t len;

	if (target == UINT64_MAX || !clusters_are_free(bench->clusters, target, 1))
		return 1;
	described = describe(breaks, step->at);
	if (!described->made)
		return 1;
	slot = target / bench->clusters->size % LOOKS;
	if (described->looks[slot].offset == target + 1)
		return described->looks[slot].bits;
	len = read_head(bench, target, bench->view, head);
	bench->stopped |= image_was_cut(bench->evidence);
	bits = breaks->codes->ask(described->made, head, len, &work);
	workbench_spend(bench, LOOK_WORK + work);
	described->looks[slot].offset = target + 1;
	described->looks[slot].bits = bits;
	breaks->refused += !bits;
	breaks->refused_bytes += bits ? 0 : len;
	return bits;
}

enum answer code_breaks_ask(
	const struct code_breaks *breaks, const struct step *step, struct view *view)
{
	const struct workbench *bench = breaks->bench;
	const struct described *described = find(breaks, step->at);
	uint64_t target = step_target(bench->clusters, breaks->partial, step), slot, work;
	uint8_t head[CARVE_CODES_LEN];
	size_t len;

	if (!described || target == UINT64_MAX)
		return ANSWER_NONE;
	if (!described->made)
		return ANSWER_NO;
	slot = target / bench->clusters->size % LOOKS;
	if (described->looks[slot].offset == target + 1)
		return described->looks[slot].bits ? ANSWER_NO : ANSWER_YES;
	len = read_head(bench, target, view, head);
	if (image_was_cut(bench->evidence))
		return ANSWER_NONE;
	return breaks->codes->ask(described->made, head, len, &work) ? ANSWER_NO : ANSWER_YES;
}

uint64_t code_breaks_take_refused(struct code_breaks *breaks, uint64_t *bytes)
{
	uint64_t refused = breaks ? breaks->refused : 0;

	*bytes = breaks ? breaks->refused_bytes : 0;
	if (breaks)
		breaks->refused = breaks->refused_bytes = 0;
	return refused;
}

void code_breaks_free(struct code_breaks *breaks)
{
	for (size_t i = 0; breaks && i < breaks->count; i++) {
		if (breaks->items[i]->made)
			breaks->codes->end(breaks->items[i]->made);
		free(breaks->items[i]);
	}
	if (breaks)
		free(breaks->items);
	free(breaks);
}
