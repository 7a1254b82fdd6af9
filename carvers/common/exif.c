#include "exif.h"

#include "dates.h"
#include "title.h"

enum {
	TAG_DESCRIPTION = 0x010e,
	TAG_CHANGED = 0x0132,
	TAG_EXIF_IFD = 0x8769,
	TAG_TAKEN = 0x9003,
};

#define DATE_LEN 19 /* "2024:02:29 23:59:58" */

/* The number that `digits` digits represent, or -1. */
static int number(const uint8_t *text, int digits)
{
	int value = 0;

	for (int i = 0; i < digits; i++) {
		if (text[i] < '0' || text[i] > '9')
			return -1;
		value = value * 10 + (text[i] - '0');
	}
	return value;
}

static int64_t read_date(const struct tiff *tiff, uint64_t ifd, uint16_t tag)
{
	struct tiff_entry entry;
	const uint8_t *p;

	if (!tiff_find(tiff, ifd, tag, &entry) || entry.len < DATE_LEN)
		return 0;
	p = tiff_peek(tiff, entry.data, DATE_LEN);
	if (!p)
		return 0;
	return utc_seconds(number(p, 4), number(p + 5, 2), number(p + 8, 2), number(p + 11, 2),
		number(p + 14, 2), number(p + 17, 2));
}

void exif_read_tiff(const struct tiff *tiff, struct finding *finding)
{
	struct tiff_entry entry;
	const uint8_t *p;
	int64_t taken = 0;
	uint64_t ifd;

	if (tiff_find(tiff, tiff->first_ifd, TAG_DESCRIPTION, &entry)) {
		size_t title_len = entry.len < sizeof(finding->title) ? (size_t)entry.len
								      : sizeof(finding->title);

		p = tiff_peek(tiff, entry.data, title_len);
		if (p)
			finding_set_title(finding, p, title_len);
	}
	if (tiff_find(tiff, tiff->first_ifd, TAG_EXIF_IFD, &entry) &&
		tiff_read_value(tiff, &entry, 0, &ifd))
		taken = read_date(tiff, ifd, TAG_TAKEN);
	if (!taken)
		taken = read_date(tiff, tiff->first_ifd, TAG_CHANGED);
	if (taken)
		finding->time = taken;
}

bool exif_read(struct view *view, uint64_t base, uint64_t len, struct finding *finding)
{
	struct tiff tiff;

	if (!tiff_open(&tiff, view, base, len))
		return false;
	view_embedded(view, base);
	exif_read_tiff(&tiff, finding);
	return true;
}
