/* Texts in pieces: how well they go on, and chains of their clusters in an image in memory. */
#include <criterion/criterion.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "assemble/fine_log.h"
#include "assemble/text_model.h"
#include "memory_image.h"
#include "strategy_case.h"

#define CLUSTER ((uint64_t)4096)
#define CLUSTERS 96
#define FILE_CLUSTERS 12
#define END "</end>"
#define WORDS 400

static uint8_t content[CLUSTERS * CLUSTER], file[FILE_CLUSTERS * CLUSTER];
static struct memory_image evidence = MEMORY_IMAGE(content, sizeof(content));
static struct clusters clusters = { .size = CLUSTER, .end = sizeof(content) };
static uint32_t state;

static uint32_t draw(uint32_t below)
{
	state = state * 1664525 + 1013904223;
	return (uint32_t)((uint64_t)(state >> 8) * below >> 24);
}

/* Lines of made-up words, another few hundred for each language. */
static void write_text(uint8_t *to, size_t len, uint32_t language, uint32_t seed)
{
	char words[WORDS][12];
	size_t at = 0;

	state = language * 977 + 1;
	for (size_t i = 0; i < WORDS; i++) {
		size_t letters = 3 + draw(7);

		for (size_t k = 0; k < letters; k++)
			words[i][k] = (char)('a' + draw(26));
		words[i][letters] = 0;
	}
	state = seed;
	while (at < len) {
		char line[64];
		int line_len = snprintf(line, sizeof(line), "<%s>%s %s %s,\n", words[draw(8)],
			words[draw(WORDS)], words[draw(WORDS)], words[draw(WORDS)]);
		size_t some = len - at < (size_t)line_len ? len - at : (size_t)line_len;

		memcpy(to + at, line, some);
		at += some;
	}
}

/* ---- the model ----------------------------------------------------------------------------- */

static struct text_model *learnt(void)
{
	struct text_model *model;

	fine_log_get_ready();
	write_text(file, sizeof(file), 1, 5);
	model = text_model_new();
	text_model_learn(model, TEXT_LIKE, file, sizeof(file));
	text_model_learn_contexts(model, file, sizeof(file) / 2);
	return model;
}

Test(text_model, right_joints_fit_and_wrong_ones_do_not)
{
	struct text_model *model = learnt();
	unsigned right = 0, wrong = 0;
	size_t count = 0;

	for (size_t i = 0; i < 100; i++) {
		const uint8_t *at = file + sizeof(file) / 2 + 1000 + 67 * i, *other = at + 5003;

		right += text_model_alone(model, at, TEXT_AFTER) -
				 text_model_after(model, at, at, TEXT_AFTER, INT64_MAX, &count) >=
			 3 * FINE_LOG_BIT;
		wrong +=
			text_model_alone(model, other, TEXT_AFTER) -
				text_model_after(model, at, other, TEXT_AFTER, INT64_MAX, &count) >=
			3 * FINE_LOG_BIT;
	}
	cr_expect_geq(right, 70, "%u", right);
	cr_expect_leq(wrong, 10, "%u", wrong);
	text_model_free(model);
}

Test(text_model, clusters_are_like_their_own_text)
{
	struct text_model *model = learnt();
	uint8_t own[CLUSTER], other[CLUSTER];
	int64_t bits[2];

	write_text(own, sizeof(own), 1, 99);
	text_model_learn(model, TEXT_ANY, own, sizeof(own));
	for (uint32_t language = 2; language < 18; language++) {
		write_text(other, sizeof(other), language, 99);
		text_model_learn(model, TEXT_ANY, other, sizeof(other));
	}
	text_model_compare(model, TEXT_LIKE, TEXT_ANY, own, sizeof(own), CLUSTER / 2, false, bits);
	cr_expect_gt(bits[0], 0, "%" PRId64, bits[0]);
	cr_expect_gt(bits[1], bits[0], "%" PRId64, bits[1]);
	text_model_compare(
		model, TEXT_LIKE, TEXT_ANY, other, sizeof(other), CLUSTER / 2, false, bits);
	cr_expect_lt(bits[1], 0, "%" PRId64, bits[1]);
	text_model_free(model);
}

