#include "carve/proofs.h"

#include <stdlib.h>

#include "base/memory.h"

#define BITS_MAX 65535 /* that are counted for one joint */

struct joint {
	uint64_t at; /* in the file */
	unsigned bits;
};

void proofs_start(struct proofs *proofs, const struct range *runs, size_t run_count)
{
	uint64_t at = 0;

	proofs->count = 0;
	if (run_count > proofs->capacity) {
		proofs->capacity = 2 * run_count;
		proofs->joints =
			xreallocarray(proofs->joints, proofs->capacity, sizeof(*proofs->joints));
	}
	for (size_t i = 0; i + 1 < run_count; i++) {
		at += runs[i].length;
		proofs->joints[proofs->count++] = (struct joint){ .at = at };
	}
}

/* The first joint at or after this place. */
static size_t joint_from(const struct proofs *proofs, uint64_t at)
{
	size_t low = 0, high = proofs->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (proofs->joints[middle].at < at)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* The first joint inside a range that begins there: a check covers the byte before the joint, too. */
static size_t first_inside(const struct proofs *proofs, uint64_t from)
{
	size_t i = joint_from(proofs, from);

	return i + (i < proofs->count && proofs->joints[i].at == from);
}

void proofs_add(struct proofs *proofs, uint64_t from, uint64_t to, unsigned bits)
{
	if (!proofs->count || to <= from || !bits)
		return;
	for (size_t i = first_inside(proofs, from); i < proofs->count && proofs->joints[i].at < to;
		i++) {
		unsigned *sum = &proofs->joints[i].bits;

		*sum += bits < BITS_MAX - *sum ? bits : BITS_MAX - *sum;
	}
}

bool proofs_add_one(struct proofs *proofs, uint64_t from, uint64_t to, unsigned bits)
{
	size_t i = first_inside(proofs, from);

	if (i == proofs->count || proofs->joints[i].at >= to ||
		(i + 1 < proofs->count && proofs->joints[i + 1].at < to))
		return false;
	proofs_add(proofs, from, to, bits);
	return true;
}

unsigned proofs_bits(const struct proofs *proofs, uint64_t at)
{
	size_t i = joint_from(proofs, at);

	return i < proofs->count && proofs->joints[i].at == at ? proofs->joints[i].bits : 0;
}

void proofs_free(struct proofs *proofs)
{
	free(proofs->joints);
	*proofs = (struct proofs){ 0 };
}
