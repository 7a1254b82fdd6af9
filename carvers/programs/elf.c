/*
 * ELF (System V Application Binary Interface, chapter 4, and its ELF-64 form): programs, shared
 * objects, object files, core files, in both widths and byte orders.
 *
 *	header:          magic, class, byte order, type, offsets and sizes of the two tables
 *	program headers: segments, loaded by a system; none in object files
 *	section headers: sections, for linkers and debuggers; nearly always at the end
 *
 * The file ends where the last section ends, or their table. If there are no sections (compressed
 * and stripped programs, core files), only the segments are known, and nothing shows that they are
 * complete: unverified.
 *
 * Nothing in ELF has a checksum. A file is verified by finding its tables where the header says:
 * each section header is checked against the others, its name, and the file; name tables must
 * contain names, and symbols must refer to sections and names that exist. If the section table is
 * missing, the file is cut or overwritten before it, and code and data are kept as far as they are
 * not random, zeros or text (foreign.c). If it is there and contradicts the contents of sections,
 * the file's middle is damaged, or in pieces: unverified, as is a file whose last bytes belong to a
 * section that cannot be checked.
 *
 * Linux signs modules with a PKCS #7 message after the ELF file, which belongs to it, as does an
 * archive that proves its own end (overlay.c). No header describes other overlays, such as those of
 * AppImages; AppImages are unverified and end where ELF does.
 *
 * Two linkers and assemblers write zeros after the last section: Go's up to the alignment of the segments, if data is last
 * (a program without symbols), and NASM, whose section headers begin at 64, up to a multiple of 16. patchelf (since 0.17)
 * writes one zero after the sections of the dynamic linker that it moves to the end, in a segment of their own.
 */
#include "elf.h"

#include <inttypes.h>
#include <string.h>

#include "overlay.h"
#include "bytes.h"
#include "foreign.h"
#include "walk.h"

#define ELF_MAGIC 0x7f454c46
#define MACHINE_CUDA 190 /* has versions of its own */
#define GO_ALIGN_MAX 65536
#define NASM_SECTIONS_AT 64 /* in both widths */
#define SEGMENT_END_MAX 64  /* bytes of a segment after its last section */

uint64_t elf_word(const struct elf *elf, const uint8_t *p)
{
	return elf->wide ? ordered64(elf->big_endian, p) : ordered32(elf->big_endian, p);
}

static uint64_t header_len(const struct elf *elf)
{
	return elf->wide ? 64 : 52;
}

static uint64_t segment_len(const struct elf *elf)
{
	return elf->wide ? 56 : 32;
}

static uint64_t section_len(const struct elf *elf)
{
	return elf->wide ? 64 : 40;
}

static bool power_of_two(uint64_t value)
{
	return (value & (value - 1)) == 0;
}

bool elf_section(const struct elf *elf, uint64_t index, struct elf_section *section)
{
	bool big = elf->big_endian;
	const uint8_t *p = view_peek(
		elf->view, elf->sections_at + index * section_len(elf), (size_t)section_len(elf));
	size_t word = elf->wide ? 8 : 4;

	if (!p)
		return false;
	section->name = ordered32(big, p);
	section->type = ordered32(big, p + 4);
	section->flags = elf_word(elf, p + 8);
	section->address = elf_word(elf, p + 8 + word);
	section->at = elf_word(elf, p + 8 + 2 * word);
	section->len = elf_word(elf, p + 8 + 3 * word);
	section->link = ordered32(big, p + 8 + 4 * word);
	section->align = elf_word(elf, p + 16 + 4 * word);
	section->entry_len = elf_word(elf, p + 16 + 5 * word);
	return true;
}

/* Reads the identification: what is wrong, or NULL. */
static const char *read_identity(struct elf *elf, const uint8_t *p)
{
	if (be32(p) != ELF_MAGIC)
		return "no ELF magic";
	if (p[4] - 1 > 1 || p[5] - 1 > 1 || p[6] != 1)
		return "unknown class, byte order or version";
	elf->wide = p[4] == 2;
	elf->big_endian = p[5] == 2;
	elf->appimage = p[8] == 'A' && p[9] == 'I' && (p[10] == 1 || p[10] == 2);
	if (!elf->appimage && memcmp(p + 9, "\0\0\0\0\0\0\0", 7) != 0 &&
		memcmp(p + 8, "FreeBSD", 8) != 0)
		return "the identification has no zeros at its end";
	return NULL;
}

