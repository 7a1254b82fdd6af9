/*
 * DFXML: PhotoRec's report.xml, and what other tools write in that language. Of a fileobject the
 * name, size and byte runs are read; a run's img_offset is its offset in the image. PhotoRec's last
 * run is as long as the sectors that it read; the size is the file's.
 *
 * The reader streams the document without building a tree, loads no entities and does not use the
 * network.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <libxml/xmlreader.h>

#include "base/memory.h"
#include "compare/listing.h"

struct dfxml_reader {
	struct listing *listing;
	xmlTextReaderPtr reader;
	struct listed *file; /* the fileobject that is open */
	bool in_original;    /* in what a file was before, which was not carved */
	bool has_size;
	char element[32]; /* the innermost that is open */
	char hash[8];     /* algorithm of the hashdigest that is open */
};

static bool parse_number(const char *text, uint64_t *number)
{
	char *end;

	while (text && strchr(" \t\r\n", *text) && *text)
		text++;
	if (!text || *text < '0' || *text > '9')
		return false;
	errno = 0;
	*number = strtoull(text, &end, 10);
	return errno == 0 && !end[strspn(end, " \t\r\n")] && *number <= INT64_MAX;
}

static bool number_attribute(struct dfxml_reader *dfxml, const char *name, uint64_t *number)
{
	xmlChar *value = xmlTextReaderGetAttribute(dfxml->reader, BAD_CAST name);
	bool found = parse_number((const char *)value, number);

	xmlFree(value);
	return found;
}

static void read_byte_run(struct dfxml_reader *dfxml)
{
	uint64_t offset, length;

	if (number_attribute(dfxml, "img_offset", &offset) &&
		number_attribute(dfxml, "len", &length) && length && offset <= INT64_MAX - length)
		listing_add_run(dfxml->file, offset, length);
}

/* Ignored unless it is hex of the right length. */
static void read_digest(struct dfxml_reader *dfxml, const char *text)
{
	struct hashes *hashes = &dfxml->file->hashes;
	struct {
		const char *name;
		char *place;
		size_t len;
	} kinds[] = { { "md5", hashes->md5, 32 }, { "sha1", hashes->sha1, 40 },
		{ "sha256", hashes->sha256, 64 } };

	for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++)
		if (strcasecmp(kinds[i].name, dfxml->hash) == 0 && strlen(text) == kinds[i].len &&
			strspn(text, "0123456789abcdefABCDEF") == kinds[i].len)
			for (size_t c = 0; c <= kinds[i].len; c++)
				kinds[i].place[c] = (char)(text[c] | (text[c] >= 'A' ? 0x20 : 0));
}

static void read_file_text(struct dfxml_reader *dfxml, const char *text)
{
	if (strcmp(dfxml->element, "filename") == 0) {
		listing_name(dfxml->file, text);
	} else if (strcmp(dfxml->element, "filesize") == 0) {
		dfxml->has_size = parse_number(text, &dfxml->file->length);
	} else if (strcmp(dfxml->element, "hashdigest") == 0) {
		read_digest(dfxml, text);
	}
}

static void read_head_text(struct dfxml_reader *dfxml, const char *text)
{
	struct listing *listing = dfxml->listing;

	if (strcmp(dfxml->element, "package") == 0 || strcmp(dfxml->element, "program") == 0)
		listing->tool = strcmp(text, "PhotoRec") == 0 ? TOOL_PHOTOREC : TOOL_DFXML;
	else if (strcmp(dfxml->element, "version") == 0 && !*listing->version)
		listing_set(&listing->version, text);
	else if (strcmp(dfxml->element, "image_filename") == 0 && !*listing->image_path)
		listing_set(&listing->image_path, text);
	else if (strcmp(dfxml->element, "image_size") == 0)
		parse_number(text, &listing->image_size);
	else if (strcmp(dfxml->element, "sectorsize") == 0)
		parse_number(text, &listing->sector_size);
}

