/* What metafiles in pieces have to agree with, which those in one piece need not. */
#include "carver_case.h"
#include "carve/view.h"

enum { WMF_HEAD = 18, EMF_HEAD = 88 };

static void set(struct bytes *bytes, uint64_t at, uint32_t value)
{
	for (int i = 0; i < 4; i++)
		bytes->data[at + (uint64_t)i] = (uint8_t)(value >> 8 * i);
}

static enum verdict check(
	const char *name, const struct bytes *bytes, bool thorough, struct finding *found)
{
	struct view *view = view_new_memory(bytes->data, bytes->len);
	enum verdict verdict;

	*found = (struct finding){ 0 };
	view_set_thorough(view, thorough);
	verdict = carver_find(name)->check(view, found);
	view_free(view);
	return verdict;
}

/* In one piece it is complete; in pieces it ends at `at`, or is complete, too: 0. Frees it. */
static void expect_ends(const char *name, struct bytes *bytes, uint64_t at)
{
	struct finding found;
	enum verdict verdict;

	cr_expect_eq(check(name, bytes, false, &found), CARVE_COMPLETE, "%s", found.why);
	cr_expect_eq(found.length, bytes->len);
	verdict = check(name, bytes, true, &found);
	cr_expect_eq(verdict, at ? CARVE_TRUNCATED : CARVE_COMPLETE, "%s", found.why);
	cr_expect_eq(found.length, at ? at : bytes->len, "%s", found.why);
	free(bytes->data);
}

/* ---- Windows metafiles ---------------------------------------------------------------------- */

/* A record with one number, and zeros. Returns where it is. */
static uint64_t add(struct bytes *bytes, unsigned function, unsigned words, unsigned number)
{
	uint64_t at = bytes->len;

	bytes_add_le(bytes, words, 4);
	bytes_add_le(bytes, function, 2);
	bytes_fill(bytes, 0, 2 * (size_t)words - 6);
	if (words > 3)
		bytes->data[at + 6] = (uint8_t)number;
	return at;
}

/* Two objects, of which one is selected, and some lines. */
static struct bytes open_wmf(void)
{
	struct bytes bytes = { 0 };

	bytes_fill(&bytes, 0, WMF_HEAD);
	set(&bytes, 0, 0x00090001);
	set(&bytes, 4, 0x0300);
	bytes.data[10] = 3;
	add(&bytes, 0x02fa, 8, 0);
	add(&bytes, 0x02fc, 7, 0);
	add(&bytes, 0x012d, 4, 1);
	add(&bytes, 0x0325, 4 + 2 * 5, 5);
	add(&bytes, 0x0102, 5, 1);
	return bytes;
}

static struct bytes close_wmf(struct bytes bytes)
{
	add(&bytes, 0, 3, 0);
	set(&bytes, 6, (uint32_t)bytes.len / 2);
	return bytes;
}

Test(metafiles, words_of_records)
{
	struct bytes bytes = close_wmf(open_wmf());
	uint64_t at;

	expect_ends("wmf", &bytes, 0);
	bytes = open_wmf();
	at = add(&bytes, 0x0213, 9, 0); /* to a point */
	bytes = close_wmf(bytes);
	expect_ends("wmf", &bytes, at);
	bytes = open_wmf();
	at = add(&bytes, 0x0324, 4 + 2 * 5, 6);
	bytes = close_wmf(bytes);
	expect_ends("wmf", &bytes, at);
	/* Two polygons with three points. */
	bytes = open_wmf();
	at = add(&bytes, 0x0538, 4 + 2 + 2 * 3, 2);
	bytes.data[at + 8] = 1;
	bytes.data[at + 10] = 2;
	bytes = close_wmf(bytes);
	expect_ends("wmf", &bytes, 0);
	bytes = open_wmf();
	at = add(&bytes, 0x0538, 4 + 2 + 2 * 3, 2);
	bytes.data[at + 8] = 1;
	bytes.data[at + 10] = 1;
	bytes = close_wmf(bytes);
	expect_ends("wmf", &bytes, at);
}

