/*
 * OneNote's files as services write them ([MS-ONESTORE] 2.8, [MS-FSSHTTPB] 2.2.1.5): stream
 * objects.
 *
 *	start of an object: its type and length in 16 or 32 bits, whether it contains others; data
 *	end of one that does: its type in 8 or 16 bits
 *
 * The package is one object that contains all others, and ends the file; each end has to match the
 * object that was opened last.
 */
#include <inttypes.h>
#include <stdbool.h>

#include "bytes.h"
#include "one.h"
#include "walk.h"

#define PACKAGE_AT 68
#define PACKAGE_TYPE 0x7a
#define MAX_DEPTH 32
#define LONG_LENGTH 32767 /* then a number of its own holds the length */
#define MIN_OBJECTS 3

struct one_package {
	struct view *view;
	uint64_t at, valid_end;
	uint16_t open[MAX_DEPTH]; /* types of the enclosing objects */
	unsigned depth, count;
	bool cut;
};

/* Reads a compact number of 64 bits: it starts with as many zero bits as it has further bytes. */
static bool read_number(struct one_package *package, uint64_t *number)
{
	const uint8_t *p = view_peek(package->view, package->at, 1);
	unsigned len, first = p ? p[0] : 0;

	package->cut = !p;
	if (!p)
		return false;
	if (first == 0) {
		*number = 0;
		package->at++;
		return true;
	}
	len = (unsigned)__builtin_ctz(first) + 1;
	p = view_peek(package->view, package->at, len == 8 ? 9 : len);
	package->cut = !p;
	if (!p)
		return false;
	*number = 0;
	if (len == 8) {
		*number = le64(p + 1);
		len = 9;
	} else {
		for (unsigned i = 0; i < len; i++)
			*number |= (uint64_t)p[i] << 8 * i;
		*number >>= len;
	}
	package->at += len;
	return true;
}

static bool start_object(struct one_package *package, unsigned type, uint64_t len, bool is_compound)
{
	if (len == LONG_LENGTH && !read_number(package, &len))
		return false;
	if (package->at > view_size(package->view) ||
		len > view_size(package->view) - package->at) {
		package->cut = true;
		return false;
	}
	if (type == 0 || (package->depth == 0 && (type != PACKAGE_TYPE || !is_compound)))
		return false;
	package->at += len;
	if (!is_compound)
		return true;
	if (package->depth == MAX_DEPTH)
		return false;
	package->open[package->depth++] = (uint16_t)type;
	return true;
}

static bool end_object(struct one_package *package, unsigned type)
{
	return package->depth && package->open[--package->depth] == type;
}

/* Reads the start or the end of an object; false if it is neither. */
static bool read_object(struct one_package *package)
{
	static const unsigned lens[] = { 2, 1, 4, 2 };
	const uint8_t *p = view_peek(package->view, package->at, 1);
	unsigned kind = p ? p[0] & 3 : 0, value;
	bool valid;

	package->valid_end = package->at;
	p = p ? view_peek(package->view, package->at, lens[kind]) : NULL;
	package->cut = !p;
	if (!p)
		return false;
	value = kind == 2 ? le32(p) : kind == 1 ? p[0] : le16(p);
	package->at += lens[kind];
	if (kind & 1)
		valid = end_object(package, value >> 2);
	else if (kind == 0)
		valid = start_object(package, value >> 3 & 63, value >> 9, value & 4);
	else
		valid = start_object(package, value >> 3 & 0x3fff, value >> 17, value & 4);
	package->count += valid;
	return valid;
}

enum verdict one_check_package(struct view *view, struct finding *finding)
{
	struct one_package package = { .view = view, .at = PACKAGE_AT };
	bool valid;

	do
		valid = read_object(&package);
	while (valid && package.depth);
	if (package.count < MIN_OBJECTS)
		return verdict_because(CARVE_REJECT, finding,
			"too few stream objects up to %" PRIu64, package.valid_end);
	finding->length = package.at;
	if (valid)
		return CARVE_COMPLETE;
	finding->length = package.valid_end;
	if (package.cut)
		return walk_cut(view, finding, view_size(view) + 1,
			view_ends_with_image(view) ? view_size(view) : package.valid_end);
	return verdict_because(
		CARVE_TRUNCATED, finding, "no stream object at %" PRIu64, package.valid_end);
}
