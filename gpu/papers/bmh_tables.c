/* Makes the tables of gpu/papers/bmh.h. */
#include "gpu/papers/bmh.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "scan/gpu_options.h"
#include "patterns/pattern_set.h"

#define LEN_MAX (1ull << 30) /* bytes of all tables together */

struct bmh_program {
	struct bmh_tables tables;
};

const struct bmh_tables *bmh_tables(const struct gpu_program *program)
{
	return &((const struct bmh_program *)program)->tables;
}

static bool has_wild_bits(const struct pattern *pattern)
{
	for (uint32_t i = 0; i < pattern->len; i++)
		if (pattern->mask[i] != 0xff)
			return true;
	return false;
}

/*
 * BadCharTable: by the last byte of a window without a match, how far the window may move. That is
 * the distance from the byte's last place in the pattern, its end excluded, to the end. A byte with
 * wild bits is a place of all values that agree with it. (As printed, the table includes the end, so
 * that the shift by it would be 0.)
 */
static void make_shifts(uint16_t shifts[256], const struct pattern *pattern)
{
	for (unsigned byte = 0; byte < 256; byte++)
		shifts[byte] = (uint16_t)pattern->len;
	for (uint32_t i = 0; i + 1 < pattern->len; i++) {
		uint16_t shift = (uint16_t)(pattern->len - 1 - i);

		if (pattern->mask[i] == 0xff) {
			shifts[pattern->bytes[i]] = shift;
			continue;
		}
		for (unsigned byte = 0; byte < 256; byte++)
			if ((byte & pattern->mask[i]) == pattern->bytes[i])
				shifts[byte] = shift;
	}
}

/* By length, so that the pass whose pattern is found last at a place has the longest one; of those of one
 * length, which may match at one place if they have wild bytes, the first. */
static int compare(const void *a, const void *b)
{
	const struct bmh_pattern *x = a, *y = b;

	if (x->len != y->len)
		return x->len < y->len ? -1 : 1;
	return x->number > y->number ? -1 : 1;
}

static void choose_passes(struct bmh_tables *tables, const struct pattern_set *set)
{
	struct bmh_pattern *patterns = xcalloc(set->count, sizeof(*patterns));

	for (uint32_t i = 0; i < set->count; i++)
		if (set->patterns[i].len)
			patterns[tables->count++] =
				(struct bmh_pattern){ 0, set->patterns[i].len, i, 0 };
	qsort(patterns, tables->count, sizeof(*patterns), compare);
	for (uint32_t i = 0; i < tables->count; i++) {
		patterns[i].first = tables->byte_count;
		patterns[i].masked = has_wild_bits(&set->patterns[patterns[i].number]);
		tables->byte_count += patterns[i].len;
	}
	tables->patterns = patterns;
}

static void fill_tables(struct bmh_tables *tables, const struct pattern_set *set)
{
	uint16_t *shifts = xcalloc(tables->count, 256 * sizeof(*shifts));
	uint8_t *bytes = xcalloc(tables->byte_count, 1), *masks = xcalloc(tables->byte_count, 1);

	for (uint32_t i = 0; i < tables->count; i++) {
		const struct bmh_pattern *own = &tables->patterns[i];
		const struct pattern *pattern = &set->patterns[own->number];

		make_shifts(shifts + (size_t)i * 256, pattern);
		memcpy(bytes + own->first, pattern->bytes, own->len);
		memcpy(masks + own->first, pattern->mask, own->len);
	}
	tables->shifts = shifts;
	tables->bytes = bytes;
	tables->masks = masks;
}

static int check_set(const struct pattern_set *set, struct error *error)
{
	uint64_t len = 0;

	for (uint32_t i = 0; i < set->count; i++) {
		if (set->patterns[i].len > BMH_PATTERN_MAX)
			return error_set(error, EXIT_NO_ENGINE, EINVAL,
				"A pattern of %u bytes does not fit the kernel bmh, whose shifts "
				"end at %d; use another kernel",
				set->patterns[i].len, BMH_PATTERN_MAX);
		len += 2ull * set->patterns[i].len + 256 * sizeof(uint16_t) +
		       sizeof(struct bmh_pattern);
	}
	if (len > LEN_MAX)
		return error_set(error, EXIT_NO_ENGINE, ENOMEM,
			"the pattern set does not fit the kernel bmh: its tables may have %llu "
			"bytes, not %llu; use another kernel",
			LEN_MAX, (unsigned long long)len);
	return 0;
}

int bmh_compile(struct gpu_program **program, const struct pattern_set *set,
	const struct gpu_tuning *tuning, struct error *error)
{
	struct bmh_program *bmh;
	int status = check_set(set, error);

	if (status)
		return status;
	if (tuning && tuning->threads > BMH_THREADS_MAX)
		return error_set(error, EXIT_USAGE, EINVAL,
			"the kernel bmh has at most %d threads a block, not %u", BMH_THREADS_MAX,
			tuning->threads);
	if (tuning && tuning->blocks > INT32_MAX)
		return error_set(error, EXIT_USAGE, EINVAL,
			"the kernel bmh has at most %d blocks, not %u", INT32_MAX, tuning->blocks);
	bmh = xcalloc(1, sizeof(*bmh));
	bmh->tables.blocks = tuning && tuning->blocks ? tuning->blocks : BMH_BLOCKS;
	bmh->tables.threads = tuning && tuning->threads ? tuning->threads : BMH_THREADS;
	choose_passes(&bmh->tables, set);
	fill_tables(&bmh->tables, set);
	*program = (struct gpu_program *)bmh;
	return 0;
}

void bmh_free(struct gpu_program *program)
{
	struct bmh_program *bmh = (struct bmh_program *)program;

	if (!bmh)
		return;
	free((void *)bmh->tables.patterns);
	free((void *)bmh->tables.shifts);
	free((void *)bmh->tables.bytes);
	free((void *)bmh->tables.masks);
	free(bmh);
}

void bmh_describe(const struct gpu_program *program, char *text, size_t len)
{
	const struct bmh_tables *tables = bmh_tables(program);

	snprintf(text, len, "bmh (%u passes, %u blocks x %u threads)", tables->count,
		tables->blocks, tables->threads);
}
