/* EBML (RFC 8794): nested elements, used by Matroska. */
#ifndef BURIN_CARVERS_MEDIA_EBML_H
#define BURIN_CARVERS_MEDIA_EBML_H

#include <stdbool.h>

#include "carver.h"

struct ebml_element {
	uint64_t at, data, end; /* [at, end), of which [data, end) follows id and length */
	uint32_t id;            /* with its length marker, as documents write it; 0: none */
	bool unknown_len;       /* end is the limit */
};

enum ebml_state {
	EBML_INTACT,
	EBML_NONE, /* not an element */
	EBML_CUT,  /* it ends after the limit */
	EBML_END,  /* at is the limit */
};

/* Reads the element at `at` in something that ends at limit. */
enum ebml_state ebml_read(
	struct view *view, uint64_t at, uint64_t limit, struct ebml_element *element);

/* The first element with this id directly in [at, end), or false. */
bool ebml_find(
	struct view *view, uint64_t at, uint64_t end, uint32_t id, struct ebml_element *found);

/* Its value as an integer of at most 8 bytes; 0 if it cannot be read. */
uint64_t ebml_number(struct view *view, const struct ebml_element *element);

/* A CRC-32 with which an element begins. */
struct ebml_crc {
	uint64_t at,
		from; /* where it is; where the bytes begin of which it is, up to the element's end */
	uint32_t value;
	bool right;
};

/* Compares the element's CRC. False: it has none, or not all of the element is there. */
bool ebml_check_crc(struct view *view, const struct ebml_element *element, struct ebml_crc *crc);

#endif