Test(metafiles, objects_of_records)
{
	struct bytes bytes = open_wmf();
	uint64_t at;

	at = add(&bytes, 0x012d, 4, 2);
	bytes = close_wmf(bytes);
	expect_ends("wmf", &bytes, at);
	/* What is deleted is free again. */
	bytes = open_wmf();
	add(&bytes, 0x01f0, 4, 0);
	add(&bytes, 0x02fa, 8, 0);
	add(&bytes, 0x012d, 4, 0);
	bytes = close_wmf(bytes);
	expect_ends("wmf", &bytes, 0);
	bytes = open_wmf();
	add(&bytes, 0x02fb, 12, 0);
	at = add(&bytes, 0x02fb, 12, 0); /* the header says three */
	bytes = close_wmf(bytes);
	expect_ends("wmf", &bytes, at);
}

Test(metafiles, the_headers_size)
{
	struct bytes bytes = close_wmf(open_wmf());
	struct finding found;

	set(&bytes, 6, (uint32_t)bytes.len / 2 + 1);
	cr_expect_eq(check("wmf", &bytes, false, &found), CARVE_COMPLETE);
	cr_expect_eq(check("wmf", &bytes, true, &found), CARVE_UNVERIFIED);
	set(&bytes, 6, (uint32_t)bytes.len / 2 + 11); /* with the placeable head's bytes */
	expect_ends("wmf", &bytes, 0);
}

/* ---- enhanced metafiles --------------------------------------------------------------------- */

static uint64_t add_emf(struct bytes *bytes, unsigned type, unsigned len, unsigned number)
{
	uint64_t at = bytes->len;

	bytes_add_le(bytes, type, 4);
	bytes_add_le(bytes, len, 4);
	bytes_fill(bytes, 0, len - 8);
	if (len >= 12)
		set(bytes, at + 8, number);
	set(bytes, 52, bytes->data[52] + 1u);
	return at;
}

static struct bytes open_emf(void)
{
	struct bytes bytes = { 0 };

	bytes_fill(&bytes, 0, EMF_HEAD);
	set(&bytes, 0, 1);
	set(&bytes, 4, EMF_HEAD);
	memcpy(bytes.data + 40, " EMF", 4);
	set(&bytes, 52, 1);
	bytes.data[56] = 3;
	add_emf(&bytes, 38, 28, 1);
	add_emf(&bytes, 37, 12, 1);
	add_emf(&bytes, 37, 12, 0x80000007); /* one that is there anyway */
	add_emf(&bytes, 17, 12, 8);
	return bytes;
}

static struct bytes close_emf(struct bytes bytes)
{
	add_emf(&bytes, 14, 20, 0);
	set(&bytes, 48, (uint32_t)bytes.len);
	return bytes;
}

Test(metafiles, enhanced_ones)
{
	struct bytes bytes = close_emf(open_emf());
	struct finding found;
	uint64_t at;

	expect_ends("emf", &bytes, 0);
	bytes = open_emf();
	at = add_emf(&bytes, 54, 24, 0); /* to a point */
	bytes = close_emf(bytes);
	expect_ends("emf", &bytes, at);
	bytes = open_emf();
	at = add_emf(&bytes, 87, 28 + 4 * 5, 0);
	set(&bytes, at + 24, 5);
	bytes = close_emf(bytes);
	expect_ends("emf", &bytes, 0);
	bytes = open_emf();
	at = add_emf(&bytes, 87, 28 + 4 * 5, 0);
	set(&bytes, at + 24, 6);
	bytes = close_emf(bytes);
	expect_ends("emf", &bytes, at);
	bytes = open_emf();
	at = add_emf(&bytes, 37, 12, 2);
	bytes = close_emf(bytes);
	expect_ends("emf", &bytes, at);
	bytes = open_emf();
	at = add_emf(&bytes, 39, 24, 1); /* which a pen has */
	bytes = close_emf(bytes);
	expect_ends("emf", &bytes, at);
	bytes = close_emf(open_emf());
	set(&bytes, 52, bytes.data[52] + 1u);
	cr_expect_eq(check("emf", &bytes, false, &found), CARVE_COMPLETE);
	cr_expect_eq(check("emf", &bytes, true, &found), CARVE_UNVERIFIED);
	free(bytes.data);
}
