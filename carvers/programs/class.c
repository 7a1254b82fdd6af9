/*
 * Java class files (The Java Virtual Machine Specification, chapter 4).
 *
 *	CAFEBABE, minor and major version, constant pool, flags, this and super class, interfaces,
 *	fields, methods, attributes; fields and methods have attributes of their own
 *
 * Everything is preceded by its length, so the walk to the last attribute gives the file's. burin
 * checks the constants' tags and texts, that classes, names and attributes point to constants of
 * the right kind, and those of a class's own attributes that are tables with a count. The contents
 * of an attribute (such as code) count as valid if something valid follows them.
 *
 * Universal Mach-O files have the same magic; they have a small number of processors where a class
 * has its version.
 */
#include <inttypes.h>
#include <string.h>

#include "bytes.h"
#include "title.h"

#define TEXT 1
#define CLASS 7

struct class
{
	struct view *view;
	struct finding *finding;
	uint64_t at;        /* the next byte to read */
	uint64_t valid_end; /* something valid follows what is before it */
	uint32_t count;     /* number of constants, plus 1 */
	uint16_t methods;   /* how many */
	const char *problem;
	uint8_t texts[8192], classes[8192]; /* bits: which constants are texts, classes */
};

static bool bit_is_set(const uint8_t *bits, uint16_t index)
{
	return bits[index / 8] >> index % 8 & 1;
}

static bool number16(struct class *class, uint16_t *value)
{
	const uint8_t *p = view_peek(class->view, class->at, 2);

	if (!p)
		return false;
	*value = be16(p);
	class->at += 2;
	return true;
}

/* Modified UTF-8 has neither zeros nor bytes above EF. */
static bool valid_text(struct view *view, uint64_t at, size_t len)
{
	const uint8_t *p = len ? view_peek(view, at, len) : NULL;

	for (size_t i = 0; i < len; i++)
		if (!p || p[i] == 0 || p[i] >= 0xf0)
			return false;
	return true;
}

/* The length of the constant at `at`, 0 when it is not a constant. */
static uint32_t constant_len(struct view *view, uint64_t at)
{
	static const uint8_t lens[] = { [3] = 5,
		[4] = 5,
		[5] = 9,
		[6] = 9,
		[7] = 3,
		[8] = 3,
		[9] = 5,
		[10] = 5,
		[11] = 5,
		[12] = 5,
		[15] = 4,
		[16] = 3,
		[17] = 5,
		[18] = 5,
		[19] = 3,
		[20] = 3 };
	const uint8_t *p = view_peek(view, at, 3);

	if (!p)
		return 0;
	if (p[0] == TEXT) {
		uint16_t len = be16(p + 1);

		return valid_text(view, at + 3, len) ? 3u + len : 0;
	}
	return p[0] < sizeof(lens) ? lens[p[0]] : 0;
}

static bool walk_pool(struct class *class)
{
	for (uint32_t i = 1; i < class->count; i++) {
		uint32_t len = constant_len(class->view, class->at);
		bool there = len && view_peek(class->view, class->at + len - 1, 1);
		const uint8_t *p = view_peek(class->view, class->at, 3);

		if (!there || !p) {
			class->problem = "no constant";
			class->valid_end = class->at;
			return false;
		}
		if (p[0] == TEXT)
			class->texts[i / 8] |= (uint8_t)(1 << i % 8);
		if (p[0] == CLASS)
			class->classes[i / 8] |= (uint8_t)(1 << i % 8);
		if (p[0] == 5 || p[0] == 6)
			i++;
		class->at += len;
	}
	class->valid_end = class->at;
	return true;
}

/* Where constant number `index` is. */
static uint64_t find_constant(const struct class *class, uint16_t index)
{
	uint64_t at = 10;

	for (uint32_t i = 1; i < index; i++) {
		const uint8_t *p = view_peek(class->view, at, 1);

		if (p && (*p == 5 || *p == 6))
			i++;
		at += constant_len(class->view, at);
	}
	return at;
}

static void read_title(const struct class *class, uint16_t index)
{
	const uint8_t *p = view_peek(class->view, find_constant(class, index), 3);
	uint16_t len;
	uint64_t at;

	if (!p || !bit_is_set(class->texts, be16(p + 1)))
		return;
	at = find_constant(class, be16(p + 1));
	p = view_peek(class->view, at, 3);
	len = p ? be16(p + 1) : 0;
	p = view_peek(class->view, at + 3, len);
	if (p)
		finding_set_title(class->finding, p, len);
}

static bool class_failed(struct class *class, const char *problem)
{
	class->problem = problem;
	return false;
}

