/*
 * Portable executables (Microsoft PE and COFF specification): programs, libraries, drivers and EFI
 * applications for all machines, also .NET's.
 *
 *	DOS header, whose last field gives the offset of: 'PE' 00 00, COFF header, optional header,
 *	directories, section headers; then sections, the symbols that GNU's linker adds, certificates
 *
 * The file ends where its last part ends: a section, the symbols and their names, or the
 * certificates. The header's checksum, if there is one, shows whether the bytes up to there are the
 * file's own. Otherwise the structure at the end has to prove it: base relocations, resources or
 * symbols, walked to their last byte, with only zeros after it. If such a structure is invalid, the
 * file is cut before it, and its code is kept as far as it is not random, zeros or text. If there
 * is none, or the checksum does not match, the file is unverified.
 *
 * Installers and self-extracting archives append data that no header describes, unless a
 * certificate follows. An archive directly after the program belongs to it, and proves its end
 * (overlay.c); for other known overlays the end is unknown, and the file unverified; of unknown
 * overlays nothing is carved, only the program.
 */
#include "pe.h"

#include <inttypes.h>
#include <string.h>

#include "overlay.h"
#include "bytes.h"
#include "foreign.h"
#include "noise.h"
#include "walk.h"

#define FOREIGN_LEN 4096

static bool known_machine(uint16_t machine)
{
	static const uint16_t machines[] = { 0x14c, 0x8664, 0x1c0, 0x1c2, 0x1c4, 0xaa64, 0x200,
		0x162, 0x166, 0x168, 0x169, 0x184, 0x284, 0x1a2, 0x1a3, 0x1a6, 0x1a8, 0x1f0, 0x1f1,
		0x266, 0x366, 0x466, 0xebc, 0x9041, 0xa641, 0xa64e, 0x5032, 0x5064, 0x6232,
		0x6264 };

	for (size_t i = 0; i < sizeof(machines) / sizeof(*machines); i++)
		if (machines[i] == machine)
			return true;
	return false;
}

/* Reads the optional header, of `len` bytes at `at`: what is wrong, or NULL. */
static const char *read_optional(struct pe *pe, uint64_t at, uint16_t len)
{
	const uint8_t *p = len >= 72 ? view_peek(pe->view, at, len) : NULL;
	uint32_t count, align, file_align, base;

	if (!p || (le16(p) != 0x10b && le16(p) != 0x20b))
		return "no optional header";
	pe->wide = le16(p) == 0x20b;
	base = pe->wide ? 112 : 96;
	if (len < base)
		return "an optional header that is too short";
	pe->base = pe->wide ? le64(p + 24) : le32(p + 28);
	align = le32(p + 32);
	file_align = le32(p + 36);
	if (align == 0 || file_align == 0 || (align & (align - 1)) ||
		(file_align & (file_align - 1)) || file_align > align)
		return "impossible alignments";
	pe->align = align;
	pe->file_align = file_align;
	pe->image_len = le32(p + 56);
	pe->end = le32(p + 60);
	pe->checksum = le32(p + 64);
	pe->checksum_at = at + 64;
	pe->subsystem = le16(p + 68);
	count = le32(p + base - 4);
	if (pe->subsystem > 32 || pe->end > pe->image_len)
		return "an impossible subsystem or size";
	for (uint32_t i = 0; i < count && i < PE_DIRECTORIES && base + 8 * i + 8 <= len; i++) {
		pe->directories[i].address = le32(p + base + 8 * i);
		pe->directories[i].len = le32(p + base + 8 * i + 4);
	}
	return NULL;
}

/* Reads the section headers, whose addresses rise: what is wrong, or NULL. */
static const char *read_sections(struct pe *pe, uint64_t at)
{
	uint64_t address = 0;

	for (uint32_t i = 0; i < pe->section_count; i++, at += 40) {
		const uint8_t *p = view_peek(pe->view, at, 40);
		struct pe_section *section = &pe->sections[i];

		if (!p)
			return "no section header";
		section->memory_len = le32(p + 8);
		section->address = le32(p + 12);
		section->len = le32(p + 16);
		section->at = le32(p + 20);
		section->flags = le32(p + 36);
		if (section->address < address || section->address > pe->image_len)
			return "a section header with an impossible address";
		if (section->len > INT32_MAX || section->at > INT32_MAX)
			return "a section header with an impossible size";
		address = section->address + (uint64_t)section->memory_len;
		if (section->at && section->len && (uint64_t)section->at + section->len > pe->end)
			pe->end = (uint64_t)section->at + section->len;
	}
	pe->head_end = at;
	return NULL;
}

