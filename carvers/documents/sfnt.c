/*
 * TrueType and OpenType fonts and their collections (OpenType 1.9, "OpenType font file"; ISO/IEC
 * 14496-22).
 *
 *	font:       version, number of tables, then of each: tag, checksum, offset, length
 *	collection: 'ttcf', version, the offsets of fonts, whose tables may be shared
 *
 * The file ends with the table that reaches farthest, and the zeros that pad it to four bytes. Each
 * table has a checksum (that of `head` leaves out the field that adjusts the whole font's): if all
 * match, the font is complete. Some programs pad tables with other bytes than zeros, and add them to the checksum. If
 * none matches from some offset on, the font is cut there, unless the checksum of the whole font holds. If some
 * before that do not match, as some programs write them, or the whole font's holds, it is unverified; if no checksum
 * matches at all, and the first table does not begin with outlines, it is rejected.
 */
#include "sfnt.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "bytes.h"
#include "foreign.h"
#include "sfnt_outlines.h"
#include "walk.h"

#define SUM_BITS SFNT_SUM_BITS
/* If the next table agrees, too, and has no joint, a piece that begins in this one is where it should be: only its break may be
 * wrong. If it has one, it is less sure, as that was found by its sum. */
#define NEXT_BITS 12
#define NEXT_CUT_BITS 8
#define NEXT_MIN 16     /* bytes of that table; shorter ones are left out, */
#define NEXT_CUT_MIN 32 /* and of one with a joint those before it */
#define SAVE_SPACING 1024
#define OUTLINES_MIN 8  /* that chance does not produce */
#define GLYPHS_MIN 1024 /* bytes of them: fewer are not in two clusters that may be exchanged */
#define WHOLE_SUM 0xb1b0afba
#define TABLES_MAX 4096
#define FONTS_MAX 1024

struct sfnt_table {
	uint32_t at, len, sum;
	char tag[4];
	bool is_good;
};

/* How far tables were checked where a file is put together: a state. */
struct progress {
	uint32_t number;     /* of the table; those before agree */
	struct sfnt_sum sum; /* of its bytes before the place where the sum goes on; 0: of none */
	uint64_t at;
	struct sfnt_followed outlines;
};

struct sfnt {
	struct view *view;
	struct finding *finding;
	struct sfnt_table *tables;
	size_t count;
	uint64_t head_end; /* after the lists of tables */
	bool compact;      /* OpenType with PostScript outlines */
	struct progress progress;
	uint64_t seen;    /* the end of the tables before, and of the lists */
	uint64_t resumed; /* where the check goes on; 0: from the beginning */
	bool saves;       /* states */
};

static bool is_known_version(const uint8_t *p)
{
	return be32(p) == 0x10000 || memcmp(p, "OTTO", 4) == 0 || memcmp(p, "true", 4) == 0 ||
	       memcmp(p, "typ1", 4) == 0;
}

/* Reads the list of tables at `at`: what is wrong, or NULL. */
static const char *read_tables(struct sfnt *sfnt, uint64_t at)
{
	const uint8_t *p = view_peek(sfnt->view, at, 12);
	uint16_t count;

	if (!p || !is_known_version(p))
		return "no font version";
	sfnt->compact = p[0] == 'O';
	count = be16(p + 4);
	if (count < 3 || count > 128)
		return "an impossible number of tables";
	for (uint32_t i = 0; i < count; i++) {
		struct sfnt_table *table = &sfnt->tables[sfnt->count];

		p = view_peek(sfnt->view, at + 12 + 16 * (uint64_t)i, 16);
		if (!p || !sfnt_is_tag(p))
			return "a table without a tag";
		memcpy(table->tag, p, 4);
		table->sum = be32(p + 4);
		table->at = be32(p + 8);
		table->len = be32(p + 12);
		if (table->at < 12 || table->len > INT32_MAX || table->at > INT32_MAX)
			return "an impossible table offset";
		if (sfnt->count + 1 >= TABLES_MAX)
			return "too many tables";
		sfnt->count += table->len > 0;
	}
	if (at + 12 + 16 * (uint64_t)count > sfnt->head_end)
		sfnt->head_end = at + 12 + 16 * (uint64_t)count;
	return NULL;
}

