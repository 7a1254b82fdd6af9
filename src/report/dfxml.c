/*
 * report.xml: Digital Forensics XML, following the DFXML working group's schema. What the schema
 * has no place for (sizes of the image, sums) is in comments, so that every version of the schema
 * from 1.1 on accepts the file: the order of elements is fixed, metadata holds exactly one Dublin
 * Core element, source nothing but file names.
 *
 * Host, command and time are in creator; all that follows is the same in every run.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>

#include <libxml/xmlversion.h>
#include <libxml/xmlwriter.h>
#include <openssl/crypto.h>

#include "base/memory.h"
#include "base/text.h"
#include "base/strbuf.h"
#include "base/version.h"
#include "report/report.h"

#define DFXML_NAMESPACE "http://www.forensicswiki.org/wiki/Category:Digital_Forensics_XML"
#define DFXML_VERSION "1.1.0"

struct dfxml {
	FILE *stream;
	xmlTextWriterPtr writer; /* for all but the files */
};

/* Always succeeds: a failed write is recorded in the stream, and libxml2 would print about it. */
static int write_bytes(void *context, const char *bytes, int len)
{
	fwrite(bytes, 1, (size_t)len, context);
	return len;
}

static void start(struct dfxml *dfxml, const char *name)
{
	xmlTextWriterStartElement(dfxml->writer, BAD_CAST name);
}

static void end(struct dfxml *dfxml)
{
	xmlTextWriterEndElement(dfxml->writer);
}

/* An element with text, cleaned to what XML can hold. */
static void element(struct dfxml *dfxml, const char *name, const char *text)
{
	char *clean = text_clean_copy(text);

	xmlTextWriterWriteElement(dfxml->writer, BAD_CAST name, BAD_CAST clean);
	free(clean);
}

static void attribute(struct dfxml *dfxml, const char *name, const char *value)
{
	xmlTextWriterWriteAttribute(dfxml->writer, BAD_CAST name, BAD_CAST value);
}

/* ---- head ---------------------------------------------------------------------------------- */

static void write_metadata(struct dfxml *dfxml)
{
	start(dfxml, "metadata");
	attribute(dfxml, "xmlns:dc", "http://purl.org/dc/elements/1.1/");
	element(dfxml, "dc:type", "Carve Report");
	end(dfxml);
}

static void write_library(struct dfxml *dfxml, const char *name, const char *version)
{
	start(dfxml, "library");
	attribute(dfxml, "name", name);
	attribute(dfxml, "version", version);
	end(dfxml);
}

static void write_execution(struct dfxml *dfxml, const struct run_record *run)
{
	struct utsname system = { 0 };
	char started[TEXT_TIME_LEN];

	uname(&system);
	start(dfxml, "execution_environment");
	element(dfxml, "os_sysname", system.sysname);
	element(dfxml, "os_release", system.release);
	element(dfxml, "os_version", system.version);
	element(dfxml, "host", system.nodename);
	element(dfxml, "arch", system.machine);
	element(dfxml, "command_line", run->command_line ? run->command_line : "");
	if (text_time(run->started, started))
		element(dfxml, "start_time", started);
	end(dfxml);
}

/* The schema has no place for it. A comment cannot hold two hyphens in a row. */
static void case_comment(struct dfxml *dfxml, const char *name, const char *text)
{
	char *clean = text ? text_clean_copy(text) : NULL;

	if (!clean)
		return;
	for (char *at = clean; (at = strstr(at, "--")); at++)
		at[1] = '_';
	xmlTextWriterWriteFormatComment(dfxml->writer, " %s: %s ", name, clean);
	free(clean);
}

static void write_creator(struct dfxml *dfxml, const struct run_record *run)
{
	start(dfxml, "creator");
	element(dfxml, "program", "burin");
	element(dfxml, "version", burin_version);
	start(dfxml, "build_environment");
	element(dfxml, "compiler", "GCC " __VERSION__);
	write_library(dfxml, "libxml2", LIBXML_DOTTED_VERSION);
	write_library(dfxml, "libcrypto", OPENSSL_VERSION_TEXT);
	end(dfxml);
	write_execution(dfxml, run);
	end(dfxml);
}