static const char *read_headers(struct pe *pe)
{
	const uint8_t *p = view_peek(pe->view, 0, 64);
	const char *problem;
	uint16_t optional_len;
	uint64_t at;

	if (!p || p[0] != 'M' || p[1] != 'Z')
		return "no DOS header";
	at = le32(p + 60);
	if (at < 4 || at > 0xffff || at % 2)
		return "no offset of a PE header";
	p = view_peek(pe->view, at, 24);
	if (!p || memcmp(p, "PE\0\0", 4) != 0)
		return "no PE header";
	pe->head = at + 4;
	pe->machine = le16(p + 4);
	pe->section_count = le16(p + 6);
	pe->time = le32(p + 8);
	pe->symbols_at = le32(p + 12);
	pe->symbol_count = le32(p + 16);
	optional_len = le16(p + 20);
	pe->flags = le16(p + 22);
	if (!known_machine(pe->machine) || !(pe->flags & 2))
		return "an unknown machine, or not a program";
	if (pe->section_count - 1 >= PE_SECTIONS_MAX || optional_len > 4096)
		return "an impossible number of sections";
	problem = read_optional(pe, at + 24, optional_len);
	return problem ? problem : read_sections(pe, at + 24 + optional_len);
}

bool pe_offset(const struct pe *pe, uint32_t address, uint32_t len, uint64_t *at)
{
	for (uint32_t i = 0; i < pe->section_count; i++) {
		const struct pe_section *section = &pe->sections[i];

		if (address >= section->address && address - section->address < section->len &&
			len <= section->len - (address - section->address)) {
			*at = (uint64_t)section->at + (address - section->address);
			return true;
		}
	}
	return false;
}

/* Data for debuggers may follow the sections; and it shows whether the time stamp is a time. */
static void read_debug(struct pe *pe)
{
	uint32_t len = pe->directories[PE_DEBUG].len;
	uint64_t at;

	if (len % 28 || len > 28 * 16 ||
		!pe_offset(pe, pe->directories[PE_DEBUG].address, len, &at))
		return;
	for (uint32_t i = 0; i < len; i += 28) {
		const uint8_t *p = view_peek(pe->view, at + i, 28);

		if (!p || le32(p) != 0 || le32(p + 12) > 32)
			return;
		if (le32(p + 12) == 16)
			pe->reproducible = true;
		if (le32(p + 24) && le32(p + 16) < INT32_MAX && le32(p + 24) < INT32_MAX &&
			(uint64_t)le32(p + 24) + le32(p + 16) > pe->end)
			pe->end = (uint64_t)le32(p + 24) + le32(p + 16);
	}
}

static void set_extension(struct pe *pe)
{
	if (pe->flags & 0x2000)
		pe->finding->extension = "dll";
	else if (pe->subsystem >= 10 && pe->subsystem <= 13)
		pe->finding->extension = "efi";
	else if (pe->subsystem == 1)
		pe->finding->extension = "sys";
	else
		pe->finding->extension = "exe";
}

/* Structures that may prove the end. */
struct pe_proof {
	uint64_t end;       /* of the structure that ends last */
	uint64_t broken_at; /* 0: none is invalid */
};

static void add_proof(struct pe_proof *proof, bool valid, uint64_t end, uint64_t broken_at)
{
	if (valid && end > proof->end)
		proof->end = end;
	if (!valid && broken_at > proof->broken_at)
		proof->broken_at = broken_at;
}

static void collect_proofs(struct pe *pe, struct pe_proof *proof)
{
	uint64_t end = 0, broken_at = 0;
	bool valid = pe_relocations(pe, &end, &broken_at);

	add_proof(proof, valid, end, broken_at);
	broken_at = 0;
	valid = pe_symbols(pe, &end, &broken_at);
	add_proof(proof, valid, end, broken_at);
	if (valid && end > pe->end)
		pe->end = end;
	broken_at = 0;
	valid = pe_certificates(pe, &end, &broken_at);
	/* A signature's bytes look random: only the checksum verifies them. */
	add_proof(proof, valid, 0, broken_at);
	if (valid && end > pe->end)
		pe->end = end;
	broken_at = 0;
	valid = pe_resources(pe, &end, &broken_at);
	add_proof(proof, valid, end, broken_at);
}

/* Whether the last 4 KiB before the end are random or text, or equal bytes but not padding. The
 * output of executable packers is also random, but ends in zeros. */
static bool foreign_end(const struct pe *pe)
{
	uint64_t from = pe->end > pe->head_end + FOREIGN_LEN ? pe->end - FOREIGN_LEN : pe->head_end;
	uint64_t padding = 0;

	for (uint32_t i = 0; i < pe->section_count; i++)
		if ((uint64_t)pe->sections[i].at + pe->sections[i].len == pe->end &&
			pe->sections[i].len > pe->sections[i].memory_len)
			padding = pe->sections[i].len - pe->sections[i].memory_len;
	if (noise_at(pe->view, from, pe->end))
		return true;
	return foreign_tail(pe->view, pe->head_end, pe->end) + FOREIGN_LEN + padding <= pe->end;
}

