/*
 * A walk through an XML document, to find where it ends or where it stops making sense. One pass,
 * linear in the bytes, without memory of its own but a stack of bounded depth.
 */
#ifndef BURIN_CARVERS_COMMON_XML_WALK_H
#define BURIN_CARVERS_COMMON_XML_WALK_H

#include <stdbool.h>

#include "carver.h"

enum xml_end {
	XML_WHOLE,  /* well-formed up to the root's end tag */
	XML_BROKEN, /* something stands where XML does not allow it: problem, problem_at, sound */
	XML_CUT,    /* the view ends, or the budget, before the root does: sound */
	XML_OTHER,  /* another root than the wanted one; the walk went no further */
};

struct xml {
	/* What the caller may set. */
	const char *want_root;  /* the root's name without prefix has to be this; NULL: any */
	const char *title_name; /* the element without prefix whose text becomes title; NULL: none
				 */
	unsigned title_depth;   /* not deeper than this; the root's depth is 1 */

	/* What was found. Texts are UTF-8 as far as the document's encoding is Unicode, and cut
	 * when too long. */
	bool declared;        /* starts with <?xml ... ?> */
	char doctype[32];     /* the root's name in <!DOCTYPE ...>, "" for none */
	char root[64];        /* its name with prefix, "" when none was reached */
	char name_space[128]; /* the value of the root's xmlns or xmlns:prefix, "" for none */
	char title[128];      /* not yet without blanks: finding_set_title does that */
	uint64_t tag_count;   /* complete start and end tags */
	uint64_t root_end;    /* offset behind the root's end tag; 0: not reached */
	uint64_t end;         /* the same with comments, instructions and line ends behind it */
	uint64_t sound;       /* what is sound of a document that is broken or cut */
	const char *problem;
	uint64_t problem_at;
	uint64_t bracket_at; /* '<' in a value that is no markup, or 0 */
	uint64_t odd_at; /* first byte of text that is no UTF-8 where it should be, or 0: readers of
			    XML refuse such a document, others do not */
};

/* Walks the document at the view's start; BOM and declaration are optional. The caller has zeroed
 * what it did not set. */
enum xml_end xml_walk(struct view *view, struct xml *xml);

/* The verdict on a document whose walk ended so, but not as XML_OTHER; its length and title. */
enum verdict xml_judge(
	struct view *view, const struct xml *xml, enum xml_end end, struct finding *finding);

/* The root's name without its prefix. */
const char *xml_local_name(const char *name);

#endif
