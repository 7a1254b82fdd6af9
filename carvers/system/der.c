/*
 * Certificates and keys in DER (ITU-T X.690; RFC 5280, RFC 5652, RFC 5915, RFC 5958, RFC 7292, RFC 8017).
 *
 *	element: tag, length (one byte below 80h; else their number with the highest bit set, and
 *		that many bytes), data; data of constructed elements are elements
 *
 * All start with a sequence whose length leads to the end. Every element in it is walked: lengths
 * have the shortest form and do not exceed the enclosing element, integers are not longer than they
 * need to be, and so on. The contents of the sequence show the type:
 *
 *	certificate: a sequence (the certificate without its signature: [0] with the version, an
 *	             integer, ...), a sequence (algorithm), a bit string (signature)
 *	PKCS #12:    integer 3, a sequence
 *	PKCS #8:     integer 0 or 1, a sequence with an algorithm, an octet string
 *	encrypted:   a sequence with an algorithm, an octet string
 *	RSA key:     integer 0 or 1 and eight more
 *	EC key:      integer 1, an octet string
 *	public key:  a sequence with an algorithm, a bit string
 *	             without its algorithm: two integers
 *	CMS:         an object identifier, [0] (signed data)
 *	OCSP answer: an enumerated 0, [0]
 *	CMP message: a sequence that begins with an integer (version) and [4] (sender), a body, [0] (protection)
 *
 * Certificates may follow one another. Encrypted bytes and signatures are what nothing verifies: foreign bytes in them, from a
 * sector on, show a cut; a long one that goes on over a cluster's start leaves the file unverified.
 *
 * The title is the subject's common name, which is the last in the certificate's names.
 */
#include "der.h"

#include <inttypes.h>
#include <string.h>

#include "bytes.h"
#include "title.h"
#include "walk.h"

#define DEPTH_MAX 48 /* PKCS #12 has certificates at 15 */
#define HEAD_MAX 6
/* Elements after which it is not a coincidence. */
#define SURE_COUNT 5
#define SHORTEST 42  /* bytes in a key of Ed25519 */
#define CODED_MIN 64 /* bytes of a string that would be coded */
#define LOOK 48      /* bytes that are not coded ones by chance */
#define HIGH_MIN 10  /* of them above 127, in coded ones */
#define CHAIN_MAX 1024

bool der_read_bytes(const uint8_t *bytes, size_t len, struct der *element)
{
	unsigned count;
	uint64_t length = 0;

	if (len < 2 || (bytes[0] & 0x1f) == 0x1f || !bytes[0])
		return false;
	element->tag = bytes[0];
	count = bytes[1] & 0x80 ? bytes[1] & 0x7f : 0;
	if (count > 4 || (bytes[1] & 0x80 && !count) || len < 2 + count)
		return false;
	for (unsigned i = 0; i < count; i++)
		length = length << 8 | bytes[2 + i];
	if (!count)
		length = bytes[1];
	else if (length < 0x80 || !bytes[2])
		return false;
	element->data = 2 + count;
	element->end = element->data + length;
	return true;
}

bool der_read(struct view *view, uint64_t at, struct der *element)
{
	uint64_t size = view_size(view);
	size_t len = at < size && size - at < HEAD_MAX ? (size_t)(size - at) : HEAD_MAX;
	const uint8_t *p = view_peek(view, at, len);

	if (!p || !der_read_bytes(p, len, element))
		return false;
	element->data += at;
	element->end += at;
	return true;
}

enum {
	BOOLEAN = 1,
	INTEGER = 2,
	BIT_STRING = 3,
	OCTET_STRING = 4,
	NOTHING = 5,
	OID = 6,
	ENUMERATED = 10,
	SEQUENCE = 0x30,
	SET = 0x31,
	EXPLICIT = 0xa0
};

struct der_walk {
	struct view *view;
	struct finding *finding;
	uint64_t valid_end; /* after the last valid primitive element, or the last head */
	uint64_t ends[DEPTH_MAX];
	unsigned depth;
	uint8_t kids[4]; /* tags of the outermost sequence's first elements */
	unsigned kid_count, elements;
	uint64_t
		opaque; /* the first octet string that should contain an element, and does not; 0: none */
	uint64_t foreign,
		unproven; /* where a string stops being coded; the first cluster in one; 0: nowhere */
	bool name_next;   /* the last element was the OID of a common name */
};

/* Whether the bytes are text, or one byte again and again. */
static bool plain_bytes(const uint8_t *p)
{
	bool text = true, equal = true;

	for (size_t i = 0; i < LOOK; i++) {
		text &= (p[i] >= ' ' && p[i] < 0x7f) || p[i] == '\n' || p[i] == '\r' ||
			p[i] == '\t';
		equal &= p[i] == p[0];
	}
	return text || equal;
}

