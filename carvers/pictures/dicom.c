/*
 * DICOM files (PS3.10).
 *
 *	128 arbitrary bytes, 'DICM'
 *	group 0002: elements that define the coding of the data set (transfer syntax), always
 *	            explicit and little-endian
 *	the data set: implicit or explicit, little- or big-endian, or deflated (PS3.5, annex A)
 *
 * The elements lead from one to the next (dicom_data.c); the file ends after the last of them,
 * which nothing marks. A picture's pixel data usually comes last: a picture without it is cut.
 * Coded pixel data ends with a delimiter, which makes the file complete. Raw pixel data has a
 * length, but nothing confirms it, except where it turns into random bytes (noise.h); and a
 * document that is not a picture may have continued. Such files are unverified. A deflated data set
 * ends where its deflate stream ends.
 */
#include "dicom.h"

#include <inttypes.h>
#include <string.h>

#include "bytes.h"
#include "dates.h"
#include "inflated.h"
#include "noise.h"
#include "overwrite.h"
#include "walk.h"

#define PREAMBLE_LEN 128
#define META_MAX 256
/* How much of a file's end may be unconfirmed: this part of its length, and at least this many
 * bytes. */
#define PIECE 4096

struct head {
	uint64_t end; /* where the data set starts */
	char syntax[66];
	unsigned count;
};

/* Reads the elements of group 0002. */
static void read_head(struct view *view, struct head *head)
{
	static const struct dicom_coding coding = { 0 };
	struct dicom_element element;

	head->end = PREAMBLE_LEN + 4;
	for (; head->count < META_MAX; head->count++) {
		const uint8_t *p;

		if (dicom_read(view, &coding, head->end, &element) != DICOM_ELEMENT ||
			element.tag >> 16 != 2 || element.len == DICOM_UNDEFINED)
			return;
		p = view_peek(view, element.value, element.len < 65 ? element.len : 65);
		if (!p || element.len > view_size(view) - element.value)
			return;
		if (element.tag == DICOM_TAG(2, 0x10) && element.len < 65) {
			memcpy(head->syntax, p, element.len);
			head->syntax[element.len] = 0;
			head->syntax[strcspn(head->syntax, " ")] = 0;
		}
		head->end = element.value + element.len;
	}
}

/* Some files are coded differently from their transfer syntax: the first element shows it. */
static bool looks_implicit(struct view *view, uint64_t at)
{
	const uint8_t *p = view_peek(view, at, 8);

	return p && !(p[4] >= 'A' && p[4] <= 'Z' && p[5] >= 'A' && p[5] <= 'Z');
}

static enum verdict check_deflated(struct view *view, struct finding *finding, uint64_t at)
{
	struct inflated inflated = { 0 };
	enum inflated_state state = INFLATED_MORE;
	uint64_t start = at;
	const uint8_t *p;

	if (!inflated_open(&inflated, view, INFLATED_RAW))
		return verdict_because(CARVE_REJECT, finding, "no memory");
	while (state == INFLATED_MORE) {
		size_t len, used;

		p = walk_window(view, at, at + PIECE, &len);

		if (!p)
			break;
		state = inflated_feed(&inflated, p, len, &used);
		at += state == INFLATED_BAD ? 0 : used;
	}
	inflated_close(&inflated);
	/* Some programs write gzip's checksum and length after it. */
	p = state == INFLATED_DONE ? view_peek(view, at, 8) : NULL;
	if (p && le32(p) == inflated.crc && le32(p + 4) == (uint32_t)inflated.output_len) {
		finding->length = at + 8;
		return CARVE_COMPLETE;
	}
	if (state == INFLATED_MORE)
		return walk_cut(view, finding, view_size(view) + 1, at);
	finding->length = at;
	if (state == INFLATED_BAD && at == start) {
		finding->length = 0;
		return verdict_because(
			CARVE_REJECT, finding, "no deflated data set at %" PRIu64, start);
	}
	if (state == INFLATED_BAD)
		return verdict_because(CARVE_TRUNCATED, finding,
			"the deflated data set is invalid after %" PRIu64, at);
	return verdict_because(CARVE_UNVERIFIED, finding,
		"a deflated data set without a checksum up to %" PRIu64, at);
}

static enum verdict file_verdict(struct dicom_data *data, struct finding *finding)
{
	uint64_t tail = data->end - (data->confirmed < data->end ? data->confirmed : data->end);
	uint64_t noise, at;
	const char *what;

	if (data->wanted)
		return walk_cut(data->view, finding, data->wanted, view_size(data->view));
	noise = noise_start(data->view, data->end - tail, data->end);
	finding->length = data->broken ? data->broken : data->end;
	if (data->broken)
		return verdict_because(
			CARVE_TRUNCATED, finding, "an invalid sequence at %" PRIu64, data->broken);
	if (noise < data->end) {
		finding->length = noise;
		return verdict_because(CARVE_TRUNCATED, finding,
			"pixel data turn into random bytes at about %" PRIu64, noise);
	}
	if (data->image && !data->pixels)
		return verdict_because(CARVE_TRUNCATED, finding,
			"no element at %" PRIu64 ", and no pixel data before it", data->end);
	if (!data->pixels)
		return verdict_because(CARVE_UNVERIFIED, finding,
			"more elements may follow %" PRIu64 "", data->end);
	if (tail > WALK_TAIL_MIN && overwrite_find(data->view, data->end - tail, data->end, 1, &at,
					    &what) == OVERWRITE_CERTAIN) {
		finding->length = at;
		return verdict_because(
			CARVE_TRUNCATED, finding, "%s instead of pixel data at %" PRIu64, what, at);
	}
	return walk_tail_verdict(finding, data->end - tail, data->end);
}

static int part(const char *digits, int len)
{
	int value = 0;

	for (int i = 0; i < len; i++)
		value = value * 10 + (digits[i] ? digits[i] - '0' : 0);
	return value;
}

static enum verdict check(struct view *view, struct finding *finding)
{
	struct dicom_data data = { .view = view };
	const uint8_t *p = view_peek(view, PREAMBLE_LEN, 4);
	struct head head = { 0 };

	if (!p || memcmp(p, "DICM", 4) != 0)
		return verdict_because(CARVE_REJECT, finding, "no DICM at 128");
	read_head(view, &head);
	if (!head.count)
		return verdict_because(CARVE_REJECT, finding, "no element of group 2 at 132");
	if (strcmp(head.syntax, "1.2.840.10008.1.2.1.99") == 0)
		return check_deflated(view, finding, head.end);
	data.end = head.end;
	data.coding.big_endian = strcmp(head.syntax, "1.2.840.10008.1.2.2") == 0;
	data.coding.implicit = !data.coding.big_endian && looks_implicit(view, head.end);
	dicom_walk(&data, finding);
	if (data.count < 2 && !data.wanted && head.count < 3)
		return verdict_because(CARVE_REJECT, finding, "no data set at %" PRIu64, head.end);
	finding->time =
		utc_seconds(part(data.date, 4), part(data.date + 4, 2), part(data.date + 6, 2),
			part(data.time, 2), part(data.time + 2, 2), part(data.time + 4, 2));
	return file_verdict(&data, finding);
}

const struct carver dicom_carver = {
	.name = "dicom",
	.summary = "DICOM files, by their elements",
	.check = check,
};