static const char *read_collection(struct sfnt *sfnt)
{
	const uint8_t *p = view_peek(sfnt->view, 0, 12);
	uint32_t count = p ? be32(p + 8) : 0;
	bool has_signature;
	const char *problem;

	if (!p || count - 1 >= FONTS_MAX || (be16(p + 4) != 1 && be16(p + 4) != 2) || p[6] || p[7])
		return "no collection header";
	has_signature = be16(p + 4) == 2;
	for (uint32_t i = 0; i < count; i++) {
		p = view_peek(sfnt->view, 12 + 4 * (uint64_t)i, 4);
		if (p)
			view_embedded(sfnt->view, be32(p));
		problem = p ? read_tables(sfnt, be32(p)) : "no font";
		if (problem)
			return problem;
	}
	p = has_signature ? view_peek(sfnt->view, 12 + 4 * (uint64_t)count, 12) : NULL;
	if (p && memcmp(p, "DSIG", 4) == 0 && be32(p + 8) <= INT32_MAX &&
		be32(p + 4) <= INT32_MAX && be32(p + 8) >= 12) {
		struct sfnt_table *table = &sfnt->tables[sfnt->count++];

		memcpy(table->tag, "\0\0\0\0", 4); /* without a checksum */
		table->at = be32(p + 8);
		table->len = be32(p + 4);
	}
	return NULL;
}

static int compare_offsets(const void *a, const void *b)
{
	const struct sfnt_table *x = a, *y = b;

	if (x->at != y->at)
		return x->at < y->at ? -1 : 1;
	return x->len < y->len ? -1 : x->len > y->len;
}

/* Sorts the tables, and removes duplicates that fonts share. */
static void sort_tables(struct sfnt *sfnt)
{
	size_t kept = 0;

	qsort(sfnt->tables, sfnt->count, sizeof(*sfnt->tables), compare_offsets);
	for (size_t i = 0; i < sfnt->count; i++)
		if (kept == 0 || compare_offsets(&sfnt->tables[kept - 1], &sfnt->tables[i]) != 0)
			sfnt->tables[kept++] = sfnt->tables[i];
	sfnt->count = kept;
}

/* The checksum of a table with the bytes that pad it, whatever they are. */
static uint32_t padded_sum(const struct sfnt *sfnt, uint64_t end, struct sfnt_sum sum)
{
	size_t len = (size_t)(-end & 3);
	const uint8_t *p = len ? view_peek(sfnt->view, end, len) : NULL;

	if (p)
		sfnt_sum_add(&sum, p, len);
	return sum.sum;
}

static void save(const struct sfnt *sfnt)
{
	struct progress progress = sfnt->progress;
	struct carve_state state = { sfnt->seen, sizeof(progress), &progress };

	progress.outlines.note = NULL;
	progress.outlines.context = NULL;
	if (progress.at > state.offset)
		state.offset = progress.at;
	if (progress.outlines.at > state.offset)
		state.offset = progress.outlines.at;
	view_save(sfnt->view, &state);
}

/* Adds the table's bytes up to `end` to its sum, where that goes on. False: they are not all in the view. */
static bool add_bytes(struct sfnt *sfnt, uint64_t end)
{
	struct progress *progress = &sfnt->progress;

	while (progress->at < end) {
		uint64_t left = end - progress->at,
			 some = sfnt->saves && left > SAVE_SPACING ? SAVE_SPACING : left;
		size_t len;
		const uint8_t *p = walk_window(sfnt->view, progress->at, progress->at + some, &len);

		if (!p)
			return false;
		sfnt_sum_add(&progress->sum, p, len);
		progress->at += len;
		if (sfnt->saves)
			save(sfnt);
	}
	return true;
}

