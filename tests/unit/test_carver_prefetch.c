/* Plain prefetch files in pieces: what their pages show of each other. */
#include "assemble/page_proof.h"
#include "bytes.h"
#include "carver_case.h"
#include "memory_image.h"

enum { METRICS = 24, METRICS_AT = 152, METRIC_LEN = 20, TRACE_LEN = 12, NAME_LEN = 80 };
enum {
	SECTOR_LEN = 512,
	CONTENT_LEN = 128 * SECTOR_LEN,
	HEAD_AT = 4096,
	REST_AT = 40960,
	FREE_AT = 32768
};

static uint8_t content[CONTENT_LEN];
static struct memory_image evidence = MEMORY_IMAGE(content, sizeof(content));
static struct clusters clusters = {
	.size = SECTOR_LEN, .end = sizeof(content), .voters.count = 20
};
static struct bytes file;

static uint32_t traces_of(unsigned metric, unsigned seed)
{
	return 15 + metric * (seed + 3) % 17;
}

/* A file of Windows XP; `change` is in each trace, where nothing checks it. */
static struct bytes make(unsigned seed, uint8_t change)
{
	uint32_t trace_count = 0, traces = METRICS_AT + METRICS * METRIC_LEN, names, volumes;
	struct bytes made = { 0 };
	uint8_t *p;

	for (unsigned i = 0; i < METRICS; i++)
		trace_count += traces_of(i, seed);
	names = traces + trace_count * TRACE_LEN;
	volumes = names + METRICS * NAME_LEN;
	p = bytes_grow(&made, volumes + 100);
	memset(p, 0, made.len);
	put_le(p, 17, 4);
	memcpy(p + 4, "SCCA", 4);
	put_le(p + 12, made.len, 4);
	put_le(p + 84, METRICS_AT, 4);
	put_le(p + 88, METRICS, 4);
	put_le(p + 92, traces, 4);
	put_le(p + 96, trace_count, 4);
	put_le(p + 100, names, 4);
	put_le(p + 104, METRICS * NAME_LEN, 4);
	put_le(p + 108, volumes, 4);
	put_le(p + 112, 1, 4);
	put_le(p + 116, 100, 4);
	put_le(p + volumes, 40, 4); /* a path of two characters, and no folders */
	put_le(p + volumes + 4, 2, 4);
	p[volumes + 40] = '\\';
	p[volumes + 42] = 'A';
	for (uint32_t i = 0, trace = 0; i < METRICS; i++) {
		uint8_t *metric = p + METRICS_AT + i * METRIC_LEN, *name = p + names + i * NAME_LEN;
		uint32_t end = trace + traces_of(i, seed);

		put_le(metric, trace, 4);
		put_le(metric + 4, end - trace, 4);
		put_le(metric + 8, i * NAME_LEN, 4);
		put_le(metric + 12, NAME_LEN / 2 - 1, 4);
		for (; trace < end; trace++) {
			put_le(p + traces + trace * TRACE_LEN,
				trace + 1 < end ? trace + 1 : UINT32_MAX, 4);
			p[traces + trace * TRACE_LEN + 4] = (uint8_t)(trace * 7 + change);
		}
		for (int k = 0; k < NAME_LEN / 2 - 1; k++)
			name[2 * k] = (uint8_t)(k ? 'A' + (k * 5 + (int)i) % 26 : '\\');
	}
	return made;
}

static void fill_image(void)
{
	for (size_t i = 0; i < sizeof(content); i++)
		content[i] = (uint8_t)(i * i >> 7 ^ i >> 3);
}

static void set_up(void)
{
	file = make(1, 0);
	fill_image();
}

static void tear_down(void)
{
	free(file.data);
}

static uint32_t prove(size_t joint)
{
	static char name[] = "prefetch";
	const struct rule rule = { .name = name,
		.extension = name,
		.carver = carver_find("prefetch"),
		.max_size = sizeof(content) };
	struct workbench bench = { .view = view_new(),
		.evidence = &evidence.image,
		.rule = &rule,
		.clusters = &clusters,
		.work_left = 1 << 24 };
	struct extents extents = { 0 };
	struct joint_bits bits = { 0 };

	memcpy(content + HEAD_AT, file.data, joint);
	memcpy(content + REST_AT, file.data + joint, file.len - joint);
	extents_add(&extents, HEAD_AT, joint);
	extents_add(&extents, REST_AT, file.len - joint);
	page_proof_add(&bench, &extents, &bits);
	extents_free(&extents);
	view_free(bench.view);
	return bits.checked;
}

TestSuite(carver_prefetch, .init = set_up, .fini = tear_down);

/* The last page is not all in the file. */
Test(carver_prefetch, chains_and_names_prove_a_joint)
{
	cr_assert_neq(file.len % SECTOR_LEN, 0);
	cr_expect_gt(prove(2 * SECTOR_LEN), PROOF_BITS);
	fill_image();
	cr_expect_gt(prove(9 * SECTOR_LEN), PROOF_BITS);
}

Test(carver_prefetch, another_version_is_noticed)
{
	struct bytes newer = make(1, 1), other = make(2, 1);

	memcpy(content + FREE_AT, other.data + 8 * SECTOR_LEN, SECTOR_LEN);
	cr_expect_gt(prove(8 * SECTOR_LEN), PROOF_BITS);
	memcpy(content + FREE_AT, newer.data + 8 * SECTOR_LEN, SECTOR_LEN);
	cr_expect_eq(prove(8 * SECTOR_LEN), 0);
	memcpy(content + FREE_AT, file.data + 8 * SECTOR_LEN, SECTOR_LEN); /* a copy */
	cr_expect_gt(prove(8 * SECTOR_LEN), PROOF_BITS);
	free(newer.data);
	free(other.data);
}

Test(carver_prefetch, chains_are_one_after_another_in_pieces)
{
	uint8_t *trace = file.data + METRICS_AT + METRICS * METRIC_LEN + 100 * TRACE_LEN;
	struct finding found = { 0 };
	struct view *view;

	cr_expect_eq(
		carve("prefetch", file.data, file.len, &found), CARVE_COMPLETE, "%s", found.why);
	put_le(trace, 7, 4);
	cr_expect_eq(carve("prefetch", file.data, file.len, &found), CARVE_COMPLETE);
	cr_expect_eq(prove(8 * SECTOR_LEN), 0);
	view = view_new_memory(file.data, file.len);
	view_set_thorough(view, true);
	cr_expect_eq(carver_find("prefetch")->check(view, &found), CARVE_TRUNCATED);
	cr_expect_eq(found.length, (uint64_t)(trace - file.data));
	view_free(view);
}
