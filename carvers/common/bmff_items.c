/*
 * Items (ISO/IEC 14496-12, 8.11): 'iinf' lists their types, 'iloc' where their bytes are, in one or
 * more extents. The numbers in 'iloc' have widths that its head defines, nibble by nibble.
 */
#include "bmff_media.h"

#include "bytes.h"

#define ITEMS_MAX 4096
#define TYPES_MAX 1024

struct types {
	struct {
		uint32_t item, type;
	} list[TYPES_MAX];
	size_t count, hint;
};

/* A sequence of numbers. */
struct numbers {
	struct view *view;
	uint64_t at, end;
	bool bad; /* read past the end */
};

static uint64_t next(struct numbers *numbers, unsigned width)
{
	const uint8_t *p = NULL;
	uint64_t value = 0;

	if (numbers->end - numbers->at >= width)
		p = view_peek(numbers->view, numbers->at, width);
	if (!p) {
		numbers->bad = true;
		return 0;
	}
	numbers->at += width;
	for (unsigned i = 0; i < width; i++)
		value = value << 8 | p[i];
	return value;
}

static void read_types(struct view *view, const struct bmff_box *meta, struct types *types)
{
	struct bmff_box iinf, infe;
	uint64_t at;

	types->count = types->hint = 0;
	if (!bmff_find(
		    view, bmff_first_child(view, meta), meta->end, BMFF('i', 'i', 'n', 'f'), &iinf))
		return;
	for (at = bmff_first_child(view, &iinf); types->count < TYPES_MAX; at = infe.end) {
		const uint8_t *p;
		size_t id_len;

		if (bmff_read(view, at, iinf.end, &infe) != BMFF_BOX)
			return;
		p = infe.end - infe.data >= 1 ? view_peek(view, infe.data, 1) : NULL;
		if (!p || infe.type != BMFF('i', 'n', 'f', 'e') || p[0] < 2)
			continue;
		id_len = p[0] == 2 ? 2 : 4;
		p = infe.end - infe.data >= id_len + 10 ? view_peek(view, infe.data, id_len + 10)
							: NULL;
		if (!p)
			continue;
		types->list[types->count].item = id_len == 2 ? be16(p + 4) : be32(p + 4);
		types->list[types->count++].type = be32(p + 4 + id_len + 2);
	}
}

/* Both lists usually have the same order: the search starts after the last match. */
static uint32_t type_of(struct view *view, struct types *types, uint32_t item)
{
	for (size_t i = 0; i < types->count; i++) {
		size_t index = (types->hint + i) % types->count;

		if (types->list[index].item == item) {
			types->hint = index + 1;
			view_work(view, i);
			return types->list[index].type;
		}
	}
	view_work(view, types->count);
	return 0;
}

struct locations {
	struct numbers numbers;
	unsigned version, offset_len, len_len, base_len, index_len;
	uint64_t count;
};

/* The head of 'iloc'. */
static void read_head(struct locations *locations)
{
	struct numbers *numbers = &locations->numbers;
	unsigned widths;

	locations->version = (unsigned)(next(numbers, 4) >> 24);
	widths = (unsigned)next(numbers, 2);
	locations->offset_len = widths >> 12;
	locations->len_len = widths >> 8 & 15;
	locations->base_len = widths >> 4 & 15;
	locations->index_len = locations->version ? widths & 15 : 0;
	locations->count = next(numbers, locations->version < 2 ? 2 : 4);
	if (locations->version > 2 || locations->offset_len > 8 || locations->len_len > 8 ||
		locations->base_len > 8 || locations->index_len > 8)
		numbers->bad = true;
}

static void visit_item(struct locations *locations, struct types *types,
	void (*visit)(void *context, const struct bmff_extent *extent), void *context)
{
	struct numbers *numbers = &locations->numbers;
	struct bmff_extent extent = { .item = (uint32_t)next(
					      numbers, locations->version < 2 ? 2 : 4) };
	uint64_t base, extents;

	if (locations->version)
		extent.method = next(numbers, 2) & 15;
	/* Data in another file, which links point to, is not this file's. */
	if (next(numbers, 2))
		extent.method = BMFF_IN_ITEM;
	base = next(numbers, locations->base_len);
	extents = next(numbers, 2);
	extent.type = type_of(numbers->view, types, extent.item);
	extent.only = extents == 1;
	for (uint64_t i = 0; i < extents && !numbers->bad; i++) {
		next(numbers, locations->index_len);
		extent.offset = base + next(numbers, locations->offset_len);
		extent.len = next(numbers, locations->len_len);
		if (!numbers->bad)
			visit(context, &extent);
	}
}