static void number(struct dfxml *dfxml, const char *name, uint64_t value)
{
	xmlTextWriterWriteFormatElement(dfxml->writer, BAD_CAST name, "%" PRIu64, value);
}

static void write_source(struct dfxml *dfxml, const struct run_record *run)
{
	const struct image_info *image = run->image;

	start(dfxml, "source");
	case_comment(dfxml, "case", run->about.number);
	case_comment(dfxml, "examiner", run->about.examiner);
	case_comment(dfxml, "note", run->about.note);
	xmlTextWriterWriteFormatComment(dfxml->writer,
		" image: %s, %" PRIu64 " bytes, sectors of %" PRIu32
		" bytes, stored MD5 %s, stored SHA-1 %s ",
		image->format, image->size, image->sector_size,
		*image->stored_md5 ? image->stored_md5 : "none",
		*image->stored_sha1 ? image->stored_sha1 : "none");
	for (size_t i = 0; i < image->path_count; i++)
		element(dfxml, "image_filename", image->paths[i]);
	number(dfxml, "sectorsize", image->sector_size);
	number(dfxml, "image_size", image->size);
	end(dfxml);
}

static void dfxml_headline(char *text, const struct summary_record *summary)
{
	report_headline(text, " evidence: ", summary);
}

/* What has no file system is not a volume in DFXML. */
static void write_volumes(struct dfxml *dfxml, const struct volumes *volumes)
{
	size_t count;
	const struct volume *volume = volumes_list(volumes, &count);

	for (size_t i = 0; i < count; i++, volume++) {
		if (!volume->type || !volume->block_size)
			continue;
		start(dfxml, "volume");
		number(dfxml, "partition_offset", volume->offset);
		number(dfxml, "block_size", volume->block_size);
		number(dfxml, "ftype", volume->type);
		element(dfxml, "ftype_str", volume->file_system);
		if (volume->length / volume->block_size)
			number(dfxml, "block_count", volume->length / volume->block_size);
		end(dfxml);
	}
}

static int dfxml_open(void **state, FILE *stream, const struct run_record *run)
{
	struct dfxml *dfxml = xcalloc(1, sizeof(*dfxml));
	char headline[REPORT_HEADLINE_LEN + 1];
	xmlOutputBufferPtr buffer;

	xmlInitParser();
	buffer = xmlOutputBufferCreateIO(write_bytes, NULL, stream, NULL);
	dfxml->writer = buffer ? xmlNewTextWriter(buffer) : NULL;
	if (!dfxml->writer) {
		if (buffer)
			xmlOutputBufferClose(buffer);
		free(dfxml);
		return -ENOMEM;
	}
	*state = dfxml;
	dfxml->stream = stream;
	xmlTextWriterSetIndent(dfxml->writer, 1);
	xmlTextWriterStartDocument(dfxml->writer, "1.0", "UTF-8", NULL);
	dfxml_headline(headline, NULL);
	xmlTextWriterWriteComment(dfxml->writer, BAD_CAST headline);
	start(dfxml, "dfxml");
	attribute(dfxml, "xmlns", DFXML_NAMESPACE);
	attribute(dfxml, "version", DFXML_VERSION);
	write_metadata(dfxml);
	write_creator(dfxml, run);
	write_source(dfxml, run);
	if (run->volumes)
		write_volumes(dfxml, run->volumes);
	return xmlTextWriterFlush(dfxml->writer) < 0 ? -EIO : 0;
}

/* ---- files and the end --------------------------------------------------------------------- */

static void add_hash(struct strbuf *line, const char *type, const char *digest)
{
	if (!*digest)
		return;
	strbuf_text(line, "  <hashdigest type=\"");
	strbuf_text(line, type);
	strbuf_text(line, "\">");
	strbuf_text(line, digest);
	strbuf_text(line, "</hashdigest>\n");
}

