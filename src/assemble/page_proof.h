/* What the pages of a file show of its joints (struct carve_pages). */
#ifndef BURIN_ASSEMBLE_PAGE_PROOF_H
#define BURIN_ASSEMBLE_PAGE_PROOF_H

#include "assemble/workbench.h"

/* A layout that was accepted: what checks prove of each joint is at least the bits of pages that link what is before it to what is
 * after it. They are not added up, as a check may have linked pages, too. None where a joint could be elsewhere, or the image has
 * pages of another version of the file. */
void page_proof_add(
	struct workbench *bench, const struct extents *extents, struct joint_bits *bits);

#endif