static bool is_valid_table(struct sfnt *sfnt, struct sfnt_table *table)
{
	uint64_t end = (uint64_t)table->at + table->len;
	bool head = memcmp(table->tag, "head", 4) == 0;
	struct sfnt_sum sum;
	const uint8_t *p;

	if (table->tag[0] == 0)
		return view_peek(sfnt->view, end - 1, 1) != NULL;
	if (sfnt->progress.at < table->at)
		sfnt->progress.at = table->at;
	if (!add_bytes(sfnt, end))
		return false;
	sum = sfnt->progress.sum;
	if (head && table->len >= 16) {
		p = view_peek(sfnt->view, table->at, 16);
		if (!p || be32(p + 12) != 0x5f0f3cf5)
			return false;
		sum.sum -= be32(p + 8);
	}
	if (sum.sum != table->sum && end % 4 && padded_sum(sfnt, end, sum) == table->sum) {
		sum.sum = table->sum;
		end = (end + 3) & ~3ull;
		table->len = (uint32_t)(end - table->at);
		sfnt->saves = false; /* states do not have the length */
	}
	/* Clusters of a table in another order have the same sum: it proves one joint, and more only with what is in the table
	 * (sfnt_outlines.h). */
	if (sum.sum == table->sum && sum.sum)
		view_linked(sfnt->view, table->at, end, SUM_BITS);
	/* Some writers store 0 for the signature's. */
	return sum.sum == table->sum || (table->sum == 0 && memcmp(table->tag, "DSIG", 4) == 0);
}

static void read_details(const struct sfnt *sfnt)
{
	for (size_t i = 0; i < sfnt->count; i++) {
		const struct sfnt_table *table = &sfnt->tables[i];
		size_t len = table->len < VIEW_MAX_PEEK ? table->len : VIEW_MAX_PEEK;
		const uint8_t *p;

		if (memcmp(table->tag, "name", 4) == 0 && !sfnt->finding->title[0]) {
			p = view_peek(sfnt->view, table->at, len);
			if (p)
				sfnt_read_name(sfnt->finding, p, len);
		} else if (memcmp(table->tag, "head", 4) == 0) {
			p = view_peek(sfnt->view, table->at, len);
			if (p)
				sfnt_read_head(sfnt->finding, p, len);
		}
	}
}

/* The end of the last table, with the zeros that pad it. */
static uint64_t find_end(const struct sfnt *sfnt)
{
	uint64_t end = sfnt->head_end, padded;

	for (size_t i = 0; i < sfnt->count; i++)
		if ((uint64_t)sfnt->tables[i].at + sfnt->tables[i].len > end)
			end = (uint64_t)sfnt->tables[i].at + sfnt->tables[i].len;
	padded = (end + 3) & ~3ull;
	return walk_zeros(sfnt->view, end, padded) ? padded : end;
}

/* Whether the checksum of a font as a whole, which a field of `head` makes the same for all, holds up to `end`. */
static bool whole_sum_holds(const struct sfnt *sfnt, uint64_t end)
{
	struct sfnt_sum sum = { 0 };
	const uint8_t *p;
	size_t len;

	for (uint64_t at = 0; at < end; at += len) {
		p = walk_window(sfnt->view, at, end, &len);
		if (!p)
			return false;
		sfnt_sum_add(&sum, p, len);
	}
	return sum.sum == WHOLE_SUM;
}

/* What a table says of the table before it, whose only joint begins a piece in which it is, or at least begins. */
static unsigned next_bits(
	const struct sfnt *sfnt, const struct sfnt_table *table, const struct sfnt_table *next)
{
	uint64_t at = next->at, end = at + next->len;

	if (view_linked(sfnt->view, table->at, end, 0))
		return NEXT_BITS;
	return next->len >= NEXT_CUT_MIN &&
			       view_linked(sfnt->view, table->at, at + NEXT_CUT_MIN, 0) &&
			       view_linked(sfnt->view, at + NEXT_CUT_MIN - 1, end, 0)
		       ? NEXT_CUT_BITS
		       : 0;
}

/* The next table that is long enough to say something; NULL: there is none. */
static const struct sfnt_table *find_next(const struct sfnt *sfnt, const struct sfnt_table *table)
{
	const struct sfnt_table *end = sfnt->tables + sfnt->count;

	for (const struct sfnt_table *next = table + 1; next < end; next++)
		if (next->len >= NEXT_MIN && next->sum)
			return next;
	return NULL;
}

static void prove_places(const struct sfnt *sfnt)
{
	for (size_t i = 0; i + 1 < sfnt->count; i++) {
		const struct sfnt_table *table = &sfnt->tables[i], *next = find_next(sfnt, table);
		uint64_t end = (uint64_t)table->at + table->len;

		if (next && table->is_good && table->sum && next->is_good && next->at >= end)
			view_proved(sfnt->view, table->at, end, next_bits(sfnt, table, next));
	}
}

