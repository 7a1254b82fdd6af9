/* What the carver of JPEG does where files in pieces are put together: states, what trials share, where data breaks off, joints. */
#include "carve/check.h"
#include "carve/coded_memo.h"
#include "carver_case.h"
#include "carvers/coded.h"
#include "jpeg_made.h"
#include "memory_image.h"
#include "tier.h"

static void expect_same(const struct finding *a, enum verdict a_verdict, const struct finding *b,
	enum verdict b_verdict, uint64_t seed)
{
	cr_assert(a_verdict == b_verdict && a->length == b->length && !strcmp(a->why, b->why),
		"seed %llu: %d, %llu (%s) resumed, expected %d, %llu (%s)",
		(unsigned long long)seed, (int)a_verdict, (unsigned long long)a->length, a->why,
		(int)b_verdict, (unsigned long long)b->length, b->why);
}

/* A check that goes on from any state that another one saved finds what a whole check does, whatever
 * the bytes after the state are. */
Test(jpeg_pieces, resumes_from_states)
{
	const struct carver *carver = carver_find("jpeg");
	uint64_t seed = test_seed(), cases = test_tier(100, 300, 30000), resumed = 0, later = 0;
	uint64_t least = CARVE_STATE_MAX, scans = 0, over = 0;

	for (uint64_t i = seed; i < seed + cases; i++) {
		struct finding first = { 0 }, whole = { 0 }, rest = { 0 };
		const struct carve_state *state;
		struct view *saving, *view;
		struct bytes jpeg, copy = { 0 };
		size_t at;

		random_state = i * 0x9e3779b97f4a7c15u | 1;
		draw(2);
		jpeg = make_picture();
		saving = view_new_memory(jpeg.data, jpeg.len);
		view_keep_states(saving, 1 + draw(300));
		carver->check(saving, &first);
		at = draw((uint32_t)jpeg.len + 1);
		state = view_state_before(saving, at);
		bytes_add(&copy, jpeg.data, jpeg.len);
		if (draw(4))
			bytes_add_random(&copy, i, draw(3000));
		if (draw(3)) {
			size_t from = draw((uint32_t)copy.len);

			memmove(copy.data + at, copy.data + from,
				copy.len - (from > at ? from : at));
		}
		if (state) {
			cr_assert_leq(state->offset, at);
			enum verdict verdict;

			view = view_new_memory(copy.data, copy.len);
			verdict = carver->resume(view, state, &rest);
			if (!view_starts_over(view)) {
				expect_same(&rest, verdict, &whole,
					carve("jpeg", copy.data, copy.len, &whole), i);
				resumed++;
				later += state->offset > 700;
				scans += state->len > least;
			} else {
				over++;
			}
			least = state->len < least ? state->len : least;
			view_free(view);
		}
		view_free(saving);
		free(jpeg.data);
		free(copy.data);
	}
	cr_assert_gt(resumed, cases / 2);
	cr_assert_gt(later, cases / 4);
	/* In later scans, of progressive pictures, and where these need more than a state has. */
	cr_assert_gt(scans, cases / 300, "%llu", (unsigned long long)scans);
	cr_assert_gt(over, cases / 300, "%llu", (unsigned long long)over);
}

/* Two sequential pictures of the same size with the same tables. */
static void make_pair(struct bytes pair[2])
{
	static const uint8_t sizes[] = { 0, 1, 2, 3, 4 };
	struct maker m = { .components = draw(3) ? 3 : 1 };

	m.width = 300 + draw(300);
	m.height = 300 + draw(300);
	for (int i = 0; i < m.components; i++)
		m.h[i] = m.v[i] = 1;
	if (m.components == 3)
		m.h[0] = m.v[0] = (uint8_t)(1 + draw(2));
	for (int i = 0; i < 2; i++) {
		/* With others a DC is soon out of range after any break. */
		make_table(&m.tables[0][i], sizes, 3 + (int)draw(3));
		make_ac_table(&m, &m.tables[1][i], false);
	}
	for (int n = 0; n < 2; n++) {
		m.jpeg = (struct bytes){ 0 };
		put_frame(&m);
		for (int i = 0; i < 2; i++) {
			add_table(&m, 0, i);
			add_table(&m, 1, i);
		}
		put_scan(&m, -1, 0, 63, 0, 0);
		bytes_add(&m.jpeg, "\xff\xd9", 2);
		for (int i = 0; i < m.components; i++)
			free(m.history[i]);
		pair[n] = m.jpeg;
	}
}