static void add_runs(struct strbuf *line, const struct file_record *file)
{
	uint64_t file_offset = 0;

	strbuf_text(line, "  <byte_runs>\n");
	for (uint32_t i = 0; i < file->run_count; i++) {
		strbuf_text(line, "   <byte_run file_offset=\"");
		strbuf_number(line, file_offset);
		strbuf_text(line, "\" img_offset=\"");
		strbuf_number(line, file->runs[i].offset);
		strbuf_text(line, "\" len=\"");
		strbuf_number(line, file->runs[i].length);
		strbuf_text(line, "\"/>\n");
		file_offset += file->runs[i].length;
	}
	strbuf_text(line, "  </byte_runs>\n");
}

#define DELTA_NAMESPACE "http://www.forensicswiki.org/wiki/Forensic_Disk_Differencing"

/* The file of the image's file system that it begins in, in the order of the DFXML schema. */
static void add_original(struct strbuf *line, const struct file_record *file)
{
	static const struct {
		const char *name;
		enum fs_time time;
	} times[] = { { "mtime", FS_MODIFIED }, { "ctime", FS_CHANGED }, { "atime", FS_ACCESSED },
		{ "crtime", FS_CREATED } };
	const struct fs_file *fs = &file->fs;
	char time[TEXT_TIME_LEN];

	strbuf_text(line,
		"  <delta:original_fileobject xmlns:delta=\"" DELTA_NAMESPACE "\">\n   <filename>");
	strbuf_xml(line, file->fs_path);
	strbuf_text(line, "</filename>\n   <filesize>");
	strbuf_number(line, fs->size);
	strbuf_text(line, fs->flags & FS_DELETED ? "</filesize>\n   <alloc>0</alloc>\n   <inode>"
						 : "</filesize>\n   <alloc>1</alloc>\n   <inode>");
	strbuf_number(line, fs->inode);
	strbuf_text(line, "</inode>\n");
	for (size_t i = 0; i < sizeof(times) / sizeof(*times); i++) {
		if (!fs->times[times[i].time] || !text_time(fs->times[times[i].time], time))
			continue;
		strbuf_text(line, "   <");
		strbuf_text(line, times[i].name);
		strbuf_text(line, ">");
		strbuf_text(line, time);
		strbuf_text(line, "</");
		strbuf_text(line, times[i].name);
		strbuf_text(line, ">\n");
	}
	strbuf_text(line, "  </delta:original_fileobject>\n");
}

/* The writer has ended its last element when a file comes, so its text can bypass it. */
static void dfxml_line(
	const void *state, const struct file_record *file, uint64_t number, struct strbuf *line)
{
	(void)state;
	strbuf_text(line, " <fileobject>\n  <filename>");
	strbuf_xml(line, file->path);
	strbuf_text(line, "</filename>\n  <id>");
	strbuf_number(line, number);
	strbuf_text(line, "</id>\n  <name_type>r</name_type>\n  <filesize>");
	strbuf_number(line, file->length);
	strbuf_text(line, "</filesize>\n");
	if (file->space == SPACE_IN_USE || file->space == SPACE_FREE || file->space == SPACE_SLACK)
		strbuf_text(line, file->space == SPACE_IN_USE ? "  <alloc>1</alloc>\n"
							      : "  <alloc>0</alloc>\n");
	add_runs(line, file);
	add_hash(line, "md5", file->hashes.md5);
	add_hash(line, "sha1", file->hashes.sha1);
	add_hash(line, "sha256", file->hashes.sha256);
	if (file->fs_path)
		add_original(line, file);
	strbuf_text(line, " </fileobject>\n");
}

static int dfxml_close(void *state, const struct summary_record *summary)
{
	struct dfxml *dfxml = state;
	int status;

	xmlTextWriterWriteFormatComment(dfxml->writer,
		" %" PRIu64 " files, %" PRIu64 " bytes, exit code %d ", summary->files,
		summary->bytes, summary->exit);
	status = xmlTextWriterEndDocument(dfxml->writer) < 0 ? -EIO : 0;
	xmlFreeTextWriter(dfxml->writer);
	free(dfxml);
	return status;
}

const struct reporter dfxml_reporter = { "report.xml", dfxml_headline, dfxml_open, dfxml_line,
	dfxml_close, false };