static const struct sfnt_table *find_table(const struct sfnt *sfnt, const char *tag)
{
	for (size_t i = 0; i < sfnt->count; i++)
		if (memcmp(sfnt->tables[i].tag, tag, 4) == 0)
			return &sfnt->tables[i];
	return NULL;
}

/* Describes the glyphs of a font that has the table 'glyf'. False: what says how long places are is not known. */
static bool describe_glyphs(
	const struct sfnt *sfnt, const struct sfnt_table *table, struct sfnt_glyphs *glyphs)
{
	const struct sfnt_table *head = find_table(sfnt, "head"),
				*places = find_table(sfnt, "loca");
	const uint8_t *p = head && head->len >= 52 ? view_peek(sfnt->view, head->at + 50, 2) : NULL;

	*glyphs = (struct sfnt_glyphs){ .at = table->at, .end = (uint64_t)table->at + table->len };
	if (!p || !places)
		return false;
	glyphs->width = be16(p) ? 4 : 2;
	glyphs->places = places->at;
	glyphs->place_count = places->len / glyphs->width;
	return true;
}

/* A checksum is the same in whatever order a table's clusters are: whether the outlines are where the font has them. */
static bool are_outlines_valid(const struct sfnt *sfnt)
{
	const struct sfnt_table *table = find_table(sfnt, "glyf"), *metrics, *header;
	const struct sfnt_table *compact = find_table(sfnt, "CFF ");
	struct sfnt_glyphs glyphs;
	const uint8_t *p;

	if (compact && !sfnt_prove_charstrings(
			       sfnt->view, compact->at, (uint64_t)compact->at + compact->len))
		return false;
	if (!table || table->len < GLYPHS_MIN || !describe_glyphs(sfnt, table, &glyphs))
		return true;
	metrics = find_table(sfnt, "hmtx");
	header = find_table(sfnt, "hhea");
	p = header && header->len >= 36 ? view_peek(sfnt->view, header->at + 34, 2) : NULL;
	if (p && metrics) {
		glyphs.full_metric_count = be16(p);
		glyphs.metrics = metrics->at;
		glyphs.metrics_end = (uint64_t)metrics->at + metrics->len;
	}
	return sfnt_prove_glyphs(sfnt->view, &glyphs);
}

/* ---- where a file is put together ---------------------------------------------------------- */

static bool has_outlines(const struct sfnt_table *table)
{
	return memcmp(table->tag, "glyf", 4) == 0 || memcmp(table->tag, "CFF ", 4) == 0;
}

/* Outlines were followed: the sum goes on up to there, and a state is saved. */
static bool save_outlines(struct sfnt_followed *followed)
{
	struct sfnt *sfnt = followed->context;

	if (followed->at < sfnt->progress.at + SAVE_SPACING)
		return false;
	add_bytes(sfnt, followed->at);
	return true;
}

/* Whether a table before this one is as it must be. */
static bool is_known(const struct sfnt *sfnt, const struct sfnt_table *table, const char *tag)
{
	const struct sfnt_table *other = find_table(sfnt, tag);

	return other && other < table && other->is_good;
}

/* Where a table is another file's, as far as its outlines show it. Its place: they do not. Its end: they are all right. */
static uint64_t outlines_end(struct sfnt *sfnt, const struct sfnt_table *table)
{
	struct sfnt_followed *followed = &sfnt->progress.outlines;
	uint64_t end = (uint64_t)table->at + table->len;
	struct sfnt_glyphs glyphs;

	if (!has_outlines(table))
		return table->at;
	followed->note = sfnt->saves ? save_outlines : NULL;
	followed->context = sfnt;
	if (table->tag[0] == 'C')
		return sfnt_follow_charstrings(sfnt->view, table->at, end, followed);
	if (!describe_glyphs(sfnt, table, &glyphs) || !is_known(sfnt, table, "loca") ||
		!is_known(sfnt, table, "head"))
		glyphs.place_count = 0;
	return sfnt_follow_glyphs(sfnt->view, &glyphs, followed);
}

/* The verdict on a font whose first table that is wrong is this one: what comes first does, whatever agrees after it. at: what
 * outlines_end says of it. */
static enum verdict judge_first(struct sfnt *sfnt, const struct sfnt_table *bad, uint64_t at)
{
	uint64_t end = (uint64_t)bad->at + bad->len, size = view_size(sfnt->view);

