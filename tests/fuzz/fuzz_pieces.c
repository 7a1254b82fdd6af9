/*
 * Files in pieces in a hostile image: the input is the image, cut at IMAGE_MAX. It is carved with all searches by one
 * thread, and by three that read it in other chunks; both find the same files, whose extents lie in the image.
 */
#include <ftw.h>
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "assemble/assemble.h"
#include "base/confine.h"
#include "base/log.h"
#include "rules/load.h"
#include "run/run.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

#define IMAGE_MAX ((size_t)1 << 16)

static const char rules_text[] =
	"types = ({ name = \"rtf\"; header = \"'{\\\\rtf'\"; carver = \"rtf\"; max_size = \"1M\"; "
	"},\n"
	"{ name = \"svg\"; header = \"'<svg '\"; carver = \"svg\"; max_size = \"1M\"; },\n"
	"{ name = \"html\"; header = \"'<html'\"; carver = \"html\"; max_size = \"1M\"; },\n"
	"{ name = \"jpeg\"; header = \"FF D8 FF ??\"; carver = \"jpeg\"; max_size = "
	"\"1M\"; },\n"
	"{ name = \"png\"; header = \"89 'PNG' 0D 0A 1A 0A\"; carver = \"png\"; max_size = \"1M\"; "
	"},\n"
	"{ name = \"gif\"; header = \"'GIF89a'\"; carver = \"gif\"; max_size = \"1M\"; },\n"
	"{ name = \"bmp\"; header = \"'BM' ???????? 00 00 00 00 ???? 00 00\"; carver = \"bmp\"; "
	"max_size = \"1M\"; },\n"
	"{ name = \"tiff\"; header = (\"'II' 2A 00\", \"'MM' 00 2A\"); carver = \"tiff\"; max_size "
	"= \"1M\"; },\n"
	"{ name = \"webp\"; header = \"'RIFF' ???????? 'WEBPVP8'\"; carver = \"webp\"; max_size = "
	"\"1M\"; },\n"
	"{ name = \"riff\"; header = \"'RIFF' ???????? 'WAVE'\"; carver = \"riff\"; max_size = "
	"\"1M\"; },\n"
	"{ name = \"mp4\"; header = \"'ftyp'\"; header_offset = 4; carver = \"mp4\"; max_size = "
	"\"1M\"; },\n"
	"{ name = \"mp3\"; header = \"'ID3' 03 00\"; carver = \"mp3\"; max_size = \"1M\"; },\n"
	"{ name = \"ogg\"; header = \"'OggS' 00 02\"; carver = \"ogg\"; max_size = \"1M\"; },\n"
	"{ name = \"flac\"; header = \"'fLaC' 00 00 00 22\"; carver = \"flac\"; max_size = \"1M\"; "
	"},\n"
	"{ name = \"zip\"; header = \"'PK' 03 04\"; carver = \"zip\"; max_size = \"1M\"; },\n"
	"{ name = \"gz\"; header = \"1F 8B 08\"; carver = \"gz\"; max_size = \"1M\"; },\n"
	"{ name = \"bz2\"; header = \"'BZh'\"; carver = \"bz2\"; max_size = \"1M\"; },\n"
	"{ name = \"pdf\"; header = \"'%PDF-'\"; carver = \"pdf\"; max_size = \"1M\"; },\n"
	"{ name = \"ole\"; header = \"D0 CF 11 E0 A1 B1 1A E1\"; carver = \"ole\"; max_size = "
	"\"1M\"; },\n"
	"{ name = \"sqlite\"; header = \"'SQLite format 3' 00\"; carver = \"sqlite\"; max_size = "
	"\"1M\"; },\n"
	"{ name = \"evtx\"; header = \"'ElfFile' 00\"; carver = \"evtx\"; max_size = \"1M\"; },\n"
	"{ name = \"ttf\"; header = \"00 01 00 00 00 ?? ?? 00\"; carver = \"sfnt\"; max_size = "
	"\"1M\"; } );\n";

