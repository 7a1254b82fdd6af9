/* Registry hives in pieces: what their pages show of each other. */
#include "assemble/page_proof.h"
#include "bytes.h"
#include "joints_case.h"
#include "memory_image.h"

enum { PAGE = 4096, BINS = 6, KEYS = 20, KEY_LEN = 88, HIVE_LEN = (BINS + 1) * PAGE };
enum { PAGES = 40, HEAD_AT = 2, REST_AT = 30, FREE_AT = 20 };

static uint8_t hive[HIVE_LEN], other[HIVE_LEN], newer[HIVE_LEN];
static uint8_t content[PAGES * PAGE];
static struct memory_image evidence = MEMORY_IMAGE(content, sizeof(content));
static struct clusters clusters = { .size = PAGE, .end = sizeof(content), .voters.count = 20 };

struct made {
	uint8_t *bytes;
	size_t used[BINS]; /* bytes of each bin */
};

/* A cell in use. Returns its offset from the first bin. */
static uint32_t add_cell(struct made *made, int bin, uint32_t len)
{
	uint32_t at = (uint32_t)(bin * PAGE + made->used[bin]);

	put_le(made->bytes + PAGE + at, (uint32_t) - (int32_t)len, 4);
	made->used[bin] += len;
	return at;
}

static uint32_t add_key(struct made *made, int bin, uint32_t parent, unsigned number)
{
	uint32_t at = add_cell(made, bin, KEY_LEN);
	uint8_t *p = made->bytes + PAGE + at + 4;

	memcpy(p, "nk", 2);
	p[2] = (uint8_t)(32 | (parent ? 0 : 4));
	put_le(p + 16, parent, 4);
	memset(p + 40, 0xff, 12);
	p[72] = 8;
	snprintf((char *)p + 76, 9, "Key%05u", number);
	return at;
}

/* Keys of these numbers in each bin, all of them under the root; a page of a hive with other sizes of cells has other places
 * for them. */
static void make(uint8_t *bytes, unsigned number, uint32_t first_len)
{
	struct made made = { .bytes = bytes };
	uint32_t list, root, sum = 0;
	uint8_t *item;

	memset(bytes, 0, HIVE_LEN);
	for (int bin = 0; bin < BINS; bin++) {
		memcpy(bytes + PAGE + bin * PAGE, "hbin", 4);
		put_le(bytes + PAGE + bin * PAGE + 4, (uint32_t)(bin * PAGE), 4);
		put_le(bytes + PAGE + bin * PAGE + 8, PAGE, 4);
		made.used[bin] = 32;
	}
	root = add_key(&made, 0, 0, 0);
	list = add_cell(&made, 0, 8 + 8 * BINS * KEYS);
	put_le(bytes + PAGE + root + 4 + 20, BINS * KEYS, 4);
	put_le(bytes + PAGE + root + 4 + 28, list, 4);
	item = bytes + PAGE + list + 4;
	memcpy(item, "lh", 2);
	put_le(item + 2, BINS * KEYS, 2);
	for (int bin = 0; bin < BINS; bin++) {
		if (bin && first_len) /* unused */
			put_le(bytes + PAGE + add_cell(&made, bin, first_len), first_len, 4);
		for (int i = 0; i < KEYS; i++) {
			uint32_t key =
				add_key(&made, bin, root, number + (unsigned)(bin * KEYS + i));
			uint32_t hash = 0;

			for (int k = 0; k < 8; k++)
				hash = hash * 37 +
				       (uint8_t)(k < 3 ? "KEY"[k] : bytes[PAGE + key + 80 + k]);
			item += item == bytes + PAGE + list + 4 ? 4 : 8;
			put_le(item, key, 4);
			put_le(item + 4, hash, 4);
		}
		put_le(bytes + PAGE + bin * PAGE + made.used[bin], PAGE - made.used[bin], 4);
	}
	memcpy(bytes, "regf\1\0\0\0\1\0\0\0", 12);
	bytes[20] = bytes[32] = 1;
	bytes[24] = 5;
	put_le(bytes + 36, root, 4);
	put_le(bytes + 40, BINS * PAGE, 4);
	for (int i = 0; i < 508; i += 4)
		sum ^= le32(bytes + i);
	put_le(bytes + 508, sum, 4);
}

static void set_up(void)
{
	make(hive, 0, 0);
	make(newer, 0, 0);
	make(other, 500, 16);
	put_le(newer + 3 * PAGE + 32 + 4 + 4, 12345, 8); /* a time */
	for (size_t i = 0; i < sizeof(content); i++)
		content[i] = (uint8_t)(i * i >> 7 ^ i >> 3);
}

