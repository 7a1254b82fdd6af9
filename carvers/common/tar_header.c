#include "tar_header.h"

#define SIZE_AT 124
#define SIZE_LEN 12
#define CHECKSUM_AT 148
#define CHECKSUM_LEN 8

/* Octal digits between blanks, in the forms that programs write. */
static bool read_checksum(const uint8_t *field, long *value)
{
	int i = 0, digits = 0;

	*value = 0;
	while (i < CHECKSUM_LEN && field[i] == ' ')
		i++;
	for (; i < CHECKSUM_LEN && field[i] >= '0' && field[i] <= '7'; i++, digits++)
		*value = *value * 8 + (field[i] - '0');
	for (; i < CHECKSUM_LEN; i++)
		if (field[i] != ' ' && field[i] != 0)
			return false;
	return digits > 0;
}

/* Whether the block, with blanks for its checksum, has this sum. Loops that compilers turn into vector instructions. */
static bool has_sum(const uint8_t *block, long want)
{
	uint32_t sum = 0, negative = 0;

	for (unsigned i = 0; i < TAR_BLOCK; i++) {
		sum += block[i];
		negative += block[i] >> 7;
	}
	for (unsigned i = CHECKSUM_AT; i < CHECKSUM_AT + CHECKSUM_LEN; i++) {
		sum += ' ' - (uint32_t)block[i];
		negative -= block[i] >> 7;
	}
	/* Some old programs summed signed characters. */
	return want == (long)sum || want == (long)sum - 256 * (long)negative;
}

bool tar_header(const uint8_t *block)
{
	long want;

	return block[0] && read_checksum(block + CHECKSUM_AT, &want) && has_sum(block, want);
}

bool tar_number(const uint8_t *field, int len, uint64_t *value)
{
	int i = 0;

	*value = 0;
	if (field[0] & 0x80) {
		for (i = 1; i < len; i++) {
			if (*value >> 48)
				return false;
			*value = *value << 8 | field[i];
		}
		return !(field[0] & 0x7f);
	}
	while (i < len && field[i] == ' ')
		i++;
	for (; i < len && field[i] >= '0' && field[i] <= '7'; i++)
		*value = *value << 3 | (uint64_t)(field[i] - '0');
	return i == len || field[i] == ' ' || field[i] == 0;
}

bool tar_data_len(const uint8_t *block, uint64_t *len)
{
	return tar_number(block + SIZE_AT, SIZE_LEN, len);
}

bool tar_member(struct view *view, uint64_t at, uint64_t *len)
{
	const uint8_t *block = view_peek(view, at, TAR_BLOCK);

	return block && tar_header(block) && tar_data_len(block, len);
}
