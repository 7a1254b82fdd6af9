/*
 * The contents of an ELF file's sections and segments that describe the file: name tables and
 * symbols are checked against each other, dynamic entries and notes give the type of file and its
 * name.
 */
#include "elf.h"

#include <string.h>

#include "bytes.h"
#include "plain_text.h"
#include "title.h"
#include "walk.h"

#define SYMBOL_LEN(elf) ((elf)->wide ? 24u : 16u)

/* Checks that each symbol has a name in the name table and a section that exists. */
static const char *check_symbols(
	const struct elf *elf, const struct elf_section *section, uint64_t *where)
{
	size_t step = SYMBOL_LEN(elf), len;
	struct elf_section names;
	const uint8_t *p;

	if (!elf_section(elf, section->link, &names) || section->entry_len != step ||
		section->len % step)
		return "a symbol table without names or size";
	for (uint64_t at = section->at, end = at + section->len; at < end; at += len) {
		p = walk_window(elf->view, at, end, &len);
		len -= len % step;
		if (!p || !len)
			return "missing symbols";
		for (size_t i = 0; i < len; i += step) {
			uint16_t home = ordered16(elf->big_endian, p + i + (elf->wide ? 6 : 14));

			*where = at + i;
			if (ordered32(elf->big_endian, p + i) >= names.len)
				return "a symbol without a name";
			if (home >= elf->section_count && home < 0xff00)
				return "a symbol in no section";
		}
	}
	return NULL;
}

const char *elf_content(const struct elf *elf, const struct elf_section *section, uint64_t *where)
{
	*where = section->at;
	if (section->type == ELF_STRTAB && section->len &&
		!name_table_valid(elf->view, section->at, section->at + section->len))
		return "a name table with invalid names";
	if ((section->type == ELF_SYMTAB || section->type == ELF_DYNSYM) && section->len)
		return check_symbols(elf, section, where);
	return NULL;
}

/* From the dynamic entries. */
struct elf_dynamic {
	uint64_t strings, soname, flags;
	bool has_soname;
};

#define DT_STRTAB 5
#define DT_SONAME 14
#define DT_FLAGS_1 0x6ffffffb
#define DF_1_PIE 0x08000000

static void read_dynamic(const struct elf *elf, struct elf_dynamic *dynamic)
{
	size_t word = elf->wide ? 8 : 4;

	for (uint64_t at = 0; at + 2 * word <= elf->dynamic_len && at < 4096; at += 2 * word) {
		const uint8_t *p = view_peek(elf->view, elf->dynamic + at, 2 * word);
		uint64_t tag = p ? elf_word(elf, p) : 0, value = p ? elf_word(elf, p + word) : 0;

		if (tag == 0)
			return;
		if (tag == DT_STRTAB)
			dynamic->strings = value;
		if (tag == DT_FLAGS_1)
			dynamic->flags = value;
		if (tag == DT_SONAME) {
			dynamic->soname = value;
			dynamic->has_soname = true;
		}
	}
}

#define ENTRIES_MAX 4096
#define TAG_MAX \
	0x40 /* those for all systems are less; others' own are in [OWN_TAGS, OWN_TAGS_END) */
#define OWN_TAGS 0x60000000
#define OWN_TAGS_END 0x80000000

bool elf_entries_fill(const struct elf *elf, const struct elf_section *section)
{
	size_t word = elf->wide ? 8 : 4, step = 2 * word;
	uint64_t end = section->at + section->len, at = section->at;

	if (section->at != elf->dynamic || section->len != elf->dynamic_len ||
		section->len % step || section->len / step > ENTRIES_MAX)
		return false;
	for (; at < end; at += step) {
		const uint8_t *p = view_peek(elf->view, at, step);
		uint64_t tag = p ? elf_word(elf, p) : OWN_TAGS_END;

		if (!tag)
			break;
		if (tag >= OWN_TAGS_END || (tag >= TAG_MAX && tag < OWN_TAGS))
			return false;
	}
	return at > section->at && at < end && walk_zeros(elf->view, at, end) &&
	       (at - 1) / SECTOR == (end - 1) / SECTOR;
}

/* The library's name, from the dynamic section's strings, whose offset the sections give. */
static void read_soname(const struct elf *elf, const struct elf_dynamic *dynamic)
{
	struct elf_section section;

	for (uint64_t i = 1; i < elf->section_count && i < 256; i++) {
		const uint8_t *p, *nul;
		size_t len;

		if (!elf_section(elf, i, &section) || section.type != ELF_STRTAB ||
			section.address != dynamic->strings || dynamic->soname >= section.len)
			continue;
		len = section.len - dynamic->soname < 128 ? (size_t)(section.len - dynamic->soname)
							  : 128;
		if (section.at > view_size(elf->view))
			return;
		p = view_peek(elf->view, section.at + dynamic->soname, len);
		nul = p ? memchr(p, 0, len) : NULL;
		if (nul)
			finding_set_title(elf->finding, p, (size_t)(nul - p));
		return;
	}
}

