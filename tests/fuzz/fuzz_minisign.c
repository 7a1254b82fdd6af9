/* A public key, a signature file, and what it is said to sign. */
#include "input_parts.h"

#include "report/minisign.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	char key_id[MINISIGN_ID_LEN];
	struct part parts[3];

	split_parts(data, len, parts, 3);
	if (minisign_verify(parts[0].text, parts[1].text, parts[2].text, parts[2].len, key_id)) {
		/* Not of another message. */
		parts[2].text[parts[2].len] = 'x';
		if (minisign_verify(
			    parts[0].text, parts[1].text, parts[2].text, parts[2].len + 1, key_id))
			abort();
		if (!minisign_is_public_key(parts[0].text))
			abort();
	}
	if (strlen(key_id) >= MINISIGN_ID_LEN)
		abort();
	for (size_t i = 0; i < 3; i++)
		free(parts[i].text);
	return 0;
}
