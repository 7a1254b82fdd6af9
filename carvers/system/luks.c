/*
 * LUKS headers (LUKS On-Disk Format Specification 1.2.3; LUKS2 On-Disk Format 1.1.1).
 *
 *	1: header with eight key slots; their key material; the encrypted volume
 *	2: two headers with JSON text each, the second with a reversed magic; key slots; the volume
 *
 * burin carves the header with its key slots, as cryptsetup's luksHeaderBackup writes it (version 1: up to the end of the
 * last slot's material, in pages of 4 KiB, or where the volume starts; 2: the headers and the area of the slots): enough to
 * open the volume, once it is found. Encrypted data cannot be verified, and the headers' checksums are
 * cryptographic hashes, which are not computed here: so the file is unverified.
 */
#include <inttypes.h>
#include <string.h>

#include "bytes.h"
#include "title.h"
#include "walk.h"

#define PAGE 4096

/* A field of text: letters, then zeros. */
static bool text_field(const uint8_t *p, size_t len)
{
	size_t i = 0;

	while (i < len && p[i] >= ' ' && p[i] <= '~')
		i++;
	if (i == 0)
		return false;
	while (i < len && p[i] == 0)
		i++;
	return i == len;
}

/* The end of header and key material, or 0 when a slot is invalid. */
static uint64_t slots_end(const uint8_t *p)
{
	uint64_t end = 592, material;

	for (int i = 0; i < 8; i++) {
		const uint8_t *slot = p + 208 + 48 * i;

		if (be32(slot) != 0x00ac71f3 && be32(slot) != 0x0000dead)
			return 0;
		if (be32(slot + 44) == 0 || be32(slot + 44) > 65536)
			return 0;
		material = (uint64_t)be32(slot + 40) * SECTOR +
			   (uint64_t)be32(slot + 44) * be32(p + 108);
		if (material > end)
			end = material;
	}
	return (end + SECTOR - 1) / SECTOR * SECTOR;
}

static enum verdict judge_end(struct view *view, struct finding *finding, uint64_t end)
{
	if (end > view_size(view))
		return walk_cut(view, finding, end, view_size(view));
	finding->length = end;
	return verdict_because(CARVE_UNVERIFIED, finding,
		"the header with its keys; the volume from %" PRIu64 " on cannot be verified", end);
}

static enum verdict check_1(struct view *view, struct finding *finding)
{
	const uint8_t *p = view_peek(view, 0, 592);
	uint64_t end, payload, pages_end;

	if (!p || !text_field(p + 8, 32) || !text_field(p + 40, 32) || !text_field(p + 72, 32) ||
		!text_field(p + 168, 40) || be32(p + 108) == 0 || be32(p + 108) > 1024)
		return verdict_because(CARVE_REJECT, finding, "no names of a cipher at 8");
	payload = (uint64_t)be32(p + 104) * SECTOR;
	end = slots_end(p);
	if (end == 0 || (payload && payload < end))
		return verdict_because(CARVE_REJECT, finding, "no key slots at 208");
	finding_set_title(finding, p + 168, 40);
	pages_end = (end + PAGE - 1) / PAGE * PAGE;
	return judge_end(view, finding, !payload ? end : payload < pages_end ? payload : pages_end);
}

/* Finds `"key":"` from *at on, and reads the decimal number after it. */
static bool find_number(const uint8_t *p, size_t len, const char *key, size_t *at, uint64_t *value)
{
	size_t key_len = strlen(key);

	for (; *at + key_len < len; (*at)++) {
		if (memcmp(p + *at, key, key_len) != 0)
			continue;
		*at += key_len;
		*value = 0;
		while (*at < len && p[*at] >= '0' && p[*at] <= '9' && *value < 1ull << 50)
			*value = *value * 10 + (p[(*at)++] - '0');
		return true;
	}
	return false;
}

/* Where the area of the key slots ends; if it is not said, where the first segment of the volume starts, or if there is
 * none, where the last key slot ends. */
static uint64_t areas_end(struct view *view, uint64_t header_len)
{
	size_t len =
		header_len - 4096 < VIEW_MAX_PEEK ? (size_t)(header_len - 4096) : VIEW_MAX_PEEK;
	const uint8_t *p = view_peek(view, 4096, len);
	uint64_t end = 2 * header_len, offset, size;
	size_t at = 0, segments = 0;

	if (!p || p[0] != '{')
		return 0;
	if (find_number(p, len, "\"keyslots_size\":\"", &at, &size) && size)
		return end + size;
	while (segments + 10 < len && memcmp(p + segments, "\"segments\"", 10) != 0)
		segments++;
	at = segments;
	if (find_number(p, len, "\"offset\":\"", &at, &offset) && offset >= end)
		return offset;
	at = 0;
	while (find_number(p, segments, "\"offset\":\"", &at, &offset) &&
		find_number(p, segments, "\"size\":\"", &at, &size))
		if (offset + size > end)
			end = offset + size;
	return end;
}

static enum verdict check_2(struct view *view, struct finding *finding)
{
	const uint8_t *p = view_peek(view, 0, 4096);
	uint64_t len = p ? be64(p + 8) : 0, end;

	if (!p || len < 16384 || len > 4194304 || (len & (len - 1)) || !text_field(p + 72, 32) ||
		!text_field(p + 168, 40) || be64(p + 256) != 0)
		return verdict_because(CARVE_REJECT, finding, "no binary header at 0");
	finding_set_title(finding, p + 168, 40);
	end = areas_end(view, len);
	if (end == 0)
		return verdict_because(CARVE_REJECT, finding, "no JSON text of the header at 4096");
	p = view_peek(view, len, 6);
	if (len + 6 > view_size(view))
		return walk_cut(view, finding, end, view_size(view));
	if (!p || memcmp(p, "SKUL\xba\xbe", 6) != 0) {
		finding->length = len;
		return verdict_because(
			CARVE_TRUNCATED, finding, "no second header at %" PRIu64, len);
	}
	return judge_end(view, finding, end);
}

static enum verdict check(struct view *view, struct finding *finding)
{
	const uint8_t *p = view_peek(view, 0, 8);

	if (!p || memcmp(p, "LUKS\xba\xbe\0", 7) != 0 || p[7] - 1 > 1)
		return verdict_because(CARVE_REJECT, finding, "no magic and version at 0");
	return p[7] == 1 ? check_1(view, finding) : check_2(view, finding);
}

const struct carver luks_carver = {
	.name = "luks",
	.summary = "LUKS headers with their key slots",
	.check = check,
};
