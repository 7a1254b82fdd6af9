/*
 * Mach-O programs, libraries and object files, and universal ("fat") files that hold several of
 * them (Apple's mach-o/loader.h, mach-o/fat.h, mach-o/nlist.h, and xnu's cs_blobs.h).
 *
 *	header:   magic, processor, type of file, number and length of commands
 *	commands: type and length each; they give the offsets of segments, symbols, names,
 *		relocations, signature
 *
 * The file ends where its last part ends. That end is proven by linking data: the table of symbol
 * names, which is last and ends with a zero, or the signature after it (macho_signature.c), which also has hashes of all pages
 * before it (macho_pages.c): where one is wrong the file is unverified, and truncated if it is put together of pieces. A file
 * that has neither at its end is unverified. If they are invalid, the file is cut, and code is kept
 * as far as it is not random, zeros or text.
 *
 * A universal file is as valid as the files in it; libraries of object files (ar) in it are not
 * checked.
 */
#include <inttypes.h>
#include <string.h>

#include "bytes.h"
#include "foreign.h"
#include "macho.h"
#include "macho_pages.h"
#include "macho_signature.h"
#include "plain_text.h"
#include "title.h"
#include "walk.h"

#define SEGMENT 0x1
#define SYMBOLS 0x2
#define DYNAMIC_SYMBOLS 0xb
#define LIBRARY_NAME 0xd
#define SEGMENT_64 0x19
#define SIGNATURE 0x1d
#define DYLD_INFO 0x22

struct macho {
	struct view *view;
	struct finding *finding;
	uint64_t base; /* of the file in a universal one */
	bool wide, big_endian;
	uint32_t kind;
	uint64_t commands_end;
	uint64_t end; /* from base, as are all that follow */
	uint64_t symbols, symbol_count;
	uint64_t names, names_end;
	uint64_t signature, signature_end;
	uint64_t where; /* of the problem */
};

static uint32_t word(const struct macho *macho, const uint8_t *p)
{
	return ordered32(macho->big_endian, p);
}

static void extend_to(struct macho *macho, uint64_t at, uint64_t len)
{
	if (at && len && at <= INT64_MAX && len <= INT64_MAX - at && at + len > macho->end)
		macho->end = at + len;
}

/* An object file has its relocations after its sections. */
static bool note_segment(struct macho *macho, uint64_t at, uint32_t len)
{
	bool wide = macho->wide;
	uint32_t head = wide ? 72 : 56, step = wide ? 80 : 68, count;
	const uint8_t *p = len >= head ? view_peek(macho->view, at, head) : NULL;

	if (!p)
		return false;
	count = word(macho, p + (wide ? 64 : 48));
	if (wide)
		extend_to(macho, ordered64(macho->big_endian, p + 40),
			ordered64(macho->big_endian, p + 48));
	else
		extend_to(macho, word(macho, p + 32), word(macho, p + 36));
	if (count > (len - head) / step)
		return false;
	for (uint32_t i = 0; i < count; i++) {
		p = view_peek(macho->view, at + head + (uint64_t)i * step, step);
		if (!p)
			return false;
		p += wide ? 56 : 48;
		extend_to(macho, word(macho, p), 8 * (uint64_t)word(macho, p + 4));
	}
	return true;
}

/* The pairs of offset and count in LC_DYSYMTAB, and the size of what each counts. */
static void note_dynamic(struct macho *macho, const uint8_t *p)
{
	uint32_t sizes[] = { 8, macho->wide ? 56 : 52, 4, 4, 8, 8 };

	for (size_t i = 0; i < 6; i++)
		extend_to(macho, word(macho, p + 32 + 8 * i),
			(uint64_t)sizes[i] * word(macho, p + 36 + 8 * i));
}

static void note_name(struct macho *macho, const uint8_t *p, uint32_t len)
{
	uint32_t at = word(macho, p + 8);
	const uint8_t *nul = at < len ? memchr(p + at, 0, len - at) : NULL;

	if (nul)
		finding_set_title(macho->finding, p + at, (size_t)(nul - (p + at)));
}