#define PIECE 512 /* bytes, at multiples of which pieces begin */

/* Both pictures with something between, of which the first is in two pieces, and after which some is damaged. */
static struct bytes make_evidence(const struct bytes pair[2], uint64_t seed, uint64_t *second)
{
	struct bytes all = { 0 };
	size_t half = pair[0].len / 2 / PIECE * PIECE;

	bytes_add(&all, pair[0].data, half);
	bytes_add_random(&all, seed, PIECE * draw(4));
	bytes_add(&all, pair[1].data, pair[1].len);
	bytes_add_random(&all, seed, PIECE - all.len % PIECE);
	*second = all.len;
	bytes_add(&all, pair[0].data + half, pair[0].len - half);
	bytes_add_random(&all, seed, 3 * PIECE);
	for (uint32_t i = draw(3); i; i--)
		all.data[half + draw((uint32_t)(all.len - half))] ^= (uint8_t)(1 << draw(8));
	if (!draw(4))
		memset(all.data + half + draw((uint32_t)(all.len - half - 200)), 0, 200);
	return all;
}

/* What a trial comes to. */
struct trial {
	struct outcome outcome;
	uint64_t reach;
	unsigned proof;
};

/* used: a view of trials before, or NULL. */
static void make_trial(struct memory_image *evidence, const struct range *runs, size_t count,
	uint64_t work, const struct carve_state *state, struct coded_memo *memo, struct view *used,
	struct trial *trial)
{
	const struct rule rule = {
		.name = (char *)"jpeg", .carver = carver_find("jpeg"), .max_size = 1 << 24
	};
	const struct check_options options = { .from = state, .is_trial = true };
	struct view *view = used ? used : view_new();

	view_share(view, memo);
	check_runs(view, &evidence->image, &rule, runs, count, work, &options, &trial->outcome);
	trial->reach = view_reach(view);
	trial->proof = view_proof(view, runs->length);
	if (!used)
		view_free(view);
}

static void expect_same_trial(const struct trial *a, const struct trial *b, uint64_t seed)
{
	cr_assert(a->outcome.verdict == b->outcome.verdict &&
			  a->outcome.length == b->outcome.length &&
			  a->outcome.work == b->outcome.work && a->reach == b->reach &&
			  a->proof == b->proof &&
			  !strcmp(a->outcome.finding.why, b->outcome.finding.why),
		"seed %llu: %d, %llu, work %llu, %llu seen (%s) with what others decoded, expected "
		"%d, %llu, "
		"%llu, %llu (%s)",
		(unsigned long long)seed, (int)a->outcome.verdict,
		(unsigned long long)a->outcome.length, (unsigned long long)a->outcome.work,
		(unsigned long long)a->reach, a->outcome.finding.why, (int)b->outcome.verdict,
		(unsigned long long)b->outcome.length, (unsigned long long)b->outcome.work,
		(unsigned long long)b->reach, b->outcome.finding.why);
}

/* Makes all that is noted of the first `bits` bits wrong. */
static unsigned falsify(struct coded_memo *memo, uint64_t bits)
{
	struct coded_stretch stretch;
	unsigned count = 0;

	for (uint64_t bit = 0; bit < bits; bit++) {
		if (!coded_memo_find(memo, 1, bit, &stretch))
			continue;
		stretch.mcus--;
		coded_memo_add(memo, 1, bit, &stretch);
		count++;
	}
	return count;
}

