/* Signed Mach-O files in pieces. */
#include "bytes.h"
#include "joints_case.h"
#include "sha1.h"
#include "sha256.h"

enum { PAGE = 4096, PAGES = 8, CODE_LEN = PAGES * PAGE - 100, SIGNATURE_LEN = 1024 };
enum { DIRECTORY_AT = 28, HASHES_AT = 64, FAT_AT = 16384 };

static void put_be(uint8_t *p, uint64_t value)
{
	for (int i = 0; i < 4; i++)
		p[i] = (uint8_t)(value >> 8 * (3 - i));
}

/* A program of that many pages with the hashes of all of them, by SHA-1 or SHA-256; `seed` differs by its code. */
static struct bytes program(bool is_sha1, uint64_t seed)
{
	struct bytes made = { 0 };
	uint8_t *p, *signature, *directory;
	size_t digest_len = is_sha1 ? SHA1_LEN : SHA256_LEN;

	bytes_add_random(&made, seed, CODE_LEN);
	bytes_fill(&made, 0, SIGNATURE_LEN);
	p = made.data;
	memset(p, 0, 256);
	put_le(p, 0xfeedfacf, 4);
	put_le(p + 4, 0x01000007, 4);
	put_le(p + 12, 2, 4);
	put_le(p + 16, 2, 4);
	put_le(p + 20, 72 + 16, 4);
	put_le(p + 32, 0x19, 4);
	put_le(p + 36, 72, 4);
	put_le(p + 32 + 48, CODE_LEN, 8);
	put_le(p + 104, 0x1d, 4);
	put_le(p + 108, 16, 4);
	put_le(p + 112, CODE_LEN, 4);
	put_le(p + 116, SIGNATURE_LEN, 4);
	signature = p + CODE_LEN;
	put_be(signature, 0xfade0cc0);
	put_be(signature + 4, DIRECTORY_AT + HASHES_AT + PAGES * digest_len);
	put_be(signature + 8, 1);
	put_be(signature + 16, DIRECTORY_AT);
	directory = signature + DIRECTORY_AT;
	put_be(directory, 0xfade0c02);
	put_be(directory + 4, HASHES_AT + PAGES * digest_len);
	put_be(directory + 8, 0x20001);
	put_be(directory + 16, HASHES_AT);
	put_be(directory + 28, PAGES);
	put_be(directory + 32, CODE_LEN);
	directory[36] = (uint8_t)digest_len;
	directory[37] = is_sha1 ? 1 : 2;
	directory[39] = 12;
	for (size_t i = 0; i < PAGES; i++) {
		size_t len = i + 1 < PAGES ? PAGE : CODE_LEN % PAGE;
		uint8_t *hash = directory + HASHES_AT + i * digest_len;

		if (is_sha1)
			sha1_of_bytes(p + i * PAGE, len, hash);
		else
			sha256_of_bytes(p + i * PAGE, len, hash);
	}
	return made;
}

static enum verdict check_thoroughly(const struct bytes *bytes, struct finding *found)
{
	return carve_thoroughly("macho", bytes->data, bytes->len, found);
}

/* FIPS 180-4's examples, and one whose padding needs a block of its own. */
Test(carver_macho, digests)
{
	static const uint8_t abc1[] = { 0xa9, 0x99, 0x3e, 0x36, 0x47, 0x06, 0x81, 0x6a, 0xba, 0x3e,
		0x25, 0x71, 0x78, 0x50, 0xc2, 0x6c, 0x9c, 0xd0, 0xd8, 0x9d };
	static const uint8_t abc2[] = { 0xba, 0x78, 0x16, 0xbf, 0x8f, 0x01, 0xcf, 0xea, 0x41, 0x41,
		0x40, 0xde, 0x5d, 0xae, 0x22, 0x23, 0xb0, 0x03, 0x61, 0xa3, 0x96, 0x17, 0x7a, 0x9c,
		0xb4, 0x10, 0xff, 0x61, 0xf2, 0x00, 0x15, 0xad };
	static const uint8_t long2[] = { 0x24, 0x8d, 0x6a, 0x61, 0xd2, 0x06, 0x38, 0xb8, 0xe5, 0xc0,
		0x26, 0x93, 0x0c, 0x3e, 0x60, 0x39, 0xa3, 0x3c, 0xe4, 0x59, 0x64, 0xff, 0x21, 0x67,
		0xf6, 0xec, 0xed, 0xd4, 0x19, 0xdb, 0x06, 0xc1 };
	static const char text[] = "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq";
	uint8_t digest[SHA256_LEN];

	sha1_of_bytes((const uint8_t *)"abc", 3, digest);
	cr_expect_arr_eq(digest, abc1, sizeof(abc1));
	sha256_of_bytes((const uint8_t *)"abc", 3, digest);
	cr_expect_arr_eq(digest, abc2, sizeof(abc2));
	sha256_of_bytes((const uint8_t *)text, 56, digest);
	cr_expect_arr_eq(digest, long2, sizeof(long2));
}

