/*
 * Files that are one compressed stream, or several in a row: what bzip2, xz and lzip have in
 * common.
 */
#ifndef BURIN_CARVERS_ARCHIVES_PACKED_CHAIN_H
#define BURIN_CARVERS_ARCHIVES_PACKED_CHAIN_H

#include "compressed.h"

struct packed_chain {
	enum compressed_format format;
	const char *what; /* for people: "bzip2" */
	/* Whether a stream starts at `at`: how long its header is, or 0. */
	size_t (*starts)(struct view *view, uint64_t at);
	/* Zeros between streams come in multiples of this; 0: there are none. */
	uint64_t padding;
	/* A stream that breaks this near to its start is none. */
	uint64_t sure_len;
	/* What is sound of a broken stream is `proven`, not where the decoder noticed. */
	bool by_blocks;
	const char *extensions[COMPRESSED_CONTENTS];
};

/* The carvers' check. */
enum verdict packed_chain_check(
	struct view *view, struct finding *finding, const struct packed_chain *chain);

#endif