static bool is_linkedit(uint32_t kind)
{
	return kind == SIGNATURE || kind == 0x1e || kind == 0x26 || kind == 0x29 || kind == 0x2b ||
	       kind == 0x2e || kind == 0x33 || kind == 0x34 || kind == 0x36;
}

static bool note_command(struct macho *macho, uint64_t at, uint32_t kind, uint32_t len)
{
	const uint8_t *p = view_peek(macho->view, at, len < 4096 ? len : 4096);

	if (!p)
		return false;
	kind &= 0x7fffffff; /* the highest bit: the loader must support it */
	if (kind == SEGMENT || kind == SEGMENT_64)
		return note_segment(macho, at, len);
	if (kind == SYMBOLS && len >= 24) {
		extend_to(macho, word(macho, p + 8),
			(uint64_t)word(macho, p + 12) * (macho->wide ? 16 : 12));
		extend_to(macho, word(macho, p + 16), word(macho, p + 20));
		macho->symbols = word(macho, p + 8);
		macho->symbol_count = word(macho, p + 12);
		macho->names = word(macho, p + 16);
		macho->names_end = macho->names + word(macho, p + 20);
	} else if (kind == DYNAMIC_SYMBOLS && len >= 80) {
		note_dynamic(macho, p);
	} else if (is_linkedit(kind) && len >= 16) {
		extend_to(macho, word(macho, p + 8), word(macho, p + 12));
		if (kind == SIGNATURE) {
			macho->signature = word(macho, p + 8);
			macho->signature_end = macho->signature + word(macho, p + 12);
		}
	} else if (kind == DYLD_INFO && len >= 48) {
		for (size_t i = 0; i < 5; i++)
			extend_to(macho, word(macho, p + 8 + 8 * i), word(macho, p + 12 + 8 * i));
	} else if (kind == LIBRARY_NAME && len >= 24) {
		note_name(macho, p, len < 4096 ? len : 4096);
	}
	return true;
}

/* Reads the header: false when there is none. *count and *len are the commands'. */
static bool read_header(struct macho *macho, uint32_t *count, uint32_t *len)
{
	const uint8_t *p = view_peek(macho->view, macho->base, 32);
	uint32_t magic = p ? le32(p) : 0;

	macho->big_endian = magic == 0xcefaedfe || magic == 0xcffaedfe;
	magic = macho->big_endian ? be32(p) : magic;
	macho->wide = magic == 0xfeedfacf;
	if (magic != 0xfeedface && magic != 0xfeedfacf)
		return false;
	macho->kind = word(macho, p + 12);
	*count = word(macho, p + 16);
	*len = word(macho, p + 20);
	return macho->kind - 1 < 12 && (word(macho, p + 4) & 0xffffff) < 64 && *count &&
	       *count <= 65536 && *len >= 8 * *count && *len < 1 << 28;
}

static const char *read_commands(struct macho *macho)
{
	uint32_t count = 0, len = 0, command_len;
	uint64_t at;

	macho->where = macho->base;
	if (!read_header(macho, &count, &len))
		return "no Mach-O header";
	at = macho->base + (macho->wide ? 32 : 28);
	macho->commands_end = at + len;
	for (uint32_t i = 0; i < count; i++, at += command_len) {
		const uint8_t *p = view_peek(macho->view, at, 8);

		macho->where = at;
		if (!p)
			return "no command";
		command_len = word(macho, p + 4);
		if (command_len < 8 || command_len % 4 || command_len > macho->commands_end - at ||
			(word(macho, p) & 0x7fffffff) > 0x80 ||
			!note_command(macho, at, word(macho, p), command_len))
			return "no command";
	}
	if (at != macho->commands_end)
		return "commands of a different length";
	extend_to(macho, macho->commands_end - macho->base, 0);
	if (macho->end < macho->commands_end - macho->base)
		macho->end = macho->commands_end - macho->base;
	return NULL;
}