static enum verdict judge_end(struct pe *pe, const struct pe_proof *proof)
{
	struct finding *finding = pe->finding;
	enum verdict verdict;

	if (!proof->broken_at && overlay_include(pe->view, pe->end, finding, &verdict))
		return verdict;
	finding->length = pe->end;
	/* That proves no joint: neither the order of words nor zeros between them change the sum. */
	if (pe->checksum && pe_checksum_matches(pe, pe->end)) {
		if (!proof->broken_at)
			return CARVE_COMPLETE;
		return verdict_because(CARVE_UNVERIFIED, finding,
			"the checksum matches, and relocations, resources, symbols or certificates "
			"are invalid at %" PRIu64,
			proof->broken_at);
	}
	if (proof->broken_at)
		return foreign_cut(pe->view, finding, pe->head_end, pe->end,
			"invalid relocations, resources, symbols or certificates",
			proof->broken_at);
	if (proof->end == 0 || !walk_zeros(pe->view, proof->end, pe->end)) {
		if (foreign_end(pe))
			return foreign_cut(pe->view, finding, pe->head_end, pe->end,
				"foreign bytes before the program's end", pe->end);
		return verdict_because(CARVE_UNVERIFIED, finding,
			"the last section, which ends at %" PRIu64 ", cannot be verified", pe->end);
	}
	if (overlay_at(pe->view, pe->end))
		return verdict_because(CARVE_UNVERIFIED, finding,
			"the end of the overlay at %" PRIu64 " is unknown", pe->end);
	if (pe->checksum)
		return verdict_because(CARVE_UNVERIFIED, finding,
			"the checksum at %" PRIu64 " does not match the bytes up to %" PRIu64,
			pe->checksum_at, pe->end);
	return CARVE_COMPLETE;
}

/* Some linkers fill the file's last unit with zeros. They are the file's if other bytes follow exactly there, and the checksum,
 * which includes the length, does not match without them. */
static void add_padding(struct pe *pe)
{
	uint64_t end = (pe->end + pe->file_align - 1) & ~(uint64_t)(pe->file_align - 1);

	if (end > pe->end && end - pe->end < SECTOR && walk_zeros(pe->view, pe->end, end) &&
		!walk_zeros(pe->view, end, end + pe->file_align) &&
		!(pe->checksum && pe_checksum_matches(pe, pe->end)))
		pe->end = end;
}

/* In a scan. What the code contradicts may be an odd program, or have another file's cluster in it. */
static enum verdict judge_whole(struct pe *pe, const struct pe_proof *proof)
{
	enum verdict verdict = judge_end(pe, proof);
	uint64_t wrong_at;

	if (verdict != CARVE_COMPLETE || pe_code_fits(pe, &wrong_at))
		return verdict;
	return verdict_because(CARVE_UNVERIFIED, pe->finding,
		"code that is not this program's at %" PRIu64 ", or before that", wrong_at);
}

static enum verdict check(struct view *view, struct finding *finding)
{
	struct pe pe = { .view = view, .finding = finding };
	const char *problem = read_headers(&pe);
	struct pe_proof proof = { 0 };
	enum verdict verdict;
	bool assembles;
	uint64_t wrong_at;

	if (problem)
		return verdict_because(CARVE_REJECT, finding, "%s at %" PRIu64, problem, pe.head);
	set_extension(&pe);
	read_debug(&pe);
	if (pe.end < pe.head_end)
		pe.end = pe.head_end;
	collect_proofs(&pe, &proof);
	if (!pe.reproducible && pe.time > 0x2a000000 && pe.time < 0x70000000)
		finding->time = pe.time;
	add_padding(&pe);
	assembles = view_thorough(view) || view_is_trial(view);
	if (assembles && !pe_code_fits(&pe, &wrong_at)) {
		finding->length = wrong_at;
		return verdict_because(CARVE_TRUNCATED, finding,
			"code that is not this program's at %" PRIu64 ", or before that", wrong_at);
	}
	if (pe.end > view_size(view))
		return walk_cut(view, finding, pe.end, foreign_start(view, pe.head_end, pe.end));
	if (!assembles)
		return judge_whole(&pe, &proof);
	verdict = judge_end(&pe, &proof);
	/* All between may be the file's: the break is not after that. */
	if (verdict == CARVE_TRUNCATED && proof.broken_at && proof.broken_at < finding->length)
		finding->length = proof.broken_at;
	return verdict;
}

const struct carver pe_carver = {
	.name = "pe",
	.summary = "Windows and EFI programs and libraries (PE), by headers, checksum and tables",
	.check = check,
	.quick = true,
};
