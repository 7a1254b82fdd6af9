/*
 * PKCS #12, signed and encrypted data in BER (ITU-T X.690, 8.1.3.6; RFC 7292, RFC 5652), as Mozilla's and Apple's programs and streaming
 * encoders write them: der.c's elements, but constructed ones may have no length, and end with two zero bytes.
 *
 *	PKCS #12:    a sequence: integer 3, a sequence with the identifier of data, ...
 *	signed, encrypted data: a sequence: its identifier, [0]
 *
 * The outermost sequence has no length. All elements are walked to its zeros: these end the file. Primitive elements have to
 * fit into those around them, but their content is not looked at. Zeros that replaced a file's end look like the ends of its
 * elements: so what comes last in a whole file has to be there, a code over all (PKCS #12), a set of signers or what was encrypted, and
 * not to end in zeros itself.
 */
#include <inttypes.h>
#include <stdbool.h>
#include <string.h>

#include "der.h"
#include "walk.h"

#define DEPTH_MAX 32
#define HEAD_MAX 6
#define OPEN UINT64_MAX /* the end of an element without a length */
#define SURE_COUNT 8    /* elements after which it is not a coincidence */
#define CONSTRUCTED 0x20
#define INDEFINITE 0x80
#define SEQUENCE 0x30
#define SET 0x31
#define ZEROS 4 /* at the end of an element that was wiped */

static const uint8_t store[] = { 0x02, 0x01, 0x03, 0x30 };
static const uint8_t signed_data[] = { 0x06, 0x09, 0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x01, 0x07,
	0x02, 0xa0 };
static const uint8_t encrypted[] = { 0x06, 0x09, 0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x01, 0x07,
	0x03, 0xa0 };

struct ber {
	struct view *view;
	uint64_t at, valid_end;
	uint64_t ends[DEPTH_MAX];
	unsigned depth;
	uint64_t elements;
	uint64_t content_end; /* of the last primitive element */
	unsigned level;       /* the depth at which what comes last is */
	unsigned count;       /* of elements there */
	uint8_t last_tag;     /* the last of them */
};

/* Reads the element at ber->at: enters it, or goes on after it. False: it is not an element, or does not fit into what is around it. */
static bool read_element(struct ber *ber)
{
	uint64_t size = view_size(ber->view), limit = ber->depth ? ber->ends[ber->depth - 1] : OPEN;
	size_t len =
		ber->at < size && size - ber->at < HEAD_MAX ? (size_t)(size - ber->at) : HEAD_MAX;
	const uint8_t *p = view_peek(ber->view, ber->at, len);
	struct der element;

	if (!p || len < 2)
		return false;
	if (!p[0] && !p[1] && limit == OPEN) {
		ber->depth--;
		ber->valid_end = ber->at += 2;
		return true;
	}
	if (ber->depth == ber->level) {
		ber->last_tag = p[0];
		ber->count++;
	}
	if (p[0] & CONSTRUCTED && p[1] == INDEFINITE) {
		if (ber->depth == DEPTH_MAX || (p[0] & 0x1f) == 0x1f ||
			(limit != OPEN && limit - ber->at < 4))
			return false;
		ber->ends[ber->depth++] = OPEN;
		ber->valid_end = ber->at += 2;
		return true;
	}
	if (!der_read(ber->view, ber->at, &element) || element.end > limit)
		return false;
	ber->valid_end = element.data;
	if (element.tag & CONSTRUCTED) {
		if (ber->depth == DEPTH_MAX)
			return false;
		ber->ends[ber->depth++] = element.end;
		ber->at = element.data;
		return true;
	}
	if (element.end > size)
		return false;
	ber->content_end = ber->valid_end = ber->at = element.end;
	return true;
}

/* Walks all up to the end of the outermost element. */
static bool walk_elements(struct ber *ber)
{
	do {
		if (!view_work(ber->view, 1) || !read_element(ber))
			return false;
		ber->elements++;
		while (ber->depth && ber->ends[ber->depth - 1] == ber->at)
			ber->depth--;
	} while (ber->depth);
	return true;
}

/* Whether what comes last in a whole file is there. */
static bool has_end(const struct ber *ber, bool is_store, bool is_encrypted)
{
	static const uint8_t zeros[ZEROS];
	const uint8_t *p = view_peek(ber->view, ber->content_end - ZEROS, ZEROS);

	return p && memcmp(p, zeros, ZEROS) != 0 &&
	       ber->last_tag == (is_store || is_encrypted ? SEQUENCE : SET) &&
	       (!is_store || ber->count == 3);
}

static enum verdict check(struct view *view, struct finding *finding)
{
	struct ber ber = { .view = view };
	const uint8_t *p = view_peek(view, 0, 2 + sizeof(signed_data));
	uint64_t size = view_size(view);
	bool whole;
	bool is_store = p && memcmp(p + 2, store, sizeof(store)) == 0;
	bool is_encrypted = p && memcmp(p + 2, encrypted, sizeof(encrypted)) == 0;

	if (!p || p[0] != 0x30 || p[1] != INDEFINITE ||
		(!is_store && !is_encrypted &&
			memcmp(p + 2, signed_data, sizeof(signed_data)) != 0))
		return verdict_because(
			CARVE_REJECT, finding, "neither keys nor signed or encrypted data at 0");
	finding->extension = is_store ? "p12" : "p7b";
	ber.level = is_store ? 1 : 3;
	whole = walk_elements(&ber);
	if (ber.elements < SURE_COUNT)
		return verdict_because(CARVE_REJECT, finding, "%s at %" PRIu64,
			whole ? "too few elements" : "no valid element", ber.valid_end);
	if (whole) {
		finding->length = ber.at;
		if (has_end(&ber, is_store, is_encrypted))
			return CARVE_COMPLETE;
		finding->length = walk_before_fill(view, 2, ber.content_end);
		return verdict_because(
			CARVE_TRUNCATED, finding, "only zeros after %" PRIu64, finding->length);
	}
	if (view_ends_with_image(view) && ber.valid_end + HEAD_MAX >= size)
		return walk_cut(view, finding, size + 1, size);
	finding->length = ber.valid_end;
	return verdict_because(
		CARVE_TRUNCATED, finding, "no valid element at %" PRIu64, ber.valid_end);
}

const struct carver ber_carver = {
	.name = "ber",
	.summary = "PKCS #12, signed and encrypted data in BER, by their elements and the zeros "
		   "that end them",
	.check = check,
};