bool bmff_items(struct view *view, const struct bmff_box *meta,
	void (*visit)(void *context, const struct bmff_extent *extent), void *context,
	uint64_t *broken)
{
	struct locations locations = { .numbers = { .view = view } };
	struct numbers *numbers = &locations.numbers;
	struct types types;
	struct bmff_box iloc;

	if (!bmff_find(
		    view, bmff_first_child(view, meta), meta->end, BMFF('i', 'l', 'o', 'c'), &iloc))
		return true;
	read_types(view, meta, &types);
	numbers->at = iloc.data;
	numbers->end = iloc.end;
	read_head(&locations);
	for (uint64_t i = 0; i < locations.count && i < ITEMS_MAX && !numbers->bad; i++)
		visit_item(&locations, &types, visit, context);
	*broken = numbers->at;
	return !numbers->bad;
}

#define PROPERTIES_MAX 1024

/* Whether the property with this number, counted from 1, has this type. */
static bool is_property(struct view *view, const struct bmff_box *ipco, unsigned number,
	uint32_t type, struct bmff_box *property)
{
	uint64_t at = ipco->data;

	if (!number || number > PROPERTIES_MAX)
		return false;
	for (; number; number--, at = property->end)
		if (bmff_read(view, at, ipco->end, property) != BMFF_BOX)
			return false;
	return property->type == type;
}

/* One of the lists of items with their properties, 'ipma'. */
static bool find_property(struct view *view, const struct bmff_box *ipma,
	const struct bmff_box *ipco, uint32_t item, uint32_t type, struct bmff_box *property)
{
	struct numbers numbers = { .view = view, .at = ipma->data, .end = ipma->end };
	uint64_t head = next(&numbers, 4), count = next(&numbers, 4);
	unsigned width = head & 1 ? 2 : 1;

	for (uint64_t i = 0; i < count && i < ITEMS_MAX && !numbers.bad; i++) {
		bool is_item = next(&numbers, head >> 24 ? 4 : 2) == item;

		for (uint64_t n = next(&numbers, 1); n && !numbers.bad; n--) {
			uint64_t number = next(&numbers, width) & ((1u << (8 * width - 1)) - 1);

			if (is_item && is_property(view, ipco, (unsigned)number, type, property))
				return true;
		}
	}
	return false;
}

bool bmff_item_property(struct view *view, const struct bmff_box *meta, uint32_t item,
	uint32_t type, struct bmff_box *property)
{
	struct bmff_box iprp, ipco, ipma;
	uint64_t at;

	if (!bmff_find(view, bmff_first_child(view, meta), meta->end, BMFF('i', 'p', 'r', 'p'),
		    &iprp) ||
		!bmff_find(view, iprp.data, iprp.end, BMFF('i', 'p', 'c', 'o'), &ipco))
		return false;
	for (at = iprp.data; bmff_find(view, at, iprp.end, BMFF('i', 'p', 'm', 'a'), &ipma);
		at = ipma.end)
		if (find_property(view, &ipma, &ipco, item, type, property))
			return true;
	return false;
}

const char *bmff_picture_extension(uint32_t brand)
{
	switch (brand) {
	case BMFF('h', 'e', 'i', 'c'):
	case BMFF('h', 'e', 'i', 'x'):
	case BMFF('h', 'e', 'i', 'm'):
	case BMFF('h', 'e', 'i', 's'):
		return "heic";
	case BMFF('h', 'e', 'v', 'c'):
	case BMFF('h', 'e', 'v', 'x'):
	case BMFF('h', 'e', 'v', 'm'):
	case BMFF('h', 'e', 'v', 's'):
		return "heics";
	case BMFF('a', 'v', 'i', 'f'):
	case BMFF('a', 'v', 'i', 's'):
		return "avif";
	case BMFF('m', 'i', 'f', '1'):
	case BMFF('m', 'i', 'f', '2'):
	case BMFF('m', 'i', 'f', '3'):
	case BMFF('m', 's', 'f', '1'):
	case BMFF('m', 'i', 'a', 'f'):
	case BMFF('j', 'p', 'e', 'g'):
	case BMFF('j', 'p', 'g', 's'):
	case BMFF('j', '2', 'k', 'i'):
	case BMFF('j', '2', 'i', 's'):
	case BMFF('a', 'v', 'c', 'i'):
	case BMFF('a', 'v', 'c', 's'):
	case BMFF('v', 'v', 'i', 'c'):
	case BMFF('u', 'n', 'i', 'f'):
		return "heif";
	}
	return NULL;
}