static void open_element(struct dfxml_reader *dfxml)
{
	const char *name = (const char *)xmlTextReaderConstLocalName(dfxml->reader);

	snprintf(dfxml->element, sizeof(dfxml->element), "%s", name);
	if (strcmp(name, "fileobject") == 0) {
		dfxml->file = listing_add(dfxml->listing);
		dfxml->has_size = dfxml->in_original = false;
	} else if (strcmp(name, "original_fileobject") == 0) {
		dfxml->in_original = true;
	} else if (dfxml->file && strcmp(name, "byte_run") == 0) {
		read_byte_run(dfxml);
	} else if (dfxml->file && strcmp(name, "hashdigest") == 0) {
		xmlChar *type = xmlTextReaderGetAttribute(dfxml->reader, BAD_CAST "type");

		snprintf(dfxml->hash, sizeof(dfxml->hash), "%s", type ? (char *)type : "");
		xmlFree(type);
	}
}

/* A file without an offset can't be compared: it is dropped again. */
static void close_file(struct dfxml_reader *dfxml)
{
	struct listed *file = dfxml->file;
	uint64_t sum = 0;

	dfxml->file = NULL;
	for (size_t i = 0; i < file->run_count; i++)
		sum += file->runs[i].length;
	if (!file->run_count || sum > INT64_MAX) {
		struct listing *listing = dfxml->listing;

		free(file->path);
		free(file->type);
		free(file->extension);
		free(file->note);
		free(file->runs);
		listing->count--;
		return;
	}
	if (!dfxml->has_size)
		file->length = sum;
	else if (file->length < sum && sum - file->length < file->runs[file->run_count - 1].length)
		file->runs[file->run_count - 1].length -= sum - file->length;
	file->offset = file->runs[0].offset;
}

static void read_node(struct dfxml_reader *dfxml)
{
	const char *text;

	switch (xmlTextReaderNodeType(dfxml->reader)) {
	case XML_READER_TYPE_ELEMENT:
		open_element(dfxml);
		break;
	case XML_READER_TYPE_TEXT:
		text = (const char *)xmlTextReaderConstValue(dfxml->reader);
		if (!dfxml->in_original)
			(dfxml->file ? read_file_text : read_head_text)(dfxml, text);
		break;
	case XML_READER_TYPE_END_ELEMENT:
		dfxml->element[0] = '\0';
		text = (const char *)xmlTextReaderConstLocalName(dfxml->reader);
		if (strcmp(text, "original_fileobject") == 0)
			dfxml->in_original = false;
		if (dfxml->file && strcmp(text, "fileobject") == 0)
			close_file(dfxml);
		else if (strcmp(text, "dfxml") == 0)
			dfxml->listing->ended = true;
		break;
	default:
		break;
	}
}

/* Instead of libxml2's own messages. */
static void ignore_message(void *context, const char *message, xmlParserSeverities severity,
	xmlTextReaderLocatorPtr locator)
{
	(void)context, (void)message, (void)severity, (void)locator;
}

/* An incomplete report (PhotoRec writes it as it goes) is read as far as it goes. */
int listing_read_dfxml(struct listing *listing, struct error *error)
{
	struct dfxml_reader dfxml = { .listing = listing };
	int status;

	listing->tool = TOOL_DFXML;
	dfxml.reader = xmlReaderForFile(listing->path, NULL, XML_PARSE_NONET);
	if (!dfxml.reader)
		return error_set(error, EXIT_IO, EIO, "cannot read '%.500s'", listing->path);
	xmlTextReaderSetErrorHandler(dfxml.reader, ignore_message, NULL);
	while ((status = xmlTextReaderRead(dfxml.reader)) == 1)
		read_node(&dfxml);
	if (dfxml.file)
		close_file(&dfxml);
	if (status < 0 && !listing->count)
		status = error_set(error, EXIT_USAGE, EINVAL,
			"'%.500s' is not a DFXML file whose files have offsets in the image",
			listing->path);
	else
		status = 0;
	xmlFreeTextReader(dfxml.reader);
	return status;
}
