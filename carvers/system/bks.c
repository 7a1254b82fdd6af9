/*
 * Bouncy Castle's keystores, which Android uses (BcKeyStoreSpi.java).
 *
 *	header: version (1 or 2), salt's length, salt, rounds (4 each, big-endian)
 *	entry:  kind (1), name, date in milliseconds (8), number of certificates (4), certificates; 1: a certificate; 2: a key: kind (1),
 *	        format, algorithm, length (4), bytes; 3 and 4: encrypted bytes after their length (4)
 *	certificate: kind, length (4), bytes; texts are a length (2) and UTF-8
 *	then a byte 0 and a SHA-1 with a password of all entries
 *
 * Each certificate is DER, and its own length has to agree; the checksum at the end needs the password.
 */
#include <inttypes.h>
#include <stdbool.h>

#include "bytes.h"
#include "der.h"
#include "sha1.h"
#include "walk.h"

#define SALT_LEN 20
#define HEAD_LEN (12 + SALT_LEN)
#define ROUNDS_MAX 65536
#define CHAIN_MAX 64
#define BYTES_MAX (1u << 24)

enum { END, CERTIFICATE, KEY, SECRET, SEALED };

struct bks {
	struct view *view;
	uint64_t at;
};

static bool read_number(struct bks *bks, size_t len, uint64_t *number)
{
	const uint8_t *p = view_peek(bks->view, bks->at, len);

	*number = !p ? 0 : len == 1 ? *p : len == 2 ? be16(p) : be32(p);
	bks->at += len;
	return p;
}

/* Skips a text of printable characters, which may not be empty. */
static bool skip_text(struct bks *bks)
{
	uint64_t len;
	const uint8_t *p = read_number(bks, 2, &len) && len && len <= 1024
				   ? view_peek(bks->view, bks->at, (size_t)len)
				   : NULL;

	bks->at += len;
	for (uint64_t i = 0; p && i < len; i++)
		if (p[i] < ' ')
			return false;
	return p;
}

static bool skip_bytes(struct bks *bks)
{
	uint64_t len;

	if (!read_number(bks, 4, &len) || !len || len > BYTES_MAX)
		return false;
	bks->at += len;
	return bks->at <= view_size(bks->view);
}

static bool skip_certificate(struct bks *bks)
{
	struct der element;
	uint64_t len;

	if (!skip_text(bks) || !read_number(bks, 4, &len) ||
		!der_read(bks->view, bks->at, &element) || element.end != bks->at + len)
		return false;
	view_embedded(bks->view, bks->at);
	bks->at = element.end;
	return bks->at <= view_size(bks->view);
}

static bool skip_entry(struct bks *bks, uint64_t kind)
{
	uint64_t count, key_kind;

	if (kind > SEALED || !skip_text(bks))
		return false;
	bks->at += 8;
	if (!read_number(bks, 4, &count) || count > CHAIN_MAX)
		return false;
	while (count--)
		if (!skip_certificate(bks))
			return false;
	if (kind == CERTIFICATE)
		return skip_certificate(bks);
	if (kind == KEY && (!read_number(bks, 1, &key_kind) || key_kind > 2 || !skip_text(bks) ||
				   !skip_text(bks)))
		return false;
	return skip_bytes(bks);
}

static enum verdict check(struct view *view, struct finding *finding)
{
	const uint8_t *p = view_peek(view, 0, HEAD_LEN);
	struct bks bks = { .view = view, .at = HEAD_LEN };
	uint64_t kind, size = view_size(view), count = 0, start;

	if (!p || be32(p) < 1 || be32(p) > 2 || be32(p + 4) != SALT_LEN ||
		!be32(p + 8 + SALT_LEN) || be32(p + 8 + SALT_LEN) > ROUNDS_MAX)
		return verdict_because(CARVE_REJECT, finding, "no header at 0");
	for (;; count++) {
		start = bks.at;
		if (read_number(&bks, 1, &kind) && kind == END)
			break;
		if (start < size && skip_entry(&bks, kind))
			continue;
		if (count && bks.at > size)
			return walk_cut(
				view, finding, bks.at, view_ends_with_image(view) ? size : start);
		finding->length = count ? start : 0;
		return verdict_because(count ? CARVE_TRUNCATED : CARVE_REJECT, finding,
			"no entry at %" PRIu64, start);
	}
	if (!count)
		return verdict_because(CARVE_REJECT, finding, "no entry at %" PRIu64, start);
	if (bks.at + SHA1_LEN > size)
		return walk_cut(view, finding, bks.at + SHA1_LEN, size);
	finding->length = bks.at + SHA1_LEN;
	return verdict_because(CARVE_UNVERIFIED, finding,
		"the checksum at %" PRIu64 " needs the password", bks.at);
}

const struct carver bks_carver = {
	.name = "bks",
	.summary = "Bouncy Castle's keystores, by their entries",
	.check = check,
};