/* Each symbol has a name in the table; the last name starts after another one's end. */
static bool valid_symbols(const struct macho *macho)
{
	uint32_t step = macho->wide ? 16 : 12, last = 0;
	uint64_t names_len = macho->names_end - macho->names, name;
	const uint8_t *p;

	for (uint64_t i = 0; i < macho->symbol_count; i++) {
		p = view_peek(macho->view, macho->base + macho->symbols + i * step, step);
		if (!p || word(macho, p) >= names_len)
			return false;
		if (word(macho, p) > last)
			last = word(macho, p);
	}
	name = macho->base + macho->names + last;
	p = last ? view_peek(macho->view, name - 1, 2) : NULL;
	return p && p[0] == 0 && p[1] > ' ' &&
	       walk_find(macho->view, &name, macho->base + macho->names_end, 0);
}

/* Checks what linkers put last: what is wrong, or NULL; *proven: it proves the end. */
static const char *check_end(struct macho *macho, bool *proven)
{
	uint64_t base = macho->base;

	*proven = false;
	if (macho->names && macho->symbol_count) {
		macho->where = base + macho->names;
		/* Signing may leave other bytes after the last name. */
		if (!valid_symbols(macho) ||
			(!macho->signature && !name_table_valid(macho->view, base + macho->names,
						      base + macho->names_end)))
			return "a name table with invalid names";
		*proven = walk_zeros(macho->view, base + macho->names_end, base + macho->end);
	}
	if (macho->signature) {
		macho->where = base + macho->signature;
		if (!macho_signature_valid(macho->view, base + macho->signature,
			    base + macho->signature_end, macho->signature))
			return "no signature";
		*proven = macho->signature_end == macho->end;
	}
	return NULL;
}

/* The verdict on a whole file by what its signature has of its pages. */
static enum verdict check_pages(struct macho *macho, enum verdict verdict)
{
	bool assembles = view_thorough(macho->view) || view_is_trial(macho->view);
	uint64_t at = macho->base + macho->signature, wrong_at;
	struct macho_pages pages;

	if (!macho->signature ||
		!macho_pages_read(macho->view, at, macho->signature_end - macho->signature,
			macho->signature, &pages))
		return verdict;
	pages.base = macho->base;
	if (macho_pages_fit(macho->view, &pages, &wrong_at))
		return verdict;
	if (assembles)
		macho->finding->length = wrong_at;
	return verdict_because(assembles ? CARVE_TRUNCATED : CARVE_UNVERIFIED, macho->finding,
		"the signature has another hash of the page at %" PRIu64, wrong_at);
}

/* One Mach-O file at macho->base; finding->length is set from base on. */
static enum verdict check_one(struct macho *macho)
{
	struct finding *finding = macho->finding;
	const char *problem = read_commands(macho);
	uint64_t start = macho->commands_end, end = macho->base + macho->end;
	enum verdict verdict = CARVE_COMPLETE;
	bool proven;

	if (problem)
		return verdict_because(
			CARVE_REJECT, finding, "%s at %" PRIu64, problem, macho->where);
	if (end > view_size(macho->view)) {
		verdict = foreign_cut(macho->view, finding, start, end, "cut", end);
	} else {
		problem = check_end(macho, &proven);
		finding->length = end;
		if (problem)
			verdict = foreign_cut(
				macho->view, finding, start, end, problem, macho->where);
		else if (!proven)
			verdict = verdict_because(CARVE_UNVERIFIED, finding,
				"the end at %" PRIu64 " cannot be verified", end);
		if (!problem)
			verdict = check_pages(macho, verdict);
	}
	finding->length -= macho->base;
	return verdict;
}

static const char *extension_of(uint32_t kind)
{
	static const char *const names[] = {
		[1] = "o", [4] = "core", [6] = "dylib", [8] = "bundle", [10] = "dsym", [11] = "kext"
	};

	return kind < sizeof(names) / sizeof(*names) ? names[kind] : NULL;
}