/* Reads the header: what is wrong, or NULL. */
static const char *read_header(struct elf *elf)
{
	const uint8_t *p = view_peek(elf->view, 0, 52), *sizes;
	const char *problem = p ? read_identity(elf, p) : "no ELF header";
	bool big = elf->big_endian;

	if (problem)
		return problem;
	p = view_peek(elf->view, 0, (size_t)header_len(elf));
	if (!p)
		return "no ELF header";
	elf->type = ordered16(big, p + 16);
	if ((elf->type > ELF_CORE && elf->type < 0xfe00) ||
		(ordered32(big, p + 20) != 1 && ordered16(big, p + 18) != MACHINE_CUDA))
		return "unknown type or version of file";
	elf->segments_at = elf_word(elf, p + (elf->wide ? 32 : 28));
	elf->sections_at = elf_word(elf, p + (elf->wide ? 40 : 32));
	sizes = p + (elf->wide ? 52 : 40);
	elf->segment_count = ordered16(big, sizes + 4);
	elf->section_count = ordered16(big, sizes + 8);
	elf->names_index = ordered16(big, sizes + 10);
	if (ordered16(big, sizes) != header_len(elf))
		return "a header of wrong length";
	if (elf->segments_at && elf->segment_count && ordered16(big, sizes + 2) != segment_len(elf))
		return "program headers of wrong length";
	if (elf->sections_at && ordered16(big, sizes + 6) != section_len(elf))
		return "section headers of wrong length";
	if (!elf->segments_at)
		elf->segment_count = 0;
	if (elf->segment_count == 0 && elf->sections_at == 0)
		return "neither segments nor sections";
	if ((elf->segment_count && elf->segments_at < header_len(elf)) ||
		(elf->sections_at && elf->sections_at < header_len(elf)))
		return "a table inside the header";
	if (elf->segments_at > INT64_MAX || elf->sections_at > INT64_MAX)
		return "a table at an impossible offset";
	elf->head_end = header_len(elf);
	return NULL;
}

/* Counts too large for the header are in the first section header. */
static void read_large_counts(struct elf *elf)
{
	struct elf_section first;
	const uint8_t *p;

	if (!elf->sections_at || !elf_section(elf, 0, &first))
		return;
	if (elf->segment_count == 0xffff) {
		p = view_peek(elf->view, elf->sections_at + (elf->wide ? 44 : 28), 4);
		elf->segment_count = p ? ordered32(elf->big_endian, p) : 0xffff;
	}
	if (elf->section_count == 0)
		elf->section_count = first.len;
	if (elf->names_index == 0xffff)
		elf->names_index = first.link;
}

/* Notes what later steps need to know about a segment. */
static void note_segment(struct elf *elf, uint32_t type, uint64_t at, uint64_t len, uint64_t align)
{
	if (type == ELF_INTERP)
		elf->interp = true;
	if (type == ELF_DYNAMIC) {
		elf->dynamic = at;
		elf->dynamic_len = len;
	}
	if (type == ELF_NOTE && !elf->note) {
		elf->note = at;
		elf->note_len = len;
	}
	if (type && at + len > elf->segments_end)
		elf->segments_end = at + len;
	if (type == ELF_LOAD && align > elf->segment_align)
		elf->segment_align = align;
}

