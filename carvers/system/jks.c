/*
 * Oracle's keystores, JKS and JCEKS (OpenJDK, JavaKeyStore.java).
 *
 *	header: FEEDFEED or CECECECE, version (1 or 2), number of entries (4 each, big-endian)
 *	entry:  kind (4), name, date in milliseconds (8); 1: a private key: length (4), bytes, number of
 *	        certificates (4), certificates; 2: a certificate; 3: a secret key, which is a Java object of
 *	        unknown length: the walk ends there
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

enum { PRIVATE_KEY = 1, CERTIFICATE = 2 };

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
	jks->at = element.end;
	return jks->at <= view_size(jks->view);
}

static bool skip_certificate(struct jks *jks)
{
	return (jks->version == 1 || skip_text(jks)) && skip_element(jks);
}

static bool skip_entry(struct jks *jks)
{
	uint32_t kind, count;

	if (!read_number(jks, &kind) || (kind != PRIVATE_KEY && kind != CERTIFICATE) ||
		!skip_text(jks))
		return false;
	jks->at += 8;
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
