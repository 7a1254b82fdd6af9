/*
 * A walk through an XML document, to find where it ends or becomes invalid. One pass, linear in the
 * bytes; the only memory is a stack of bounded depth.
 */
#ifndef BURIN_CARVERS_COMMON_XML_WALK_H
#define BURIN_CARVERS_COMMON_XML_WALK_H

#include <stdbool.h>

#include "carver.h"

enum xml_end {
	XML_COMPLETE, /* well-formed up to the root's end tag */
	XML_BROKEN,   /* not well-formed: sets problem, problem_at, valid_end */
	XML_CUT,      /* the view or the budget ends before the root does: sets valid_end */
	XML_OTHER,    /* another root than the wanted one; the walk stopped there */
};

struct xml {
	/* The caller may set these. */
	const struct carve_state
		*from; /* what a walk saved in the view, to go on from there; NULL: the beginning */
	const char *want_root;  /* the root's name without prefix has to be this; NULL: any */
	const char *title_name; /* the element without prefix whose text becomes title; NULL: none
				 */
	unsigned title_depth;   /* not deeper than this; the root's depth is 1 */

	/* The result. Texts are UTF-8 if the document's encoding is Unicode, and cut when too
	 * long. */
	bool declared;        /* starts with <?xml ... ?> */
	char doctype[32];     /* the root's name in <!DOCTYPE ...>, "" for none */
	char root[64];        /* its name with prefix, "" when none was reached */
	char name_space[128]; /* the value of the root's xmlns or xmlns:prefix, "" for none */
	char title[128];      /* blanks not yet removed: finding_set_title does that */
	uint64_t tag_count;   /* complete start and end tags */
	bool leads_with_text; /* something that is no blank is between the root's tag and the next markup */
	uint64_t root_end; /* offset after the root's end tag; 0: not reached */
	uint64_t end;      /* the same after the comments, instructions and line ends that follow */
	uint64_t valid_end; /* how far a document that is broken or cut is valid */
	const char *problem;
	uint64_t problem_at;
	uint64_t bracket_at; /* '<' in a value that does not start markup, or 0 */
	uint64_t odd_at; /* first byte that should be UTF-8 but is not, or 0: readers of XML reject
			    such a document, other programs do not */
};

/* Walks the document at the view's start; BOM and declaration are optional. What the caller does
 * not set must be zero. Saves states between two pieces of markup where the view wants them. */
enum xml_end xml_walk(struct view *view, struct xml *xml);

/* The verdict on a document whose walk ended with `end` (not XML_OTHER); sets length and title. */
enum verdict xml_verdict(
	struct view *view, const struct xml *xml, enum xml_end end, struct finding *finding);

/* Whether the root's tag, without a declaration, is only quoted in a text, which breaks the document; for vocabularies without
 * text right in the root. */
bool xml_is_mentioned(const struct xml *xml, enum xml_end end);
#define XML_MENTIONED "text that mentions the root's tag up to %" PRIu64

/* The root's name without its prefix. */
const char *xml_local_name(const char *name);

#endif
