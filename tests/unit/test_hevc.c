/* H.265's slices: of pictures by x265, alone and two in a file, and what becomes of them when other bytes are in them. */
#include "bmff_made.h"
#include "bytes.h"
#include "joints_case.h"

static const char *const pictures[] = { "tests/golden/heif/h265-rows.heic",
	"tests/golden/heif/h265-444.heic", "tests/golden/heif/h265-422.heic",
	"tests/golden/heif/h265-grey.heic" };

#define PICTURES (sizeof(pictures) / sizeof(*pictures))

static uint64_t find(const struct bytes *bytes, const char *word)
{
	for (uint64_t at = 4; at + 8 < bytes->len; at++)
		if (memcmp(bytes->data + at, word, 4) == 0)
			return at;
	cr_assert_fail("no %s", word);
	return 0;
}

static enum verdict check_thoroughly(const struct bytes *bytes, struct finding *found)
{
	return carve_thoroughly("heif", bytes->data, bytes->len, found);
}

/* In a scan nothing but its length would confirm it. */
Test(hevc, pictures_are_decoded_where_pieces_meet)
{
	for (size_t i = 0; i < PICTURES; i++) {
		struct bytes heic = bytes_of_file(pictures[i]);
		const uint64_t joints[] = { 1024, heic.len - 16 };
		struct finding found;
		unsigned bits[2];

		cr_expect_eq(check_thoroughly(&heic, &found), CARVE_COMPLETE, "%s: %s", pictures[i],
			found.why);
		cr_expect_eq(found.length, heic.len);
		cr_expect_eq(prove_joints("heif", &heic, joints, 2, true, bits), CARVE_COMPLETE);
		cr_expect_geq(bits[0], 14, "%s: %u", pictures[i], bits[0]);
		cr_expect(bits[1] && bits[1] < 14, "%s: %u", pictures[i], bits[1]);
		cr_expect_eq(prove_joints("heif", &heic, joints, 2, false, bits), CARVE_UNVERIFIED);
		cr_expect_eq(bits[0], 0);
		free(heic.data);
	}
}

/* Of a few hundred pictures that go on with others' bytes, or with their own from somewhere else, none is valid. */
Test(hevc, other_bytes_are_noticed)
{
	for (size_t i = 0; i < PICTURES; i++)
		for (size_t k = 0; k < PICTURES; k++)
			for (uint64_t at = 1024; at + 64 < 6144; at += 512) {
				struct bytes heic = bytes_of_file(pictures[i]),
					     other = bytes_of_file(pictures[k]);
				uint64_t from = at + (i == k ? 512 : 0);
				uint64_t len = heic.len - at < other.len - from ? heic.len - at
										: other.len - from;
				struct finding found;

				memmove(heic.data + at, other.data + from, len);
				cr_expect_eq(check_thoroughly(&heic, &found), CARVE_TRUNCATED,
					"%zu, %zu, %d: %s", i, k, (int)at, found.why);
				cr_expect_leq(found.length, at);
				free(heic.data);
				free(other.data);
			}
}

/* A file with the picture twice, and where they are. */
static struct bytes make_two(uint64_t places[2], uint64_t *len)
{
	struct bytes one = bytes_of_file(pictures[0]), two = { 0 };
	uint64_t hvcc = find(&one, "hvcC") - 4, data = find(&one, "mdat") + 4;
	size_t meta, box, inner, iloc;