static uint32_t prove(size_t joint)
{
	static char name[] = "regf";
	const struct rule rule = { .name = name,
		.extension = name,
		.carver = carver_find("regf"),
		.max_size = sizeof(content) };
	struct workbench bench = { .view = view_new(),
		.evidence = &evidence.image,
		.rule = &rule,
		.clusters = &clusters,
		.work_left = 1 << 24 };
	struct extents extents = { 0 };
	struct joint_bits bits = { 0 };

	memcpy(content + HEAD_AT * PAGE, hive, joint * PAGE);
	memcpy(content + REST_AT * PAGE, hive + joint * PAGE, HIVE_LEN - joint * PAGE);
	extents_add(&extents, HEAD_AT * PAGE, joint * PAGE);
	extents_add(&extents, REST_AT * PAGE, HIVE_LEN - joint * PAGE);
	page_proof_add(&bench, &extents, &bits);
	extents_free(&extents);
	view_free(bench.view);
	return bits.checked;
}

TestSuite(carver_regf, .init = set_up);

Test(carver_regf, references_prove_a_joint)
{
	cr_expect_eq(prove(1), 0); /* the header refers to the root alone */
	for (size_t joint = 2; joint <= BINS; joint++) {
		set_up();
		cr_expect_gt(prove(joint), PROOF_BITS, "%zu", joint);
	}
}

Test(carver_regf, another_version_is_noticed)
{
	for (size_t page = 2; page <= BINS; page++) {
		memcpy(content + FREE_AT * PAGE, newer + page * PAGE, PAGE);
		cr_expect_eq(prove(3) > 0, page != 3, "%zu", page); /* only one differs */
	}
	memcpy(content + FREE_AT * PAGE, other + 3 * PAGE, PAGE);
	cr_expect_gt(prove(3), PROOF_BITS);
}

/* What would do as well beside a joint, or a cell that nothing refers to. */
Test(carver_regf, doubts_prove_nothing)
{
	memcpy(content + (HEAD_AT + 3) * PAGE, newer + 3 * PAGE, PAGE);
	cr_expect_eq(prove(3), 0);
	set_up();
	put_le(hive + 5 * PAGE + 32 + KEYS * KEY_LEN,
		(uint32_t) - (int32_t)(PAGE - 32 - KEYS * KEY_LEN), 4);
	cr_expect_eq(prove(3), 0);
	set_up();
	hive[PAGE + 32 + KEY_LEN + 4 + 8]++; /* the hash of a name */
	cr_expect_eq(prove(3), 0);
}

static enum verdict check_thoroughly(size_t len, struct finding *found)
{
	return carve_thoroughly("regf", hive, len, found);
}

/* Also while the rest of the hive is not known. */
Test(carver_regf, another_hives_page_does_not_belong)
{
	struct finding found;

	cr_expect_eq(check_thoroughly(HIVE_LEN, &found), CARVE_COMPLETE, "%s", found.why);
	memcpy(hive + 3 * PAGE, other + 3 * PAGE, PAGE);
	cr_expect_eq(carve("regf", hive, HIVE_LEN, &found), CARVE_COMPLETE);
	cr_expect_eq(check_thoroughly(HIVE_LEN, &found), CARVE_TRUNCATED);
	cr_expect_eq(found.length, 3 * PAGE, "%llu", (unsigned long long)found.length);
	memset(hive + 5 * PAGE, 'x', PAGE);
	cr_expect_eq(check_thoroughly(HIVE_LEN, &found), CARVE_TRUNCATED);
	cr_expect_eq(found.length, 3 * PAGE, "%llu", (unsigned long long)found.length);
}

Test(carver_regf, the_header_and_the_last_cell_end_in_zeros)
{
	struct finding found;

	memset(hive + 2048, 'x', 2048);
	cr_expect_eq(carve("regf", hive, HIVE_LEN, &found), CARVE_COMPLETE);
	cr_expect_eq(check_thoroughly(HIVE_LEN, &found), CARVE_TRUNCATED);
	cr_expect_eq(found.length, 2048);
	make(hive, 0, 0);
	put_le(hive + 40, BINS * PAGE, 4);
	memset(hive + HIVE_LEN - 600, 'x', 600);
	cr_expect_eq(check_thoroughly(HIVE_LEN, &found), CARVE_COMPLETE); /* less than a cluster */
}

/* Newer logs have hashes of their entries: then they are put together, though nothing shows that none is missing. */
Test(carver_regf, hashes_of_a_logs_entries_prove_joints)
{
	static const char *const logs[] = { "tests/golden/regf/new.log1",
		"tests/golden/regf/old.log" };

	for (size_t i = 0; i < 2; i++) {
		struct bytes bytes = bytes_of_file(logs[i]);
		struct view *view = view_new_memory(bytes.data, bytes.len);
		struct finding found = { 0 };
		uint64_t joint = 1024;
		unsigned bits;

		cr_assert_eq(carver_find("regf")->check(view, &found), CARVE_UNVERIFIED, "%s",
			found.why);
		cr_expect_eq(view_agreed(view), i == 0);
		view_free(view);
		cr_assert_eq(
			prove_joints("regf", &bytes, &joint, 1, true, &bits), CARVE_UNVERIFIED);
		cr_expect_eq(bits, i == 0 ? 32 : 0, "%u", bits);
		free(bytes.data);
	}
}