bool macho_read_slice(struct view *view, uint32_t index, bool wide, struct macho_slice *slice)
{
	size_t step = wide ? 32 : 20;
	const uint8_t *p = view_peek(view, 8 + step * index, step);

	if (!p || (be32(p) & 0xffffff) > 64)
		return false;
	slice->at = wide ? be64(p + 8) : be32(p + 8);
	slice->len = wide ? be64(p + 16) : be32(p + 12);
	slice->align = be32(p + (wide ? 24 : 16));
	return slice->align < 32 && slice->at <= INT64_MAX && slice->len <= INT64_MAX &&
	       slice->len > 28 && slice->at % (1u << slice->align) == 0;
}

/* The slice's file. */
static enum verdict check_slice(
	struct view *view, struct finding *finding, const struct macho_slice *slice)
{
	struct macho macho = { .view = view, .finding = finding, .base = slice->at };
	const uint8_t *p = view_peek(view, slice->at, 8);
	enum verdict verdict;

	if (p && memcmp(p, "!<arch>\n", 8) == 0) {
		finding->length = slice->len;
		return verdict_because(CARVE_UNVERIFIED, finding,
			"the library of object files at %" PRIu64 " was not checked", slice->at);
	}
	verdict = check_one(&macho);
	if (!finding->extension)
		finding->extension = extension_of(macho.kind);
	if (verdict == CARVE_COMPLETE && finding->length > slice->len)
		return verdict_because(CARVE_UNVERIFIED, finding,
			"the file at %" PRIu64 " is longer than its entry allows", slice->at);
	return verdict;
}

static enum verdict check_universal(struct view *view, struct finding *finding, bool wide)
{
	const uint8_t *p = view_peek(view, 0, 8);
	uint32_t count = p ? be32(p + 4) : 0;
	enum verdict all = CARVE_COMPLETE, verdict;
	struct macho_slice slice = { 0 };
	uint64_t end = 8 + (uint64_t)count * (wide ? 32 : 20), valid_end = end;

	if (count - 1 >= MACHO_SLICES_MAX)
		return verdict_because(CARVE_REJECT, finding, "no number of files at 4");
	for (uint32_t i = 0; i < count; i++) {
		finding->length = 0;
		if (!macho_read_slice(view, i, wide, &slice) || slice.at < end)
			return verdict_because(CARVE_REJECT, finding,
				"entry %" PRIu32 " of the list is invalid", i);
		end = slice.at + slice.len;
		if (all == CARVE_TRUNCATED)
			continue;
		verdict = check_slice(view, finding, &slice);
		if (verdict == CARVE_REJECT && i == 0)
			return verdict;
		if (verdict == CARVE_REJECT || verdict == CARVE_TRUNCATED) {
			valid_end =
				verdict == CARVE_REJECT ? valid_end : slice.at + finding->length;
			all = CARVE_TRUNCATED;
		} else {
			valid_end = end;
			all = verdict == CARVE_UNVERIFIED ? verdict : all;
		}
	}
	if (valid_end > view_size(view))
		valid_end = view_size(view);
	finding->length = all == CARVE_TRUNCATED ? valid_end : end;
	if (all != CARVE_TRUNCATED && end > view_size(view))
		return walk_cut(view, finding, end, view_size(view));
	return all;
}

bool macho_read_layout(struct view *view, uint64_t base, struct macho_layout *layout)
{
	struct finding finding = { 0 };
	struct macho macho = { .view = view, .finding = &finding, .base = base };

	if (read_commands(&macho))
		return false;
	*layout = (struct macho_layout){ macho.end, macho.signature, macho.signature_end };
	return true;
}

static enum verdict check(struct view *view, struct finding *finding)
{
	struct macho macho = { .view = view, .finding = finding };
	const uint8_t *p = view_peek(view, 0, 8);
	enum verdict verdict;

	if (p && (be32(p) == 0xcafebabe || be32(p) == 0xcafebabf))
		return check_universal(view, finding, be32(p) == 0xcafebabf);
	verdict = check_one(&macho);
	finding->extension = extension_of(macho.kind);
	return verdict;
}

const struct carver macho_carver = {
	.name = "macho",
	.summary =
		"Mach-O programs and libraries, universal ones, too, by commands, names, signature",
	.check = check,
	.places = &macho_places,
};
