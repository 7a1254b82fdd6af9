/* Ogg: streams that follow a complete file at once. */
#include "carver_case.h"

#define WHOLE "tests/golden/ogg/vorbis.ogg"
#define CHAINED "tests/golden/ogg/chained.ogg" /* the same, and further streams */

Test(carver_ogg, a_complete_file_before_damaged_streams_stays_complete)
{
	struct bytes whole = bytes_of_file(WHOLE), bytes = bytes_of_file(CHAINED);
	size_t len = whole.len, all = bytes.len;

	expect("ogg", &bytes, CARVE_COMPLETE, all, "may be another file");
	bytes.len = all - 200;
	expect("ogg", &bytes, CARVE_COMPLETE, len, "which are damaged");
	bytes_add_random(&bytes, 5, 3000);
	expect("ogg", &bytes, CARVE_COMPLETE, len, "which are damaged");
	free(bytes.data);
	bytes = bytes_of_file(CHAINED);
	bytes.data[all - 500] ^= 1;
	expect("ogg", &bytes, CARVE_COMPLETE, len, "which are damaged");
	free(bytes.data);
	free(whole.data);
}