	if (at == bad->at || at >= end)
		at = bad->at < size ? foreign_start(sfnt->view, bad->at, end) : size;
	if (at == end && end <= size)
		at = bad->at;
	sfnt->finding->length = at;
	return verdict_because(CARVE_TRUNCATED, sfnt->finding,
		"wrong checksum of table %.4s at %" PRIu32, bad->tag, bad->at);
}

/* Whether the table agrees. *at: what outlines_end says of one that does not. */
static bool follow_table(struct sfnt *sfnt, struct sfnt_table *table, uint64_t *at)
{
	uint64_t end = (uint64_t)table->at + table->len, size = view_size(sfnt->view);

	*at = outlines_end(sfnt, table);
	if (end > size) {
		if (sfnt->saves)
			add_bytes(sfnt, size);
		return false;
	}
	if (*at > table->at && *at < end) {
		/* Some fonts have an outline that is not as it must be. In most trials it shows that they are wrong. */
		if (sfnt->resumed && view_is_trial(sfnt->view))
			return false;
		sfnt->saves = false;
	}
	return is_valid_table(sfnt, table);
}

/* Goes on to the table with this number, from its beginning. */
static void begin_table(struct sfnt *sfnt, uint32_t number)
{
	sfnt->progress = (struct progress){ .number = number, .at = sfnt->tables[number].at };
	if (sfnt->saves)
		save(sfnt);
}

/* The table agrees, as all before it do. */
static void pass_table(struct sfnt *sfnt, struct sfnt_table *table)
{
	uint64_t end = (uint64_t)table->at + table->len;

	table->is_good = true;
	if (end > sfnt->seen)
		sfnt->seen = end;
}

/* What tables up to a state are. */
static void pass_tables(struct sfnt *sfnt, const struct progress *from)
{
	for (uint32_t i = 0; i < from->number; i++) {
		struct sfnt_table *table = &sfnt->tables[i];

		pass_table(sfnt, table);
		if (table->sum)
			view_linked(
				sfnt->view, table->at, (uint64_t)table->at + table->len, SUM_BITS);
	}
	sfnt->progress = *from;
}

static bool has_sum(const struct sfnt *sfnt, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++)
		/* A checksum of 0 proves nothing: it matches any zeros. */
		if (sfnt->tables[i].is_good && sfnt->tables[i].sum)
			return true;
	return false;
}

/* Whether the table that is followed has outlines that are as they must be: it is a font's, whatever its sum is. */
static bool has_outlines_right(const struct sfnt *sfnt)
{
	return sfnt->progress.outlines.count >= OUTLINES_MIN;
}

/* The verdict on one of many layouts, or on a file that may be one: the first table that is wrong ends it. */
static enum verdict follow_tables(struct sfnt *sfnt, const struct progress *from)
{
	struct sfnt_table *bad = NULL;
	uint64_t bad_at = 0, at;
	bool is_font = false;

	sfnt->seen = sfnt->head_end;
	if (from && from->number < sfnt->count)
		pass_tables(sfnt, from);
	else
		begin_table(sfnt, 0);
	for (uint32_t i = sfnt->progress.number; i < sfnt->count; i++) {
		struct sfnt_table *table = &sfnt->tables[i];

		if (i > sfnt->progress.number)
			begin_table(sfnt, i);
		if (follow_table(sfnt, table, &at)) {
			pass_table(sfnt, table);
			continue;
		}
		sfnt->saves = false;
		if (!bad) {
			bad = table;
			bad_at = at;
		}
		is_font = has_sum(sfnt, i) || has_outlines_right(sfnt);
		if (is_font)
			break;
	}
	sfnt->finding->length = find_end(sfnt);
	if (!is_font && !has_sum(sfnt, (uint32_t)sfnt->count))
		return verdict_because(CARVE_REJECT, sfnt->finding,
			"no table checksum matches from %" PRIu64 " on", sfnt->head_end);
	if (!bad || !view_is_trial(sfnt->view))
		read_details(sfnt);
	if (bad)
		return judge_first(sfnt, bad, bad_at);
	prove_places(sfnt);
	return are_outlines_valid(sfnt) ? CARVE_COMPLETE
					: verdict_because(CARVE_UNVERIFIED, sfnt->finding,
						  "checksums that agree, but outlines that do not");
}