static bool read_segment(struct elf *elf, uint64_t index)
{
	const uint8_t *p = view_peek(
		elf->view, elf->segments_at + index * segment_len(elf), (size_t)segment_len(elf));
	size_t word = elf->wide ? 8 : 4;
	uint64_t at, address, len, memory_len, align;
	uint32_t type;

	if (!p)
		return false;
	type = ordered32(elf->big_endian, p);
	at = elf_word(elf, p + word);
	address = elf_word(elf, p + 2 * word);
	len = elf_word(elf, p + 4 * word);
	memory_len = elf_word(elf, p + 5 * word);
	align = elf_word(elf, p + (elf->wide ? 48 : 28));
	if ((type > 8 && type < 0x60000000) || type >= 0x80000000)
		return false;
	if (at > INT64_MAX || len > INT64_MAX - at || !power_of_two(align))
		return false;
	if (type == ELF_LOAD && len && (len > memory_len || (align && (at - address) % align)))
		return false;
	note_segment(elf, type, at, len, align);
	/* Memory begins with the header of the program or library that was mapped there. */
	if (elf->type == ELF_CORE && type == ELF_LOAD && len >= 4 &&
		(p = view_peek(elf->view, at, 4)) && be32(p) == ELF_MAGIC)
		view_embedded(elf->view, at);
	return true;
}

/* Reads the program headers: true when all are valid; else *where is the first invalid one. */
static bool read_segments(struct elf *elf, uint64_t *where)
{
	for (uint64_t i = 0; i < elf->segment_count; i++) {
		*where = elf->segments_at + i * segment_len(elf);
		if (!read_segment(elf, i))
			return false;
	}
	if (elf->segment_count && elf->segments_at < 4096)
		elf->head_end = elf->segments_at + elf->segment_count * segment_len(elf);
	return true;
}

/* What is wrong with a section header, or NULL. */
static const char *judge_section(const struct elf *elf, const struct elf_section *section)
{
	if (section->type > 0x40 && section->type < 0x60000000)
		return "a section of unknown type";
	if (section->name >= elf->names_len)
		return "a section without a name";
	if (section->link >= elf->section_count)
		return "a section linked to a missing one";
	if (!power_of_two(section->align))
		return "a section with an impossible alignment";
	if (section->type != ELF_NOBITS &&
		(section->at > INT64_MAX || section->len > INT64_MAX - section->at))
		return "a section at an impossible offset";
	return NULL;
}

/* What the section table contains. */
struct elf_sections {
	uint64_t end;            /* of sections and their table */
	uint64_t last_index;     /* of the section that ends there, 0: the table does */
	struct elf_section last; /* that section */
	uint64_t where;          /* of the problem */
	const char *problem;     /* not a section table */
	bool program;            /* it has loaded sections with bytes in the file */
};

static void read_sections(struct elf *elf, struct elf_sections *sections)
{
	struct elf_section names, section;

	sections->end = elf->sections_at + elf->section_count * section_len(elf);
	sections->where = elf->sections_at;
	if (!elf_section(elf, elf->names_index, &names) || names.type != ELF_STRTAB ||
		!elf_section(elf, 0, &section) || section.type != 0) {
		sections->problem = "no section table";
		return;
	}
	elf->names_len = names.len;
	for (uint64_t i = 1; i < elf->section_count; i++) {
		sections->where = elf->sections_at + i * section_len(elf);
		if (!elf_section(elf, i, &section)) {
			sections->problem = "no section header";
			return;
		}
		sections->problem = judge_section(elf, &section);
		if (sections->problem)
			return;
		if (section.type == 0 || section.type == ELF_NOBITS)
			continue;
		if (section.flags & ELF_ALLOC && section.type == ELF_PROGBITS && section.len)
			sections->program = true;
		if (section.at + section.len > sections->end) {
			sections->end = section.at + section.len;
			sections->last_index = i;
			sections->last = section;
		}
	}
}

/* Whether the last section proves the end: names, with a zero after the last, symbols, of which only the first is all
 * zeros, notes, whose lengths end where the section does, or dynamic entries, if the last one is in the sector of the end. */
static bool proves_end(const struct elf *elf, const struct elf_section *section)
{
	uint64_t end = section->at + section->len, last = 0;

	if (section->type == ELF_NOTES)
		return elf_notes_fill(elf, section);
	if (section->type == ELF_DYNAMICS)
		return elf_entries_fill(elf, section);
	if (section->type == ELF_STRTAB)
		last = 2;
	if (section->type == ELF_SYMTAB || section->type == ELF_DYNSYM)
		last = elf->wide ? 24 : 16;
	return last && section->len > last && !walk_zeros(elf->view, end - last, end);
}

/* Whether the last section is an archive that proves its own end, as in some self-extracting
 * programs: then it also proves the section's. */
