/* The layout of ext2 is only tried where the block that it leaves out may be one of pointers. */
#include <criterion/criterion.h>
#include <string.h>

#include "assemble/strategies.h"
#include "memory_image.h"

#define CLUSTER ((uint64_t)4096)
#define BLOCK 1024
#define LEFT_OUT (12 * BLOCK)

static uint8_t content[64 * CLUSTER];
static struct memory_image evidence = MEMORY_IMAGE(content, sizeof(content));
static struct clusters clusters = { .size = CLUSTER, .end = sizeof(content) };
static unsigned checks;

static enum verdict check(struct view *view, struct finding *finding)
{
	(void)view;
	checks++;
	finding->length = CLUSTER;
	return verdict_because(CARVE_TRUNCATED, finding, "it ends");
}

/* How many layouts are tried where the block that is left out has these words, and then zeros; those of other sizes
 * leave out no pointers. */
static unsigned layouts_tried(uint32_t first, uint32_t second, uint32_t third)
{
	static const struct carver carver = { .name = "x", .check = check };
	static char name[] = "x";
	static struct rule rule = {
		.name = name, .extension = name, .max_size = 1 << 20, .carver = &carver
	};
	const uint32_t words[] = { first, second, third };
	const struct broken broken = { .start = 0 };
	struct workbench bench = { .view = view_new(),
		.evidence = &evidence.image,
		.rule = &rule,
		.clusters = &clusters,
		.work_left = 1 << 24 };
	struct extents extents = { 0 };
	struct assembly assembly = { 0 };
	struct outcome outcome;

	memset(content, 'x', sizeof(content));
	memset(content + LEFT_OUT, 0, BLOCK);
	memcpy(content + LEFT_OUT, words, sizeof(words));
	checks = 0;
	cr_expect_not(find_pointer_blocks(&bench, &broken, &extents, &outcome, &assembly));
	workbench_end(&bench);
	extents_free(&extents);
	view_free(bench.view);
	return checks;
}

Test(pointer_blocks, what_is_left_out_has_pointers)
{
	cr_expect_eq(layouts_tried(100, 101, 102), 1);
	cr_expect_eq(layouts_tried(100, 101, 0), 1);
	cr_expect_eq(layouts_tried(100, 0, 0), 1);
}

Test(pointer_blocks, what_is_left_out_was_wiped)
{
	cr_expect_eq(layouts_tried(0, 0, 0), 1);
}

Test(pointer_blocks, what_is_left_out_is_the_files_own)
{
	cr_expect_eq(layouts_tried(100, 102, 0), 0);
	cr_expect_eq(layouts_tried(100, 0, 7), 0);
	cr_expect_eq(layouts_tried(0, 0, 7), 0);
}
