#include "cluster/pack.h"

#include <string.h>

#include "base/memory.h"

void pack_raw(struct pack *pack, const void *bytes, size_t len)
{
	if (pack->capacity - pack->len < len) {
		pack->capacity = (pack->len + len) * 2;
		pack->bytes = xreallocarray(pack->bytes, pack->capacity, 1);
	}
	if (len)
		memcpy(pack->bytes + pack->len, bytes, len);
	pack->len += len;
}

void pack_number(struct pack *pack, uint64_t number)
{
	pack_raw(pack, &number, sizeof(number));
}

void pack_bytes(struct pack *pack, const void *bytes, size_t len)
{
	pack_number(pack, len);
	pack_raw(pack, bytes, len);
}

void pack_text(struct pack *pack, const char *text)
{
	pack_bytes(pack, text, text ? strlen(text) : 0);
}

static const uint8_t *take(struct unpack *unpack, size_t len)
{
	const uint8_t *bytes = unpack->bytes;

	if (unpack->left < len) {
		unpack->bad = true;
		unpack->left = 0;
		return NULL;
	}
	unpack->bytes += len;
	unpack->left -= len;
	return bytes;
}

void unpack_raw(struct unpack *unpack, void *bytes, size_t len)
{
	const uint8_t *from = take(unpack, len);

	if (from)
		memcpy(bytes, from, len);
	else
		memset(bytes, 0, len);
}

uint64_t unpack_number(struct unpack *unpack)
{
	uint64_t number;

	unpack_raw(unpack, &number, sizeof(number));
	return number;
}

const void *unpack_bytes(struct unpack *unpack, size_t *len)
{
	const void *bytes;

	*len = (size_t)unpack_number(unpack);
	bytes = take(unpack, *len);
	if (!bytes)
		*len = 0;
	return bytes;
}

void unpack_text(struct unpack *unpack, char *buffer, size_t len)
{
	size_t have;
	const void *bytes = unpack_bytes(unpack, &have);

	if (have >= len)
		have = len - 1;
	if (have)
		memcpy(buffer, bytes, have);
	buffer[have] = '\0';
}

char *unpack_text_new(struct unpack *unpack)
{
	size_t len;
	const void *bytes = unpack_bytes(unpack, &len);
	char *text = xmalloc(len + 1);

	if (len)
		memcpy(text, bytes, len);
	text[len] = '\0';
	return text;
}
