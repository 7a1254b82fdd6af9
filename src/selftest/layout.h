/*
 * An image whose every byte is known: files in classes, each class in a part of its own, so that
 * what a carver reports can be counted by class too.
 */
#ifndef BURIN_SELFTEST_LAYOUT_H
#define BURIN_SELFTEST_LAYOUT_H

#include "base/ranges.h"
#include "hashing/hash.h"
#include "rules/rules.h"
#include "selftest/sample_files.h"

/* Bytes. Files of the class CLASS_EDGES start a few bytes before each multiple of this, so they
 * cross the edge of a chunk whatever multiple of it the chunk size is. */
#define LAYOUT_EDGE ((uint64_t)64 << 10)

enum layout_class {
	CLASS_CONTIGUOUS, /* at the starts of clusters */
	CLASS_UNALIGNED,  /* at any offset */
	CLASS_EDGES,
	CLASS_NESTED,    /* a ZIP, and what is stored in it */
	CLASS_TRUNCATED, /* the end is lost */
	CLASS_DAMAGED,   /* a byte in the middle is changed */
	CLASS_DECOYS,    /* a header, and nothing of the format after it */
	CLASSES,
};

const char *layout_class_name(enum layout_class class);

struct planted {
	enum layout_class class;
	const char *type;
	uint64_t offset, length; /* of what was planted of it */
	bool inner;              /* it is inside the one before */
	struct hashes hashes;    /* SHA-256 of its bytes in the image */
};

struct layout {
	struct bytes image;
	struct planted *planted;
	size_t count, capacity;
	struct range parts[CLASSES];
	struct hashes hashes; /* of the image */
};

/* Plants only types for which the rules have a carver; -EINVAL with error set when there are none.
 * Fills layout, which is all zero; layout_free must follow. */
int layout_make(struct layout *layout, const struct rules *rules, struct error *error);
void layout_free(struct layout *layout);

#endif
