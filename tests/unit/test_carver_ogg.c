/* Ogg: streams that follow a complete file at once, and pages in its table. */
#include "joints_case.h"

#define WHOLE "tests/golden/ogg/vorbis.ogg"
#define CHAINED "tests/golden/ogg/chained.ogg" /* the same, and further streams */

Test(carver_ogg, a_complete_file_before_damaged_streams_stays_complete)
{
	struct bytes whole = bytes_of_file(WHOLE), bytes = bytes_of_file(CHAINED);
	size_t len = whole.len, all = bytes.len;

	expect("ogg", &bytes, CARVE_COMPLETE, all, "may be another file");
	bytes.len = all - 200;
	expect("ogg", &bytes, CARVE_COMPLETE, len, "which are damaged");
	bytes_add_random(&bytes, 5, 3000);
	expect("ogg", &bytes, CARVE_COMPLETE, len, "which are damaged");
	free(bytes.data);
	bytes = bytes_of_file(CHAINED);
	bytes.data[all - 500] ^= 1;
	expect("ogg", &bytes, CARVE_COMPLETE, len, "which are damaged");
	free(bytes.data);
	free(whole.data);
}

/* The bits that prove the last of the joints in the file. */
static unsigned proof_of(
	const struct bytes *bytes, const uint64_t *joints, size_t count, bool thorough)
{
	unsigned bits[JOINTS_MAX];

	cr_assert_eq(prove_joints("ogg", bytes, joints, count, thorough, bits), CARVE_COMPLETE);
	return bits[count - 1];
}

/* The page's CRC, and that the next one is of the same stream; that only if nothing else may be between. */
Test(carver_ogg, a_joint_inside_a_page_is_proved_by_the_next_page_too)
{
	struct bytes bytes = bytes_of_file(WHOLE);
	const uint8_t *found = memmem(bytes.data + 200, bytes.len - 200, "OggS", 4);
	uint64_t page = found ? (uint64_t)(found - bytes.data) : 0, joints[2];

	cr_assert_neq(page, 0);
	joints[0] = page + 150;
	joints[1] = page + 250;
	cr_expect_eq(proof_of(&bytes, joints, 1, false), 64);
	cr_expect_eq(proof_of(&bytes, joints, 2, false), 32);
	free(bytes.data);
}

static void add_page(struct bytes *bytes, uint8_t flags, uint8_t number, const char *packet,
	size_t len, uint8_t count)
{
	uint8_t head[27] = { 'O', 'g', 'g', 'S', 0, flags };
	uint64_t at = bytes->len;
	uint32_t crc = 0;

	head[14] = 7;
	head[18] = number;
	head[26] = count;
	bytes_add(bytes, head, sizeof(head));
	bytes_fill(bytes, (uint8_t)len, count);
	for (uint8_t i = 0; i < count; i++)
		bytes_add(bytes, packet, len);
	for (uint64_t i = at; i < bytes->len; i++) {
		crc ^= (uint32_t)bytes->data[i] << 24;
		for (int bit = 0; bit < 8; bit++)
			crc = crc << 1 ^ (crc & 0x80000000 ? 0x04c11db7 : 0);
	}
	for (int i = 0; i < 4; i++)
		bytes->data[at + 22 + (uint64_t)i] = (uint8_t)(crc >> 8 * i);
}

/* Bits of a joint in the last page, before 10 of its 20 packets. */
static unsigned last_page_proof(const char *codec, const char *first, const char *packet)
{
	struct bytes bytes = { 0 };
	uint64_t joint;
	unsigned bits;

	add_page(&bytes, 2, 0, codec, 8, 1);
	add_page(&bytes, 0, 1, codec, 8, 1);
	add_page(&bytes, 0, 2, first, 8, 20);
	add_page(&bytes, 4, 3, packet, 8, 20);
	joint = bytes.len - 10 * 8;
	bits = proof_of(&bytes, &joint, 1, true);
	free(bytes.data);
	return bits;
}

Test(carver_ogg, packets_after_a_joint_in_the_last_page_are_of_its_stream)
{
	cr_expect_eq(last_page_proof("\x01vorbis", "\x2e-------", "\x2e-------"), 32 + 5);
	cr_expect_eq(last_page_proof("\x01vorbis", "\x2e-------", "\x2f-------"), 32);
	cr_expect_eq(last_page_proof("\x01vorbis", "\x2e-------", "\0-------"), 32);
	cr_expect_eq(last_page_proof("OpusHead", "\x78-------", "\x7b-------"), 32 + 30);
	cr_expect_eq(last_page_proof("OpusHead", "\x78-------", "\x70-------"), 32);
	cr_expect_eq(last_page_proof("Speex   ", "\x2e-------", "\x2e-------"), 32);
}

static bool count_anchor(struct carve_table *table, const struct carve_anchor *anchor)
{
	(void)anchor;
	table->at++;
	return true;
}

static uint64_t count_anchors(const struct bytes *bytes)
{
	struct carve_table table = { .add = count_anchor };
	struct view *view = view_new_memory(bytes->data, bytes->len);

	cr_assert(carver_find("ogg")->map->head(view, &table));
	view_free(view);
	return table.at;
}

/* Each would be found at the places of all others. */
Test(carver_ogg, copies_of_pages_are_not_in_the_table)
{
	struct bytes bytes = bytes_of_file(WHOLE);
	uint64_t count = count_anchors(&bytes);

	cr_assert_gt(count, 1);
	for (int i = 0; i < 100; i++)
		bytes_add_file(&bytes, WHOLE);
	cr_assert_eq(count_anchors(&bytes), count);
	free(bytes.data);
}

static size_t page_len(const uint8_t *page)
{
	size_t len = 27 + page[26];

	for (size_t i = 0; i < page[26]; i++)
		len += page[27 + i];
	return len;
}

/* Each of the thousands of files that broke off would be followed through all copies after it. */
Test(carver_ogg, the_first_wrong_sum_is_not_looked_for_past_another_files_page)
{
	struct bytes bytes = bytes_of_file(WHOLE);
	size_t first = page_len(bytes.data), cut = first + page_len(bytes.data + first);
	struct carve_sum sum = { 0 };
	struct view *view;

	bytes.len = cut;
	for (int i = 0; i < 100; i++)
		bytes_add_file(&bytes, WHOLE);
	view = view_new_memory(bytes.data, bytes.len);
	cr_assert(carver_find("ogg")->map->sum(view, &sum));
	cr_assert_eq(sum.from, cut);
	cr_assert_eq(sum.to, cut);
	cr_assert_eq(sum.next_count, 1);
	cr_assert_lt(view_work_done(view), 4 * bytes.len / 100);
	view_free(view);
	free(bytes.data);
}
