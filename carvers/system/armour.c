/*
 * Armour (RFC 7468, RFC 1421, RFC 9580 6):
 *
 *	-----BEGIN label-----
 *	perhaps fields "Name: value", which may continue on a line that starts with a blank, and an
 *		empty line
 *	base64, up to 76 characters a line
 *	perhaps "=" and a CRC-24 in base64 (OpenPGP)
 *	-----END label-----
 *
 * SSH2's keys (RFC 4716) have four hyphens and a blank instead of five; a field goes on after a backslash.
 *
 * Each line is checked; the decoded bytes are counted, and the first of them kept.
 */
#include "armour.h"

#include <string.h>

#include "base64.h"

#define LINE_MAX_LEN 80

struct armour_decoder {
	struct base64_bits bits;
	unsigned padding;
	uint32_t crc;
};

static uint32_t crc24(uint32_t crc, uint8_t byte)
{
	crc ^= (uint32_t)byte << 16;
	for (int bit = 0; bit < 8; bit++)
		crc = crc << 1 ^ (crc & 0x800000 ? 0x1864cfb : 0);
	return crc & 0xffffff;
}

/* Reads the label of a line "-----BEGIN label-----", the word being "BEGIN ", or "---- BEGIN label ----". */
static bool read_label(const struct line *line, const char *word, char label[64])
{
	size_t head = strlen(word) + 5, len = line->len;
	bool four;

	while (len && (line->bytes[len - 1] == ' ' || line->bytes[len - 1] == '\t'))
		len--;
	if (len < head + 6 || len - head - 5 > 63 || memcmp(line->bytes + 5, word, head - 5) != 0)
		return false;
	four = memcmp(line->bytes, "---- ", 5) == 0;
	if ((!four && memcmp(line->bytes, "-----", 5) != 0) ||
		memcmp(line->bytes + len - 5, four ? " ----" : "-----", 5) != 0)
		return false;
	memcpy(label, line->bytes + head, len - head - 5);
	label[len - head - 5] = 0;
	return true;
}

bool armour_opens(const struct line *line, char label[64])
{
	return line->ended && read_label(line, "BEGIN ", label);
}

/* Decodes a line of base64; false when it is not one. */
static bool decode_line(
	struct armour *armour, struct armour_decoder *decoder, const struct line *line)
{
	size_t len = line->len;

	while (len && (line->bytes[len - 1] == ' ' || line->bytes[len - 1] == '\t'))
		len--;
	if (!len || len > LINE_MAX_LEN || decoder->padding)
		return false;
	for (size_t i = 0; i < len; i++) {
		int value = base64_digit(line->bytes[i]);
		uint8_t byte;

		if (line->bytes[i] == '=' && ++decoder->padding <= 2 && i + 2 >= len)
			continue;
		if (value < 0 || decoder->padding)
			return false;
		if (base64_add(&decoder->bits, value, &byte)) {
			if (armour->data_len < ARMOUR_HEAD)
				armour->head[armour->data_len] = byte;
			armour->data_len++;
			decoder->crc = crc24(decoder->crc, byte);
		}
	}
	armour->data_lines++;
	return true;
}

/* Whether the line is a CRC-24; compares it. */
static bool check_crc(
	struct armour *armour, const struct armour_decoder *decoder, const struct line *line)
{
	uint32_t crc = 0;

	if (line->len != 5 || line->bytes[0] != '=' || armour->has_crc)
		return false;
	for (int i = 1; i < 5; i++) {
		int value = base64_digit(line->bytes[i]);

		if (value < 0)
			return false;
		crc = crc << 6 | (unsigned)value;
	}
	armour->has_crc = true;
	armour->crc_wrong = crc != decoder->crc;
	return true;
}

/* Whether the line is a field before the data, or continues one. */
static bool is_field(struct armour *armour, const struct line *line)
{
	const uint8_t *colon = memchr(line->bytes, ':', line->len);
	bool goes_on = armour->field_goes_on;

	armour->field_goes_on = line->len && line->bytes[line->len - 1] == '\\';
	if (line_starts(line, "Proc-Type: 4,ENCRYPTED"))
		armour->encrypted = true;
	return goes_on || colon || (line->len && (line->bytes[0] == ' ' || line->bytes[0] == '\t'));
}

/* The length of the last line, if this one begins with it and other bytes follow at once: the file ends without a line end,
 * and what follows are another's. Else 0. */
static size_t closing_len(const struct armour *armour, const struct line *line)
{
	size_t len = strlen("-----END -----") + strlen(armour->label);
	struct line last = *line;
	char label[64];

	if (line->len < len)
		return 0;
	last.len = len;
	return read_label(&last, "END ", label) && strcmp(label, armour->label) == 0 ? len : 0;
}

/* The block is cut in this line: it is valid as far as it is base64. */
static void add_partial_line(struct armour *armour, const struct line *line)
{
	size_t len = 0;

	if (!armour->data_lines || line->ended)
		return;
	while (len < line->len && base64_digit(line->bytes[len]) >= 0)
		len++;
	armour->valid_end = line->at + len;
}

bool armour_read(struct view *view, uint64_t at, struct armour *armour)
{
	struct armour_decoder decoder = { .crc = 0xb704ce };
	struct line line;
	char label[64];

	memset(armour, 0, sizeof(*armour));
	if (!line_read(view, at, &line) || !armour_opens(&line, armour->label))
		return false;
	armour->valid_end = line.next;
	while (line_read(view, armour->valid_end, &line)) {
		if (read_label(&line, "END ", label)) {
			armour->closed = line.ended && strcmp(label, armour->label) == 0;
			armour->open_line = !line.ended;
			armour->valid_end = line.ended || !line.broken
						    ? line.next
						    : line.at + strlen(label) + 14;
			if (line.ended)
				armour->valid_end = lines_skip_empty(view, armour->valid_end);
			return true;
		}
		if (closing_len(armour, &line)) {
			armour->open_line = true;
			armour->valid_end = line.at + closing_len(armour, &line);
			return true;
		}
		add_partial_line(armour, &line);
		if (!line.ended)
			break;
		if (!armour->data_lines && (!line.len || is_field(armour, &line))) {
			armour->valid_end = line.next;
			continue;
		}
		if (line.len && !check_crc(armour, &decoder, &line) &&
			(armour->has_crc || !decode_line(armour, &decoder, &line)))
			break;
		armour->valid_end = line.next;
	}
	return true;
}
