/*
 * report.xml: Digital Forensics XML, as the DFXML working group's schema has it. What the schema
 * has no place for (sizes of the image, sums) stands in comments, so that every version of the
 * schema from 1.1 on accepts the file: the order of elements is fixed, metadata holds exactly one
 * Dublin Core element, source nothing but file names.
 *
 * Host, command and time stand in creator; all that follows is the same in every run.
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
#include "output/report.h"
#include "base/text.h"

#define DFXML_NAMESPACE "http://www.forensicswiki.org/wiki/Category:Digital_Forensics_XML"
#define DFXML_VERSION "1.1.0"

struct dfxml {
	xmlTextWriterPtr writer;
	uint64_t file_count;
};

/* Always content: a failed write stays with the stream, and libxml2 would print about it. */
static int pass_on(void *context, const char *bytes, int len)
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

static void number_element(struct dfxml *dfxml, const char *name, uint64_t number)
{
	char text[32];

	snprintf(text, sizeof(text), "%" PRIu64, number);
	element(dfxml, name, text);
}

static void attribute(struct dfxml *dfxml, const char *name, const char *value)
{
	xmlTextWriterWriteAttribute(dfxml->writer, BAD_CAST name, BAD_CAST value);
}

static void number_attribute(struct dfxml *dfxml, const char *name, uint64_t number)
{
	char text[32];

	snprintf(text, sizeof(text), "%" PRIu64, number);
	attribute(dfxml, name, text);
}

/* ---- head ------------------------------------------------------------------------------- */

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

static void write_creator(struct dfxml *dfxml, const struct run_record *run)
{
	start(dfxml, "creator");
	element(dfxml, "program", "burin");
	element(dfxml, "version", BURIN_VERSION);
	start(dfxml, "build_environment");
	element(dfxml, "compiler", "GCC " __VERSION__);
	write_library(dfxml, "libxml2", LIBXML_DOTTED_VERSION);
	write_library(dfxml, "libcrypto", OPENSSL_VERSION_TEXT);
	end(dfxml);
	write_execution(dfxml, run);
	end(dfxml);
}

static void write_source(struct dfxml *dfxml, const struct run_record *run)
{
	const struct image_info *image = run->image;

	start(dfxml, "source");
	xmlTextWriterWriteFormatComment(dfxml->writer,
		" image: %s, %" PRIu64 " bytes, sectors of %" PRIu32
		" bytes, stored MD5 %s, stored SHA-1 %s ",
		image->format, image->size, image->sector_size,
		*image->stored_md5 ? image->stored_md5 : "none",
		*image->stored_sha1 ? image->stored_sha1 : "none");
	for (size_t i = 0; i < image->path_count; i++)
		element(dfxml, "image_filename", image->paths[i]);
	end(dfxml);
}

static int dfxml_open(void **state, FILE *stream, const struct run_record *run)
{
	struct dfxml *dfxml = xcalloc(1, sizeof(*dfxml));
	xmlOutputBufferPtr buffer;

	xmlInitParser();
	buffer = xmlOutputBufferCreateIO(pass_on, NULL, stream, NULL);
	dfxml->writer = buffer ? xmlNewTextWriter(buffer) : NULL;
	if (!dfxml->writer) {
		if (buffer)
			xmlOutputBufferClose(buffer);
		free(dfxml);
		return -ENOMEM;
	}
	*state = dfxml;
	xmlTextWriterSetIndent(dfxml->writer, 1);
	xmlTextWriterStartDocument(dfxml->writer, "1.0", "UTF-8", NULL);
	start(dfxml, "dfxml");
	attribute(dfxml, "xmlns", DFXML_NAMESPACE);
	attribute(dfxml, "version", DFXML_VERSION);
	write_metadata(dfxml);
	write_creator(dfxml, run);
	write_source(dfxml, run);
	return xmlTextWriterFlush(dfxml->writer) < 0 ? -EIO : 0;
}

/* ---- files and the end ------------------------------------------------------------------ */

static void write_hash(struct dfxml *dfxml, const char *type, const char *digest)
{
	if (!*digest)
		return;
	start(dfxml, "hashdigest");
	attribute(dfxml, "type", type);
	xmlTextWriterWriteString(dfxml->writer, BAD_CAST digest);
	end(dfxml);
}

static void write_runs(struct dfxml *dfxml, const struct file_record *file)
{
	uint64_t file_offset = 0;

	start(dfxml, "byte_runs");
	for (uint32_t i = 0; i < file->run_count; i++) {
		start(dfxml, "byte_run");
		number_attribute(dfxml, "file_offset", file_offset);
		number_attribute(dfxml, "img_offset", file->runs[i].offset);
		number_attribute(dfxml, "len", file->runs[i].length);
		end(dfxml);
		file_offset += file->runs[i].length;
	}
	end(dfxml);
}

static int dfxml_file(void *state, const struct file_record *file)
{
	struct dfxml *dfxml = state;

	start(dfxml, "fileobject");
	element(dfxml, "filename", file->path);
	number_element(dfxml, "id", ++dfxml->file_count);
	element(dfxml, "name_type", "r");
	number_element(dfxml, "filesize", file->length);
	write_runs(dfxml, file);
	write_hash(dfxml, "md5", file->hashes.md5);
	write_hash(dfxml, "sha1", file->hashes.sha1);
	write_hash(dfxml, "sha256", file->hashes.sha256);
	end(dfxml);
	/* Now, and not when the writer's own buffer is full: a record is kept or lost as a whole.
	 */
	return xmlTextWriterFlush(dfxml->writer) < 0 ? -EIO : 0;
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

const struct reporter dfxml_reporter = { "report.xml", dfxml_open, dfxml_file, dfxml_close };
