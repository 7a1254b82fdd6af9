/*
 * DICOM's data sets (PS3.5, 7): elements, each with its tag, its length, and in the explicit
 * codings its kind of value (VR) between them. The tags ascend. A sequence (SQ) contains items, and
 * items contain data sets; both either have a length or end with a delimiter. Coded pixel data is a
 * sequence too, whose items are pieces of data.
 *
 * Sequences and items without length are walked with a stack; what has a length is skipped,
 * provided that a sequence starts with an item.
 */
#include "dicom.h"

#include <string.h>

#include "bytes.h"
#include "title.h"

#define DEPTH_MAX 64
/* Without VRs, a longer value than this is more likely chance, except for pixel data. */
#define IMPLICIT_MAX (1u << 20)
/* A value longer than this is unverified, but for its first bytes, which can be a JPEG's. */
#define VALUE_MAX 1024
#define START_LEN 4

enum {
	ITEM = DICOM_TAG(0xfffe, 0xe000),
	ITEM_END = DICOM_TAG(0xfffe, 0xe00d),
	SEQUENCE_END = DICOM_TAG(0xfffe, 0xe0dd),
};

/* The kinds of values; those with two reserved bytes and a length of 4 bytes come first. */
static const char long_vrs[] = "OB OD OF OL OV OW SQ SV UC UN UR UT UV ";
static const char short_vrs[] = "AE AS AT CS DA DS DT FD FL IS LO LT PN SH SL SS ST TM UI UL US ";

static bool in_list(const char *list, const uint8_t *vr)
{
	for (; *list; list += 3)
		if (memcmp(list, vr, 2) == 0)
			return true;
	return false;
}

static uint16_t u16(const struct dicom_coding *coding, const uint8_t *p)
{
	return coding->big_endian ? be16(p) : le16(p);
}

static uint32_t u32(const struct dicom_coding *coding, const uint8_t *p)
{
	return coding->big_endian ? be32(p) : le32(p);
}

static void name_unverified(struct view *view, const struct dicom_element *element)
{
	if (element->len > VALUE_MAX)
		view_unverified(view, element->value + START_LEN, element->value + element->len);
}

static bool is_delimiter(uint32_t tag)
{
	return tag >> 16 == 0xfffe;
}

enum dicom_state dicom_read(struct view *view, const struct dicom_coding *coding, uint64_t at,
	struct dicom_element *element)
{
	const uint8_t *p = view_peek(view, at, 8);

	*element = (struct dicom_element){ .at = at, .value = at + 8 };
	if (!p)
		return DICOM_CUT;
	element->tag = DICOM_TAG(u16(coding, p), u16(coding, p + 2));
	if (is_delimiter(element->tag) || coding->implicit) {
		element->len = u32(coding, p + 4);
		return DICOM_ELEMENT;
	}
	memcpy(element->vr, p + 4, 2);
	if (in_list(short_vrs, p + 4)) {
		element->len = u16(coding, p + 6);
		return DICOM_ELEMENT;
	}
	if (!in_list(long_vrs, p + 4) || p[6] || p[7])
		return DICOM_NONE;
	element->value = at + 12;
	p = view_peek(view, at + 8, 4);
	if (!p)
		return DICOM_CUT;
	element->len = u32(coding, p);
	return DICOM_ELEMENT;
}

struct level {
	bool sequence; /* of items; else an item's data set */
	bool pieces;   /* whose items are data */
	struct dicom_coding coding;
};

/* Walks what has no length. The levels inside it are the sequences and items without a length.
 * True: *at is its end. False: data->broken or data->wanted is set. */
static bool walk_sequence(struct dicom_data *data, const struct dicom_element *first, uint64_t *at)
{
	struct level levels[DEPTH_MAX] = { { .sequence = true, .coding = data->coding } };
	unsigned depth = 1;

	levels[0].pieces = strcmp(first->vr, "OB") == 0 || strcmp(first->vr, "OW") == 0 ||
			   first->tag == DICOM_TAG(0x7fe0, 0x10);
	/* Unknown elements are always coded this way (PS3.5, 6.2.2). */
	if (strcmp(first->vr, "UN") == 0)
		levels[0].coding = (struct dicom_coding){ .implicit = true };
	for (*at = first->value; depth;) {
		struct level *level = &levels[depth - 1];
		struct dicom_element element;
		enum dicom_state state = dicom_read(data->view, &level->coding, *at, &element);
		uint64_t end = element.value + element.len;

		if (state == DICOM_CUT) {
			data->wanted = *at + 8;
			return false;
		}
		data->broken = *at;
		if (state == DICOM_NONE)
			return false;
		if (element.tag == (level->sequence ? SEQUENCE_END : ITEM_END)) {
			if (element.len)
				return false;
			depth--;
			end = element.value;
		} else if (level->sequence ? element.tag != ITEM : is_delimiter(element.tag)) {
			return false;
		} else if (element.len == DICOM_UNDEFINED) {
			if (depth == DEPTH_MAX || level->pieces)
				return false;
			levels[depth] = (struct level){ .sequence = !level->sequence,
				.coding = level->coding };
			if (strcmp(element.vr, "UN") == 0)
				levels[depth].coding = (struct dicom_coding){ .implicit = true };
			depth++;
			end = element.value;
		}
		if (end > view_size(data->view)) {
			data->broken = 0;
			data->wanted = end;
			return false;
		}
		if (element.len != DICOM_UNDEFINED)
			name_unverified(data->view, &element);
		*at = end;
		data->confirmed = element.value;
	}
	data->broken = 0;
	return true;
}

