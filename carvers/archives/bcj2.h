/* BCJ2, the filter for x86 programs that 7-Zip packs in four streams. */
#ifndef BURIN_CARVERS_ARCHIVES_BCJ2_H
#define BURIN_CARVERS_ARCHIVES_BCJ2_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum bcj2_stream { BCJ2_CODE, BCJ2_CALLS, BCJ2_JUMPS, BCJ2_RANGE, BCJ2_STREAMS };

struct bcj2_input {
	const uint8_t *bytes;
	size_t len;
};

/* Joins the streams to len bytes of a program, which take gets piece by piece, as long as it returns true. False: the streams have
 * too few bytes, or take returned false. */
bool bcj2_join(const struct bcj2_input inputs[BCJ2_STREAMS], uint64_t len,
	bool (*take)(void *context, const uint8_t *bytes, size_t len), void *context);

#endif
