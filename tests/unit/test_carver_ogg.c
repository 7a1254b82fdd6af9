/* Ogg: streams that follow a complete file at once. */
#include "carver_case.h"

#include <stdio.h>

#define WHOLE "tests/golden/ogg/vorbis.ogg"
#define CHAINED "tests/golden/ogg/chained.ogg" /* the same, and further streams */

static struct bytes golden(const char *path)
{
	struct bytes bytes = { 0 };
	FILE *file = fopen(path, "rb");
	uint8_t buffer[4096];
	size_t len;

	cr_assert_not_null(file, "can't read %s: run the tests from the source folder", path);
	while ((len = fread(buffer, 1, sizeof(buffer), file)) > 0)
		bytes_add(&bytes, buffer, len);
	fclose(file);
	return bytes;
}

Test(carver_ogg, a_complete_file_before_damaged_streams_stays_complete)
{
	struct bytes whole = golden(WHOLE), bytes = golden(CHAINED);
	size_t len = whole.len, all = bytes.len;

	expect("ogg", &bytes, CARVE_COMPLETE, all, "may be another file");
	bytes.len = all - 200;
	expect("ogg", &bytes, CARVE_COMPLETE, len, "which are damaged");
	bytes_add_random(&bytes, 5, 3000);
	expect("ogg", &bytes, CARVE_COMPLETE, len, "which are damaged");
	free(bytes.data);
	bytes = golden(CHAINED);
	bytes.data[all - 500] ^= 1;
	expect("ogg", &bytes, CARVE_COMPLETE, len, "which are damaged");
	free(bytes.data);
	free(whole.data);
}
