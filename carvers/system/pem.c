/*
 * Keys and certificates in PEM (RFC 7468, RFC 1421), OpenSSH's private keys (PROTOCOL.key), SSH2's keys (RFC 4716).
 *
 *	file: blocks of armour (armour.h), one after the other, as in a certificate chain
 *
 * What OpenSSL and GnuTLS print of a certificate or key may precede its block: lines of text that begin in known ways. Between
 * two blocks any text may be, as in the bundles of authorities that systems trust: it has a few lines for each.
 *
 * A block has to contain one ASN.1 element whose length is that of the decoded data, unless it is
 * encrypted as in RFC 1421. OpenSSH's starts with 'openssh-key-v1', then strings: cipher, key
 * derivation and its options, a number of keys, the public key, the private part, which end with
 * the data. SSH2's public keys are strings, the first of which is the kind; its private ones a magic, and the length.
 */
#include <inttypes.h>
#include <string.h>

#include "armour.h"
#include "bytes.h"
#include "der.h"

#define TEXT_LINES_MAX 2000
#define BETWEEN_LINES_MAX 400
#define TEXT_LEN_MAX 262144

static const char ssh_magic[] = "openssh-key-v1";

/* Whether OpenSSH's strings end with the data. */
static bool valid_ssh_key(const struct armour *armour)
{
	uint64_t at = sizeof(ssh_magic);

	/* The fourth is the number of keys. */
	for (int string = 0; string < 6; string++) {
		if (at + 4 > armour->data_len)
			return false;
		/* Only the last string may lie that far. */
		if (at + 4 > ARMOUR_HEAD)
			return true;
		at += 4 + (string == 3 ? 0 : be32(armour->head + at));
	}
	return at == armour->data_len;
}

/* Whether SSH2's public key is strings that fill the data, the first a kind of key. */
static bool valid_ssh2_public(const struct armour *armour, size_t len)
{
	uint64_t at = 0;
	unsigned strings = 0;

	if (len < 12 || be32(armour->head) > 64 ||
		(memcmp(armour->head + 4, "ssh-", 4) != 0 &&
			memcmp(armour->head + 4, "ecdsa-", 6) != 0))
		return false;
	for (; at + 4 <= len; strings++)
		at += 4 + (uint64_t)be32(armour->head + at);
	return at == armour->data_len && strings > 1;
}

/* Whether a block's content agrees with its length. */
static bool valid_data(const struct armour *armour)
{
	struct der element;
	size_t len = armour->data_len < ARMOUR_HEAD ? (size_t)armour->data_len : ARMOUR_HEAD;

	if (armour->encrypted)
		return armour->data_len >= 16;
	if (strcmp(armour->label, "OPENSSH PRIVATE KEY") == 0)
		return len > sizeof(ssh_magic) &&
		       memcmp(armour->head, ssh_magic, sizeof(ssh_magic)) == 0 &&
		       valid_ssh_key(armour);
	if (strcmp(armour->label, "SSH2 PUBLIC KEY") == 0)
		return valid_ssh2_public(armour, len);
	if (strcmp(armour->label, "SSH2 ENCRYPTED PRIVATE KEY") == 0)
		return len > 8 && be32(armour->head) == 0x3f6ff9eb &&
		       be32(armour->head + 4) == armour->data_len;
	return der_read_bytes(armour->head, len, &element) && element.end == armour->data_len;
}

/* Whether the line begins what OpenSSL or GnuTLS prints. */
static bool begins_text(const struct line *line)
{
	static const char *const beginnings[] = { "Certificate:", "Certificate Request:",
		"Certificate Revocation List", "Bag Attributes", "Private-Key: (",
		"RSA Private-Key: (", "Public-Key: (", "subject=", "issuer=", "Key Attributes",
		"Public Key Info",
		"X.509 Certificate Information:", "X.509 Certificate Revocation List Information:",
		"PKCS #10 Certificate Request Information:", "# Issuer: ", "## Bundle of CA Root" };

	for (size_t i = 0; i < sizeof(beginnings) / sizeof(*beginnings); i++)
		if (line_starts(line, beginnings[i]))
			return true;
	return false;
}

/* Whether the line may come before such text at the start of a bundle of authorities. */
static bool leads_text(const struct line *line)
{
	return !line->len || (line->len == 2 && memcmp(line->bytes, "##", 2) == 0);
}

/* Where the next block opens after text at `at`: OpenSSL's or GnuTLS's at the start of the file, any between blocks. `at` if there
 * is no such text. */
static uint64_t skip_text(struct view *view, uint64_t at)
{
	int max = at ? BETWEEN_LINES_MAX : TEXT_LINES_MAX, leading = 0;
	uint64_t next = at;
	struct line line;
	char label[64];

	for (int count = 0; count < max && next - at < TEXT_LEN_MAX && line_read(view, next, &line);
		count++) {
		if (!count && !at && leads_text(&line))
			leading = 1;
		else if (count == leading && begins_text(&line))
			max = TEXT_LINES_MAX;
		else if (count == leading && !at)
			return at;
		if (line.broken || !line.ended)
			return at;
		if (armour_opens(&line, label))
			return next;
		next = line.next;
	}
	return at;
}

/* The verdict on a file whose last block, `armour`, is invalid. */
static enum verdict cut_block(struct finding *finding, const struct armour *armour)
{
	return verdict_because(CARVE_TRUNCATED, finding,
		armour->closed ? "data with a wrong length before %" PRIu64
			       : "neither base64 nor the last line at %" PRIu64,
		armour->valid_end);
}

static enum verdict check(struct view *view, struct finding *finding)
{
	struct armour armour;
	uint64_t at = 0, blocks = 0, start;
	bool opened;

	while ((opened = armour_read(view, start = skip_text(view, at), &armour)) &&
		armour.closed && valid_data(&armour) && strncmp(armour.label, "PGP ", 4) != 0) {
		if (!blocks)
			finding->extension =
				strcmp(armour.label, "CERTIFICATE") == 0 ? "crt" : "pem";
		if (at)
			view_part(view, at);
		if (start > at)
			view_part(view, start);
		at = armour.valid_end;
		blocks++;
	}
	if (blocks && opened && armour.open_line && valid_data(&armour)) {
		view_part(view, start);
		finding->length = armour.valid_end;
		return verdict_because(CARVE_UNVERIFIED, finding,
			"the last line has no end at %" PRIu64, armour.valid_end);
	}
	/* The next block of a chain begins where the last one ends, but something cut it. */
	if (blocks && opened && start == at && armour.data_lines && !armour.closed &&
		!armour.open_line && strncmp(armour.label, "PGP ", 4) != 0) {
		view_part(view, start);
		finding->length = armour.valid_end;
		return cut_block(finding, &armour);
	}
	if (blocks) {
		finding->length = at;
		return CARVE_COMPLETE;
	}
	if (!opened || !armour.data_lines || strncmp(armour.label, "PGP ", 4) == 0)
		return verdict_because(CARVE_REJECT, finding, "no block of base64 at 0");
	finding->length = armour.valid_end;
	if (armour.open_line && valid_data(&armour))
		return verdict_because(CARVE_UNVERIFIED, finding,
			"the last line has no end at %" PRIu64, armour.valid_end);
	return cut_block(finding, &armour);
}

const struct carver pem_carver = {
	.name = "pem",
	.summary = "keys and certificates in PEM, OpenSSH's and SSH2's",
	.check = check,
};
