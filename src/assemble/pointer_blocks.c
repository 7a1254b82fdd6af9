/*
 * ext2 and ext3 put a file's first 12 blocks side by side, then a block with the numbers of the next
 * ones, then these, and so on: a file that was written in one go has blocks of pointers between its
 * data at places that only the size of a block decides. There are three sizes, so three layouts.
 *
 *     12 data, 1 out, n data, 2 out, n data, 1 out, n data ... (n = block / 4 pointers in a block)
 *
 * What is left out proves the layout: it holds the numbers of the blocks that follow it, and as they
 * follow one another the numbers rise by one, up to the block's end or zeros: pixels rise like that, too, but go on.
 */
#include "assemble/strategies.h"

#include <inttypes.h>
#include <string.h>

#include "base/memory.h"
#include "carvers/bytes.h"

#define DIRECT 12
#define BITS_MAX 64
#define SMALLEST 1024
#define LARGEST 4096
/* Pointers of 32 bits of which the next is known from the one before. */
#define POINTER_BITS 32

/* Goes through a file's blocks; `at` is in the image. */
struct block_walk {
	struct extents *extents;
	uint64_t at, end;
	uint64_t left; /* bytes that the file may still have */
	uint64_t block;
};

static void leave_out(struct block_walk *walk, uint64_t blocks)
{
	walk->at += blocks * walk->block;
}

static bool take(struct block_walk *walk, uint64_t blocks)
{
	uint64_t length = blocks * walk->block;

	if (length > walk->left)
		length = walk->left;
	if (walk->at >= walk->end)
		return false;
	if (length > walk->end - walk->at)
		length = walk->left = walk->end - walk->at;
	extents_add(walk->extents, walk->at, length);
	walk->at += length;
	walk->left -= length;
	return walk->left != 0;
}

/* A tree of pointer blocks of this depth, whose root and first branches are left out already. */
static bool take_tree(struct block_walk *walk, unsigned depth)
{
	uint64_t pointers = walk->block / 4;

	if (depth == 1)
		return take(walk, pointers);
	for (uint64_t i = 0; i < pointers; i++) {
		if (i)
			leave_out(walk, depth - 1);
		if (!take_tree(walk, depth - 1))
			return false;
	}
	return true;
}

static void lay_out(
	const struct workbench *bench, uint64_t start, uint64_t block, struct extents *extents)
{
	struct block_walk walk = { extents, start, bench->clusters->end, bench->rule->max_size,
		block };

	extents_clear(extents);
	if (!take(&walk, DIRECT))
		return;
	for (unsigned depth = 1; depth <= 3; depth++) {
		leave_out(&walk, depth);
		if (!take_tree(&walk, depth))
			return;
	}
}

/* Whether the block at offset has the number, counted from the beginning of some volume. */
static bool has_number(
	const struct clusters *clusters, uint64_t offset, uint64_t block, uint32_t number)
{
	for (size_t i = 0; i < clusters->base_count; i++)
		if (offset - clusters->bases[i] == number * block)
			return true;
	return false;
}

/* Whether a block may name those that follow it, or did before the file was deleted: ext3 overwrites the
 * numbers with zeros. */
static bool is_pointer_block(const uint8_t *bytes, uint64_t block)
{
	uint32_t second = le32(bytes + 4);

	return second ? second == le32(bytes) + 1
		      : memcmp(bytes + 4, bytes + 8, (size_t)block - 8) == 0;
}

/* The bits by which the block that was left out at offset names those that follow it. */
static uint32_t evidence_of(
	const struct workbench *bench, const uint8_t *bytes, uint64_t offset, uint64_t block)
{
	uint32_t first = le32(bytes), bits;
	unsigned count = 1;

	if (!first)
		return 0;
	while (count < block / 4 && le32(bytes + 4 * (size_t)count) == first + count)
		count++;
	if (count < block / 4 && le32(bytes + 4 * (size_t)count))
		return 0;
	bits = (count - 1) * POINTER_BITS;
	if (has_number(bench->clusters, offset + block, block, first))
		bits += POINTER_BITS;
	return bits < BITS_MAX ? bits : BITS_MAX;
}

bool find_pointer_blocks(struct workbench *bench, const struct broken *broken,
	struct extents *extents, struct outcome *outcome, struct assembly *assembly)
{
	struct extents trial = { 0 };
	uint8_t left_out[LARGEST];
	uint32_t bits;
	bool found = false;

	for (uint64_t block = SMALLEST; block <= LARGEST && workbench_goes_on(bench); block *= 2) {
		uint64_t at = broken->start + DIRECT * block;
		uint32_t evidence;
		struct outcome now;

		if (!workbench_read(bench, at, left_out, block) ||
			!is_pointer_block(left_out, block))
			continue;
		evidence = evidence_of(bench, left_out, at, block);
		lay_out(bench, broken->start, block, &trial);
		if (trial.count < 2 || !workbench_try(bench, &trial, &now))
			continue;
		if (trial.count < 2 || (found && evidence <= assembly->evidence)) {
			outcome_free(&now);
			continue;
		}
		if (found)
			outcome_free(outcome);
		found = true;
		*outcome = now;
		assembly->evidence = evidence;
		extents_set(extents, trial.runs, trial.count);
	}
	extents_free(&trial);
	if (found && workbench_prove(bench, extents, outcome, &bits, NULL) &&
		bits > assembly->evidence)
		assembly->evidence = bits;
	/* The layout alone is no evidence: one of three fits by chance where nobody checks the data. */
	if (found && !workbench_is_proof(bench, assembly->evidence)) {
		outcome_free(outcome);
		extents_clear(extents);
		found = false;
	}
	return found;
}
