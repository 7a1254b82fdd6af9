/* What sfnt.h declares: checksums, tags, title and date of a font's tables. */
#include "sfnt.h"

#include <string.h>

#include "bytes.h"
#include "dates.h"
#include "title.h"

void sfnt_sum_add(struct sfnt_sum *sum, const uint8_t *bytes, size_t len)
{
	size_t i = 0;

	for (; i < len && sum->len % 4; i++, sum->len++)
		sum->sum += (uint32_t)bytes[i] << 8 * (3 - sum->len % 4);
	for (; i + 4 <= len; i += 4, sum->len += 4)
		sum->sum += be32(bytes + i);
	for (; i < len; i++, sum->len++)
		sum->sum += (uint32_t)bytes[i] << 8 * (3 - sum->len % 4);
}

bool sfnt_is_tag(const uint8_t *p)
{
	for (int i = 0; i < 4; i++)
		if (p[i] < ' ' || p[i] > '~')
			return false;
	return p[0] != ' ';
}

/* The full name (4), of Windows (UTF-16) or else of the Macintosh. */
void sfnt_read_name(struct finding *finding, const uint8_t *p, size_t len)
{
	uint16_t count = len >= 6 ? be16(p + 2) : 0;

	for (uint32_t i = 0; i < count && 6 + 12 * (i + 1) <= len; i++) {
		const uint8_t *record = p + 6 + 12 * (size_t)i;
		size_t at = (size_t)be16(p + 4) + be16(record + 10), name_len = be16(record + 8);

		if (be16(record + 6) != 4 || at > len || name_len > len - at)
			continue;
		if (be16(record) == 3 || be16(record) == 0) {
			finding_set_title_utf16(finding, p + at, name_len, true);
			if (finding->title[0])
				return;
		} else if (!finding->title[0]) {
			finding_set_title_latin1(finding, p + at, name_len);
		}
	}
}

void sfnt_read_head(struct finding *finding, const uint8_t *p, size_t len)
{
	if (len >= 54)
		finding->time = mac_seconds(be64(p + 28));
}
