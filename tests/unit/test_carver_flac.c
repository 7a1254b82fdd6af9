/* FLAC: what proof needs, beside what the golden files show. */
#include "carver_case.h"

#define PADDING_AT 104 /* in kinds.flac, 100 bytes */

Test(carver_flac, proof_needs_zeros_as_padding)
{
	struct bytes flac = bytes_of_file("tests/golden/flac/kinds.flac");
	struct view *view;
	struct finding found = { 0 };

	flac.data[PADDING_AT + 50] = 1;
	expect("flac", &flac, CARVE_COMPLETE, flac.len, NULL);
	view = view_new_memory(flac.data, flac.len);
	view_set_thorough(view, true);
	cr_expect_eq(carver_find("flac")->check(view, &found), CARVE_TRUNCATED);
	cr_expect_eq(found.length, PADDING_AT + 50);
	view_free(view);
	free(flac.data);
}
