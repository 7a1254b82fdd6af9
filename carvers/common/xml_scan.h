/* Whether bytes that come out of a decompressor can be XML. A deflate stream that goes on with bytes of
 * something else stays valid for long, and gives letters of the same alphabet, but markup that does not fit. */
#ifndef BURIN_CARVERS_COMMON_XML_SCAN_H
#define BURIN_CARVERS_COMMON_XML_SCAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define XML_SCAN_DEPTH 64 /* elements whose names are kept */

/* All zero at first. */
struct xml_scan {
	unsigned state;
	size_t begun;   /* bytes of the declaration, or of where a section begins or ends */
	uint32_t name;  /* hash of the one that is being read */
	uint32_t depth; /* open elements... */
	uint32_t names[XML_SCAN_DEPTH]; /* ...and theirs */
	uint8_t quote, last;
};

/* False: these bytes can't follow those before them. What does not begin with an XML declaration, in ASCII, may go on
 * as it will, and so may what comes after a document type with declarations of its own. */
bool xml_scan_feed(struct xml_scan *scan, const uint8_t *bytes, size_t len);
/* Whether they were XML throughout, and all elements have ended. */
bool xml_scan_is_done(const struct xml_scan *scan);

#endif
