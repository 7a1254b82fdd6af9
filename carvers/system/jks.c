/*
 * Oracle's keystores, JKS and JCEKS (OpenJDK, JavaKeyStore.java).
 *
 *	header: FEEDFEED or CECECECE, version (1 or 2), number of entries (4 each, big-endian)
 *	entry:  kind (4), name, date in milliseconds (8); 1: a private key: length (4), bytes, number of
 *	        certificates (4), certificates; 2: a certificate; 3 (JCEKS): a secret key, which is a Java object
 *	object: AC ED 00 05, descriptions of its classes, which end with "xp"; two arrays of bytes and two texts, of which each
 *	        can be missing (70) or a reference (71, 4 bytes); array: 75, class, length (4), bytes; text: 74, length (2), bytes
 *	certificate: kind (version 2), length (4), bytes; texts are a length (2) and UTF-8
 *	then a SHA-1 of a password and all that precedes it
 *
 * Each certificate is DER, and its own length has to agree; the checksum at the end needs the password.
 */
#include <inttypes.h>
#include <stdbool.h>
#include <string.h>

#include "bytes.h"
#include "der.h"
#include "sha1.h"
#include "walk.h"

#define HEAD_LEN 12
#define CHAIN_MAX 64
#define CLASSES_MAX_LEN 512
#define SEALED_FIELDS "sealAlgq\0~\0\3xp" /* the end of the classes' descriptions */
#define SEALED_MAX_LEN (1u << 20)

enum { PRIVATE_KEY = 1, CERTIFICATE = 2, SECRET_KEY = 3 };
enum { NOTHING = 0x70, REFERENCE = 0x71, CLASS = 0x72, TEXT = 0x74, ARRAY = 0x75 };

struct jks {
	struct view *view;
	uint32_t version;
	uint64_t at;
};

static bool read_number(struct jks *jks, uint32_t *number)
{
	const uint8_t *p = view_peek(jks->view, jks->at, 4);

	if (!p)
		return false;
	*number = be32(p);
	jks->at += 4;
	return true;
}

/* Skips a text, which may not be empty. */
static bool skip_text(struct jks *jks)
{
	const uint8_t *p = view_peek(jks->view, jks->at, 2);
	uint16_t len = p ? be16(p) : 0;

	jks->at += 2 + (uint64_t)len;
	return len && len <= 4096;
}

/* Skips an element of DER with its length before it. */
static bool skip_element(struct jks *jks)
{
	struct der element;
	uint32_t len;

	if (!read_number(jks, &len) || !der_read(jks->view, jks->at, &element) ||
		element.end != jks->at + len)
		return false;
	view_embedded(jks->view, jks->at);
	view_holds(jks->view, jks->at, element.end);
	jks->at = element.end;
	return jks->at <= view_size(jks->view);
}

static bool skip_certificate(struct jks *jks)
{
	return (jks->version == 1 || skip_text(jks)) && skip_element(jks);
}

/* Skips a Java class's name, version, flags and lack of fields, or a reference to one. */
static bool skip_class(struct jks *jks)
{
	const uint8_t *p = view_peek(jks->view, jks->at, 1);

	jks->at++;
	if (p && *p == REFERENCE)
		jks->at += 4;
	else if (!p || *p != CLASS || !skip_text(jks))
		return false;
	else
		jks->at += 8 + 1 + 2 + 2;
	return true;
}

static bool skip_value(struct jks *jks)
{
	const uint8_t *p = view_peek(jks->view, jks->at, 1);
	unsigned kind = p ? *p : 0;
	uint32_t len;

	jks->at++;
	switch (kind) {
	case NOTHING:
		return true;
	case REFERENCE:
		jks->at += 4;
		return true;
	case TEXT:
		return skip_text(jks);
	case ARRAY:
		if (!skip_class(jks) || !read_number(jks, &len) || len > SEALED_MAX_LEN)
			return false;
		jks->at += len;
		return jks->at <= view_size(jks->view);
	}
	return false;
}

/* Skips a sealed object. */
static bool skip_object(struct jks *jks)
{
	uint64_t room = jks->at < view_size(jks->view) ? view_size(jks->view) - jks->at : 0;
	size_t len = room < CLASSES_MAX_LEN ? (size_t)room : CLASSES_MAX_LEN;
	const uint8_t *p = len > 4 ? view_peek(jks->view, jks->at, len) : NULL, *last;

	if (!p || be32(p) != 0xaced0005)
		return false;
	last = memmem(p, len, SEALED_FIELDS, sizeof(SEALED_FIELDS) - 1);
	if (!last)
		return false;
	jks->at += (uint64_t)(last - p) + sizeof(SEALED_FIELDS) - 1;
	for (int i = 0; i < 4; i++)
		if (!skip_value(jks))
			return false;
	return true;
}

static bool skip_entry(struct jks *jks)
{
	uint32_t kind, count;

	if (!read_number(jks, &kind) || kind < PRIVATE_KEY || kind > SECRET_KEY || !skip_text(jks))
		return false;
	jks->at += 8;
	if (kind == SECRET_KEY)
		return skip_object(jks);
	if (kind == CERTIFICATE)
		return skip_certificate(jks);
	if (!skip_element(jks) || !read_number(jks, &count) || count > CHAIN_MAX)
		return false;
	while (count--)
		if (!skip_certificate(jks))
			return false;
	return true;
}

static enum verdict check(struct view *view, struct finding *finding)
{
	const uint8_t *p = view_peek(view, 0, HEAD_LEN);
	struct jks jks = { .view = view, .at = HEAD_LEN };
	uint32_t count = p ? be32(p + 8) : 0;

	if (!p || (be32(p) != 0xfeedfeed && be32(p) != 0xcececece) || be32(p + 4) < 1 ||
		be32(p + 4) > 2)
		return verdict_because(CARVE_REJECT, finding, "no header at 0");
	jks.version = be32(p + 4);
	for (uint32_t i = 0; i < count; i++) {
		uint64_t start = jks.at;

		if (skip_entry(&jks))
			continue;
		if (jks.at + 4 > view_size(view))
			return walk_cut(view, finding, jks.at + 4, view_size(view));
		finding->length = i ? start : 0;
		return verdict_because(
			i ? CARVE_TRUNCATED : CARVE_REJECT, finding, "no entry at %" PRIu64, start);
	}
	if (jks.at + SHA1_LEN > view_size(view))
		return walk_cut(view, finding, jks.at + SHA1_LEN, view_size(view));
	finding->length = jks.at + SHA1_LEN;
	return verdict_because(CARVE_UNVERIFIED, finding,
		"the checksum at %" PRIu64 " needs the password", jks.at);
}

const struct carver jks_carver = {
	.name = "jks",
	.summary = "Oracle's keystores, by their entries",
	.check = check,
};