static char folder[] = "/tmp/burin-fuzz-XXXXXX";
static char image_path[64], output[64];
static struct rules *rules;

static int remove_entry(const char *path, const struct stat *info, int type, struct FTW *walk)
{
	(void)info, (void)type, (void)walk;
	return remove(path);
}

static void remove_folder(void)
{
	nftw(folder, remove_entry, 8, FTW_DEPTH | FTW_PHYS);
}

static void no_log(enum log_level level, const char *text)
{
	(void)level, (void)text;
}

static void set_up(void)
{
	struct error error = { 0 };

	if (!mkdtemp(folder) || atexit(remove_folder))
		abort();
	snprintf(image_path, sizeof(image_path), "%s/image", folder);
	snprintf(output, sizeof(output), "%s/out", folder);
	if (rules_load_text(
		    &rules, NULL, rules_text, sizeof(rules_text) - 1, RULES_BURIN, NULL, &error))
		abort();
	log_redirect(no_log);
	confine_set_mode(CONFINE_OFF); /* the fuzzer follows this process alone */
}

static void write_image(const uint8_t *data, size_t len)
{
	FILE *file = fopen(image_path, "wb");

	if (!file || fwrite(data, 1, len, file) != len || fclose(file))
		abort();
}

/* The extents of a line of the report lie in the image, and come to the file's length. */
static void check_extents(const char *line, size_t image_len)
{
	const char *at = strstr(line, "\"runs\":["), *length_at = strstr(line, "\"length\":");
	uint64_t offset, len, sum = 0, length;
	int read;

	if (!at || !length_at || sscanf(length_at, "\"length\":%" SCNu64, &length) != 1)
		abort();
	for (at += strlen("\"runs\":[");
		sscanf(at, "[%" SCNu64 ",%" SCNu64 "]%n", &offset, &len, &read) == 2;
		at += *at == ',') {
		if (offset > image_len || len > image_len - offset)
			abort();
		sum += len;
		at += read;
	}
	if (sum != length)
		abort();
}

/* The report's lines of files, one after the other; the caller frees them. */
static char *carve(unsigned threads, uint64_t chunk_size, size_t image_len)
{
	static char *arguments[] = { (char *)"burin", (char *)"carve", NULL };
	const struct run_options options = { .rules = rules,
		.arguments = arguments,
		.threads = threads,
		.chunk_size = chunk_size,
		.fragments = FRAGMENTS_SEARCH,
		.fragment_budget = 5,
		.dry_run = true,
		.no_content_map = true,
		.verify = RUN_VERIFY_NONE,
		.progress = { .quiet = true } };
	char path[96], *line = NULL, *files = NULL;
	size_t room = 0, files_len = 0;
	FILE *report, *kept;
	int code;

	nftw(output, remove_entry, 8, FTW_DEPTH | FTW_PHYS);
	code = run_carve(&options, image_path, output, NULL);
	/* It looks like a container, and is none. */
	if (code == EXIT_IO)
		return strdup("");
	if (code < EXIT_CLEAN || code > EXIT_PROBLEMS)
		abort();
	snprintf(path, sizeof(path), "%s/report.jsonl", output);
	report = fopen(path, "r");
	kept = open_memstream(&files, &files_len);
	if (!report || !kept)
		abort();
	while (getline(&line, &room, report) > 0)
		if (strstr(line, "\"record\":\"file\"")) {
			check_extents(line, image_len);
			fputs(line, kept);
		}
	fclose(report);
	fclose(kept);
	free(line);
	return files;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	char *alone, *together;

	if (!rules)
		set_up();
	if (!len)
		return 0;
	if (len > IMAGE_MAX)
		len = IMAGE_MAX;
	write_image(data, len);
	alone = carve(1, 0, len);
	together = carve(3, 16384, len);
	if (strcmp(alone, together) != 0)
		abort();
	free(alone);
	free(together);
	return 0;
}