/* Whether what is noted is made use of: with wrong stretches a trial comes to something else. */
static bool is_changed(struct memory_image *evidence, uint64_t to, size_t half,
	const struct carve_state *state, struct coded_memo *memo)
{
	const struct range runs[] = { { 0, half }, { to, evidence->image.info.size - to } };
	struct trial with, without;
	bool changed;

	make_trial(evidence, runs, 2, UINT64_MAX, state, NULL, NULL, &without);
	make_trial(evidence, runs, 2, UINT64_MAX, state, memo, NULL, &with);
	changed = with.outcome.work != without.outcome.work;
	outcome_free(&with.outcome);
	outcome_free(&without.outcome);
	return changed;
}

/* The states of a check of the first picture's first `len` bytes. */
static size_t save_states(const struct bytes *jpeg, size_t len, struct carve_state *states)
{
	struct view *view = view_new_memory(jpeg->data, len);
	struct finding finding = { 0 };
	size_t count;

	view_keep_states(view, 4096);
	carver_find("jpeg")->check(view, &finding);
	count = view_take_states(view, states);
	view_free(view);
	return count;
}

/* Trials that pass over what others decoded come to the same, after the same work, whatever follows the break, and wherever
 * the work that they may do comes to its end. */
Test(jpeg_pieces, shares_what_trials_decode)
{
	uint64_t seed = test_seed(), cases = test_tier(8, 12, 2000), limited = 0, shared = 0;

	for (uint64_t i = seed; i < seed + cases; i++) {
		struct coded_memo *memo = coded_memo_new();
		struct view *used = view_new();
		struct carve_state states[VIEW_STATES];
		struct memory_image evidence;
		struct bytes pair[2], all;
		uint64_t targets[4];
		size_t count, half;

		random_state = i * 0x9e3779b97f4a7c15u | 1;
		make_pair(pair);
		half = pair[0].len / 2 / PIECE * PIECE;
		all = make_evidence(pair, i, &targets[0]);
		memory_image_init(&evidence, all.data, all.len);
		if (!draw(4)) {
			evidence.bad_from = half + draw((uint32_t)(all.len - half));
			evidence.bad_to = evidence.bad_from + 1 + draw(1000);
		}
		for (int n = 1; n < 4; n++)
			targets[n] = PIECE * draw((uint32_t)(all.len / PIECE));
		count = save_states(&pair[0], half, states);
		cr_assert_gt(count, 0);
		for (int n = 0; n < 150; n++) {
			uint64_t at = PIECE * (1 + draw((uint32_t)(half / PIECE)));
			uint64_t to = targets[draw(4)], left = all.len - to;
			uint64_t some = draw(3) || left <= PIECE
						? left
						: PIECE * (1 + draw((uint32_t)(left / PIECE)));
			const struct range runs[] = { { 0, at }, { to, some },
				{ half, all.len - half } };
			const struct carve_state *state = NULL;
			struct trial with, without;
			uint64_t work = UINT64_MAX;

			for (size_t k = 0; k < count && states[k].offset <= at; k++)
				state = &states[k];
			make_trial(&evidence, runs, 2 + (some < left), work, state, NULL, NULL,
				&without);
			if (!draw(3) && without.outcome.work < UINT64_MAX) {
				work = without.outcome.work * draw(1000) / 1000;
				outcome_free(&without.outcome);
				make_trial(&evidence, runs, 2 + (some < left), work, state, NULL,
					NULL, &without);
				limited++;
			}
			make_trial(
				&evidence, runs, 2 + (some < left), work, state, memo, used, &with);
			expect_same_trial(&with, &without, i);
			outcome_free(&with.outcome);
			outcome_free(&without.outcome);
		}
		shared += falsify(memo, all.len * 8) &&
			  is_changed(&evidence, targets[0], half, &states[count - 1], memo);
		for (size_t k = 0; k < count; k++)
			free((void *)states[k].data);
		view_free(used);
		coded_memo_free(memo);
		free(all.data);
		free(pair[0].data);
		free(pair[1].data);
	}
	cr_assert_gt(limited, cases);
	cr_assert_gt(shared, cases / 2, "%llu", (unsigned long long)shared);
}

static void make_sum(void *made, const void *bytes)
{
	*(int *)made += 1 + *(const uint8_t *)bytes;
}