static bool ends_with_archive(
	struct elf *elf, const struct elf_section *section, enum verdict *verdict)
{
	struct finding archive = { 0 };

	if (!overlay_include(elf->view, section->at, &archive, verdict) ||
		archive.length < section->at + section->len)
		return false;
	elf->finding->length = archive.length;
	verdict_because(*verdict, elf->finding, "%s", archive.why);
	return true;
}

/* Whether the damage extends to the last section. */
static bool last_is_invalid(const struct elf *elf, const struct elf_sections *sections)
{
	uint64_t where;

	return sections->last_index && elf_content(elf, &sections->last, &where);
}

/* Whether Go's linker wrote the file: it has the table of its functions' lines. */
static bool is_go(const struct elf *elf)
{
	static const char *const names[] = { ".gopclntab", ".data.rel.ro.gopclntab" };
	struct elf_section table, section;

	if (!elf_section(elf, elf->names_index, &table))
		return false;
	for (uint64_t i = 1; i < elf->section_count && elf_section(elf, i, &section); i++)
		for (size_t k = 0; k < sizeof(names) / sizeof(*names); k++) {
			size_t len = strlen(names[k]) + 1;
			const uint8_t *p = view_peek(elf->view, table.at + section.name, len);

			if (p && memcmp(p, names[k], len) == 0)
				return true;
		}
	return false;
}

/* Whether patchelf moved sections of the dynamic linker to the end. Its versions before 0.17 end with notes, and add
 * nothing. */
static bool is_patched(const struct elf *elf, const struct elf_section *last, uint64_t end)
{
	return end == elf->segments_end && last->at > elf->sections_at && last->flags & ELF_ALLOC &&
	       last->type != ELF_PROGBITS && last->type != ELF_NOTES;
}

/* How many zeros follow the last section, which ends at `end`, where Go's linker or NASM wrote the file. */
static uint64_t padding_len(const struct elf *elf, const struct elf_section *last, uint64_t end)
{
	uint64_t unit;

	if (elf->type == ELF_REL && elf->sections_at == NASM_SECTIONS_AT)
		unit = 16;
	else if (last->flags & ELF_ALLOC && elf->segment_align <= GO_ALIGN_MAX && is_go(elf))
		unit = elf->segment_align;
	else
		return 0;
	return unit ? (unit - end % unit) % unit : 0;
}

/* Adds to the file, which seems to end at finding->length, the zeros that linkers, assemblers and patchelf write after its
 * last section. False, and the verdict, when patchelf's is missing. */
static bool add_padding(struct elf *elf, const struct elf_section *last, enum verdict *verdict)
{
	struct finding *finding = elf->finding;
	bool patched = is_patched(elf, last, finding->length);
	uint64_t end = finding->length;
	uint64_t padded = end + (patched ? 1 : padding_len(elf, last, end));

	if (padded <= view_size(elf->view) && walk_zeros(elf->view, end, padded)) {
		finding->length = padded;
		return true;
	}
	if (!patched)
		return true;
	*verdict =
		end == view_size(elf->view)
			? walk_cut(elf->view, finding, padded, end)
			: verdict_because(CARVE_UNVERIFIED, finding,
				  "the zero that patchelf writes last is missing at %" PRIu64, end);
	return false;
}

/* The verdict when all sections are valid, by where they and the segments end. */
static enum verdict judge_end(struct elf *elf, const struct elf_sections *sections)
{
	struct finding *finding = elf->finding;
	uint64_t table_end = elf->segments_at + elf->segment_count * segment_len(elf);
	enum verdict verdict;

