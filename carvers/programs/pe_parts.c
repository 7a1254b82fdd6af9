/* The structures of a PE file that cannot be a coincidence, and its checksum: see pe.c. */
#include "bytes.h"
#include "pe.h"
#include "plain_text.h"
#include "walk.h"

#define SECTION_NAMES_MAX 4096

/* Blocks of a page's address, a length, and words of a type (4 bits) and an offset. */
static bool valid_block(const struct pe *pe, uint64_t at, uint32_t len)
{
	const uint8_t *p;
	size_t got;

	for (uint64_t word = at + 8, end = at + len; word < end; word += got) {
		p = walk_window(pe->view, word, end, &got);
		if (!p)
			return false;
		for (size_t i = 0; i + 1 < got; i += 2)
			if (p[i + 1] >> 4 > 10 || p[i + 1] >> 4 == 6)
				return false;
	}
	return true;
}

bool pe_relocations(const struct pe *pe, uint64_t *end, uint64_t *broken_at)
{
	uint32_t len = pe->directories[PE_RELOCATIONS].len, left = len;
	uint64_t at;

	if (len < 8 || !pe_offset(pe, pe->directories[PE_RELOCATIONS].address, len, &at))
		return false;
	while (left >= 8) {
		const uint8_t *p = view_peek(pe->view, at, 8);
		uint32_t block = p ? le32(p + 4) : 0;

		*broken_at = at;
		/* Delphi rounds the directory's size up. */
		if (p && block == 0 && le32(p) == 0 && left < len &&
			walk_zeros(pe->view, at, at + left))
			left = 0;
		if (left == 0)
			break;
		if (block < 8 || block > left || block % 2 ||
			le32(p) % (pe->align < 4096 ? pe->align : 4096) ||
			le32(p) >= pe->image_len || !valid_block(pe, at, block))
			return false;
		at += block;
		left -= block;
	}
	*broken_at = 0;
	*end = at;
	return true;
}

/* COFF symbols of 18 bytes, then their names: the table's length and names ended by zeros. GNU's programs without symbols
 * keep the names of sections. */
bool pe_symbols(const struct pe *pe, uint64_t *end, uint64_t *broken_at)
{
	uint64_t at = pe->symbols_at, names = at + pe->symbol_count * 18;
	const uint8_t *p;
	uint32_t len;

	if (at < pe->head_end || pe->symbol_count > INT32_MAX / 18)
		return false;
	*broken_at = pe->symbol_count ? names : 0;
	p = view_peek(pe->view, names, 4);
	if (!p)
		return false;
	len = le32(p);
	if (!pe->symbol_count && (len <= 4 || len > SECTION_NAMES_MAX))
		return false;
	if (len < 4 || len > INT32_MAX ||
		(len > 4 && !name_table_valid(pe->view, names + 4, names + len)))
		return false;
	*end = names + len;
	return true;
}

/* Certificates: length, revision, type and a PKCS #7 message in DER, each padded to 8 bytes. */
bool pe_certificates(const struct pe *pe, uint64_t *end, uint64_t *broken_at)
{
	uint64_t at = pe->directories[PE_CERTIFICATES].address;
	uint64_t last = at + pe->directories[PE_CERTIFICATES].len;

	if (at < pe->head_end || last > INT32_MAX || last < at + 16)
		return false;
	while (last - at >= 16) {
		const uint8_t *p = view_peek(pe->view, at, 16);
		uint32_t len = p ? le32(p) : 0;

		*broken_at = at;
		if (len < 16 || len > last - at || (le16(p + 4) != 0x100 && le16(p + 4) != 0x200) ||
			le16(p + 6) > 4)
			return false;
		if (le16(p + 6) == 2 && (p[8] != 0x30 || p[9] < 0x82 || p[9] > 0x83 ||
						(p[9] == 0x82 && be16(p + 10) + 12u > len)))
			return false;
		if (((uint64_t)len + 7) / 8 * 8 >= last - at)
			break;
		at += ((uint64_t)len + 7) / 8 * 8;
	}
	*broken_at = 0;
	*end = last;
	return true;
}

bool pe_checksum_matches(const struct pe *pe, uint64_t end)
{
	uint64_t sum = 0;
	size_t len;

	if (pe->checksum - end > 0xffff)
		return false;
	for (uint64_t at = 0; at < end; at += len) {
		const uint8_t *p = walk_window(pe->view, at, end, &len);

		if (!p)
			return false;
		if (at + len < end)
			len &= ~(size_t)1;
		for (size_t i = 0; i + 1 < len; i += 2)
			sum += le16(p + i);
		sum += len & 1 ? p[len - 1] : 0;
		if (pe->checksum_at >= at && pe->checksum_at + 4 <= at + len)
			sum -= (uint64_t)le16(p + pe->checksum_at - at) +
			       le16(p + pe->checksum_at - at + 2);
	}
	while (sum >> 16)
		sum = (sum & 0xffff) + (sum >> 16);
	return sum + end == pe->checksum;
}
