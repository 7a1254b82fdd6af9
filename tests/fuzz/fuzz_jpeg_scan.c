/* The scans of a JPEG, decoded at several places at once however short they are, beside the decoder that takes a bit at a time: both say the
 * same of hostile bytes, too. */
#include <assert.h>

#include "carve/view.h"
#include "tests/jpeg_reference.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	struct view *view = view_new_memory(data, len);
	struct scan_result got, want;
	int first;

	compare_decoders(data, len, view, false, true, &first, &got, &want);
	assert(first == -1);
	view_free(view);
	return 0;
}
