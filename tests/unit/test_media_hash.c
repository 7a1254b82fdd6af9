/* Hashing evidence in threads: digests, order, waiting, stopping in the middle, and the verdict. */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "hashing/media_hash.h"
#include "report/record.h"

#define ALL (HASH_MD5 | HASH_SHA1 | HASH_SHA256)
#define LEN ((size_t)3 << 20)

static uint8_t *make_bytes(void)
{
	uint8_t *bytes = malloc(LEN);

	for (size_t i = 0; i < LEN; i++)
		bytes[i] = (uint8_t)(i * 2654435761u >> 13);
	return bytes;
}

static struct hashes plain_hashes(const uint8_t *bytes, size_t len)
{
	struct hasher *hasher = hasher_new(ALL);
	struct hashes hashes;

	hasher_update(hasher, bytes, len);
	hasher_finish(hasher, &hashes);
	hasher_free(hasher);
	return hashes;
}

static void expect_same(uint32_t mask, unsigned capacity, bool spare, size_t piece_len)
{
	struct media_hash *hash = media_hash_new(mask, capacity, spare);
	uint8_t *bytes = make_bytes();
	struct hashes expected = plain_hashes(bytes, LEN), hashes;
	uint64_t given = 0;

	cr_assert_not_null(hash);
	for (size_t at = 0; at < LEN; at += piece_len, given++) {
		if (given >= capacity)
			media_hash_await(hash, given - capacity);
		cr_assert_leq(given - media_hash_done(hash), capacity);
		media_hash_add(hash, bytes + at, LEN - at < piece_len ? LEN - at : piece_len);
	}
	media_hash_finish(hash, &hashes);
	cr_expect_eq(media_hash_done(hash), given);
	cr_expect_str_eq(hashes.md5, mask & HASH_MD5 ? expected.md5 : "");
	cr_expect_str_eq(hashes.sha1, mask & HASH_SHA1 ? expected.sha1 : "");
	cr_expect_str_eq(hashes.sha256, mask & HASH_SHA256 ? expected.sha256 : "");
	media_hash_free(hash);
	free(bytes);
}

Test(media_hash, digests_are_those_of_the_whole)
{
	expect_same(ALL, 4, false, 100001);
	expect_same(HASH_SHA1, 1, false, LEN);
	expect_same(HASH_MD5 | HASH_SHA256, 2, true, 1 << 20);
	expect_same(HASH_SHA256, 3, false, 4097);
}

Test(media_hash, nothing_given_is_the_empty_message)
{
	struct media_hash *hash = media_hash_new(HASH_MD5, 2, false);
	struct hashes hashes;

	media_hash_finish(hash, &hashes);
	cr_expect_str_eq(hashes.md5, "d41d8cd98f00b204e9800998ecf8427e");
	media_hash_free(hash);
	media_hash_free(NULL);
}

Test(media_hash, the_hash_of_a_beginning_is_known_while_it_goes_on)
{
	struct media_hash *hash = media_hash_new(ALL, 4, false);
	uint8_t *bytes = make_bytes();
	struct hashes expected = plain_hashes(bytes, 2000), hashes;

	cr_expect_eq(media_hash_beginning(hash, UINT64_MAX, &hashes), 0);
	for (size_t i = 0; i < 3; i++)
		media_hash_add(hash, bytes + 1000 * i, 1000);
	media_hash_await(hash, 2);
	cr_expect_eq(media_hash_beginning(hash, 2999, &hashes), 2000);
	cr_expect_str_eq(hashes.md5, expected.md5);
	cr_expect_str_eq(hashes.sha1, expected.sha1);
	cr_expect_str_eq(hashes.sha256, expected.sha256);
	cr_expect_eq(media_hash_beginning(hash, 3000, &hashes), 3000);
	cr_expect_eq(media_hash_beginning(hash, 999, &hashes), 0);
	cr_expect_str_eq(hashes.md5, "");
	/* Of chunks long past nothing is kept. */
	for (uint64_t i = 3; i < 12; i++) {
		media_hash_add(hash, bytes + 1000 * i, 1000);
		media_hash_await(hash, i);
	}
	cr_expect_eq(media_hash_beginning(hash, 4999, &hashes), 0);
	cr_expect_eq(media_hash_beginning(hash, 5000, &hashes), 5000);
	media_hash_finish(hash, &hashes);
	expected = plain_hashes(bytes, 12000);
	cr_expect_str_eq(hashes.sha256, expected.sha256);
	media_hash_free(hash);
	free(bytes);
}

/* After it is freed no thread may touch the memory: ASan would notice. */
Test(media_hash, it_stops_in_the_middle)
{
	for (int round = 0; round < 20; round++) {
		struct media_hash *hash = media_hash_new(ALL, 2, round % 2);
		uint8_t *bytes = make_bytes();

		media_hash_add(hash, bytes, LEN);
		media_hash_add(hash, bytes, LEN);
		media_hash_free(hash);
		free(bytes);
	}
}

static const char md5[] = "900150983cd24fb0d6963f7d28e17f72",
		  other[] = "a00150983cd24fb0d6963f7d28e17f72",
		  sha1[] = "a9993e364706816aba3e25717850c26c9cd0d89d";

static struct evidence_record judge(const char *stored_md5, const char *stored_sha1,
	const char *computed_md5, const char *computed_sha1, uint64_t unread)
{
	struct hashes computed = { 0 };
	struct evidence_record record;

	strcpy(computed.md5, computed_md5);
	strcpy(computed.sha1, computed_sha1);
	evidence_compare(&record, stored_md5, stored_sha1, &computed, unread);
	return record;
}

Test(evidence, judgement)
{
	struct evidence_record record = judge(md5, "", md5, sha1, 0);

	cr_expect_eq(record.state, EVIDENCE_MATCH);
	cr_expect_str_eq(record.sentence, "the evidence matches its stored MD5");
	cr_expect_str_eq(record.hashes.sha1, sha1);
	record = judge(md5, sha1, md5, sha1, 0);
	cr_expect_str_eq(record.sentence, "the evidence matches its stored MD5 and SHA-1");
	record = judge(other, sha1, md5, sha1, 0);
	cr_expect_eq(record.state, EVIDENCE_MISMATCH);
	cr_expect_not_null(strstr(record.sentence, other));
	cr_expect_not_null(strstr(record.sentence, md5));
	record = judge("", sha1, md5, "", 0);
	cr_expect_eq(record.state, EVIDENCE_HASHED);
	record = judge(md5, "", md5, "", 512);
	cr_expect_eq(record.state, EVIDENCE_PARTIAL);
	cr_expect_str_eq(record.hashes.md5, "");
	cr_expect_str_eq(evidence_state_name(record.state), "partial");
}
