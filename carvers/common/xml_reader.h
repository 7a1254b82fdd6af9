/* The characters of an XML document, one by one, whatever they are made of, and the tokens that its
 * markup consists of; for xml_walk.c. */
#ifndef BURIN_CARVERS_COMMON_XML_READER_H
#define BURIN_CARVERS_COMMON_XML_READER_H

#include <stdbool.h>

#include "carver.h"

struct xml_reader {
	struct view *view;
	const uint8_t *window;
	uint64_t window_at;
	size_t window_len;
	unsigned unit;   /* bytes of a code unit: 2 for UTF-16 */
	bool big_endian; /* of UTF-16 */
	bool utf8;       /* characters that are no UTF-8 are odd */

	int c;         /* the current character, or a byte of an 8-bit encoding; -1: none */
	uint64_t at;   /* where it stands */
	uint64_t next; /* behind it */
	bool cut;      /* c is -1 because the view ends there, not because it is no character */
	const char *problem; /* why c is -1, or what xml_fail said; it stands at `at` */

	unsigned pending;             /* bytes of a character in UTF-8 that have to follow */
	uint64_t first_odd;           /* 0: none */
	uint64_t first_bracket;       /* '<' that no markup follows, in a value; 0: none */
	uint64_t odd_start, odd_last; /* the latest run of odd characters close to each other */
};

/* Finds out about the encoding from a BOM or the first characters, and reads the first one. */
void xml_reader_open(struct xml_reader *reader, struct view *view);
void xml_reader_advance(struct xml_reader *reader);

/* The walk broke at `at`: where the odd characters in front of it began, if they are close. */
uint64_t xml_reader_sound(const struct xml_reader *reader, uint64_t at);

/* A text that is collected as UTF-8 (of an 8-bit encoding: as it is) and cut to its room. */
struct xml_text {
	char *bytes;
	size_t room, len;
};

void xml_collect(const struct xml_reader *reader, struct xml_text *text, int c);

bool xml_is_space(int c);
bool xml_in_name(int c);

/* Notes what is wrong at the current character, unless there is none, which has a reason of its
 * own. False. */
bool xml_fail(struct xml_reader *reader, const char *problem);

/* These go behind what they name; false when that is not what stands there. A text may be NULL. */
void xml_skip_space(struct xml_reader *reader);
bool xml_expect(struct xml_reader *reader, const char *token, const char *problem);
/* The next `token`: "?>", "-->" or "]]>". What is in front of it, and it, goes to text. */
bool xml_skip_past(struct xml_reader *reader, const char *token, struct xml_text *text);
/* A name; *hash (may be NULL) tells it from others. */
bool xml_read_name(struct xml_reader *reader, struct xml_text *text, uint32_t *hash);
/* A value in quotes, without '<' if it is an attribute's. */
bool xml_read_quoted(struct xml_reader *reader, bool attribute, struct xml_text *text);

#endif