#define NOTE_HEAD 12
#define NOTES_MAX 65536

/* A note: the lengths of its owner's name and of its descriptor, its type, and both, each up to a multiple of 4 bytes
 * (System V ABI, chapter 5, "Note Section"). */
struct note {
	uint32_t name_len, len, type;
	uint64_t descriptor, end, next; /* where they are; the end without padding */
};

static bool read_note(const struct elf *elf, uint64_t at, struct note *note)
{
	const uint8_t *p = view_peek(elf->view, at, NOTE_HEAD);

	if (!p)
		return false;
	note->name_len = ordered32(elf->big_endian, p);
	note->len = ordered32(elf->big_endian, p + 4);
	note->type = ordered32(elf->big_endian, p + 8);
	note->descriptor = at + NOTE_HEAD + ((note->name_len + 3ull) & ~3ull);
	note->end = note->descriptor + note->len;
	note->next = note->descriptor + ((note->len + 3ull) & ~3ull);
	return true;
}

bool elf_notes_fill(const struct elf *elf, const struct elf_section *section)
{
	uint64_t at = section->at, end = section->at + section->len;
	struct note note;

	for (int i = 0; i < NOTES_MAX && at < end; i++) {
		const uint8_t *p;

		if (!read_note(elf, at, &note) || note.end > end || note.name_len < 2)
			return false;
		p = view_peek(elf->view, note.descriptor - 4, 4);
		if (!p || p[(note.name_len - 1) & 3])
			return false;
		if (note.end == end)
			return true;
		at = note.next;
	}
	return at == end && section->len;
}

/* The command line of a core file, from its NT_PRPSINFO. */
static void read_core(const struct elf *elf)
{
	uint64_t at = elf->note, end = elf->note + elf->note_len;
	size_t psargs = elf->wide ? 56 : 44;
	struct note note;

	for (int i = 0; i < 64 && at + NOTE_HEAD <= end; i++) {
		const uint8_t *p, *nul;

		if (!read_note(elf, at, &note))
			return;
		if (note.type == 3 && note.len >= psargs + 80) {
			p = view_peek(elf->view, note.descriptor + psargs, 80);
			nul = p ? memchr(p, 0, 80) : NULL;
			if (p)
				finding_set_title(elf->finding, p, nul ? (size_t)(nul - p) : 80);
			return;
		}
		at = note.next;
	}
}

/* Whether it is a Linux module: those have a section of this name. */
static bool is_module(const struct elf *elf)
{
	struct elf_section names, section;

	if (!elf_section(elf, elf->names_index, &names) || names.at > view_size(elf->view))
		return false;
	for (uint64_t i = 1; i < elf->section_count && i < 256; i++) {
		const uint8_t *p;

		if (!elf_section(elf, i, &section) || section.name >= names.len)
			return false;
		p = section.type == ELF_PROGBITS && section.flags & ELF_ALLOC
			    ? view_peek(elf->view, names.at + section.name, 9)
			    : NULL;
		if (p && memcmp(p, ".modinfo", 9) == 0)
			return true;
	}
	return false;
}

void elf_details(const struct elf *elf)
{
	struct elf_dynamic dynamic = { 0 };

	switch (elf->type) {
	case ELF_REL:
		elf->finding->extension = is_module(elf) ? "ko" : "o";
		return;
	case ELF_CORE:
		elf->finding->extension = "core";
		read_core(elf);
		return;
	case ELF_DYN:
		read_dynamic(elf, &dynamic);
		if (dynamic.has_soname)
			read_soname(elf, &dynamic);
		if (dynamic.has_soname || (!elf->interp && !(dynamic.flags & DF_1_PIE)))
			elf->finding->extension = "so";
	}
}

/* "~Module signature appended~\n", after a PKCS #7 message and 12 bytes whose last four are its
 * length (Linux, include/linux/module_signature.h). */
#define SIGNED "~Module signature appended~\n"
#define SIGNED_LEN (sizeof(SIGNED) - 1)

uint64_t elf_signature_end(struct view *view, uint64_t end)
{
	const uint8_t *p = view_peek(view, end, 4);
	uint64_t len;

	if (!p || p[0] != 0x30 || p[1] != 0x82)
		return end;
	len = 4u + be16(p + 2);
	p = view_peek(view, end + len, 12 + SIGNED_LEN);
	if (!p || be32(p + 8) != len || memcmp(p + 12, SIGNED, SIGNED_LEN) != 0)
		return end;
	return end + len + 12 + SIGNED_LEN;
}