/* Whether the string's first bytes look coded, and are not an element that fills it, as in a certificate's extensions. */
static bool starts_coded(struct view *view, const struct der *element)
{
	struct der inside;
	unsigned high = 0;
	const uint8_t *p;

	if (der_read(view, element->data, &inside) && inside.end == element->end)
		return false;
	p = view_peek(view, element->data, LOOK);
	for (size_t i = 0; p && i < LOOK; i++)
		high += p[i] >> 7;
	return high >= HIGH_MIN;
}

/* Looks at a string's bytes at each sector that begins in it, unless it does not look coded itself. */
static void look_at_string(struct der_walk *walk, const struct der *element)
{
	uint64_t at = element->data / SECTOR * SECTOR + SECTOR;
	const uint8_t *p;

	if (element->end - element->data < CODED_MIN)
		return;
	if (!walk->unproven && element->data / USUAL_CLUSTER != (element->end - 1) / USUAL_CLUSTER)
		walk->unproven = element->data / USUAL_CLUSTER * USUAL_CLUSTER + USUAL_CLUSTER;
	if (walk->foreign || !starts_coded(walk->view, element))
		return;
	for (; at + LOOK <= element->end; at += SECTOR) {
		p = view_peek(walk->view, at, LOOK);
		if (p && plain_bytes(p)) {
			walk->foreign = at;
			return;
		}
	}
}

/* Whether a primitive element's data is possible. */
static bool valid_data(struct der_walk *walk, const struct der *element)
{
	uint64_t len = element->end - element->data;
	size_t look = len < 3 ? (size_t)len : 3;
	const uint8_t *p = look ? view_peek(walk->view, element->data, look) : NULL;

	if (look && !p)
		return false;
	switch (element->tag) {
	case BOOLEAN:
		return len == 1 && (p[0] == 0 || p[0] == 0xff);
	case INTEGER:
		return len && !(len > 1 && ((p[0] == 0 && !(p[1] & 0x80)) ||
						   (p[0] == 0xff && p[1] & 0x80)));
	case BIT_STRING:
		return len && p[0] < 8;
	case NOTHING:
		return len == 0;
	case OID:
		walk->name_next = len == 3 && memcmp(p, "\x55\x04\x03", 3) == 0;
		return len > 0;
	}
	return true;
}

/* Whether an octet string contains an element that fills it, as those of PKCS #8 and PKCS #12
 * do. */
static bool wraps_element(const struct der_walk *walk, const struct der *element)
{
	struct der inside;

	return element->tag == OCTET_STRING && walk->depth < DEPTH_MAX &&
	       der_read(walk->view, element->data, &inside) && inside.tag == SEQUENCE &&
	       inside.end == element->end && inside.end - inside.data > 8;
}

/* Whether the octet string should contain an element that fills it: a private key of PKCS #8, or what is in OCSP's
 * response, but neither does. */
static bool is_opaque(const struct der_walk *walk, const struct der *element)
{
	bool key = walk->depth == 1 && walk->kid_count == 3 && walk->kids[0] == INTEGER &&
		   walk->kids[1] == SEQUENCE;
	struct der inside;

	return element->tag == OCTET_STRING &&
	       (key || (walk->depth == 3 && walk->kids[0] == ENUMERATED)) &&
	       !(der_read(walk->view, element->data, &inside) && inside.end == element->end);
}

static void read_name(struct der_walk *walk, const struct der *element)
{
	uint64_t len = element->end - element->data;
	const uint8_t *p =
		len < 128 && len ? view_peek(walk->view, element->data, (size_t)len) : NULL;

	walk->name_next = false;
	if (!p)
		return;
	walk->finding->title[0] = 0;
	finding_set_title(walk->finding, p, (size_t)len);
}

/* Walks all elements in [at, end): true when they fill it. */
static bool walk_elements(struct der_walk *walk, uint64_t at, uint64_t end)
{
	struct der element;

	walk->ends[0] = end;
	walk->depth = 1;
	for (; walk->depth; walk->elements++) {
		while (walk->depth && at == walk->ends[walk->depth - 1])
			walk->depth--;
		if (!walk->depth)
			break;
		if (!der_read(walk->view, at, &element) ||
			element.end > walk->ends[walk->depth - 1])
			return false;
		if (walk->depth == 1 && walk->kid_count < 4)
			walk->kids[walk->kid_count++] = element.tag;
		walk->valid_end = element.data;
		if (element.tag & 0x20 || wraps_element(walk, &element)) {
			if (walk->depth == DEPTH_MAX)
				return false;
			walk->ends[walk->depth++] = element.end;
			at = element.data;
			continue;
		}
		if (!walk->opaque && is_opaque(walk, &element))
			walk->opaque = element.data;
		if (walk->name_next && element.tag != OID)
			read_name(walk, &element);
		if (element.end > view_size(walk->view) || !valid_data(walk, &element))
			return false;
		if (element.tag == OCTET_STRING || element.tag == BIT_STRING ||
			(element.tag & 0xe0) == 0x80)
			look_at_string(walk, &element);
		at = walk->valid_end = element.end;
	}
	return true;
}

