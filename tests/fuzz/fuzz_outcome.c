/* What a process that checks candidates sends, from hostile bytes: an outcome that fits can be used as that of
 * any check. */
#include <stdlib.h>
#include <string.h>

#include "carve/outcome.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

static const char *keep(const char *text)
{
	return strlen(text) < 8 ? "kept" : NULL;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	const struct candidate candidate = { .start = 1000, .length = 1 << 20 };
	struct codec_reader reader = codec_reader_from(data, len);
	struct outcome outcome;

	outcome_load(&outcome, keep, &reader);
	if (codec_ok(&reader) && outcome_fits(&outcome, &candidate, 1 << 18)) {
		struct outcome copy = outcome_copy(&outcome);

		if (copy.length > (1 << 18) - 1000 || outcome_extra_len(&copy) > 4096 + 8 * len)
			abort();
		outcome_free(&copy);
	}
	outcome_free(&outcome);
	return 0;
}
