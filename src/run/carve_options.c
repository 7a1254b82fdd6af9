#include "run/carve_options.h"

#include <assert.h>
#include <stddef.h>
#include <string.h>

#include "assemble/assemble.h"
#include "base/confine.h"
#include "hashing/hash.h"
#include "rules/plugins.h"

#define MEMBER(member) \
	.offset = offsetof(struct carve_options, member), \
	.size = sizeof(((struct carve_options *)0)->member)

/* The option changes the result. */
#define RESULT(member) MEMBER(run.member), .result = true
/* It also is the field `name`, number `position`, of the report's `options`. */
#define REPORTED(member, position, name) RESULT(member), .field = name, .field_position = position

/* An option of another carver that people type out of habit. */
#define FOREIGN(character, text) \
	{ \
		.name = "", .letter = character, .kind = OPTION_FOREIGN, .hidden = true, \
		.help = text \
	}

static_assert(offsetof(struct carve_options, run) == 0, "RESULT");

const struct option_row carve_option_rows[] = {
	{ .name = "config",
		.letter = 'c',
		.kind = OPTION_STRING,
		.metavar = "FILE",
		MEMBER(config),
		.group = "Rules",
		.help = "Read the rules from FILE: in burin's own format, or a scalpel.conf "
			"(default: the installed burin.conf)" },
	RULES_FORMAT_ROW(struct carve_options, rules_format, "Rules"),
	PLUGIN_ROW(struct carve_options, plugins, "Rules"),
	{ .name = "types",
		.letter = 't',
		.kind = OPTION_LIST,
		.metavar = "LIST",
		MEMBER(types),
		.group = "Rules",
		.help = "Carve only these, a list of types, extensions, kinds (docx) or sets "
			"(pictures), or all, separated by commas; -NAME leaves one out" },
	{ .name = "both",
		.letter = 'b',
		REPORTED(both, 4, "both"),
		.group = "Rules",
		.help = "Carve max_size bytes where a forward rule finds no footer, like Scalpel's "
			"-b" },
	{ .name = "compat",
		.kind = OPTION_CHOICE,
		.choices = "none|scalpel",
		.fallback = "none",
		REPORTED(scalpel, 5, "compat"),
		.field_null = true,
		.group = "Rules",
		.help = "scalpel: decide, name files and write the audit like Scalpel 1.60" },

	{ .name = "list",
		.command_only = true,
		.letter = 'i',
		.kind = OPTION_LIST,
		.metavar = "FILE",
		MEMBER(lists),
		.group = "Evidence",
		.help = "Carve the images, folders and wildcards listed in FILE (- is stdin), one "
			"per line; a line that starts with # is a comment" },
	{ .name = "recursive",
		.command_only = true,
		MEMBER(recursive),
		.group = "Evidence",
		.help = "Also look for images in subfolders" },
	{ .name = "open",
		.command_only = true,
		MEMBER(open),
		.group = "Evidence",
		.help = "Also carve what the images contain as images of their own: LVM volumes, "
			"md arrays, compressed and sparse files and, with keys, encrypted "
			"volumes" },
	SECRET_FILE_ROWS(struct carve_options, secrets, "Evidence"),
	{ .name = "shadow",
		.command_only = true,
		.kind = OPTION_STRING,
		.metavar = "N|all",
		MEMBER(shadow),
		.group = "Evidence",
		.help = "Also carve shadow copy N, or all shadow copies, of each NTFS volume as "
			"images of their own: the blocks that differ from the volume as it is now, "
			"and the rest of the files that have such blocks" },
	{ .name = "offset",
		.kind = OPTION_SIZE,
		.metavar = "SIZE",
		REPORTED(offset, 8, "offset"),
		.group = "Evidence",
		.help = "Carve only files that start at this offset or later" },
	{ .name = "length",
		.kind = OPTION_SIZE,
		.metavar = "SIZE",
		REPORTED(length, 9, "length"),
		.field_null = true,
		.group = "Evidence",
		.help = "Carve only files that start within SIZE bytes of --offset; their footers "
			"must be there, too; 0: no limit" },
	{ .name = "unallocated",
		.kind = OPTION_WORD,
		.choices = RUN_SPACE_CHOICES,
		.choice = SPACE_UNALLOCATED,
		REPORTED(space, 6, "space"),
		.field_null = true,
		.group = "Evidence",
		.help = "Carve only space that no file system uses, as one stream across the gaps, "
			"and the slack after the ends of files" },
	{ .name = "no-slack",
		REPORTED(no_slack, 16, "no_slack"),
		.group = "Evidence",
		.help = "Leave slack out of --unallocated" },
	{ .name = "allocated",
		.kind = OPTION_WORD,
		.choices = RUN_SPACE_CHOICES,
		.choice = SPACE_ALLOCATED,
		MEMBER(run.space),
		.group = "Evidence",
		.help = "Carve only space that file systems use" },
	{ .name = "file-systems",
		.kind = OPTION_CHOICE,
		.choices = VOLUMES_DEPTH_CHOICES,
		.fallback = "map",
		RESULT(file_systems),
		.group = "Evidence",
		.help = "off: ignore file systems; list: list volumes; map: also record which file "
			"owns each carved byte" },
	{ .name = "align",
		.letter = 'q',
		.kind = OPTION_SIZE,
		.metavar = "SIZE",
		REPORTED(align, 7, "align"),
		.group = "Evidence",
		.help = "Carve only files that start at a multiple of SIZE; 0: anywhere" },
	{ .name = "map",
		.kind = OPTION_STRING,
		.metavar = "FILE",
		REPORTED(map_path, 10, "map"),
		.group = "Evidence",
		.help = "GNU ddrescue's map file of the image: areas that it does not mark as "
			"finished count as unreadable" },
	{ .name = "verify",
		.kind = OPTION_STRING,
		.metavar = "LIST",
		.fallback = "auto",
		.bare = "stored",
		MEMBER(verify),
		.group = "Evidence",
		.help = "Hash the evidence during the run. stored: compute the hashes that the "
			"evidence stores, and compare them; md5, sha1, sha256: compute these; "
			"auto: as stored, if that costs no time; none: do not hash it" },

	{ .name = "output",
		.command_only = true,
		.letter = 'o',
		.kind = OPTION_STRING,
		.metavar = "DIR",
		MEMBER(output),
		.group = "Output",
		.help = "Write to DIR, which must be new or empty" },
	{ .name = "resume",
		.command_only = true,
		.kind = OPTION_STRING,
		.metavar = "DIR",
		MEMBER(resume),
		.group = "Output",
		.help = "Resume the interrupted or killed run in DIR, with its own image, rules "
			"and "
			"options" },
	{ .name = "checkpoint-interval",
		.kind = OPTION_SECONDS,
		.metavar = "SECONDS",
		.max = 86400,
		.fallback = "10",
		MEMBER(run.checkpoint_interval),
		.group = "Output",
		.help = "Save the state of the run in DIR at most this often, for --resume; 0: "
			"never" },
	{ .name = "dry-run",
		.letter = 'p',
		REPORTED(dry_run, 1, "dry_run"),
		.group = "Output",
		.help = "Write only the reports; burin extract can write the files later" },
	{ .name = "hash",
		.kind = OPTION_SET,
		.choices = HASH_CHOICES,
		.metavar = "LIST",
		.fallback = "sha256",
		REPORTED(hash_mask, 15, "hash"),
		.group = "Output",
		.help = "Hashes of carved files: md5, sha1, sha256, or none" },
	{ .name = "nested",
		REPORTED(decide.nested, 2, "nested"),
		.group = "Output",
		.help = "Also carve files that start inside a file verified as complete" },
	{ .name = "fragments",
		.kind = OPTION_CHOICE,
		.choices = ASSEMBLE_LEVEL_CHOICES,
		.fallback = "near",
		.bare = "search",
		REPORTED(fragments, 17, "fragments"),
		.group = "Output",
		.help = "Reassemble files in pieces. known: where file systems, tables or "
			"checksums say where the pieces are; near: also two pieces close to each "
			"other, if only one layout is possible; search: anywhere in the image" },
	{ .name = "fragment-budget",
		.kind = OPTION_NUMBER,
		.metavar = "PERCENT",
		.min = 1,
		.max = 1000000,
		.fallback = "100",
		REPORTED(fragment_budget, 18, "fragment_budget"),
		.group = "Output",
		.help = "Work that --fragments may do, in percent of the default; what remains "
			"untried is counted" },
	CASE_ROWS(struct carve_options, run.about, "Output"),
	{ .name = "html",
		.command_only = true,
		MEMBER(html),
		.group = "Output",
		.help = "At the end, write report.html, a page to browse the results (burin "
			"report)" },
	{ .name = "strict",
		REPORTED(decide.strict, 3, "strict"),
		.group = "Output",
		.help = "Carve only files verified as complete" },
	{ .name = "max-files",
		.kind = OPTION_NUMBER,
		.metavar = "N",
		REPORTED(decide.max_files, 11, "max_files"),
		.field_null = true,
		.group = "Output",
		.help = "Carve at most N files; the rest are counted; 0: no limit" },
	{ .name = "max-bytes",
		.kind = OPTION_SIZE,
		.metavar = "SIZE",
		.choices = "auto",
		.fallback = "auto",
		REPORTED(decide.max_bytes, 12, "max_bytes"),
		.field_null = true,
		.group = "Output",
		.help = "Carve at most SIZE bytes; the rest is counted. auto: 4 times the image's "
			"size, at least 1G, or no limit with --compat scalpel; 0: no limit" },
	{ .name = "max-files-per-type",
		.kind = OPTION_NUMBER,
		.metavar = "N",
		REPORTED(decide.max_files_type, 13, "max_files_type"),
		.field_null = true,
		.group = "Output",
		.help = "Carve at most N files for each rule; 0: no limit" },
	{ .name = "max-bytes-per-type",
		.kind = OPTION_SIZE,
		.metavar = "SIZE",
		REPORTED(decide.max_bytes_type, 14, "max_bytes_type"),
		.field_null = true,
		.group = "Output",
		.help = "Carve at most SIZE bytes for each rule; 0: no limit" },
	{ .name = "no-extension",
		.letter = 'n',
		RESULT(style.no_extension),
		.group = "Output",
		.help = "Write file names without extensions" },
	{ .name = "rename",
		.kind = OPTION_CHOICE,
		.choices = CARVING_LABEL_CHOICES,
		.fallback = "none",
		RESULT(style.label),
		.group = "Output",
		.help = "Add the title or time stored in a file, or its path in its file system, "
			"if "
			"known, to its name" },
	{ .name = "no-times",
		RESULT(style.no_times),
		.group = "Output",
		.help = "Do not set the files' times; otherwise they get the time of the last "
			"change that the file system or the file itself records" },
	{ .name = "folders",
		.kind = OPTION_CHOICE,
		.choices = FOLDERS_CHOICES,
		.fallback = "type",
		RESULT(folders),
		.group = "Output",
		.help = "Name folders after the types of the rules, or after the kinds that were "
			"found: docx instead of zip" },
	{ .name = "flat",
		.letter = 'O',
		RESULT(flat),
		.group = "Output",
		.help = "Write all files to DIR itself, without a folder for each type" },

	{ .name = "known",
		.kind = OPTION_LIST,
		.metavar = "FILE",
		MEMBER(known),
		.group = "Output",
		.help = "Mark files whose hash is in FILE: a list, NSRLFile.txt, or an NSRL "
			"database" },
	{ .name = "skip-known",
		RESULT(skip_known),
		.group = "Output",
		.help = "Do not write files that are in --known, only count them" },
	{ .name = "alert",
		.kind = OPTION_LIST,
		.metavar = "FILE",
		MEMBER(alert),
		.group = "Output",
		.help = "Mark files whose hash is in FILE and warn about them; they are kept even "
			"if "
			"they are known" },
	{ .name = "no-content-map",
		RESULT(no_content_map),
		.group = "Output",
		.help = "Do not write map.bin, which classifies each block: text, code, "
			"compressed, "
			"zeros, ..." },

	{ .name = "engine",
		.kind = OPTION_STRING,
		.metavar = "NAME",
		.fallback = "auto",
		MEMBER(run.engine),
		.group = "Machine",
		.help = "Scan with this engine (burin list engines); all give the same result" },
	{ .name = "kernel",
		.kind = OPTION_STRING,
		.metavar = "NAME",
		MEMBER(run.kernel),
		.group = "Machine",
		.help = "Use this kernel of the engine (burin list kernels)" },
	{ .name = "gpus",
		.kind = OPTION_STRING,
		.metavar = "N|LIST|all",
		MEMBER(run.gpu.devices),
		.group = "Machine",
		.help = "GPUs for the gpu engine: how many, which (0,3 or 1,), or all (default: "
			"the "
			"first)" },
	{ .name = "transfer",
		.kind = OPTION_CHOICE,
		.choices = GPU_TRANSFER_CHOICES,
		.fallback = "auto",
		MEMBER(run.gpu.transfer),
		.group = "Machine",
		.help = "GPU buffers: many, one for every chunk in flight; few (auto), used in "
			"turn" },
	{ .name = "parts",
		.kind = OPTION_NUMBER,
		.metavar = "N",
		.max = GPU_PARTS_MAX,
		MEMBER(run.gpu.tuning.parts),
		.group = "Machine",
		.help = "Number of automata among which the kernels stt-p1 and stt-p2 divide the "
			"patterns (default: 8)" },
	{ .name = "threads",
		.kind = OPTION_NUMBER,
		.metavar = "N",
		.max = 1024,
		MEMBER(run.threads),
		.group = "Machine",
		.help = "Use N threads; 0: one per processor (default)" },
	{ .name = "sandbox",
		.kind = OPTION_CHOICE,
		.choices = CONFINE_MODE_CHOICES,
		.fallback = "auto",
		MEMBER(sandbox),
		.group = "Machine",
		.help = "auto: confine carvers and what parses file systems, containers and "
			"encrypted "
			"volumes as far as this machine can (burin list sandbox), but for carvers "
			"beside an engine that decodes pictures (a GPU); "
			"require: refuse to run where a layer is missing, and confine carvers "
			"beside any engine; off: confine nothing" },
	{ .name = "jobs",
		.command_only = true,
		.letter = 'j',
		.kind = OPTION_NUMBER,
		.metavar = "N",
		.min = 1,
		.max = 64,
		.fallback = "1",
		MEMBER(jobs),
		.group = "Machine",
		.help = "Carve N images at the same time; they share the threads" },
	{ .name = "chunk-size",
		.kind = OPTION_SIZE,
		.metavar = "SIZE",
		.max = (uint64_t)1 << 30,
		MEMBER(run.chunk_size),
		.group = "Machine",
		.help = "Read and scan the image in chunks of SIZE (default: 8M)" },
	{ .name = "unit-size",
		.command_only = true,
		.kind = OPTION_SIZE,
		.metavar = "SIZE",
		.max = (uint64_t)1 << 40,
		MEMBER(run.unit_size),
		.group = "Machine",
		.help = "burin-mpi: bytes that a process scans before it asks for more (default: "
			"depends on the image's size and the number of processes)" },
	{ .name = "io",
		.kind = OPTION_CHOICE,
		.choices = READER_IO_CHOICES,
		.fallback = "auto",
		MEMBER(io),
		.group = "Machine",
		.help = "How to read a raw image: with io_uring or threads; bypassing the page "
			"cache "
			"(direct) or through it (buffered); auto: io_uring and direct, unless the "
			"image is already cached" },

	{ .name = "quiet",
		.command_only = true,
		MEMBER(run.progress.quiet),
		.group = "Messages",
		.help = "Print only warnings and errors" },
	{ .name = "verbose",
		.command_only = true,
		.letter = 'v',
		MEMBER(verbose),
		.group = "Messages",
		.help = "Print more details" },
	{ .name = "json",
		.command_only = true,
		MEMBER(run.progress.json),
		.group = "Messages",
		.help = "Print events on stdout, one JSON object per line" },

	FOREIGN('s', "to skip bytes as Scalpel and Foremost do, use --offset SIZE"),
	FOREIGN('m',
		"Scalpel's coverage map has no counterpart; report.jsonl says where each file is"),
	FOREIGN('u', "Scalpel's coverage map has no counterpart; use --unallocated or --offset"),
	FOREIGN('r', "Scalpel's -r has no counterpart; complete files hide those inside them"),
	FOREIGN('d', "Foremost's search for indirect blocks is always on; Scalpel's database of "
		     "headers has no "
		     "counterpart"),
	FOREIGN('e', "Scalpel's nested matching is --nested"),
	FOREIGN('w', "Foremost's -w is --dry-run (-p)"),
	FOREIGN('a', "Foremost's -a is the default: damaged files are kept and marked; --strict "
		     "leaves them out"),
	FOREIGN('k', "Foremost's -k is --chunk-size SIZE"),
	FOREIGN('T', "Foremost's -T has no counterpart: --output takes a new folder for each run"),
	FOREIGN('V', "Scalpel's and Foremost's -V is burin --version"),
	FOREIGN('Q', "Foremost's -Q is --quiet"),
	{ 0 },
};