Test(carver_macho, hashes_of_pages_are_checked)
{
	for (int is_sha1 = 0; is_sha1 < 2; is_sha1++) {
		struct bytes bytes = program(is_sha1, 3);
		struct finding found;

		expect("macho", &bytes, CARVE_COMPLETE, bytes.len, NULL);
		bytes.data[5 * PAGE + 99] ^= 1;
		expect("macho", &bytes, CARVE_UNVERIFIED, bytes.len,
			"another hash of the page at 20480");
		cr_expect_eq(check_thoroughly(&bytes, &found), CARVE_TRUNCATED);
		cr_expect_eq(found.length, 5 * PAGE);
		free(bytes.data);
	}
}

Test(carver_macho, hashes_prove_joints)
{
	struct bytes bytes = program(false, 3);
	uint64_t joints[] = { PAGE, 3 * PAGE + 512, CODE_LEN + DIRECTORY_AT + HASHES_AT + 40,
		CODE_LEN + SIGNATURE_LEN - 100 };
	unsigned bits[4];

	cr_assert_eq(prove_joints("macho", &bytes, joints, 4, true, bits), CARVE_COMPLETE);
	for (int i = 0; i < 3; i++)
		cr_expect_eq(bits[i], 64, "%u", bits[i]);
	cr_expect_eq(bits[3], 0); /* among zeros after the hashes */
	free(bytes.data);
}

/* Two programs in one file, of which the second begins at FAT_AT. */
static struct bytes universal(void)
{
	struct bytes first = program(true, 3), second = program(false, 8), made = { 0 };
	uint64_t second_at = FAT_AT + (CODE_LEN + SIGNATURE_LEN + FAT_AT - 1) / FAT_AT * FAT_AT;

	bytes_fill(&made, 0, second_at);
	put_be(made.data, 0xcafebabe);
	put_be(made.data + 4, 2);
	put_be(made.data + 16, FAT_AT);
	put_be(made.data + 20, first.len);
	put_be(made.data + 36, second_at);
	put_be(made.data + 40, second.len);
	memcpy(made.data + FAT_AT, first.data, first.len);
	bytes_add(&made, second.data, second.len);
	free(first.data);
	free(second.data);
	return made;
}

struct known {
	uint64_t length, number;
	bool is_whole;
};

static void *begin(const struct bytes *bytes, struct known *known)
{
	struct view *view = view_new_memory(bytes->data, bytes->len);
	void *places = carver_find("macho")->places->begin(
		view, &known->length, &known->is_whole, &known->number);

	view_free(view);
	return places;
}

/* The cluster with this number is likeliest where it is, and unlikely elsewhere if there are hashes. */
static void expect_place(const void *places, const struct bytes *bytes, size_t cluster, size_t len)
{
	size_t count = (bytes->len + len - 1) / len;
	uint8_t *copy = calloc(1, len);
	int *bits = calloc(count, sizeof(*bits));
	size_t at = cluster * len;

	memcpy(copy, bytes->data + at, bytes->len - at < len ? bytes->len - at : len);
	carver_find("macho")->places->ask(places, 0, count, copy, len, bits);
	for (size_t i = 0; i < count; i++)
		if (i != cluster)
			cr_expect_lt(bits[i], bits[cluster], "%zu at %zu: %d, %d", cluster, i,
				bits[i], bits[cluster]);
	cr_expect_gt(bits[cluster], 200, "%zu: %d", cluster, bits[cluster]);
	free(bits);
	free(copy);
}

Test(carver_macho, clusters_have_their_places)
{
	for (size_t len = PAGE; len <= 2 * PAGE; len *= 2) {
		struct bytes bytes = program(false, 3);
		struct known known, before;
		void *places = begin(&bytes, &known);

		cr_assert_not_null(places);
		cr_expect_eq(known.length, bytes.len);
		cr_expect(known.is_whole);
		for (size_t i = 0; i < bytes.len / len; i++)
			expect_place(places, &bytes, i, len);
		carver_find("macho")->places->end(places);
		/* Before the signature is found, only that is known. */
		memset(bytes.data + CODE_LEN, 7, SIGNATURE_LEN);
		places = begin(&bytes, &before);
		cr_assert_not_null(places);
		cr_expect_not(before.is_whole);
		cr_expect_eq(before.length, bytes.len);
		cr_expect_neq(before.number, known.number);
		free(bytes.data);
		bytes = program(false, 3);
		expect_place(places, &bytes, CODE_LEN / len, len);
		carver_find("macho")->places->end(places);
		free(bytes.data);
	}
}

Test(carver_macho, clusters_of_universal_files_have_their_places)
{
	struct bytes bytes = universal();
	struct known known;
	void *places;

	expect("macho", &bytes, CARVE_COMPLETE, bytes.len, NULL);
	places = begin(&bytes, &known);
	cr_assert_not_null(places);
	cr_expect(known.is_whole);
	cr_expect_eq(known.length, bytes.len);
	for (size_t i = 0; i < PAGES; i++) {
		expect_place(places, &bytes, FAT_AT / PAGE + i, PAGE);
		expect_place(places, &bytes, bytes.len / PAGE - PAGES + i, PAGE);
	}
	carver_find("macho")->places->end(places);
	free(bytes.data);
}

Test(carver_macho, nothing_is_known_without_a_signature)
{
	struct bytes bytes = program(false, 3);
	struct known known;

	put_le(bytes.data + 104, 0x26, 4);
	cr_expect_null(begin(&bytes, &known));
	free(bytes.data);
}
