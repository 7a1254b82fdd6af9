/* Which bytes look like a file's own. */
#include <criterion/criterion.h>

#include "assemble/affinity.h"
#include "memory_image.h"

enum { CLUSTER = 4096, ZEROS = 64 * CLUSTER, OWN = 8 * CLUSTER, END = 256 * CLUSTER };

/* Zeros, then noise. */
static void make_image(uint8_t image[END])
{
	uint32_t state = 1;

	memset(image, 0, ZEROS);
	for (size_t i = ZEROS; i < END; i++) {
		state = state * 1664525 + 1013904223;
		image[i] = (uint8_t)(state >> 24);
	}
}

/* Padding before compressed content does not make other such content unlike it. */
Test(affinity, zeros_that_fill_room_say_nothing_of_the_rest)
{
	static uint8_t image[END];
	struct memory_image evidence = MEMORY_IMAGE(image, END);
	struct clusters clusters = { .size = CLUSTER, .end = END };
	struct workbench bench = { .evidence = &evidence.image,
		.clusters = &clusters,
		.view = view_new(),
		.work_left = UINT64_C(1) << 30,
		.samples = affinity_samples_new() };
	struct affinity *affinity;

	make_image(image);
	affinity = affinity_new(&bench);
	affinity_learn(affinity, &bench, 0, ZEROS + OWN, true);
	cr_expect_not(affinity_is_unlikely(affinity, &bench, 100 * CLUSTER));
	affinity_free(affinity);
	affinity_samples_free(bench.samples);
	view_free(bench.view);
}
