/* What checks of PDF do where pieces are put together. */
#include <zlib.h>

#include "carver_case.h"
#include "memory_image.h"

enum { STREAMS = 12, STREAM_LEN = 3000, CLUSTER = 512 };

static void print(struct bytes *bytes, const char *text, size_t number)
{
	char line[128];

	bytes_add(bytes, line, (size_t)snprintf(line, sizeof(line), text, number));
}

/* The content in ASCII85. */
static struct bytes in_ascii(const uint8_t *data, size_t len)
{
	struct bytes text = { 0 };

	for (size_t i = 0; i < len; i += 4) {
		size_t count = len - i < 4 ? len - i : 4;
		uint32_t value = 0;
		uint8_t digits[5];

		for (size_t n = 0; n < 4; n++)
			value = value << 8 | (n < count ? data[i + n] : 0);
		for (int n = 4; n >= 0; n--, value /= 85)
			digits[n] = (uint8_t)('!' + value % 85);
		bytes_add(&text, digits, count + 1);
		if (i % 60 == 0)
			bytes_add(&text, "\n", 1);
	}
	bytes_add(&text, "~>", 2);
	return text;
}

/* A document of deflated streams, whose lengths are objects of their own. */
static struct bytes document(bool ascii)
{
	size_t places[2 * STREAMS];
	struct bytes bytes = { 0 };

	bytes_add(&bytes, "%PDF-1.4\n", 9);
	for (size_t i = 0; i < STREAMS; i++) {
		struct bytes content = { 0 }, text;
		uint8_t data[2 * STREAM_LEN];
		uLongf len = sizeof(data);

		bytes_add_random(&content, i + 1, STREAM_LEN);
		cr_assert_eq(compress2(data, &len, content.data, content.len, 1), Z_OK);
		places[2 * i] = bytes.len;
		print(&bytes, "%zu 0 obj\n", 2 * i + 1);
		print(&bytes,
			ascii ? "<< /Length %zu 0 R /Filter [/ASCII85Decode /FlateDecode] >>\n"
			      : "<< /Length %zu 0 R /Filter /FlateDecode >>\n",
			2 * i + 2);
		bytes_add(&bytes, "stream\n", 7);
		text = in_ascii(data, len);
		bytes_add(&bytes, ascii ? text.data : data, ascii ? text.len : len);
		bytes_add(&bytes, "\nendstream\nendobj\n", 18);
		places[2 * i + 1] = bytes.len;
		print(&bytes, "%zu 0 obj\n", 2 * i + 2);
		print(&bytes, "%zu\nendobj\n", ascii ? text.len : len);
		free(content.data);
		free(text.data);
	}
	print(&bytes, "xref\n0 1\n0000000000 65535 f \n1 %zu\n", 2 * STREAMS);
	for (size_t i = 0; i < 2 * STREAMS; i++)
		print(&bytes, "%010zu 00000 n \n", places[i]);
	print(&bytes, "trailer\n<< /Size %zu >>\nstartxref\n", 2 * STREAMS + 1);
	print(&bytes, "%zu\n%%%%EOF\n",
		places[2 * STREAMS - 1] + strlen("24 0 obj\n3011\nendobj\n"));
	return bytes;
}

/* With other bytes from `at` on for a cluster. */
static struct bytes damaged(const struct bytes *whole, size_t at, uint64_t seed)
{
	struct bytes bytes = { 0 }, other = { 0 };

	bytes_add(&bytes, whole->data, whole->len);
	bytes_add_random(&other, seed, CLUSTER);
	memcpy(bytes.data + at, other.data, CLUSTER);
	free(other.data);
	return bytes;
}

static enum verdict try(const struct bytes *bytes, const struct carve_state *from,
	struct finding *found, uint64_t *work)
{
	const struct carver *carver = carver_find("pdf");
	struct view *view = view_new_memory(bytes->data, bytes->len);
	enum verdict verdict;

	memset(found, 0, sizeof(*found));
	view_set_trial(view, true);
	view_set_thorough(view, !from);
	verdict = from ? carver->resume(view, from, found) : carver->check(view, found);
	*work = view_starts_over(view) ? UINT64_MAX : view_work_done(view);
	view_free(view);
	return verdict;
}