/* ---- the verdict of the scan --------------------------------------------------------------- */

/* The verdict if no checksum agrees: the first table may be one of outlines that breaks off. */
static enum verdict judge_outlines(struct sfnt *sfnt)
{
	uint64_t at;

	begin_table(sfnt, 0);
	at = outlines_end(sfnt, &sfnt->tables[0]);
	if (has_outlines_right(sfnt))
		return judge_first(sfnt, &sfnt->tables[0], at);
	return verdict_because(CARVE_REJECT, sfnt->finding,
		"no table checksum matches from %" PRIu64 " on", sfnt->head_end);
}

static enum verdict judge_tables(struct sfnt *sfnt)
{
	size_t matching = 0, first_bad = sfnt->count, last_good = 0;
	struct finding *finding = sfnt->finding;
	const struct sfnt_table *bad;
	uint64_t end, valid_end;

	for (uint32_t i = 0; i < sfnt->count; i++) {
		begin_table(sfnt, i);
		if (is_valid_table(sfnt, &sfnt->tables[i])) {
			sfnt->tables[i].is_good = true;
			matching++;
			last_good = i;
		} else if (first_bad == sfnt->count) {
			first_bad = i;
		}
	}
	end = find_end(sfnt);
	finding->length = end;
	if (!has_sum(sfnt, (uint32_t)sfnt->count))
		return judge_outlines(sfnt);
	read_details(sfnt);
	if (matching == sfnt->count)
		return CARVE_COMPLETE;
	bad = &sfnt->tables[first_bad];
	if (end <= view_size(sfnt->view) && (last_good > first_bad || whole_sum_holds(sfnt, end)))
		return verdict_because(CARVE_UNVERIFIED, finding,
			"wrong checksum of table %.4s at %" PRIu32, bad->tag, bad->at);
	if (last_good + 1 < sfnt->count)
		bad = &sfnt->tables[last_good + 1];
	valid_end = (uint64_t)sfnt->tables[last_good].at + sfnt->tables[last_good].len;
	/* A table that is whole, but wrong, was overwritten before the image ends. */
	if ((uint64_t)bad->at + bad->len > view_size(sfnt->view))
		return walk_cut(sfnt->view, finding, end,
			bad->at < view_size(sfnt->view) ? foreign_start(sfnt->view, bad->at, end)
							: valid_end);
	finding->length = foreign_start(sfnt->view, valid_end, (uint64_t)bad->at + bad->len);
	return verdict_because(CARVE_TRUNCATED, finding, "wrong checksum of table %.4s at %" PRIu32,
		bad->tag, bad->at);
}

/* The check, from a state on that is valid; NULL: from the beginning. */
static enum verdict check_from(
	struct view *view, const struct carve_state *state, struct finding *finding)
{
	struct sfnt sfnt = { .view = view, .finding = finding };
	const uint8_t *p = view_peek(view, 0, 32);
	bool collection = p && memcmp(p, "ttcf", 4) == 0;
	enum verdict verdict = CARVE_REJECT;
	const char *problem;

	/* Checks the first tag before anything is allocated. */
	if (!p || (!collection && (!is_known_version(p) || !sfnt_is_tag(p + 12))))
		return verdict_because(CARVE_REJECT, finding, "no font at 0");
	sfnt.tables = calloc(TABLES_MAX + 1, sizeof(*sfnt.tables));
	if (!sfnt.tables) {
		view_no_memory(view);
		return CARVE_REJECT;
	}
	problem = collection ? read_collection(&sfnt) : read_tables(&sfnt, 0);
	if (!problem && sfnt.count == 0)
		problem = "no table";
	if (problem) {
		verdict_because(CARVE_REJECT, finding, "%s at 0", problem);
	} else {
		sort_tables(&sfnt);
		finding->extension = collection ? "ttc" : sfnt.compact ? "otf" : "ttf";
		sfnt.saves = view_wants_states(view);
		sfnt.resumed = state ? state->offset : 0;
		verdict = state || walk_assembles(view)
				  ? follow_tables(&sfnt, state ? state->data : NULL)
				  : judge_tables(&sfnt);
	}
	free(sfnt.tables);
	if (verdict == CARVE_REJECT)
		finding->length = 0;
	return verdict;
}