static int parse_verify(struct carve_options *options, struct error *error)
{
	static const char *const words[] = { "auto", "none", "stored" }; /* as enum run_verify */

	for (unsigned i = 0; i < sizeof(words) / sizeof(*words); i++)
		if (strcmp(options->verify, words[i]) == 0) {
			options->run.verify = (enum run_verify)i;
			return 0;
		}
	options->run.verify = RUN_VERIFY_KINDS;
	return hash_mask_parse(options->verify, &options->run.verify_mask, error);
}

/* Hostile evidence must not fill the disk: a few kilobytes of headers can each begin a file that
 * reaches to the end of the image. Real images give less than their own size. */
uint64_t output_limit(const struct run_options *options, uint64_t image_size)
{
	if (options->decide.max_bytes != OUTPUT_LIMIT_AUTO)
		return options->decide.max_bytes;
	if (options->scalpel || image_size > UINT64_MAX / OUTPUT_LIMIT_FACTOR)
		return 0;
	if (image_size < OUTPUT_LIMIT_MIN / OUTPUT_LIMIT_FACTOR)
		return OUTPUT_LIMIT_MIN;
	return image_size * OUTPUT_LIMIT_FACTOR;
}

int carve_options_complete(struct carve_options *options, struct error *error)
{
	struct run_options *run = &options->run;

	run->io = reader_io_method(options->io);
	run->cache = reader_io_cache(options->io);
	if (run->dry_run)
		run->hash_mask = 0; /* files are only read to look them up in sets */
	return parse_verify(options, error);
}
