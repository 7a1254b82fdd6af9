#include <string.h>

#include "ar.h"

#define GO_FIRST "__.PKGDEF"

enum {
	HEADER_LEN = 60,
	TIME_AT = 16,
	SIZE_AT = 48,
	END_AT = 58,
};

bool ar_starts(struct view *view)
{
	const uint8_t *p = view_peek(view, 0, AR_START_LEN);

	return p && memcmp(p, "!<arch>\n", AR_START_LEN) == 0;
}

/* A decimal number, padded with blanks; false when it is something else. */
static bool read_number(const uint8_t *field, int len, uint64_t *value)
{
	int i = 0;

	for (*value = 0; i < len && field[i] >= '0' && field[i] <= '9'; i++)
		*value = *value * 10 + (uint64_t)(field[i] - '0');
	while (i < len && field[i] == ' ')
		i++;
	return i == len;
}

/* What Windows' linkers write for no time. */
static bool is_no_time(const uint8_t *field)
{
	return memcmp(field, "-1          ", 12) == 0;
}

bool ar_read(struct view *view, uint64_t at, struct ar_member *member)
{
	const uint8_t *p = view_peek(view, at, HEADER_LEN);
	uint64_t len, time;

	if (!p || p[END_AT] != '`' || p[END_AT + 1] != '\n' || p[SIZE_AT] == ' ' ||
		!read_number(p + SIZE_AT, 10, &len) ||
		(!read_number(p + TIME_AT, 12, &time) && !is_no_time(p + TIME_AT)))
		return false;
	*member = (struct ar_member){ .at = at, .data = at + HEADER_LEN };
	member->end = member->data + len;
	member->time = time < (uint64_t)1 << 34 ? (int64_t)time : 0;
	memcpy(member->name, p, sizeof(member->name));
	if (memcmp(p, "#1/", 3) == 0 &&
		(!read_number(p + 3, 13, &member->name_len) || member->name_len > len))
		return false;
	return true;
}

uint64_t ar_next(const struct ar_member *member)
{
	return member->end + (member->end & 1);
}

uint64_t ar_last_end(struct view *view, const struct ar_member *member)
{
	const uint8_t *p = member->end & 1 ? view_peek(view, member->end, 1) : NULL;
	int byte = p ? *p : -1;

	/* Go pads with zeros; its packages begin with a member of their own. */
	if (!byte) {
		p = view_peek(view, AR_START_LEN, strlen(GO_FIRST));
		byte = p && memcmp(p, GO_FIRST, strlen(GO_FIRST)) == 0 ? '\n' : byte;
	}
	return byte == '\n' ? member->end + 1 : member->end;
}