static uint32_t coding_of(struct coded_memo *memo, const void *bytes, size_t len)
{
	const struct coded_coding coding = { bytes, len, sizeof(int), make_sum };
	const void *made = NULL;
	uint32_t number = coded_memo_coding(memo, &coding, &made);

	cr_expect(!number || *(const int *)made == 1 + *(const uint8_t *)bytes, "made once");
	return number;
}

Test(jpeg_pieces, stretches_are_of_one_coding_and_bit)
{
	struct coded_memo *memo = coded_memo_new();
	const struct coded_stretch one = { .bytes = 1, .sum = { 0, 0, 0, -7 } };
	struct coded_stretch found = { 0 };
	uint32_t a = coding_of(memo, "a", 1), b = coding_of(memo, "b", 1);

	cr_assert(a && b && a != b);
	cr_expect_eq(coding_of(memo, "a", 1), a);
	cr_expect_neq(coding_of(memo, "aa", 2), a);
	cr_expect_not(coded_memo_find(memo, a, 0, &found));
	coded_memo_add(memo, a, 0, &one);
	cr_expect(coded_memo_find(memo, a, 0, &found));
	cr_expect(found.bytes == 1 && found.sum[3] == -7);
	cr_expect_not(coded_memo_find(memo, b, 0, &found));
	cr_expect_not(coded_memo_find(memo, a, 1, &found));
	coded_memo_add(memo, a, UINT64_MAX, &one);
	cr_expect_not(coded_memo_find(memo, a, UINT64_MAX, &found), "no room for the bit");
	for (unsigned i = 0; i < 1000; i++)
		coding_of(memo, &i, sizeof(i));
	cr_expect_eq(coding_of(memo, "c", 1), 0, "too many");
	cr_expect_eq(coding_of(memo, "b", 1), b);
	coded_memo_free(memo);
}

/* Fills 512 bytes: what really follows, other bytes of the picture, a changed byte or two, random ones, zeros. Returns
 * which. */
static unsigned draw_candidate(
	const struct bytes *jpeg, size_t at, uint64_t seed, uint8_t *bytes, size_t len)
{
	unsigned kind = draw(5);
	size_t from = kind == 1 ? draw((uint32_t)jpeg->len) : at;
	struct bytes random = { 0 };

	bytes_add_random(&random, seed + kind, len);
	memcpy(bytes, random.data, len);
	free(random.data);
	if (kind == 4)
		memset(bytes, 0, len);
	if (kind < 3)
		memcpy(bytes, jpeg->data + from, jpeg->len - from < len ? jpeg->len - from : len);
	if (kind == 2)
		for (unsigned i = 0; i < 2; i++)
			bytes[draw((uint32_t)len)] = (uint8_t)draw(256);
	return kind;
}

/* What is refused after a break the whole check refuses, too, and no later than where those bytes end. */
static void expect_refused(
	const struct bytes *jpeg, size_t at, const uint8_t *bytes, size_t len, uint64_t seed)
{
	struct finding finding = { 0 };
	struct bytes whole = { 0 };
	enum verdict verdict;

	bytes_add(&whole, jpeg->data, at);
	bytes_add(&whole, bytes, len);
	bytes_add_random(&whole, seed, 2000);
	verdict = carve("jpeg", whole.data, whole.len, &finding);
	cr_assert(verdict == CARVE_TRUNCATED && finding.length < at + len,
		"seed %llu: %d, %llu (%s), break at %zu", (unsigned long long)seed, (int)verdict,
		(unsigned long long)finding.length, finding.why, at);
	free(whole.data);
}

