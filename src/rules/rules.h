/*
 * Rule sets: what to carve. They are read from burin's libconfig format, scalpel.conf or
 * foremost.conf; all but the last are detected by content. A rule set is immutable once loaded.
 */
#ifndef BURIN_RULES_RULES_H
#define BURIN_RULES_RULES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "base/error.h"
#include "base/options.h"
#include "patterns/pattern_set.h"

struct carver; /* carvers/carver.h */
struct lint;   /* rules/lint.h */

enum pair_mode { PAIR_FORWARD, PAIR_REVERSE, PAIR_NEXT };

enum rules_format { RULES_AUTO, RULES_BURIN, RULES_SCALPEL, RULES_FOREMOST };

/* The option of every command that reads rules; heading: its group, or NULL. */
#define RULES_FORMAT_ROW(settings, member, heading) \
	{ \
		.name = "rules-format", .kind = OPTION_CHOICE, \
		.choices = "auto|burin|scalpel|foremost", /* as in enum rules_format */ \
			.fallback = "auto", .offset = offsetof(settings, member), \
		.group = heading, .help = "Format of the rule file; auto detects all but foremost" \
	}

/* An integer in the file that gives its length: total = value * multiply + add. */
struct length_field {
	uint64_t at;   /* bytes from the file's start */
	uint8_t width; /* 1, 2, 4 or 8 bytes; 0: the rule has no such field */
	bool big_endian;
	uint64_t multiply;
	int64_t add;
};

/* Bytes that a file must have at an offset. */
struct must {
	uint64_t at;            /* bytes from the file's start */
	struct pattern pattern; /* never a regex */
};

struct rule {
	char *name; /* the type; also the output folder's name: [A-Za-z0-9._-]+, never starting with
		       a dot */
	char *extension;   /* without the dot; "" for none */
	uint32_t *headers; /* indexes into the pattern set */
	uint32_t *footers;
	uint32_t header_count, footer_count;
	uint64_t header_offset; /* of the header in the file, bytes */
	enum pair_mode pair;
	bool include_footer;         /* default: true, but for PAIR_NEXT */
	uint64_t min_size, max_size; /* bytes; max_size is never 0 */
	struct length_field length;
	struct must *musts;
	uint32_t must_count;
	uint64_t align;              /* files start only at multiples of this; 0 or 1: anywhere */
	const struct carver *carver; /* NULL for none */
	char **kinds; /* other extensions that the carver gives by content: docx for a ZIP archive */
	uint32_t kind_count;
	bool *kinds_off; /* by kind, and last the rule's own extension: left out by the selection of types;
			    NULL: none is */
	const char *file; /* the file that holds the rule; owned by the rule set */
	unsigned line;
};

struct rules {
	char *path;
	char *selection;          /* the types that it was loaded with; NULL: all */
	char sha256[65];          /* of all files read, in order, hex */
	enum rules_format format; /* never RULES_AUTO */
	struct rule *rules;       /* index: the rule's place in the file, from 0 */
	uint32_t count;
	struct pattern_set patterns;
	char **files; /* all files that were read (@include), path first */
	uint32_t file_count;
	struct lint
		*notes; /* what the reader noticed and the rules no longer show: see lint_rules */
};

/* Whether files of this rule with the extension that its carver gave (NULL: none) are to be carved. */
bool rule_takes(const struct rule *rule, const char *extension);

/* Loads a rule set. format: RULES_AUTO detects burin's and Scalpel's. only: NULL, or a
 * comma-separated list of what to keep: types, extensions, kinds of files or sets beside the rule file
 * ("pictures"), in letters of any case (an unknown name is an error that suggests known ones); names with
 * a leading '-' are dropped instead. Errors (EXIT_USAGE) name file, line, column
 * where known, and what was expected. On success the caller owns *rules. */
int rules_load(struct rules **rules, const char *path, enum rules_format format, const char *only,
	struct error *error);
void rules_free(struct rules *rules);

/* "forward", "reverse", "next"; "burin", "scalpel", "foremost". */
const char *pair_mode_name(enum pair_mode mode);
const char *rules_format_name(enum rules_format format);
/* Whether some rule has a carver: without one no file hides another. NULL: false. */
bool rules_have_carver(const struct rules *rules);

/* Writes the set in burin's libconfig format; reading it again gives the same rules. Returns 0 or
 * -errno of the stream. */
int rules_write(const struct rules *rules, FILE *stream);

#endif
