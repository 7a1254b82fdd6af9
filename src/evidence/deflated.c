#include "evidence/deflated.h"

#include <libdeflate.h>

bool inflate_whole(enum inflate_format format, const uint8_t *packed, size_t packed_len,
	uint8_t *to, size_t room, size_t *len)
{
	struct libdeflate_decompressor *inflater = libdeflate_alloc_decompressor();
	enum libdeflate_result result = LIBDEFLATE_BAD_DATA;

	if (!inflater)
		return false;
	switch (format) {
	case INFLATE_RAW:
		result = libdeflate_deflate_decompress(inflater, packed, packed_len, to, room, len);
		break;
	case INFLATE_ZLIB:
		result = libdeflate_zlib_decompress(inflater, packed, packed_len, to, room, len);
		break;
	case INFLATE_GZIP:
		result = libdeflate_gzip_decompress(inflater, packed, packed_len, to, room, len);
		break;
	}
	libdeflate_free_decompressor(inflater);
	return result == LIBDEFLATE_SUCCESS;
}