/* The extension for the outermost sequence, by its elements, or NULL. */
static const char *extension_of(const struct der_walk *walk)
{
	const uint8_t *kids = walk->kids;

	if (walk->kid_count < 2)
		return NULL;
	if (kids[0] == SEQUENCE && kids[1] == SEQUENCE && walk->kid_count == 3 &&
		kids[2] == BIT_STRING)
		return "der";
	if (kids[0] == INTEGER && kids[1] == SEQUENCE)
		return walk->kid_count > 2 && kids[2] == OCTET_STRING ? "key" : "p12";
	if (kids[0] == SEQUENCE && walk->kid_count == 2 && kids[1] == BIT_STRING)
		return "pub";
	if (kids[0] == OID && kids[1] == EXPLICIT && walk->kid_count == 2)
		return "p7b";
	if (kids[0] == SEQUENCE && walk->kid_count == 2 && kids[1] == OCTET_STRING)
		return "key";
	if (kids[0] == INTEGER && kids[1] == INTEGER && walk->kid_count == 2)
		return "pub";
	if (kids[1] >= EXPLICIT &&
		(kids[0] == ENUMERATED ? walk->kid_count == 2 : kids[0] == SEQUENCE))
		return "der";
	return kids[0] == INTEGER && (kids[1] == INTEGER || kids[1] == OCTET_STRING) ? "key" : NULL;
}

/* The end of more certificates that follow the one that ends at `at`. At a sector another file begins. */
static uint64_t more_certificates(struct view *view, uint64_t at)
{
	for (int count = 0; count < CHAIN_MAX && at % SECTOR; count++) {
		struct finding finding = { 0 };
		struct der_walk walk = { .view = view, .finding = &finding };
		struct der whole;

		if (!der_read(view, at, &whole) || whole.tag != SEQUENCE ||
			whole.end > view_size(view) ||
			!walk_elements(&walk, whole.data, whole.end) || walk.elements < 20 ||
			walk.foreign || !extension_of(&walk) ||
			strcmp(extension_of(&walk), "der") != 0)
			break;
		view_part(view, at);
		at = whole.end;
	}
	return at;
}

static enum verdict check(struct view *view, struct finding *finding)
{
	struct der_walk walk = { .view = view, .finding = finding };
	uint64_t size = view_size(view);
	struct der whole;
	const char *kind;
	bool filled;

	if (!der_read(view, 0, &whole) || whole.tag != SEQUENCE ||
		whole.end - whole.data < SHORTEST)
		return verdict_because(CARVE_REJECT, finding, "no sequence at 0");
	filled = walk_elements(&walk, whole.data, whole.end);
	kind = filled ? extension_of(&walk) : NULL;
	if (!filled && walk.elements >= SURE_COUNT) {
		if (whole.end > size && view_ends_with_image(view) &&
			walk.valid_end + 16 > size / 2)
			return walk_cut(view, finding, whole.end, size);
		finding->length = walk.valid_end;
		return verdict_because(
			CARVE_TRUNCATED, finding, "no valid element at %" PRIu64, walk.valid_end);
	}
	if (!kind) {
		finding->title[0] = 0;
		return verdict_because(CARVE_REJECT, finding,
			filled ? "neither a certificate nor a key, but other data, before %" PRIu64
			       : "no valid element at %" PRIu64,
			walk.valid_end);
	}
	finding->extension = kind;
	finding->length = whole.end;
	if (walk.opaque)
		return verdict_because(CARVE_UNVERIFIED, finding,
			"no element where a key or an answer should be, at %" PRIu64, walk.opaque);
	if (walk.foreign) {
		finding->length = walk.foreign;
		return verdict_because(
			CARVE_TRUNCATED, finding, "no coded bytes at %" PRIu64, walk.foreign);
	}
	if (walk.unproven) {
		view_holds(view, 0, whole.end);
		return verdict_because(CARVE_UNVERIFIED, finding,
			"nothing verifies the coded bytes at %" PRIu64, walk.unproven);
	}
	if (strcmp(kind, "der") == 0)
		finding->length = more_certificates(view, whole.end);
	return CARVE_COMPLETE;
}

const struct carver der_carver = {
	.name = "der",
	.summary = "certificates and keys in DER, by the lengths of all their elements",
	.check = check,
};