Test(jpeg_pieces, describes_where_it_breaks_off)
{
	const struct carver *carver = carver_find("jpeg");
	uint64_t seed = test_seed(), cases = test_tier(200, 600, 60000), described = 0;
	uint64_t tried[5] = { 0 }, refused[5] = { 0 };
	struct carve_coded *coded = malloc(sizeof(*coded));

	for (uint64_t i = seed; i < seed + cases; i++) {
		_Alignas(4) uint8_t bytes[4096];
		size_t len = i % 2 ? sizeof(bytes) : 512;
		struct finding ignored = { 0 };
		struct view *saving, *view;
		struct bytes jpeg;
		bool valid;
		size_t at;

		random_state = i * 0x9e3779b97f4a7c15u | 1;
		draw(2);
		jpeg = make_picture();
		at = 1 + draw((uint32_t)jpeg.len);
		saving = view_new_memory(jpeg.data, jpeg.len);
		view_keep_states(saving, 1 + draw(300));
		valid = carver->check(saving, &ignored) == CARVE_COMPLETE;
		view = view_new_memory(jpeg.data, at);
		coded->begins = false;
		if (carver->coded(view, view_state_before(saving, at), coded)) {
			described++;
			for (unsigned n = 0; n < 8; n++) {
				unsigned kind = draw_candidate(&jpeg, at, i + n, bytes, len);

				tried[kind]++;
				if (coded_may_follow(coded, bytes, (uint32_t)len))
					continue;
				cr_expect(kind || !valid, "seed %llu: the rest is refused",
					(unsigned long long)i);
				refused[kind]++;
				expect_refused(&jpeg, at, bytes, len, i);
			}
		}
		view_free(view);
		view_free(saving);
		free(jpeg.data);
	}
	free(coded);
	cr_assert_gt(described, cases / 4, "%llu", (unsigned long long)described);
	cr_assert_gt(refused[3], tried[3] * 3 / 4, "%llu of %llu", (unsigned long long)refused[3],
		(unsigned long long)tried[3]);
}

/* What is after the joint in a picture of 32 x 32 blocks. */
struct after_joint {
	int jump;         /* of brightness */
	unsigned columns; /* by which the detail is moved */
	bool is_flat;     /* all of the picture: no detail */
	unsigned until;   /* the block from which on the detail is moved once more */
};

/* Of a column, which all rows have. */
static int32_t detail_of(unsigned column)
{
	return (int32_t)((column * column * 61 + column * 29) % 251) - 125;
}

static void put_value(struct maker *m, int32_t value, uint8_t size)
{
	put(m, (uint32_t)(value < 0 ? value + (1 << size) - 1 : value), size);
}

static uint8_t size_of(int32_t value)
{
	uint8_t size = 0;

	while (abs(value) >> size)
		size++;
	return size;
}

/* A picture whose brightness changes a little from row to row, with detail of 32 columns; *at: the offset of its 700th block, the
 * joint; *end: that of after->until. */
static struct bytes make_gradient(const struct after_joint *after, uint64_t *at, uint64_t *end)
{
	struct maker m = { .components = 1, .width = 256, .height = 256, .h = { 1 }, .v = { 1 } };
	static const uint8_t sizes[] = { 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11 };
	uint8_t head[6] = { 1, 1, 0, 0, 63, 0 };
	int32_t dc = 0;

	random_state = 1;
	put_frame(&m);
	make_table(&m.tables[0][0], sizes, 12);
	make_table(&m.tables[1][0], sizes, 9);
	add_table(&m, 0, 0);
	add_table(&m, 1, 0);
	add_segment(&m, JPEG_SOS, head, 6);
	for (unsigned i = 0; i < 1024; i++) {
		unsigned moved = i < 700 ? 0 : i < after->until ? after->columns : 16;
		int32_t value =
			(int32_t)i / 32 * 20 + (int32_t)draw(8) - 320 + (i < 700 ? 0 : after->jump);
		int32_t detail = after->is_flat ? 0 : detail_of((i + moved) % 32);

		if (i == 700)
			*at = m.jpeg.len;
		if (i == after->until)
			*end = m.jpeg.len;
		put_code(&m, &m.tables[0][0], size_of(value - dc));
		put_value(&m, value - dc, size_of(value - dc));
		if (detail) {
			put_code(&m, &m.tables[1][0], size_of(detail));
			put_value(&m, detail, size_of(detail));
		}
		put_code(&m, &m.tables[1][0], 0);
		dc = value;
	}
	flush(&m);
	bytes_add(&m.jpeg, "\xff\xd9", 2);
	free(m.history[0]);
	return m.jpeg;
}