static bool walk_head(struct class *class)
{
	uint16_t flags, this, super, count, index;

	if (!number16(class, &flags) || !number16(class, &this) || !number16(class, &super) ||
		!number16(class, &count))
		return class_failed(class, "no class after the constants");
	/* Only Object and module-info have no super class. */
	if (!bit_is_set(class->classes, this) || (super && !bit_is_set(class->classes, super)))
		return class_failed(class, "the class or its super class is not a class constant");
	read_title(class, this);
	for (uint32_t i = 0; i < count; i++)
		if (!number16(class, &index) || !bit_is_set(class->classes, index))
			return class_failed(class, "an interface is not a class constant");
	class->valid_end = class->at;
	return true;
}

/* Whether a class's attribute of `len` bytes at `at` is a table with a count, or one index, if its
 * name requires that. */
static bool valid_content(const struct class *class, uint16_t name, uint64_t at, uint32_t len)
{
	const uint8_t *p = view_peek(class->view, at, 2);
	uint16_t first = p && len >= 2 ? be16(p) : 0;
	bool there = p;

	p = view_peek(class->view, find_constant(class, name), 20);
	if (!p || len < 2)
		return true;
	if (!there)
		return false;
	if (memcmp(p + 1, "\0\12SourceFile", 12) == 0 || memcmp(p + 1, "\0\11Signature", 11) == 0)
		return len == 2 && bit_is_set(class->texts, first);
	if (memcmp(p + 1, "\0\14InnerClasses", 14) == 0)
		return len == 2 + 8u * first;
	if (memcmp(p + 1, "\0\13NestMembers", 13) == 0)
		return len == 2 + 2u * first;
	if (memcmp(p + 1, "\0\10NestHost", 10) == 0)
		return len == 2 && bit_is_set(class->classes, first);
	return true;
}

static bool walk_attributes(struct class *class, bool of_class)
{
	uint16_t count, name;

	if (!number16(class, &count))
		return class_failed(class, "no attributes");
	for (uint32_t i = 0; i < count; i++) {
		const uint8_t *p = view_peek(class->view, class->at, 6);
		uint32_t len;

		if (!p || !bit_is_set(class->texts, be16(p)))
			return class_failed(class, "an attribute without a name");
		name = be16(p);
		len = be32(p + 2);
		class->valid_end = class->at;
		if (len && !view_peek(class->view, class->at + 5 + len, 1))
			return class_failed(class, "an attribute that is not all there");
		if (of_class && !valid_content(class, name, class->at + 6, len))
			return class_failed(
				class, "an attribute whose content does not fit its name");
		class->at += 6 + (uint64_t)len;
	}
	return true;
}

/* Fields or methods. */
static bool walk_members(struct class *class)
{
	uint16_t count, flags, name, kind;

	if (!number16(class, &count))
		return class_failed(class, "no fields or methods");
	class->methods = count;
	for (uint32_t i = 0; i < count; i++) {
		if (!number16(class, &flags) || !number16(class, &name) ||
			!number16(class, &kind) || !bit_is_set(class->texts, name) ||
			!bit_is_set(class->texts, kind))
			return class_failed(class, "a field or method without name or type");
		class->valid_end = class->at - 6;
		if (!walk_attributes(class, false))
			return false;
	}
	return true;
}

/* Whether a class without attributes, which compilers hardly write, ends in more zeros than its
 * last method can have: only three counts follow the code's last instruction. */
static bool ends_in_zeros(struct class *class)
{
	const uint8_t *p = view_peek(class->view, class->at - 8, 8);

	return class->methods && p && memcmp(p, "\0\0\0\0\0\0\0\0", 8) == 0;
}

static enum verdict check(struct view *view, struct finding *finding)
{
	struct class class = { .view = view, .finding = finding, .at = 10 };
	const uint8_t *p = view_peek(view, 0, 10);

	if (!p || memcmp(p, "\xca\xfe\xba\xbe", 4) != 0 || be16(p + 6) < 45 || be16(p + 6) > 120)
		return verdict_because(CARVE_REJECT, finding, "no magic and version at 0");
	class.count = be16(p + 8);
	if (class.count < 3)
		return verdict_because(CARVE_REJECT, finding, "too few constants at 8");
	if (walk_pool(&class) && walk_head(&class) && walk_members(&class) &&
		walk_members(&class) && walk_attributes(&class, true)) {
		finding->length = class.at;
		if (!ends_in_zeros(&class))
			return CARVE_COMPLETE;
		class.problem = "a class without attributes that ends in zeros";
	}
	if (class.valid_end < 64)
		return verdict_because(
			CARVE_REJECT, finding, "%s at %" PRIu64, class.problem, class.at);
	finding->length = class.valid_end;
	return verdict_because(CARVE_TRUNCATED, finding, "%s at %" PRIu64, class.problem, class.at);
}

const struct carver class_carver = {
	.name = "class",
	.summary = "Java class files, walked from constant to attribute",
	.check = check,
};
