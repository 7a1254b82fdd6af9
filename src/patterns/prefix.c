/*
 * Reads the canonical form of a regex (patterns/regex.h) and finds the bits that every match begins
 * with. A part of the expression has a prefix: bytes with a mask, and whether they are the whole
 * part. A sequence grows as long as its parts are whole; alternatives keep the bits in which they
 * agree; a repeat with a range is certain up to its minimum. regex_parse.c wrote the form, which
 * nests no deeper than it allows.
 */
#include "patterns/prefix.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "patterns/regex.h"

#define LONGEST_MAX 32767u /* the kernels' tables have 16 bits for places in a pattern */
#define PREFIX_MAX 256     /* bytes that are worth knowing */
#define BYTES_MIN 3        /* that a kernel needs, */
#define BITS_MIN 7         /* each with this many certain bits: a letter of either case has 7 */

struct prefix {
	uint8_t value[PREFIX_MAX], mask[PREFIX_MAX];
	uint32_t len;
	bool whole;
};

struct reader {
	const char *at;
};

static void read_alternatives(struct reader *reader, struct prefix *prefix);

static void append(struct prefix *prefix, const struct prefix *part)
{
	if (!prefix->whole)
		return;
	uint32_t room = PREFIX_MAX - prefix->len;
	uint32_t len = part->len < room ? part->len : room;
	memcpy(prefix->value + prefix->len, part->value, len);
	memcpy(prefix->mask + prefix->len, part->mask, len);
	prefix->len += len;
	prefix->whole = part->whole && len == part->len;
}

/* Keeps the bits in which both agree. */
static void unite(struct prefix *prefix, const struct prefix *other)
{
	prefix->whole = prefix->whole && other->whole && prefix->len == other->len;
	if (other->len < prefix->len)
		prefix->len = other->len;
	for (uint32_t i = 0; i < prefix->len; i++) {
		prefix->mask[i] &= other->mask[i] & (uint8_t) ~(prefix->value[i] ^ other->value[i]);
		prefix->value[i] &= prefix->mask[i];
	}
}

/* A byte: itself, or \xHH. */
static uint8_t read_byte(struct reader *reader)
{
	if (reader->at[0] != '\\')
		return (uint8_t)*reader->at++;
	char digits[3] = { reader->at[2], reader->at[3], '\0' };
	reader->at += 4;
	return (uint8_t)strtoul(digits, NULL, 16);
}

/* A byte or a class in brackets: the bits that all its bytes share. */
static void read_class(struct reader *reader, struct prefix *prefix)
{
	bool bracket = *reader->at == '[';
	uint8_t ones = 0xff, zeros = 0xff;
	reader->at += bracket;
	do {
		unsigned first = read_byte(reader), last = first;
		if (bracket && *reader->at == '-') {
			reader->at++;
			last = read_byte(reader);
		}
		for (unsigned byte = first; byte <= last; byte++) {
			ones &= (uint8_t)byte;
			zeros &= (uint8_t)~byte;
		}
	} while (bracket && *reader->at != ']');
	reader->at += bracket;
	prefix->len = 1;
	prefix->whole = true;
	prefix->mask[0] = ones | zeros;
	prefix->value[0] = ones;
}

/* ?, {m}, {m,n}, each possibly followed by a lazy ?; or nothing. */
static void read_repeat(struct reader *reader, unsigned long *min, unsigned long *max)
{
	*min = *max = 1;
	if (*reader->at == '?') {
		*min = 0;
		reader->at++;
	} else if (*reader->at == '{') {
		char *end;
		*min = *max = strtoul(reader->at + 1, &end, 10);
		if (*end == ',')
			*max = strtoul(end + 1, &end, 10);
		reader->at = end + 1;
	} else {
		return;
	}
	reader->at += *reader->at == '?';
}

static void read_sequence(struct reader *reader, struct prefix *prefix)
{
	prefix->len = 0;
	prefix->whole = true;
	while (*reader->at && *reader->at != '|' && *reader->at != ')') {
		struct prefix part;
		unsigned long min, max;
		if (*reader->at == '(') {
			reader->at += 3; /* (?: */
			read_alternatives(reader, &part);
			reader->at++;
		} else {
			read_class(reader, &part);
		}
		read_repeat(reader, &min, &max);
		for (unsigned long i = 0; i < min && prefix->whole; i++)
			append(prefix, &part);
		prefix->whole = prefix->whole && min == max;
	}
}

static void read_alternatives(struct reader *reader, struct prefix *prefix)
{
	read_sequence(reader, prefix);
	while (*reader->at == '|') {
		struct prefix other;
		reader->at++;
		read_sequence(reader, &other);
		unite(prefix, &other);
	}
}

bool prefix_pattern_make(struct pattern *made, const struct pattern *pattern)
{
	struct reader reader = { regex_source(pattern->regex) };
	struct prefix prefix;
	unsigned certain = 0;
	read_alternatives(&reader, &prefix);
	for (uint32_t i = 0; i < prefix.len; i++)
		certain += __builtin_popcount(prefix.mask[i]) >= BITS_MIN;
	if (certain < BYTES_MIN)
		return false;
	while (!prefix.mask[prefix.len - 1])
		prefix.len--;
	return pattern_from_bytes(made, prefix.value, prefix.mask, prefix.len, NULL) == 0;
}

int prefix_set_make(struct prefix_set *prefixes, const struct pattern_set *set, struct error *error)
{
	memset(prefixes, 0, sizeof(*prefixes));
	struct pattern *patterns = xcalloc(set->count, sizeof(*patterns));
	prefixes->set = (struct pattern_set){ .patterns = patterns };
	for (uint32_t i = 0; i < set->count; i++) {
		const struct pattern *pattern = &set->patterns[i];
		prefixes->any_regex |= pattern->regex != NULL;
		if (!pattern->regex) {
			patterns[i] = *pattern;
		} else if (!prefix_pattern_make(&patterns[i], pattern)) {
			prefixes->set.count = i;
			prefix_set_free(prefixes, set);
			return error_set(error, EXIT_NO_ENGINE, EINVAL,
				"the gpu engine finds a regex by three bytes at a fixed distance "
				"from its start, and %.500s has none; use the engine cpu",
				pattern->text);
		}
		if (patterns[i].len > prefixes->set.longest)
			prefixes->set.longest = patterns[i].len;
	}
	prefixes->set.count = set->count;
	if (prefixes->set.longest <= LONGEST_MAX)
		return 0;
	prefix_set_free(prefixes, set);
	return error_set(error, EXIT_NO_ENGINE, EINVAL,
		"the gpu engine takes patterns of up to %u bytes; use another engine", LONGEST_MAX);
}

void prefix_set_free(struct prefix_set *prefixes, const struct pattern_set *set)
{
	for (uint32_t i = 0; i < prefixes->set.count; i++)
		if (set->patterns[i].regex)
			pattern_free(&prefixes->set.patterns[i]);
	free(prefixes->set.patterns);
	memset(prefixes, 0, sizeof(*prefixes));
}