	*len = one.len - data;
	box = box_start(&two, "ftyp");
	bytes_add(&two, "heic\0\0\0\0mif1heic", 16);
	box_end(&two, box);
	meta = box_start(&two, "meta");
	bytes_add_be(&two, 0, 4);
	box = box_start(&two, "iinf");
	bytes_add_be(&two, 0, 4);
	bytes_add_be(&two, 2, 2);
	for (unsigned i = 1; i <= 2; i++) {
		inner = box_start(&two, "infe");
		bytes_add_be(&two, 2u << 24, 4);
		bytes_add_be(&two, i, 2);
		bytes_add(&two, "\0\0hvc1\0", 7);
		box_end(&two, inner);
	}
	box_end(&two, box);
	box = box_start(&two, "iprp");
	inner = box_start(&two, "ipco");
	bytes_add(&two, one.data + hvcc, be32(one.data + hvcc));
	box_end(&two, inner);
	inner = box_start(&two, "ipma");
	bytes_add(&two, "\0\0\0\0\0\0\0\2\0\1\1\x81\0\2\1\x81", 16);
	box_end(&two, inner);
	box_end(&two, box);
	box = box_start(&two, "iloc");
	bytes_add(&two, "\0\0\0\0\x44\0\0\2", 8);
	iloc = two.len;
	bytes_fill(&two, 0, 28);
	box_end(&two, box);
	box_end(&two, meta);
	box = box_start(&two, "mdat");
	for (unsigned i = 0; i < 2; i++) {
		struct bytes entry = { 0 };

		places[i] = two.len;
		bytes_add_be(&entry, i + 1, 2);
		bytes_add_be(&entry, 0, 2);
		bytes_add_be(&entry, 1, 2);
		bytes_add_be(&entry, places[i], 4);
		bytes_add_be(&entry, *len, 4);
		memcpy(two.data + iloc + 14 * i, entry.data, 14);
		free(entry.data);
		bytes_add(&two, one.data + data, *len);
	}
	box_end(&two, box);
	free(one.data);
	return two;
}

/* Its rows begin anew: it is valid up to one of them. What is known to be valid is not decoded again, nor doubted; what is after it is. */
Test(hevc, a_check_goes_on_after_a_picture)
{
	uint64_t places[2], len;
	struct bytes two = make_two(places, &len);
	struct view *view = view_new_memory(two.data, two.len), *again;
	const struct carve_state *state;
	struct finding found = { 0 };

	view_keep_states(view, 1);
	cr_expect_eq(carver_find("heif")->check(view, &found), CARVE_COMPLETE, "%s", found.why);
	state = view_state_before(view, places[1]);
	cr_assert(state);
	cr_expect_eq(state->offset, places[1]);
	for (int i = 1; i >= 0; i--) {
		memset(two.data + places[i] + 2000, 0x55, 100);
		again = view_new_memory(two.data, two.len);
		found = (struct finding){ 0 };
		cr_expect_eq(carver_find("heif")->resume(again, state, &found), CARVE_TRUNCATED);
		cr_expect_gt(found.length, places[1] + 1000);
		cr_expect_leq(found.length, places[1] + 2000);
		view_free(again);
	}
	cr_expect_eq(check_thoroughly(&two, &found), CARVE_TRUNCATED);
	cr_expect_gt(found.length, places[0] + 1000);
	cr_expect_leq(found.length, places[0] + 2000);
	view_free(view);
	free(two.data);
}

static unsigned anchor_count;
static struct carve_anchor anchors[4];

static bool keep_anchor(struct carve_table *table, const struct carve_anchor *anchor)
{
	(void)table;
	if (anchor_count < 4)
		anchors[anchor_count] = *anchor;
	anchor_count++;
	return true;
}

/* How pictures begin is known from their description, also of those that are not there. */
Test(hevc, the_description_says_where_pictures_begin)
{
	uint64_t places[2], len;
	struct bytes two = make_two(places, &len);
	struct carve_table table = { .add = keep_anchor };
	struct view *view = view_new_memory(two.data, places[1] - 100);

	cr_assert(carver_find("heif")->map->head(view, &table));
	cr_expect_eq(anchor_count, 2);
	for (unsigned i = 0; i < 2; i++) {
		cr_expect_eq(anchors[i].offset, places[i]);
		cr_expect_eq(anchors[i].len, 7);
		cr_expect_arr_eq(anchors[i].bytes, two.data + places[i], 7);
	}
	view_free(view);
	/* Without any picture it is not known which kind of slice they have. */
	view = view_new_memory(two.data, places[0]);
	anchor_count = 0;
	cr_assert(carver_find("heif")->map->head(view, &table));
	cr_expect_eq(anchor_count, 8);
	view_free(view);
	free(two.data);
}
