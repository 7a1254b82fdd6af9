/*
 * That a table has a decoded sample's length counts for a joint anywhere between both, where it is pinned down: in bytes that are
 * read, so that foreign ones would be noticed.
 */
#include "mp4_lengths.h"

#include <stdlib.h>

#include "sample_chain.h"

/* What a sample that is decoded proves of its length in a table: of AAC's frames of a file one in 95 has another one's length (23 in
 * the worst of 53 files). Lengths that more of a file's samples have than one in ALIKE prove nothing. */
#define TABLE_BITS 4
#define ALIKE 16

/* Bytes in which a joint shows where it is. */
#define TIGHT_MAX 16 /* later ones are not told from loose bytes */
struct tight {
	uint64_t from, to;
};

struct lengths {
	struct view *view;
	const struct bmff_box *moov;
	const struct mp4_sample *samples;
	size_t count;
	struct tight tight[TIGHT_MAX + 1]; /* in order */
	size_t tight_count;
};

/* Bytes up to `from`, and from `to` on, are read, those between are not. Where these have room for another break, a joint in
 * them is not pinned down. */
static void add_loose(struct lengths *lengths, uint64_t from, uint64_t to)
{
	struct tight *last = &lengths->tight[lengths->tight_count];

	if (to < from || to - from < SAMPLE_SECTOR)
		return;
	last->to = from;
	if (last->to > last->from && lengths->tight_count < TIGHT_MAX)
		last = &lengths->tight[++lengths->tight_count];
	last->from = to;
}

/* Tables of samples, whose entries are all used. */
static bool is_read_table(uint32_t type)
{
	return type == BMFF('s', 't', 's', 'z') || type == BMFF('s', 't', 'z', '2') ||
	       type == BMFF('s', 't', 's', 'c') || type == BMFF('s', 't', 'c', 'o') ||
	       type == BMFF('c', 'o', '6', '4');
}

static bool leads_to_tables(uint32_t type)
{
	return type == BMFF('t', 'r', 'a', 'k') || type == BMFF('m', 'd', 'i', 'a') ||
	       type == BMFF('m', 'i', 'n', 'f') || type == BMFF('s', 't', 'b', 'l');
}

/* Boxes in moov that nothing reads are loose. */
static void add_loose_boxes(struct lengths *lengths)
{
	const struct bmff_box *moov = lengths->moov;
	struct bmff_box box;

	for (uint64_t at = moov->data;
		at < moov->end && bmff_read(lengths->view, at, moov->end, &box) == BMFF_BOX;) {
		bool is_inner = leads_to_tables(box.type);

		at = is_inner ? box.data : box.end;
		if (!is_inner && !is_read_table(box.type))
			add_loose(lengths, box.data, box.end);
	}
}

/* Finds where a joint would be pinned down. */
static void find_tight(struct lengths *lengths)
{
	const struct bmff_box *moov = lengths->moov;
	uint64_t seen = 0;
	bool had_moov = false;

	lengths->tight_count = 0;
	lengths->tight[0].from = 0;
	for (size_t i = 0; i < lengths->count; i++) {
		const struct mp4_sample *sample = &lengths->samples[i];

		if (!sample->is_read)
			continue;
		if (!had_moov && sample->offset >= moov->at) {
			add_loose(lengths, seen, moov->at);
			add_loose_boxes(lengths);
			seen = moov->end;
			had_moov = true;
		}
		add_loose(lengths, seen, sample->offset);
		if (sample->offset + sample->len > seen)
			seen = sample->offset + sample->len;
	}
	if (!had_moov) {
		add_loose(lengths, seen, moov->at);
		add_loose_boxes(lengths);
		seen = moov->end;
	}
	add_loose(lengths, seen, UINT64_MAX);
}

/* A sample, and the length of it that a table has, belong together: that says something of the only joint between them. Where the
 * table comes first, and the joint is not in it, samples after the joint say the same (sample_chain_add). */
static void declare_length(
	struct lengths *lengths, const struct mp4_sample *sample, uint64_t length_at)
{
	uint64_t end = sample->offset + sample->len, from = end - 1, to = length_at + 1;

	if (length_at < sample->offset) {
		from = length_at;
		to = sample->offset + 1;
	}
	if (!view_linked(lengths->view, from, to, 0))
		return;
	if (length_at < sample->offset && to > lengths->moov->end)
		to = lengths->moov->end;
	for (size_t i = 0; i < lengths->tight_count; i++) {
		const struct tight *tight = &lengths->tight[i];
		uint64_t first = from > tight->from ? from : tight->from;
		uint64_t last = to < tight->to ? to : tight->to;

		if (first < last)
			view_proved(lengths->view, first, last, TABLE_BITS);
	}
}

void mp4_lengths_declare(struct view *view, const struct bmff_box *moov,
	const struct mp4_sample *samples, size_t count, const struct mp4_table *tables)
{
	struct lengths lengths = { .view = view, .moov = moov, .samples = samples, .count = count };
	uint32_t *alike = calloc(SAMPLE_LENGTHS, sizeof(*alike)), decoded = 0;

	if (!alike) {
		view_no_memory(view);
		return;
	}
	for (size_t i = 0; i < count; i++) {
		decoded += samples[i].is_decoded;
		alike[samples[i].len % SAMPLE_LENGTHS] += samples[i].is_decoded;
	}
	find_tight(&lengths);
	for (size_t i = 0; i < count; i++) {
		const struct mp4_table *table = &tables[samples[i].track];
		uint64_t like = alike[samples[i].len % SAMPLE_LENGTHS];

		if (samples[i].is_decoded && table->at && (like == 1 || like * ALIKE <= decoded))
			declare_length(&lengths, &samples[i],
				table->at + 4 * (uint64_t)(samples[i].number - table->first));
	}
	free(alike);
}
