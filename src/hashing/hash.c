#include "hashing/hash.h"

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <openssl/evp.h>

#include "base/fatal.h"
#include "base/memory.h"

#define KINDS 3

static const struct {
	const char *name;
	enum hash_kind kind;
	const EVP_MD *(*algorithm)(void);
	size_t at, len; /* where the hex digits are in struct hashes, bytes with the zero */
} kinds[KINDS] = {
	{ "md5", HASH_MD5, EVP_md5, offsetof(struct hashes, md5),
		sizeof(((struct hashes *)0)->md5) },
	{ "sha1", HASH_SHA1, EVP_sha1, offsetof(struct hashes, sha1),
		sizeof(((struct hashes *)0)->sha1) },
	{ "sha256", HASH_SHA256, EVP_sha256, offsetof(struct hashes, sha256),
		sizeof(((struct hashes *)0)->sha256) },
};

struct hasher {
	EVP_MD_CTX *contexts[KINDS]; /* NULL: not requested */
	bool failed[KINDS];          /* libcrypto failed: no digest rather than a wrong one */
};

/* libcrypto refuses MD5 where the system enforces FIPS 140. */
static bool is_available(size_t i)
{
	EVP_MD_CTX *context = EVP_MD_CTX_new();
	bool available = context && EVP_DigestInit_ex(context, kinds[i].algorithm(), NULL) == 1;

	EVP_MD_CTX_free(context);
	return available;
}

static int check_kind(size_t i, struct error *error)
{
	if (is_available(i))
		return 0;
	return error_set(error, EXIT_USAGE, ENOTSUP,
		"this system's OpenSSL refuses to compute %s (FIPS mode?); leave it out",
		kinds[i].name);
}

int hash_kinds_check(uint32_t mask, struct error *error)
{
	int status = 0;

	for (size_t i = 0; i < KINDS && !status; i++)
		if (mask & kinds[i].kind)
			status = check_kind(i, error);
	return status;
}

static int add_kind(const char *name, size_t len, uint32_t *mask, struct error *error)
{
	for (size_t i = 0; i < KINDS; i++) {
		if (strlen(kinds[i].name) != len || strncmp(kinds[i].name, name, len) != 0)
			continue;
		*mask |= kinds[i].kind;
		return check_kind(i, error);
	}
	return error_set(error, EXIT_USAGE, EINVAL,
		"unknown hash '%.*s'; known are md5, sha1 and sha256, separated by commas, or none",
		(int)(len > 64 ? 64 : len), name);
}

int hash_mask_parse(const char *text, uint32_t *mask, struct error *error)
{
	uint32_t result = 0;

	if (strcmp(text, "none") == 0) {
		*mask = 0;
		return 0;
	}
	for (;;) {
		size_t len = strcspn(text, ",");
		int status = add_kind(text, len, &result, error);

		if (status)
			return status;
		if (!text[len])
			break;
		text += len + 1;
	}
	*mask = result;
	return 0;
}

struct hasher *hasher_new(uint32_t mask)
{
	struct hasher *hasher = xcalloc(1, sizeof(*hasher));

	for (size_t i = 0; i < KINDS; i++) {
		if (!(mask & kinds[i].kind))
			continue;
		hasher->contexts[i] = EVP_MD_CTX_new();
		if (!hasher->contexts[i] ||
			EVP_DigestInit_ex(hasher->contexts[i], kinds[i].algorithm(), NULL) != 1)
			fatal("libcrypto can't compute %s", kinds[i].name);
	}
	return hasher;
}

void hasher_reset(struct hasher *hasher)
{
	for (size_t i = 0; i < KINDS;
		i++) /* NULL keeps the algorithm, so nothing is looked up or allocated */
		if (hasher->contexts[i])
			hasher->failed[i] = EVP_DigestInit_ex(hasher->contexts[i], NULL, NULL) != 1;
}

void hasher_update(struct hasher *hasher, const void *bytes, size_t len)
{
	for (size_t i = 0; i < KINDS; i++)
		if (hasher->contexts[i] && EVP_DigestUpdate(hasher->contexts[i], bytes, len) != 1)
			hasher->failed[i] = true;
}

bool hashes_differ(const struct hashes *a, const struct hashes *b)
{
	bool differ = false;

	for (size_t i = 0; i < KINDS; i++) {
		const char *one = (const char *)a + kinds[i].at;
		const char *other = (const char *)b + kinds[i].at;

		differ |= *one && *other && strcmp(one, other) != 0;
	}
	return differ;
}

void hashes_merge(struct hashes *into, const struct hashes *from)
{
	for (size_t i = 0; i < KINDS; i++) {
		const char *digest = (const char *)from + kinds[i].at;

		if (*digest)
			memcpy((char *)into + kinds[i].at, digest, kinds[i].len);
	}
}

static void write_hex(const unsigned char *digest, size_t len, char *text)
{
	for (size_t i = 0; i < len; i++) {
		text[2 * i] = "0123456789abcdef"[digest[i] >> 4];
		text[2 * i + 1] = "0123456789abcdef"[digest[i] & 15];
	}
	text[2 * len] = '\0';
}

void hasher_finish(struct hasher *hasher, struct hashes *hashes)
{
	unsigned char digest[EVP_MAX_MD_SIZE];

	*hashes = (struct hashes){ 0 };
	for (size_t i = 0; i < KINDS; i++) {
		unsigned len = 0;

		if (!hasher->contexts[i] || hasher->failed[i])
			continue;
		if (EVP_DigestFinal_ex(hasher->contexts[i], digest, &len) == 1 &&
			2 * len + 1 == kinds[i].len)
			write_hex(digest, len, (char *)hashes + kinds[i].at);
	}
}

void hasher_peek(const struct hasher *hasher, struct hashes *hashes)
{
	struct hasher copy = { 0 };

	for (size_t i = 0; i < KINDS; i++) {
		if (!hasher->contexts[i])
			continue;
		copy.contexts[i] = EVP_MD_CTX_new();
		copy.failed[i] = hasher->failed[i] || !copy.contexts[i] ||
				 EVP_MD_CTX_copy_ex(copy.contexts[i], hasher->contexts[i]) != 1;
	}
	hasher_finish(&copy, hashes);
	for (size_t i = 0; i < KINDS; i++)
		EVP_MD_CTX_free(copy.contexts[i]);
}

void hasher_free(struct hasher *hasher)
{
	if (!hasher)
		return;
	for (size_t i = 0; i < KINDS; i++)
		EVP_MD_CTX_free(hasher->contexts[i]);
	free(hasher);
}