/* The last bytes of a picture's coded data, then as many of `fill`, and in them the marker FF `code`. */
static bool may_end(const struct bytes *jpeg, const struct carve_coded *coded, size_t at,
	uint8_t fill, size_t marker_at, uint8_t code)
{
	_Alignas(4) uint8_t bytes[1024];
	size_t rest = jpeg->len - 2 - at;

	memset(bytes, fill, sizeof(bytes));
	memcpy(bytes, jpeg->data + at, rest);
	bytes[rest + marker_at] = 0xff;
	bytes[rest + marker_at + 1] = code;
	return coded_may_follow(coded, bytes, sizeof(bytes));
}

Test(jpeg_pieces, a_scan_ends_with_a_marker)
{
	struct carve_coded coded = { .begins = false };
	static const struct after_joint same = { .is_flat = true, .until = UINT32_MAX };
	uint64_t unused;
	struct bytes jpeg = make_gradient(&same, &unused, &unused);
	size_t at = jpeg.len - 20;
	struct view *view = view_new_memory(jpeg.data, at);

	cr_assert(carver_find("jpeg")->coded(view, NULL, &coded));
	cr_expect(may_end(&jpeg, &coded, at, 0x55, 0, JPEG_EOI));
	cr_expect(may_end(&jpeg, &coded, at, 0x55, 300, JPEG_SOS), "some bytes may be before it");
	cr_expect_not(may_end(&jpeg, &coded, at, 0x55, 300, 0xff),
		"FF may be repeated, but 55 is no code");
	cr_expect_not(may_end(&jpeg, &coded, at, 0x55, 300, 0), "that is no marker");
	cr_expect_not(may_end(&jpeg, &coded, at, 0x55, 700, JPEG_EOI), "too far");
	cr_expect_not(may_end(&jpeg, &coded, at, 0x55, 0, 0x55), "no marker of a JPEG");
	view_free(view);
	free(jpeg.data);
}

/* The bits of a joint, and of the same up to after->until. */
static unsigned joint_bits(const struct after_joint *after, unsigned *until)
{
	uint64_t at = 0, end = UINT64_MAX;
	struct bytes jpeg = make_gradient(after, &at, &end);
	struct view *view = view_new_memory(jpeg.data, jpeg.len);
	const struct carver *carver = carver_find("jpeg");
	unsigned bits = carver->joint(view, at, UINT64_MAX);

	expect("jpeg", &jpeg, CARVE_COMPLETE, jpeg.len, NULL);
	*until = carver->joint(view, at, end);
	cr_expect_eq(carver->joint(view, jpeg.len, UINT64_MAX), 0, "nothing is after it");
	view_free(view);
	view = view_new_memory(jpeg.data, at - 20);
	cr_expect_eq(carver->joint(view, at, UINT64_MAX), 0, "nor here");
	view_free(view);
	free(jpeg.data);
	return bits;
}

Test(jpeg_pieces, sees_joints_that_do_not_fit)
{
	static const struct after_joint fits = { .until = UINT32_MAX }, others[] = {
		{ .jump = 400, .until = UINT32_MAX }, { .jump = -400, .until = UINT32_MAX },
		{ .columns = 1, .until = UINT32_MAX }, { .is_flat = true, .until = UINT32_MAX }
	};
	unsigned until;

	cr_expect_geq(joint_bits(&fits, &until), 12);
	for (size_t i = 0; i < sizeof(others) / sizeof(*others); i++)
		cr_expect_eq(joint_bits(&others[i], &until), 0, "case %zu", i);
}

Test(jpeg_pieces, compares_up_to_the_next_joint)
{
	static const struct after_joint after = { .until = 716 }, few = { .until = 705 };
	unsigned until;

	cr_expect_lt(joint_bits(&after, &until), 12, "half of the row is another piece's");
	cr_expect_geq(until, 8, "%u", until);
	joint_bits(&few, &until);
	cr_expect_eq(until, 0, "five blocks are too few");
}
