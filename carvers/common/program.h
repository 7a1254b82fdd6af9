/* What the carvers of programs and of other binary tables share. */
#ifndef BURIN_CARVERS_COMMON_PROGRAM_H
#define BURIN_CARVERS_COMMON_PROGRAM_H

#include <stdbool.h>

#include "bytes.h"
#include "carver.h"

static inline uint16_t ordered16(bool big_endian, const uint8_t *p)
{
	return big_endian ? be16(p) : le16(p);
}

static inline uint32_t ordered32(bool big_endian, const uint8_t *p)
{
	return big_endian ? be32(p) : le32(p);
}

static inline uint64_t ordered64(bool big_endian, const uint8_t *p)
{
	return big_endian ? be64(p) : le64(p);
}

/* Whether the byte is one of plain English text. */
static inline bool program_text(uint8_t byte)
{
	return (byte >= ' ' && byte < 0x7f) || byte == '\n' || byte == '\r' || byte == '\t';
}

/* True when [at, end) is a table of names: text, each ended by a zero byte, the last one, too. */
bool program_names(struct view *view, uint64_t at, uint64_t end);

/* The start of the run of equal bytes, or of text, that reaches up to end, if it is long; else
 * end. */
uint64_t program_tail(struct view *view, uint64_t start, uint64_t end);

/* Where in [start, end) a program's code and data, which nothing checks, give way to other bytes:
 * random ones behind them, or a run of equal ones or of text that reaches up to end. */
uint64_t program_sound(struct view *view, uint64_t start, uint64_t end);

/* The verdict on a program that should reach to `end` and is broken somewhere behind `start`:
 * CARVE_TRUNCATED with the length by program_sound, and why ("%s at %..."), or that the image ends
 * before. */
enum verdict program_cut(struct view *view, struct finding *finding, uint64_t start, uint64_t end,
	const char *problem, uint64_t where);

#endif
