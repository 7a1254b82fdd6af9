/* An AFF4 image of any bytes: what opens is read from end to end in odd pieces. */
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "evidence/aff4.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

#define MOST_MEDIA ((uint64_t)1 << 20)

static int read_input(void *context, uint64_t offset, void *buffer, size_t len)
{
	memcpy(buffer, (const uint8_t *)context + offset, len);
	return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	static uint8_t buffer[10007];
	const struct aff4_source source = { read_input, (void *)data, len };
	char reason[256] = "";
	struct aff4 *aff4 = aff4_open(&source, reason, sizeof(reason));

	if (!aff4 && !*reason)
		abort();
	for (uint64_t at = 0; aff4 && at < aff4_size(aff4) && at < MOST_MEDIA;
		at += sizeof(buffer)) {
		uint64_t left = aff4_size(aff4) - at;
		int status = aff4_read(
			aff4, at, buffer, left < sizeof(buffer) ? (size_t)left : sizeof(buffer));

		if (status && status != -EIO)
			abort();
	}
	aff4_close(aff4);
	return 0;
}