	if (elf->segment_count && table_end > sections->end) {
		finding->length = table_end;
		return verdict_because(CARVE_UNVERIFIED, finding,
			"the program headers at %" PRIu64 " are last", elf->segments_at);
	}
	finding->length = elf_signature_end(elf->view, sections->end);
	if (elf->segments_end > sections->end && sections->program) {
		finding->length = elf->segments_end;
		/* patchelf puts new sections last and pads their segment with zeros. */
		if (elf->segments_end > view_size(elf->view))
			return walk_cut(elf->view, finding, elf->segments_end, sections->end);
		if (elf->segments_end - sections->end > SEGMENT_END_MAX ||
			!walk_zeros(elf->view, sections->end, elf->segments_end))
			return verdict_because(CARVE_UNVERIFIED, finding,
				"segments continue after the last section, at %" PRIu64,
				sections->end);
	}
	if (sections->last_index && !add_padding(elf, &sections->last, &verdict))
		return verdict;
	/* Programs read archives there; what follows a library or an object file is another file. */
	if (!finding->extension && overlay_include(elf->view, finding->length, finding, &verdict))
		return verdict;
	if (elf->appimage)
		return verdict_because(CARVE_UNVERIFIED, finding,
			"an AppImage: the end of the overlay at %" PRIu64 " is unknown",
			sections->end);
	if (sections->last_index && !proves_end(elf, &sections->last)) {
		if (ends_with_archive(elf, &sections->last, &verdict))
			return verdict;
		return verdict_because(CARVE_UNVERIFIED, finding,
			"the last section, at %" PRIu64 ", cannot be verified", sections->last.at);
	}
	return CARVE_COMPLETE;
}

/* The verdict when there is a section table, by the sections' contents. */
static enum verdict judge_contents(struct elf *elf, const struct elf_sections *sections)
{
	struct finding *finding = elf->finding;
	struct elf_section section;
	const char *problem;
	uint64_t where;

	for (uint64_t i = 1; i < elf->section_count; i++) {
		if (!elf_section(elf, i, &section))
			break;
		problem = elf_content(elf, &section, &where);
		if (!problem)
			continue;
		finding->length = sections->end;
		if (i == sections->last_index || last_is_invalid(elf, sections))
			return foreign_cut(
				elf->view, finding, elf->head_end, sections->end, problem, where);
		return verdict_because(CARVE_UNVERIFIED, finding, "%s at %" PRIu64, problem, where);
	}
	return judge_end(elf, sections);
}

/* The verdict without sections: segments alone determine the end. */
static enum verdict judge_segments(struct elf *elf)
{
	uint64_t end = elf->segments_end > elf->head_end ? elf->segments_end : elf->head_end;

	if (elf->segments_end == 0)
		return verdict_because(CARVE_REJECT, elf->finding,
			"only empty segments at %" PRIu64, elf->segments_at);
	if (end > view_size(elf->view))
		return walk_cut(
			elf->view, elf->finding, end, foreign_start(elf->view, elf->head_end, end));
	elf->finding->length = end;
	return verdict_because(CARVE_UNVERIFIED, elf->finding,
		"no sections, so the end of the last segment at %" PRIu64 " cannot be verified",
		end);
}

static enum verdict check(struct view *view, struct finding *finding)
{
	struct elf elf = { .view = view, .finding = finding };
	const char *problem = read_header(&elf);
	struct elf_sections sections = { 0 };
	uint64_t where = 0;

	if (problem)
		return verdict_because(CARVE_REJECT, finding, "%s at 0", problem);
	read_large_counts(&elf);
	if (!read_segments(&elf, &where))
		return verdict_because(CARVE_REJECT, finding,
			"the program header at %" PRIu64 " is invalid", where);
	if (elf.sections_at == 0 || elf.section_count == 0) {
		elf_details(&elf);
		return judge_segments(&elf);
	}
	if (elf.section_count > INT32_MAX || elf.names_index >= elf.section_count)
		return verdict_because(
			CARVE_REJECT, finding, "an impossible number of sections at 0");
	read_sections(&elf, &sections);
	elf_details(&elf);
	if (sections.problem || sections.end > view_size(view)) {
		if (elf.segment_count == 0 && walk_zeros(view, elf.head_end, elf.head_end + 64))
			return verdict_because(CARVE_REJECT, finding,
				"a header alone: nothing at %" PRIu64, elf.head_end);
		return foreign_cut(view, finding, elf.head_end, sections.end,
			sections.problem ? sections.problem : "cut", sections.where);
	}
	return judge_contents(&elf, &sections);
}

const struct carver elf_carver = {
	.name = "elf",
	.summary = "ELF programs, libraries, object and core files, by their tables",
	.check = check,
};
