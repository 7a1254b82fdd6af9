/*
 * A signature file:                             A public key file:
 *
 *     untrusted comment: ...                        untrusted comment: ...
 *     base64("ED", key id, signature)               base64("Ed", key id, key)
 *     trusted comment: ...
 *     base64(signature of signature and comment)
 *
 * A PEM key has no id: its first 8 bytes of SHA-256 serve for one.
 */
#include "report/minisign.h"

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/sha.h>

#include "base/memory.h"

#define ID_LEN 8
#define KEY_LEN 32
#define SIGNATURE_LEN 64
#define DIGEST_LEN 64
#define COMMENT_MAX 1024

static const char untrusted[] = "untrusted comment: ";
static const char trusted[] = "trusted comment: ";

struct blob {
	uint8_t bytes[256];
	size_t len;
};

static void add(struct blob *blob, const void *bytes, size_t len)
{
	memcpy(blob->bytes + blob->len, bytes, len);
	blob->len += len;
}

static void add_base64(struct strbuf *text, const struct blob *blob)
{
	char line[2 * sizeof(blob->bytes)];

	EVP_EncodeBlock((unsigned char *)line, blob->bytes, (int)blob->len);
	strbuf_text(text, line);
	strbuf_text(text, "\n");
}

/* Decodes a line of len characters. False for anything but base64 of exactly `want` bytes. */
static bool read_base64(struct blob *blob, const char *line, size_t len, size_t want)
{
	int decoded;

	if (len != (want + 2) / 3 * 4 || len > sizeof(blob->bytes))
		return false;
	decoded = EVP_DecodeBlock(blob->bytes, (const unsigned char *)line, (int)len);
	blob->len = want;
	return decoded >= (int)want;
}

/* The key's id as minisign shows it: a number, stored with its lowest byte first. */
static void print_id(char key_id[MINISIGN_ID_LEN], const uint8_t id[ID_LEN])
{
	for (size_t i = 0; i < ID_LEN; i++)
		sprintf(key_id + 2 * i, "%02X", id[ID_LEN - 1 - i]);
}

static bool digest(const void *message, size_t len, uint8_t out[DIGEST_LEN])
{
	return EVP_Digest(message, len, out, NULL, EVP_blake2b512(), NULL) == 1;
}

/* ---- signing ------------------------------------------------------------------------------- */

/* A program that runs unattended must not wait for a password. */
static int no_password(char *buffer, int size, int writing, void *context)
{
	(void)buffer, (void)size, (void)writing, (void)context;
	return -1;
}

static EVP_PKEY *read_private_key(const char *path, struct error *error)
{
	FILE *stream = fopen(path, "re");
	EVP_PKEY *key = stream ? PEM_read_PrivateKey(stream, NULL, no_password, NULL) : NULL;

	if (!stream)
		error_set(error, EXIT_USAGE, errno, "cannot read the key '%.500s': %s", path,
			strerror(errno));
	else
		fclose(stream);
	if (stream && (!key || EVP_PKEY_get_base_id(key) != EVP_PKEY_ED25519)) {
		error_set(error, EXIT_USAGE, EINVAL,
			"'%.500s' is not a private Ed25519 key in PEM without a password; to make "
			"one: "
			"openssl genpkey -algorithm ed25519 -out NEW.pem",
			path);
		EVP_PKEY_free(key);
		key = NULL;
	}
	return key;
}

static bool sign(EVP_PKEY *key, const uint8_t *message, size_t len, uint8_t out[SIGNATURE_LEN])
{
	EVP_MD_CTX *context = EVP_MD_CTX_new();
	size_t out_len = SIGNATURE_LEN;
	bool done = context && EVP_DigestSignInit(context, NULL, NULL, NULL, key) == 1 &&
		    EVP_DigestSign(context, out, &out_len, message, len) == 1;

	EVP_MD_CTX_free(context);
	return done;
}

static bool get_public_key(const EVP_PKEY *key, uint8_t bytes[KEY_LEN], uint8_t id[ID_LEN])
{
	uint8_t hash[SHA256_DIGEST_LENGTH];
	size_t len = KEY_LEN;

	if (EVP_PKEY_get_raw_public_key(key, bytes, &len) != 1 || len != KEY_LEN)
		return false;
	SHA256(bytes, KEY_LEN, hash);
	memcpy(id, hash, ID_LEN);
	return true;
}

static bool make_texts(EVP_PKEY *key, const uint8_t hash[DIGEST_LEN], const char *comment,
	struct strbuf *signature, struct strbuf *public_key, char key_id[MINISIGN_ID_LEN])
{
	uint8_t bytes[KEY_LEN], id[ID_LEN], first[SIGNATURE_LEN], second[SIGNATURE_LEN];
	struct blob head = { 0 }, tail = { 0 }, public = { 0 };
	struct strbuf both = { 0 };
	bool done = get_public_key(key, bytes, id) && sign(key, hash, DIGEST_LEN, first);

	strbuf_bytes(&both, first, sizeof(first));
	strbuf_text(&both, comment);
	done = done && sign(key, (const uint8_t *)both.bytes, both.len, second);
	strbuf_free(&both);
	if (!done)
		return false;
	print_id(key_id, id);
	add(&head, "ED", 2);
	add(&head, id, sizeof(id));
	add(&head, first, sizeof(first));
	add(&tail, second, sizeof(second));
	add(&public, "Ed", 2);
	add(&public, id, sizeof(id));
	add(&public, bytes, sizeof(bytes));
	strbuf_print(signature, "%sburin seal, key %s\n", untrusted, key_id);
	add_base64(signature, &head);
	strbuf_print(signature, "%s%s\n", trusted, comment);
	add_base64(signature, &tail);
	strbuf_print(public_key, "%sminisign public key %s\n", untrusted, key_id);
	add_base64(public_key, &public);
	return true;
}

