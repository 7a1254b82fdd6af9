/*
 * The strings of a workbook ([MS-XLS] 2.4.265, 2.5.293), where proof is asked for: they often are most of it, in one record after the
 * other, so that the records alone show little. Each begins with the number of its characters and flags; the numbers of its
 * formats and of the bytes after it follow if flags say so. A record that ends within characters goes on in the next
 * one with flags again.
 */
#include "ole.h"

#include <string.h>

#include "bytes.h"

#define RECORD_HEAD 4
#define CONTINUED 0x003c
#define WINDOW 512

enum {
	STRING_IS_WIDE = 1,
	STRING_HAS_MORE = 4, /* bytes after it */
	STRING_HAS_FORMATS = 8,
	STRING_FLAGS = STRING_IS_WIDE | STRING_HAS_MORE | STRING_HAS_FORMATS,
};

struct strings {
	struct ole *ole;
	struct ole_position position;
	uint64_t at;   /* in the stream */
	uint64_t left; /* bytes of the record */
	uint64_t held; /* where the window is in the stream... */
	size_t held_len;
	uint8_t bytes[WINDOW];
	struct ole_position before_held; /* ...and where that was looked for */
	bool is_over;                    /* there are no more records, or not all is there */
};

/* The next bytes of the stream, without a limit. False: they are not there. */
static bool read_next(struct strings *strings, uint8_t *bytes, size_t len)
{
	while (len) {
		uint64_t end = strings->position.entry->len;
		size_t in;

		if (strings->at < strings->held ||
			strings->at >= strings->held + strings->held_len) {
			uint64_t room = WINDOW - strings->at % WINDOW;

			if (strings->at >= end)
				return false;
			strings->before_held = strings->position;
			strings->held = strings->at;
			strings->held_len =
				(size_t)(room < end - strings->at ? room : end - strings->at);
			if (!ole_read(strings->ole, &strings->position, strings->held,
				    strings->bytes, strings->held_len)) {
				strings->held_len = 0;
				return false;
			}
		}
		in = (size_t)(strings->held + strings->held_len - strings->at);
		in = in < len ? in : len;
		if (bytes) {
			memcpy(bytes, strings->bytes + (strings->at - strings->held), in);
			bytes += in;
		}
		strings->at += in;
		len -= in;
	}
	return true;
}

/* The record is over: goes on with the next one, if that continues it. */
static bool go_on(struct strings *strings)
{
	uint8_t head[RECORD_HEAD];

	if (!read_next(strings, head, sizeof(head)) || le16(head) != CONTINUED)
		strings->is_over = true;
	else
		strings->left = le16(head + 2);
	return !strings->is_over;
}

/* The next bytes, over records; NULL passes over them. */
static bool take(struct strings *strings, uint8_t *bytes, uint64_t len)
{
	while (len) {
		uint64_t some = len < strings->left ? len : strings->left;

		if (!some && !go_on(strings))
			return false;
		some = some < WINDOW ? some : WINDOW;
		if (!read_next(strings, bytes, (size_t)some)) {
			strings->is_over = true;
			return false;
		}
		bytes = bytes ? bytes + some : NULL;
		strings->left -= some;
		len -= some;
	}
	return true;
}

/* Passes over characters. False: the flags where they go on are impossible, or they are not all there. */
static bool take_characters(struct strings *strings, uint64_t count, uint8_t flags)
{
	while (count) {
		unsigned width = flags & STRING_IS_WIDE ? 2 : 1;
		uint64_t here = strings->left / width < count ? strings->left / width : count;

		if (!take(strings, NULL, here * width))
			return false;
		count -= here;
		if (!count)
			return true;
		if (strings->left || !go_on(strings) || !take(strings, &flags, 1) ||
			(flags & ~STRING_IS_WIDE))
			return false;
	}
	return true;
}

/* False: it is impossible, or not all there. */
static bool take_string(struct strings *strings)
{
	uint8_t head[3], formats[2] = { 0 }, more[4] = { 0 };

	return take(strings, head, sizeof(head)) && !(head[2] & ~STRING_FLAGS) &&
	       (!(head[2] & STRING_HAS_FORMATS) || take(strings, formats, sizeof(formats))) &&
	       (!(head[2] & STRING_HAS_MORE) || take(strings, more, sizeof(more))) &&
	       take_characters(strings, le16(head), head[2]) &&
	       take(strings, NULL, 4 * (uint64_t)le16(formats) + le32(more));
}

void ole_check_strings(struct ole *ole, const struct ole_position *before, uint64_t at)
{
	struct strings strings = { .ole = ole, .position = *before, .at = at };
	uint8_t head[RECORD_HEAD], counts[8];

	if (!read_next(&strings, head, sizeof(head)))
		return;
	strings.left = le16(head + 2);
	if (!take(&strings, counts, sizeof(counts)))
		return;
	for (uint32_t count = le32(counts + 4); count && view_work(ole->view, 1); count--) {
		if (take_string(&strings))
			continue;
		if (!strings.is_over)
			ole_contradicts(ole, "no string of a workbook in the sector",
				ole_file_offset(ole, &strings.before_held, strings.held) >>
					ole->shift << ole->shift);
		return;
	}
}