Test(carver_pdf, a_check_from_a_state_ends_as_one_from_the_beginning)
{
	struct bytes whole = document(false);
	struct view *saving = view_new_memory(whole.data, whole.len);
	struct finding found = { 0 }, rest;
	uint64_t work, less;

	view_keep_states(saving, CLUSTER);
	cr_assert_eq(carver_find("pdf")->check(saving, &found), CARVE_COMPLETE, "%s", found.why);
	for (size_t at = 2 * STREAM_LEN; at + CLUSTER < whole.len; at += CLUSTER) {
		const struct carve_state *state = view_state_before(saving, at);
		struct bytes bytes = damaged(&whole, at, at);
		enum verdict verdict = try(&bytes, NULL, &found, &work);

		cr_assert_not_null(state);
		cr_expect_eq(try(&bytes, state, &rest, &less), verdict, "at %zu", at);
		cr_expect_eq(rest.length, found.length, "at %zu: %s, %s", at, rest.why, found.why);
		cr_expect_lt(less, work, "at %zu", at);
		cr_expect_leq(found.length, at + 2 * STREAM_LEN);
		free(bytes.data);
	}
	/* What the cross-references say needs all objects. */
	try(&whole, view_state_before(saving, whole.len / 2), &rest, &less);
	cr_expect_eq(less, UINT64_MAX);
	view_free(saving);
	free(whole.data);
}

/* Where the length is not in the dictionary, a search for the end would go on over all that follows. */
Test(carver_pdf, a_stream_that_breaks_off_is_not_searched_for_its_end)
{
	struct bytes whole = document(false), bytes = damaged(&whole, 4 * STREAM_LEN, 1);
	struct finding found;
	uint64_t work;

	bytes.len = 5 * STREAM_LEN;
	bytes_fill(&bytes, 'x', 8 << 20);
	cr_expect_eq(try(&bytes, NULL, &found, &work), CARVE_TRUNCATED);
	cr_expect_geq(found.length, 4 * STREAM_LEN);
	cr_expect_leq(found.length, 4 * STREAM_LEN + CLUSTER);
	cr_expect_lt(work, 30 * STREAM_LEN, "%llu", (unsigned long long)work);
	free(bytes.data);
	free(whole.data);
}

/* The proof of a joint at `at`, where the cluster after it may be wrong. */
static unsigned proof_of(const struct bytes *bytes, size_t at)
{
	const struct range runs[] = { { 0, at }, { at, bytes->len - at } };
	struct memory_image evidence = MEMORY_IMAGE(bytes->data, bytes->len);
	struct view *view = view_new();
	struct finding found = { 0 };
	unsigned bits = 0;

	view_point_runs(view, &evidence.image, runs, 2, bytes->len);
	view_set_thorough(view, true);
	if (carver_find("pdf")->check(view, &found) == CARVE_COMPLETE)
		bits = view_proof(view, at);
	view_free(view);
	return bits;
}

Test(carver_pdf, checksums_of_data_in_characters_prove_a_joint)
{
	struct bytes whole = document(true), bytes = damaged(&whole, 4 * STREAM_LEN, 1), other;
	struct finding found;
	uint64_t work;

	cr_expect_eq(proof_of(&whole, 4 * STREAM_LEN), 32);
	cr_expect_eq(proof_of(&bytes, 4 * STREAM_LEN), 0);
	cr_expect_eq(try(&bytes, NULL, &found, &work), CARVE_TRUNCATED);
	cr_expect_leq(found.length, 4 * STREAM_LEN + CLUSTER);
	/* Characters that may be there. */
	other = damaged(&whole, 0, 1);
	memcpy(other.data, whole.data, CLUSTER);
	memset(other.data + 4 * STREAM_LEN, 'a', 5);
	cr_expect_eq(proof_of(&other, 4 * STREAM_LEN), 0);
	free(other.data);
	free(bytes.data);
	free(whole.data);
}
