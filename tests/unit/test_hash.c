#include <criterion/criterion.h>

#include "hashing/hash.h"

#include <errno.h>
#include <string.h>

#define ALL (HASH_MD5 | HASH_SHA1 | HASH_SHA256)

/* RFC 1321, FIPS 180. */
static const struct {
	const char *text, *md5, *sha1, *sha256;
} known[] = {
	{ "", "d41d8cd98f00b204e9800998ecf8427e", "da39a3ee5e6b4b0d3255bfef95601890afd80709",
		"e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855" },
	{ "abc", "900150983cd24fb0d6963f7d28e17f72", "a9993e364706816aba3e25717850c26c9cd0d89d",
		"ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad" },
};

Test(hash, known_digests)
{
	struct hasher *hasher = hasher_new(ALL);
	struct hashes hashes;

	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
		hasher_reset(hasher);
		hasher_update(hasher, known[i].text, strlen(known[i].text));
		hasher_finish(hasher, &hashes);
		cr_expect_str_eq(hashes.md5, known[i].md5);
		cr_expect_str_eq(hashes.sha1, known[i].sha1);
		cr_expect_str_eq(hashes.sha256, known[i].sha256);
	}
	hasher_free(hasher);
}

Test(hash, million_of_a_in_odd_pieces)
{
	struct hasher *hasher = hasher_new(ALL);
	struct hashes hashes;
	char piece[977];
	size_t left = 1000000;

	memset(piece, 'a', sizeof(piece));
	hasher_update(hasher, "not part of it", 14);
	hasher_reset(hasher);
	for (size_t step; left; left -= step) {
		step = left < sizeof(piece) ? left : sizeof(piece) - left % 5;
		hasher_update(hasher, piece, step);
	}
	hasher_finish(hasher, &hashes);
	hasher_free(hasher);
	cr_expect_str_eq(hashes.md5, "7707d6ae4e027c70eea2a935c2296f21");
	cr_expect_str_eq(hashes.sha1, "34aa973cd4c4daa4f61eeb2bdbad27316534016f");
	cr_expect_str_eq(
		hashes.sha256, "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

Test(hash, only_what_was_asked_for)
{
	for (uint32_t mask = 0; mask <= ALL; mask++) {
		struct hasher *hasher = hasher_new(mask);
		struct hashes hashes;

		memset(&hashes, 'x', sizeof(hashes));
		hasher_update(hasher, "abc", 3);
		hasher_finish(hasher, &hashes);
		hasher_free(hasher);
		cr_expect_str_eq(hashes.md5, mask & HASH_MD5 ? known[1].md5 : "");
		cr_expect_str_eq(hashes.sha1, mask & HASH_SHA1 ? known[1].sha1 : "");
		cr_expect_str_eq(hashes.sha256, mask & HASH_SHA256 ? known[1].sha256 : "");
	}
	hasher_free(NULL);
}

Test(hash, mask_from_text)
{
	uint32_t mask = 99;
	struct error error = { 0 };

	cr_expect_eq(hash_mask_parse("none", &mask, &error), 0);
	cr_expect_eq(mask, 0);
	cr_expect_eq(hash_mask_parse("sha256", &mask, &error), 0);
	cr_expect_eq(mask, HASH_SHA256);
	cr_expect_eq(hash_mask_parse("sha1,md5", &mask, &error), 0);
	cr_expect_eq(mask, HASH_SHA1 | HASH_MD5);
	cr_expect_eq(hash_mask_parse("md5,sha1,sha256,md5", &mask, &error), 0);
	cr_expect_eq(mask, ALL);
	cr_expect_eq(error.code, 0, "untouched on success");
}

Test(hash, mask_errors_name_what_is_known)
{
	static const char *const bad[] = { "", "sha512", "md5,", ",md5", "md5,none", "MD5", "md5 ",
		"sha", "md5;sha1" };

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		struct error error = { 0 };
		uint32_t mask = 77;

		cr_expect_eq(hash_mask_parse(bad[i], &mask, &error), -EINVAL, "'%s'", bad[i]);
		cr_expect_eq(mask, 77, "'%s' must leave the mask alone", bad[i]);
		cr_expect_eq(error.code, EXIT_USAGE);
		cr_expect_not_null(strstr(error.text, "md5, sha1 and sha256"), "%s", error.text);
	}
	cr_expect_eq(hash_mask_parse("sha512", &(uint32_t){ 0 }, NULL), -EINVAL);
}