static enum verdict check(struct view *view, struct finding *finding)
{
	return check_from(view, NULL, finding);
}

static enum verdict resume(
	struct view *view, const struct carve_state *state, struct finding *finding)
{
	return check_from(view, state, finding);
}

/* ---- files in pieces ------------------------------------------------------------------------ */

#define LATER_MIN 64 /* bytes of a table */
#define MAGIC "\x5f\x0f\x3c\xf5"
#define MAGIC_AT 12 /* in the table 'head' */

/* Of the tables only 'head' has bytes that all fonts have: its version, and a magic number after two numbers
 * of its own. */
static bool read_directory(struct view *view, struct carve_table *table)
{
	struct carve_anchor head = {
		.len = MAGIC_AT + 4, .any = 0xff0, .word_at = MAGIC_AT, .bytes = "\0\1"
	};
	const uint8_t *p = view_peek(view, 0, 12);
	uint32_t count = p && is_known_version(p) ? be16(p + 4) : 0;

	memcpy(head.bytes + MAGIC_AT, MAGIC, 4);
	for (uint32_t i = 0; i < count; i++) {
		p = view_peek(view, 12 + 16 * (uint64_t)i, 16);
		if (!p || memcmp(p, "head", 4) != 0)
			continue;
		head.offset = be32(p + 8);
		return table->add(table, &head);
	}
	return false;
}

/* What may be anywhere after the sum's table. */
struct follower {
	struct carve_table table; /* first: add_follower finds the rest */
	struct carve_sum *sum;
};

static bool add_follower(struct carve_table *table, const struct carve_anchor *anchor)
{
	struct carve_sum *sum = ((struct follower *)table)->sum;

	if (anchor->offset >= sum->to)
		sum->next[sum->next_count++] = *anchor;
	return false;
}

/* The next table after one that is large enough to be known by its sum. */
static void expect_later(const struct sfnt *sfnt, size_t number, struct carve_sum *sum)
{
	for (size_t i = number + 1; i < sfnt->count; i++) {
		const struct sfnt_table *table = &sfnt->tables[i];

		if (table->len < LATER_MIN || table->at < sum->to)
			continue;
		if (table->at % 4 || !table->sum || memcmp(table->tag, "head", 4) == 0)
			return;
		sum->later_from = table->at;
		sum->later_to = (uint64_t)table->at + table->len;
		sum->later = table->sum;
		return;
	}
}

/* The first table whose checksum does not agree. */
static bool find_bad_table(struct sfnt *sfnt, struct carve_sum *sum)
{
	for (size_t i = 0; i < sfnt->count; i++) {
		struct sfnt_table *table = &sfnt->tables[i];

		begin_table(sfnt, (uint32_t)i);
		if (is_valid_table(sfnt, table))
			continue;
		sum->from = table->at;
		sum->to = (uint64_t)table->at + table->len;
		sum->after = table->sum;
		expect_later(sfnt, i, sum);
		/* Its own sum leaves out a field. */
		return table->at % 4 == 0 && table->sum && memcmp(table->tag, "head", 4) != 0;
	}
	return false;
}

static bool find_sum(struct view *view, struct carve_sum *sum)
{
	struct finding finding = { 0 };
	struct sfnt sfnt = { .view = view, .finding = &finding };
	struct follower follower = { .table.add = add_follower, .sum = sum };
	bool found;

	sfnt.tables = calloc(TABLES_MAX + 1, sizeof(*sfnt.tables));
	if (!sfnt.tables) {
		view_no_memory(view);
		return false;
	}
	found = !read_tables(&sfnt, 0);
	if (found) {
		sort_tables(&sfnt);
		found = find_bad_table(&sfnt, sum);
	}
	free(sfnt.tables);
	if (found)
		read_directory(view, &follower.table);
	return found;
}

static const struct carve_map sfnt_map = {
	.words = { { 4, false, MAGIC } },
	.common = true,
	.head = read_directory,
	.sum = find_sum,
	.sums_words = true,
};

const struct carver sfnt_carver = {
	.name = "sfnt",
	.summary = "TrueType and OpenType fonts and collections, by their tables' checksums",
	.check = check,
	.resume = resume,
	.map = &sfnt_map,
};