Test(text_model, content_changes_where_another_text_begins)
{
	uint8_t text[2 * TEXT_CHANGE_LEN], *joint = text + TEXT_CHANGE_LEN;
	int same, other;

	write_text(text, sizeof(text), 1, 3);
	same = text_model_change(joint, joint, TEXT_CHANGE_LEN);
	write_text(joint, TEXT_CHANGE_LEN, 2, 3);
	other = text_model_change(joint, joint, TEXT_CHANGE_LEN);
	cr_expect_lt(same, 30, "%d", same);
	cr_expect_gt(other, same + 20, "%d", other);
	cr_expect_eq(text_model_change(joint, joint, 2), 0);
}

/* ---- chains -------------------------------------------------------------------------------- */

/* A text up to its end, or to what is no text. */
static enum verdict check(struct view *view, struct finding *finding)
{
	uint64_t size = view_size(view);

	for (uint64_t at = 0; at < size; at++) {
		const uint8_t *p = view_peek(view, at, 1), *end;

		if (!p || (*p < ' ' && *p != '\n')) {
			finding->length = at;
			return verdict_because(CARVE_TRUNCATED, finding, "no text");
		}
		end = *p == '<' ? view_peek(view, at, strlen(END)) : NULL;
		if (end && memcmp(end, END, strlen(END)) == 0) {
			finding->length = at + strlen(END);
			return CARVE_COMPLETE;
		}
	}
	finding->length = size;
	return verdict_because(CARVE_TRUNCATED, finding, "cut");
}

/* Where the file's pieces are in the image, in its order, in clusters. */
static const uint64_t layout[][2] = { { 4, 3 }, { 40, 4 }, { 20, 2 }, { 23, 3 } };

#define PIECES (sizeof(layout) / sizeof(*layout))

/* The file among other texts, which end in the same way. */
static void plant(void)
{
	const uint8_t *from = file;

	write_text(file, sizeof(file), 1, 5);
	memcpy(file + sizeof(file) - 700, END, strlen(END));
	memset(file + sizeof(file) - 700 + strlen(END), 0, 700 - strlen(END));
	for (uint64_t i = 0; i < CLUSTERS; i++) {
		write_text(content + i * CLUSTER, CLUSTER, 2 + (uint32_t)i / 8, (uint32_t)i);
		if (i % 8 == 0)
			memcpy(content + i * CLUSTER + 900, END, strlen(END));
	}
	for (size_t i = 0; i < PIECES; i++) {
		memcpy(content + layout[i][0] * CLUSTER, from, layout[i][1] * CLUSTER);
		from += layout[i][1] * CLUSTER;
	}
}

static struct strategy_result search(uint64_t work, struct extents *extents)
{
	const struct carver carver = { .name = "x", .check = check };
	static const struct broken broken = {
		.start = 4 * CLUSTER, .length = 3 * CLUSTER, .verdict = CARVE_TRUNCATED
	};
	const struct workbench bench = {
		.evidence = &evidence.image, .clusters = &clusters, .work_left = work
	};

	clusters_list_free(&clusters);
	return strategy_try(find_text_chain, &bench, &carver, &broken, extents);
}

Test(text_chain, pieces_are_put_together)
{
	struct extents extents = { 0 };
	struct strategy_result answer;

	plant();
	answer = search(1 << 27, &extents);
	cr_assert(answer.found);
	cr_expect_eq(answer.length, sizeof(file) - 700 + strlen(END), "%" PRIu64, answer.length);
	cr_expect_lt(answer.assembly.evidence, PROOF_BITS);
	cr_assert_eq(extents.count, PIECES, "%zu", extents.count);
	for (size_t i = 0; i < PIECES; i++)
		cr_expect_eq(extents.runs[i].offset, layout[i][0] * CLUSTER, "%zu", i);
	extents_free(&extents);
}

/* Without work, and with small clusters. */
Test(text_chain, nothing_is_searched)
{
	struct extents extents = { 0 };

	plant();
	cr_expect_not(search(1 << 12, &extents).found);
	clusters.size = SECTOR;
	cr_expect_not(search(1 << 27, &extents).found);
	clusters.size = CLUSTER;
	extents_free(&extents);
}

/* A cluster that a complete file has is not the text's: the right layout is not among those that are tried. */
Test(text_chain, taken_clusters_are_left_out)
{
	struct extents extents = { 0 };

	plant();
	clusters_take(&clusters, 41 * CLUSTER, CLUSTER);
	search(1 << 27, &extents);
	for (size_t i = 0; i < extents.count; i++)
		cr_expect(extents.runs[i].offset + extents.runs[i].length <= 41 * CLUSTER ||
			  extents.runs[i].offset > 41 * CLUSTER);
	extents_free(&extents);
	ranges_free(&clusters.taken);
	clusters.taken = (struct ranges){ 0 };
}