int minisign_sign(const char *key_path, const void *message, size_t len, const char *comment,
	struct strbuf *signature, struct strbuf *public_key, char key_id[MINISIGN_ID_LEN],
	struct error *error)
{
	EVP_PKEY *key = read_private_key(key_path, error);
	uint8_t hash[DIGEST_LEN];
	bool done;

	if (!key)
		return -EINVAL;
	done = digest(message, len, hash) &&
	       make_texts(key, hash, comment, signature, public_key, key_id);
	EVP_PKEY_free(key);
	return done ? 0
		    : error_set(error, EXIT_IO, ENOTSUP,
			      "libcrypto cannot sign with Ed25519 and BLAKE2b");
}

/* ---- verifying ----------------------------------------------------------------------------- */

/* The line at *text, which is advanced past it. False when there is none. */
static bool next_line(const char **text, const char **line, size_t *len)
{
	*line = *text;
	*len = strcspn(*text, "\n");
	*text += *len + ((*text)[*len] == '\n');
	while (*len && (*line)[*len - 1] == '\r')
		--*len;
	return **line != '\0';
}

struct parsed_signature {
	struct blob head, tail;
	const char *comment;
	size_t comment_len;
};

static bool parse_signature(struct parsed_signature *parsed, const char *text)
{
	const size_t mark = sizeof(trusted) - 1;
	const char *line;
	size_t len;

	if (!next_line(&text, &line, &len) || !next_line(&text, &line, &len) ||
		!read_base64(&parsed->head, line, len, 2 + ID_LEN + SIGNATURE_LEN) ||
		memcmp(parsed->head.bytes, "ED", 2) != 0)
		return false;
	if (!next_line(&text, &line, &len) || len < mark || len > mark + COMMENT_MAX ||
		memcmp(line, trusted, mark) != 0)
		return false;
	parsed->comment = line + mark;
	parsed->comment_len = len - mark;
	return next_line(&text, &line, &len) &&
	       read_base64(&parsed->tail, line, len, SIGNATURE_LEN);
}

static EVP_PKEY *read_pem(const char *text)
{
	BIO *bio = BIO_new_mem_buf(text, (int)strlen(text));
	EVP_PKEY *key = bio ? PEM_read_bio_PUBKEY(bio, NULL, no_password, NULL) : NULL;

	BIO_free(bio);
	if (key && EVP_PKEY_get_base_id(key) == EVP_PKEY_ED25519)
		return key;
	EVP_PKEY_free(key);
	return NULL;
}

/* NULL for what is not a key. id: of the key that is wanted, as far as the text has one; NULL for any. */
static EVP_PKEY *read_public_key(const char *text, const uint8_t *id)
{
	struct blob blob;
	const char *line;
	size_t len;

	if (strstr(text, "-----BEGIN"))
		return read_pem(text);
	if (!next_line(&text, &line, &len) || !next_line(&text, &line, &len) ||
		!read_base64(&blob, line, len, 2 + ID_LEN + KEY_LEN) ||
		memcmp(blob.bytes, "Ed", 2) != 0 || (id && memcmp(blob.bytes + 2, id, ID_LEN) != 0))
		return NULL;
	return EVP_PKEY_new_raw_public_key(
		EVP_PKEY_ED25519, NULL, blob.bytes + 2 + ID_LEN, KEY_LEN);
}

bool minisign_is_public_key(const char *text)
{
	EVP_PKEY *key = read_public_key(text, NULL);

	EVP_PKEY_free(key);
	return key != NULL;
}

static bool is_signed(EVP_PKEY *key, const void *signature, const void *message, size_t len)
{
	EVP_MD_CTX *context = EVP_MD_CTX_new();
	bool valid = context && EVP_DigestVerifyInit(context, NULL, NULL, NULL, key) == 1 &&
		     EVP_DigestVerify(context, signature, SIGNATURE_LEN, message, len) == 1;

	EVP_MD_CTX_free(context);
	return valid;
}

bool minisign_verify(const char *public_key, const char *signature, const void *message, size_t len,
	char key_id[MINISIGN_ID_LEN])
{
	struct parsed_signature parsed;
	const uint8_t *first = parsed.head.bytes + 2 + ID_LEN;
	struct strbuf both = { 0 };
	uint8_t hash[DIGEST_LEN];
	EVP_PKEY *key;
	bool valid;

	key_id[0] = '\0';
	if (!parse_signature(&parsed, signature))
		return false;
	print_id(key_id, parsed.head.bytes + 2);
	key = read_public_key(public_key, parsed.head.bytes + 2);
	if (!key)
		return false;
	strbuf_bytes(&both, first, SIGNATURE_LEN);
	strbuf_bytes(&both, parsed.comment, parsed.comment_len);
	valid = digest(message, len, hash) && is_signed(key, first, hash, sizeof(hash)) &&
		is_signed(key, parsed.tail.bytes, both.bytes, both.len);
	strbuf_free(&both);
	EVP_PKEY_free(key);
	return valid;
}
