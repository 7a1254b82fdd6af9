/* Descriptions of coded data from another process: kept as they are, and only those that a decoder may be given. */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "carve/coded_codec.h"
#include "carvers/coded.h"

static struct carve_coded *coded;

static void set_up(void)
{
	coded = calloc(1, sizeof(*coded));
	coded->data = 600;
	coded->block_count = 3;
	coded->block = 2;
	coded->mcus = 99;
	coded->blocks[1] = (struct coded_block){ 1, 3, 2 };
	coded->bound[2] = 2047;
	coded->dc[2] = -2047;
	coded->bits_before = 11;
	coded->after_ff = true;
	coded->before[1] = 0xff;
	coded->tables[3].fast[511] = CODED_BITS << 8 | 0xf0;
	coded->tables[3].limit[16] = UINT32_MAX;
	coded->tables[3].first[16] = -65536;
	coded->tables[3].values[255] = 7;
}

static void tear_down(void)
{
	free(coded);
}

TestSuite(coded_codec, .init = set_up, .fini = tear_down);

/* What arrives of it; false: nothing. */
static bool arrives(struct carve_coded *got)
{
	struct codec_writer writer = { 0 };
	struct codec_reader reader;
	bool good;

	coded_save(coded, &writer);
	reader = codec_reader_from(writer.bytes, writer.len);
	coded_load(got, &reader);
	good = codec_at_end(&reader);
	free(writer.bytes);
	return good;
}

Test(coded_codec, arrives_as_it_was)
{
	struct carve_coded *got = malloc(sizeof(*got));

	cr_assert(arrives(got));
	cr_expect_arr_eq(got, coded, sizeof(*got));
	free(got);
}

/* Codes of up to CODED_BITS bits are looked up, so what would be compared with them was never set. */
Test(coded_codec, what_is_not_used_may_be_anything)
{
	struct carve_coded *got = malloc(sizeof(*got));

	coded->tables[0].first[0] = coded->tables[3].first[CODED_BITS] = INT32_MAX;
	coded->blocks[3].component = 200;
	cr_assert(arrives(got));
	cr_expect_eq(got->tables[0].first[0], 0);
	free(got);
}

#define EXPECT_REFUSED(member, value) \
	do { \
		set_up(); \
		coded->member = (value); \
		cr_expect_not(arrives(got), #member " = " #value); \
		free(coded); \
	} while (0)

Test(coded_codec, what_a_decoder_may_not_be_given_is_refused)
{
	struct carve_coded *got = malloc(sizeof(*got));

	free(coded);
	EXPECT_REFUSED(block_count, CODED_BLOCKS + 1);
	EXPECT_REFUSED(block_count, 0);
	EXPECT_REFUSED(block, 3);
	EXPECT_REFUSED(mcus, 0);
	EXPECT_REFUSED(blocks[1].dc, CODED_TABLES);
	EXPECT_REFUSED(blocks[1].ac, CODED_TABLES);
	EXPECT_REFUSED(blocks[1].component, 4);
	EXPECT_REFUSED(bound[0], UINT32_MAX);
	EXPECT_REFUSED(dc[0], INT32_MAX);
	EXPECT_REFUSED(dc[0], INT32_MIN);
	EXPECT_REFUSED(bits_before, CODED_BEFORE * 8 + 1);
	EXPECT_REFUSED(bits_before, 0);
	EXPECT_REFUSED(tables[0].fast[0], (CODED_BITS + 1) << 8);
	EXPECT_REFUSED(tables[2].first[CODED_BITS + 1], 256);
	EXPECT_REFUSED(tables[2].first[16], INT32_MIN);
	coded = NULL;
	free(got);
}
