/*
 * Files that are one compressed stream, or several in a row: what bzip2, xz and lzip have in
 * common.
 */
#ifndef BURIN_CARVERS_ARCHIVES_STREAM_CHAIN_H
#define BURIN_CARVERS_ARCHIVES_STREAM_CHAIN_H

#include "compressed.h"

struct stream_chain {
	enum compressed_format format;
	const char *what; /* for people: "bzip2" */
	/* The length of the header of a stream that starts at `at`, or 0. */
	size_t (*starts)(struct view *view, uint64_t at);
	/* Where the stream at `at` ends, bytes of which before `from` could not be read; 0: that can't be
	 * found. NULL: never. */
	uint64_t (*find_end)(struct view *view, uint64_t at, uint64_t from);
	/* NULL, or walks the codes of the stream at `at`, from a state of it if that is not NULL: DONE up to its end, else
	 * *end is where they are no longer valid, or the file's own. Called where a file in pieces is put together. */
	enum compressed_state (*walk_codes)(
		struct view *view, uint64_t at, const void *state, uint64_t *end);
	/* Zeros between streams come in multiples of this many; 0: there are none. */
	uint64_t padding;
	/* A stream that becomes invalid earlier than this is not accepted. */
	uint64_t sure_len;
	/* An invalid stream is valid up to `proven`, not up to where the decoder noticed. */
	bool by_blocks;
	const char *extensions[COMPRESSED_CONTENTS];
};

/* The carvers' check. */
enum verdict stream_chain_check(
	struct view *view, struct finding *finding, const struct stream_chain *chain);
/* The same from a state of the stream at `at`. */
enum verdict stream_chain_resume(struct view *view, struct finding *finding,
	const struct stream_chain *chain, uint64_t at, const void *state);

#endif