static void read_digits(
	struct dicom_data *data, const struct dicom_element *element, char *digits, size_t len)
{
	const uint8_t *p = element->len >= len ? view_peek(data->view, element->value, len) : NULL;

	for (size_t i = 0; p && i < len; i++)
		if (p[i] < '0' || p[i] > '9')
			return;
	if (p)
		memcpy(digits, p, len);
}

/* The storage classes of pictures have this prefix, then a number that is not one of those of other
 * objects. */
static void read_class(struct dicom_data *data, const struct dicom_element *element)
{
	static const char storage[] = "1.2.840.10008.5.1.4.1.1.";
	static const char *const pictures[] = { "1.", "1", "2", "3.", "4", "6.", "7", "12.", "20",
		"77.1.", "128", "130", "481.1" };
	size_t len = sizeof(storage) - 1;
	char class[40] = "";
	const uint8_t *p;

	if (element->len < len + 1 || element->len > 64)
		return;
	p = view_peek(data->view, element->value, element->len);
	if (!p || memcmp(p, storage, len) != 0)
		return;
	memcpy(class, p + len, element->len - len < 39 ? element->len - len : 39);
	for (size_t i = 0; i < sizeof(pictures) / sizeof(pictures[0]); i++) {
		size_t match = strlen(pictures[i]);

		if (strncmp(class, pictures[i], match) == 0 &&
			(pictures[i][match - 1] == '.' || class[match] == 0 || class[match] == '.'))
			data->image = true;
	}
}

static void read_value(
	struct dicom_data *data, const struct dicom_element *element, struct finding *finding)
{
	const uint8_t *p;

	switch (element->tag) {
	case DICOM_TAG(0x0008, 0x0016):
		read_class(data, element);
		break;
	case DICOM_TAG(0x0008, 0x0020): /* of the study; the acquisition's and content's come
                                           later */
	case DICOM_TAG(0x0008, 0x0022):
	case DICOM_TAG(0x0008, 0x0023):
		read_digits(data, element, data->date, sizeof(data->date));
		break;
	case DICOM_TAG(0x0008, 0x0030):
	case DICOM_TAG(0x0008, 0x0032):
	case DICOM_TAG(0x0008, 0x0033):
		read_digits(data, element, data->time, sizeof(data->time));
		break;
	case DICOM_TAG(0x0008, 0x1030):
	case DICOM_TAG(0x0008, 0x103e):
		p = element->len <= 64 ? view_peek(data->view, element->value, element->len) : NULL;
		if (p)
			finding_set_title(finding, p, element->len);
		break;
	case DICOM_TAG(0x0028, 0x0010):
		data->image = true;
		break;
	case DICOM_TAG(0x7fe0, 0x0008):
	case DICOM_TAG(0x7fe0, 0x0009):
	case DICOM_TAG(0x7fe0, 0x0010):
		data->pixels = true;
		break;
	}
}

/* Whether the element may follow the earlier ones. Without a VR, only its tag distinguishes it from
 * chance. */
static bool follows(const struct dicom_data *data, const struct dicom_element *element)
{
	uint32_t group = element->tag >> 16;

	if (is_delimiter(element->tag) || group < 4)
		return false;
	if (data->pixels)
		return element->tag > data->last_tag &&
		       (group == 0x7fe0 || group == 0x7fe1 || group == 0xfffa || group == 0xfffc);
	if (data->coding.implicit)
		return element->tag > data->last_tag && group <= 0x7fe1 &&
		       (element->len <= IMPLICIT_MAX || element->len == DICOM_UNDEFINED ||
			       element->tag == DICOM_TAG(0x7fe0, 0x0010));
	return true;
}

/* Whether a sequence with a length starts with an item. */
static bool starts_with_item(struct dicom_data *data, const struct dicom_element *element)
{
	const uint8_t *p;

	if (strcmp(element->vr, "SQ") != 0 || element->len == 0 || element->len == DICOM_UNDEFINED)
		return true;
	p = element->len >= 8 ? view_peek(data->view, element->value, 4) : NULL;
	return p && DICOM_TAG(u16(&data->coding, p), u16(&data->coding, p + 2)) == ITEM;
}

void dicom_walk(struct dicom_data *data, struct finding *finding)
{
	for (;;) {
		struct dicom_element element;
		uint64_t end;

		if (dicom_read(data->view, &data->coding, data->end, &element) != DICOM_ELEMENT ||
			!follows(data, &element) || !starts_with_item(data, &element))
			return;
		data->count++;
		data->last_tag = element.tag;
		data->confirmed = element.value;
		if (element.len == DICOM_UNDEFINED) {
			if (!walk_sequence(data, &element, &end))
				return;
			data->confirmed = end;
		} else {
			end = element.value + element.len;
			name_unverified(data->view, &element);
		}
		if (end > view_size(data->view)) {
			data->wanted = end;
			return;
		}
		read_value(data, &element, finding);
		data->end = end;
	}
}
