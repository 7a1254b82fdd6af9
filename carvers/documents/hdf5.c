/*
 * HDF5 (The HDF Group, HDF5 File Format Specification 3.0, III.A): NetCDF 4 and MATLAB 7.3 are HDF5, too.
 *
 *	superblock: 89 'HDF' 0D 0A 1A 0A, version (0 to 3); lengths of places and of lengths at 13 and 14
 *	            (version 0, 1) or at 9 and 10; places: of the file's beginning, ..., of its end
 *	MATLAB 7.3: 'MATLAB 7.3 MAT-file' and more text, 512 bytes in all, before it
 *
 * The superblock's place of the end gives the length; nothing else is checked.
 */
#include <inttypes.h>
#include <stdbool.h>
#include <string.h>

#include "bytes.h"
#include "stored.h"

#define HEAD_LEN 96
#define MATLAB_LEN 512

static enum verdict check(struct view *view, struct finding *finding)
{
	const uint8_t *p = view_peek(view, 0, 10);
	uint64_t at = p && memcmp(p, "MATLAB 7.3", 10) == 0 ? MATLAB_LEN : 0;
	/* By version: the length of a place, the beginning's place, the end's. */
	static const struct {
		uint8_t place_len, base, end;
	} layouts[] = { { 13, 24, 40 }, { 13, 28, 44 }, { 9, 12, 28 }, { 9, 12, 28 } };
	uint64_t end;

	p = view_peek(view, at, HEAD_LEN);
	if (!p || memcmp(p, "\x89HDF\r\n\x1a\n", 8) != 0 || p[8] > 3 ||
		p[layouts[p[8]].place_len] != 8 || le64(p + layouts[p[8]].base) != at)
		return verdict_because(CARVE_REJECT, finding, "no superblock at %" PRIu64, at);
	end = le64(p + layouts[p[8]].end);
	if (end < at + HEAD_LEN || end > (uint64_t)1 << 48)
		return verdict_because(
			CARVE_REJECT, finding, "an impossible end in the superblock");
	if (at) {
		finding->extension = "mat";
		view_part(view, at);
	}
	return stored_check_coded(view, finding, at + HEAD_LEN, end);
}

const struct carver hdf5_carver = {
	.name = "hdf5",
	.summary = "HDF5, by the superblock's end",
	.check = check,
};
