/* Searches for breaks from another process: kept as they are, and only those that a device may be given. */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "assemble/crc_search_codec.h"

static const uint32_t known[] = { 1, 2, 3 }, sums[] = { 4, 5, 6, 7, 8 }, ends[] = { 9, 10 },
		      rest[] = { 11, 12 };

static struct crc_search one(void)
{
	return (struct crc_search){ .count = 2,
		.known = known,
		.known_count = 3,
		.sums = sums,
		.sums_from = 1,
		.sums_to = 5,
		.ends = ends };
}

static struct crc_search two(void)
{
	struct crc_search search = one();

	search.ends = NULL;
	search.rest = rest;
	search.rest_from = 1;
	search.rest_to = 2;
	return search;
}

/* False: nothing arrives, and what did is freed. */
static bool arrives(const struct crc_search *sent, struct crc_search *got)
{
	struct codec_writer writer = { 0 };
	struct codec_reader reader;
	bool good;

	cr_assert(crc_search_save(sent, &writer));
	reader = codec_reader_from(writer.bytes, writer.len);
	crc_search_load(got, &reader);
	good = codec_at_end(&reader);
	free(writer.bytes);
	if (!good)
		crc_search_free(got);
	return good;
}

Test(crc_search_codec, arrives_as_it_was)
{
	for (int i = 0; i < 2; i++) {
		struct crc_search sent = i ? two() : one(), got;

		cr_assert(arrives(&sent, &got));
		cr_expect(got.count == 2 && got.known_count == 3 && got.sums_from == 1 &&
			  got.sums_to == 5);
		cr_expect_arr_eq(got.known, known, sizeof(known));
		cr_expect_arr_eq(got.sums, sums, sizeof(sums));
		cr_expect_eq(got.ends != NULL, i == 0);
		if (i)
			cr_expect(got.rest_from == 1 && got.rest_to == 2 &&
				  !memcmp(got.rest, rest, sizeof(rest)));
		else
			cr_expect_arr_eq(got.ends, ends, sizeof(ends));
		crc_search_free(&got);
	}
}

Test(crc_search_codec, what_reaches_past_its_arrays_is_refused)
{
	struct crc_search sent = one(), got;

	sent.sums_to = 6;
	cr_expect_not(arrives(&sent, &got));
	sent.sums_to = 0;
	cr_expect_not(arrives(&sent, &got), "from after to");
	sent = two();
	sent.rest_from = 3;
	cr_expect_not(arrives(&sent, &got));
}

Test(crc_search_codec, a_search_that_no_message_holds_is_not_sent)
{
	struct crc_search sent = one();
	struct codec_writer writer = { 0 };

	sent.count = (size_t)1 << 30;
	cr_expect_not(crc_search_save(&sent, &writer));
	cr_expect_eq(writer.len, 0);
	sent = one();
	sent.known_count = (size_t)1 << 30;
	cr_expect_not(crc_search_save(&sent, &writer));
	sent = one();
	sent.count = sent.known_count = (size_t)1 << 14;
	cr_expect_not(crc_search_save(&sent, &writer), "it takes too long");
}

Test(crc_search_codec, hits_arrive_as_they_were)
{
	static struct crc_hits sent, got;
	struct codec_writer writer = { 0 };
	struct codec_reader reader;

	sent.count = CRC_HITS_MAX + 5; /* more than are kept */
	for (uint32_t i = 0; i < CRC_HITS_MAX; i++)
		sent.items[i] = (struct crc_hit){ i, 2 * i, 3 * i };
	crc_hits_save(&sent, &writer);
	reader = codec_reader_from(writer.bytes, writer.len);
	crc_hits_load(&got, &reader);
	cr_expect(codec_at_end(&reader));
	cr_expect_arr_eq(&got, &sent, sizeof(got));
	free(writer.bytes);
}
