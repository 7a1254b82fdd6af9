/*
 * Many formats are ZIP archives with certain members. OpenDocument and EPUB give their type in a
 * member `mimetype`, Office Open XML in `[Content_Types].xml`; other formats are detected by the
 * names of members.
 */
#include "zip.h"

#include <string.h>

#include "dates.h"

enum name_part { WHOLE, START, END };

enum {
	OOXML = 1 << 0,
	WORD = 1 << 1,
	EXCEL = 1 << 2,
	POWERPOINT = 1 << 3,
	VISIO = 1 << 4,
	MACROS = 1 << 5,
	BINARY = 1 << 6,
	XPS = 1 << 7,
	MODEL = 1 << 8,
	JAVA = 1 << 9,
	WEB = 1 << 10,
	ENTERPRISE = 1 << 11,
	ANDROID = 1 << 12,
	CLASSES_JAR = 1 << 13,
	KML = 1 << 14,
	KEYNOTE = 1 << 15,
	NUMBERS = 1 << 16,
	PAGES = 1 << 17,
	IWORK_HISTORY = 1 << 18,
	MOZILLA = 1 << 19,
	IOS = 1 << 20,
	WHEEL = 1 << 21,
	NUGET = 1 << 22,
	CONTAINER = 1 << 23,
	BOOK = 1 << 24,
	THEME = 1 << 25,
	IWORK = 1 << 26,
	TABLES = 1 << 27,
	VISUAL_STUDIO = 1 << 28,
	WINDOWS_APP = 1 << 29,
	PYTHON_EGG = 1 << 30,
};

/* More than the constants of an enumeration hold. */
#define AFF4 (UINT32_C(1) << 31)

static const struct {
	enum name_part place;
	const char *text;
	uint32_t means;
} names[] = {
	{ WHOLE, "[Content_Types].xml", OOXML },
	{ START, "word/", WORD },
	{ START, "xl/", EXCEL },
	{ START, "ppt/", POWERPOINT },
	{ START, "visio/", VISIO },
	{ END, "/vbaProject.bin", MACROS },
	{ WHOLE, "xl/workbook.bin", BINARY },
	{ END, ".fdseq", XPS },
	{ START, "3D/", MODEL },
	{ WHOLE, "META-INF/container.xml", CONTAINER },
	{ END, ".opf", BOOK },
	{ WHOLE, "META-INF/MANIFEST.MF", JAVA },
	{ START, "WEB-INF/", WEB },
	{ WHOLE, "META-INF/application.xml", ENTERPRISE },
	{ WHOLE, "AndroidManifest.xml", ANDROID },
	{ WHOLE, "classes.jar", CLASSES_JAR },
	{ END, ".kml", KML },
	{ WHOLE, "index.apxl", KEYNOTE },
	{ START, "Index/Slide", KEYNOTE },
	{ WHOLE, "index.numbers", NUMBERS },
	{ WHOLE, "index.xml", PAGES },
	{ WHOLE, "buildVersionHistory.plist", IWORK_HISTORY },
	{ WHOLE, "META-INF/mozilla.rsa", MOZILLA },
	{ WHOLE, "install.rdf", MOZILLA },
	{ END, ".app/Info.plist", IOS },
	{ END, ".dist-info/WHEEL", WHEEL },
	{ END, ".nuspec", NUGET },
	{ START, "theme/", THEME },
	{ WHOLE, "Index/Document.iwa", IWORK },
	{ START, "Index/Tables/", TABLES },
	{ WHOLE, "extension.vsixmanifest", VISUAL_STUDIO },
	{ WHOLE, "AppxManifest.xml", WINDOWS_APP },
	{ WHOLE, "EGG-INF/PKG-INFO", PYTHON_EGG },
	{ WHOLE, "information.turtle", AFF4 },
};

/* The first row all of whose names were seen wins. */
static const struct {
	uint32_t needs;
	const char *extension;
} kinds[] = {
	{ OOXML | WORD | MACROS, "docm" },
	{ OOXML | WORD, "docx" },
	{ OOXML | EXCEL | BINARY, "xlsb" },
	{ OOXML | EXCEL | MACROS, "xlsm" },
	{ OOXML | EXCEL, "xlsx" },
	{ OOXML | POWERPOINT | MACROS, "pptm" },
	{ OOXML | POWERPOINT, "pptx" },
	{ OOXML | VISIO | MACROS, "vsdm" },
	{ OOXML | VISIO, "vsdx" },
	{ OOXML | MODEL, "3mf" },
	{ OOXML | THEME, "thmx" },
	{ OOXML | VISUAL_STUDIO, "vsix" },
	{ OOXML | WINDOWS_APP, "appx" },
	{ OOXML | NUGET, "nupkg" },
	{ AFF4, "aff4" },
	{ XPS, "xps" },
	{ CONTAINER | BOOK, "epub" },
	{ ANDROID | CLASSES_JAR, "aar" },
	{ ANDROID, "apk" },
	{ MOZILLA, "xpi" },
	{ ENTERPRISE, "ear" },
	{ WEB, "war" },
	{ JAVA, "jar" },
	{ IOS, "ipa" },
	{ WHEEL, "whl" },
	{ KEYNOTE, "key" },
	{ NUMBERS, "numbers" },
	{ PAGES | IWORK_HISTORY, "pages" },
	{ IWORK | TABLES, "numbers" },
	{ IWORK, "pages" },
	{ PYTHON_EGG, "egg" },
	{ KML, "kmz" },
};

static const struct {
	const char *type, *extension;
} mimetypes[] = {
	{ "application/epub+zip", "epub" },
	{ "application/hwp+zip", "hwpx" },
	{ "application/vnd.adobe.air-application-installer-package+zip", "air" },
	{ "application/vnd.adobe.indesign-idml-package", "idml" },
	{ "application/vnd.etsi.asic-e+zip", "asice" },
	{ "application/vnd.etsi.asic-s+zip", "asics" },
	{ "application/vnd.oasis.opendocument.base", "odb" },
	{ "application/vnd.oasis.opendocument.chart", "odc" },
	{ "application/vnd.oasis.opendocument.chart-template", "otc" },
	{ "application/vnd.oasis.opendocument.formula", "odf" },
	{ "application/vnd.oasis.opendocument.formula-template", "otf" },
	{ "application/vnd.oasis.opendocument.graphics", "odg" },
	{ "application/vnd.oasis.opendocument.graphics-template", "otg" },
	{ "application/vnd.oasis.opendocument.image", "odi" },
	{ "application/vnd.oasis.opendocument.presentation", "odp" },
	{ "application/vnd.oasis.opendocument.presentation-template", "otp" },
	{ "application/vnd.oasis.opendocument.spreadsheet", "ods" },
	{ "application/vnd.oasis.opendocument.spreadsheet-template", "ots" },
	{ "application/vnd.oasis.opendocument.text", "odt" },
	{ "application/vnd.oasis.opendocument.text-master", "odm" },
	{ "application/vnd.oasis.opendocument.text-template", "ott" },
	{ "application/vnd.oasis.opendocument.text-web", "oth" },
	{ "application/vnd.recordare.musicxml", "mxl" },
	{ "application/vnd.sun.xml.base", "odb" },
	{ "application/vnd.sun.xml.calc.template", "stc" },
	{ "application/vnd.sun.xml.calc", "sxc" },
	{ "application/vnd.sun.xml.draw.template", "std" },
	{ "application/vnd.sun.xml.draw", "sxd" },
	{ "application/vnd.sun.xml.impress.template", "sti" },
	{ "application/vnd.sun.xml.impress", "sxi" },
	{ "application/vnd.sun.xml.writer.template", "stw" },
	{ "application/vnd.sun.xml.math", "sxm" },
	{ "application/vnd.sun.xml.writer", "sxw" },
	{ "application/vnd.sun.xml.writer.global", "sxg" },
	{ "application/x-krita", "kra" },
	{ "image/openraster", "ora" },
};

/* The type of the main part in [Content_Types].xml; a substring is enough. Themes contain a
 * presentation, so they come first. */
static const struct {
	const char *text, *extension;
} parts[] = {
	{ "openxmlformats-officedocument.themeManager+xml", "thmx" },
	{ "wordprocessingml.document.main+xml", "docx" },
	{ "wordprocessingml.template.main+xml", "dotx" },
	{ "ms-word.document.macroEnabled.main+xml", "docm" },
	{ "ms-word.template.macroEnabledTemplate.main+xml", "dotm" },
	{ "spreadsheetml.sheet.main+xml", "xlsx" },
	{ "spreadsheetml.template.main+xml", "xltx" },
	{ "ms-excel.sheet.macroEnabled.main+xml", "xlsm" },
	{ "ms-excel.template.macroEnabled.main+xml", "xltm" },
	{ "ms-excel.addin.macroEnabled.main+xml", "xlam" },
	{ "ms-excel.sheet.binary.macroEnabled.main", "xlsb" },
	{ "presentationml.presentation.main+xml", "pptx" },
	{ "presentationml.template.main+xml", "potx" },
	{ "presentationml.slideshow.main+xml", "ppsx" },
	{ "ms-powerpoint.presentation.macroEnabled.main+xml", "pptm" },
	{ "ms-powerpoint.template.macroEnabled.main+xml", "potm" },
	{ "ms-powerpoint.slideshow.macroEnabled.main+xml", "ppsm" },
	{ "ms-visio.drawing.main+xml", "vsdx" },
	{ "ms-visio.drawing.macroEnabled.main+xml", "vsdm" },
	{ "ms-visio.stencil.main+xml", "vssx" },
	{ "ms-visio.stencil.macroEnabled.main+xml", "vssm" },
	{ "ms-visio.template.main+xml", "vstx" },
	{ "ms-visio.template.macroEnabled.main+xml", "vstm" },
};

#define COUNT(array) (sizeof(array) / sizeof(*(array)))

#define CONTENT_LEN 16384

static bool name_matches(
	enum name_part place, const char *text, const uint8_t *name, size_t name_len)
{
	size_t len = strlen(text);

	if (name_len < len || (place == WHOLE && name_len != len))
		return false;
	return memcmp(place == END ? name + name_len - len : name, text, len) == 0;
}

static const char *extension_by_mimetype(const uint8_t *type, size_t len)
{
	while (len && (type[len - 1] == '\n' || type[len - 1] == '\r'))
		len--;
	for (size_t i = 0; i < COUNT(mimetypes); i++)
		if (name_matches(WHOLE, mimetypes[i].type, type, len))
			return mimetypes[i].extension;
	return NULL;
}

static const char *extension_by_part(const uint8_t *content, size_t len)
{
	for (size_t i = 0; i < COUNT(parts); i++)
		if (memmem(content, len, parts[i].text, strlen(parts[i].text)))
			return parts[i].extension;
	return NULL;
}

/* The text of the first element `name`; NULL: none. */
static const char *find_element(const char *content, const char *name, size_t *len)
{
	const char *start = strstr(content, name), *end;

	start = start ? strchr(start, '>') : NULL;
	end = start ? strchr(++start, '<') : NULL;
	if (!end || start[-2] == '/')
		return NULL;
	*len = (size_t)(end - start);
	return start;
}

/* Replaces the five entities that XML has without a declaration. */
static size_t plain_text(const char *text, size_t len, char *plain, size_t size)
{
	static const char *const entities[] = { "&amp;", "&lt;", "&gt;", "&quot;", "&apos;" };
	static const char means[] = "&<>\"'";
	size_t plain_len = 0;

	for (size_t i = 0; i < len && plain_len < size; i++) {
		plain[plain_len] = text[i];
		for (size_t j = 0; text[i] == '&' && j < COUNT(entities); j++) {
			size_t entity_len = strlen(entities[j]);

			if (entity_len <= len - i &&
				memcmp(text + i, entities[j], entity_len) == 0) {
				plain[plain_len] = means[j];
				i += entity_len - 1;
				break;
			}
		}
		plain_len++;
	}
	return plain_len;
}

/* YYYY-MM-DDThh:mm:ss in W3CDTF or ISO 8601; 0: none. */
static int64_t read_date(const char *text, size_t len)
{
	static const char form[] = "0000-00-00T00:00:00";
	int n[6] = { 0 }, part = 0;

	if (!text || len < sizeof(form) - 1)
		return 0;
	for (size_t i = 0; form[i]; i++) {
		bool digit = text[i] >= '0' && text[i] <= '9';

		if (digit != (form[i] == '0') || (!digit && text[i] != form[i]))
			return 0;
		if (digit)
			n[part] = n[part] * 10 + text[i] - '0';
		else
			part++;
	}
	return utc_seconds(n[0], n[1], n[2], n[3], n[4], n[5]);
}

/* Reads title and date from the document's properties. */
static void read_properties(
	struct zip_kind *kind, struct view *view, const struct zip_member *member)
{
	char content[CONTENT_LEN + 1];
	const char *text;
	size_t len;

	kind->described = true;
	content[zip_content(view, member, (uint8_t *)content, CONTENT_LEN)] = 0;
	text = find_element(content, "<dc:title", &len);
	if (text)
		kind->title_len = plain_text(text, len, kind->title, sizeof(kind->title));
	text = find_element(content, "<dcterms:modified", &len);
	if (!text)
		text = find_element(content, "<dc:date", &len);
	kind->time = read_date(text, text ? len : 0);
}

static bool has_properties(const struct zip_member *member, const uint8_t *name)
{
	return name_matches(WHOLE, "docProps/core.xml", name, member->name_len) ||
	       name_matches(WHOLE, "meta.xml", name, member->name_len) ||
	       name_matches(END, ".opf", name, member->name_len);
}

void zip_kind_add(struct zip_kind *kind, struct view *view, const struct zip_member *member,
	const uint8_t *name)
{
	bool mimetype = name_matches(WHOLE, "mimetype", name, member->name_len);
	bool properties = has_properties(member, name);
	bool parts_list = name_matches(WHOLE, "[Content_Types].xml", name, member->name_len);
	uint8_t content[CONTENT_LEN];
	size_t len;

	for (size_t i = 0; i < COUNT(names); i++)
		if (name_matches(names[i].place, names[i].text, name, member->name_len))
			kind->seen |= names[i].means;
	if (properties && !kind->described) {
		read_properties(kind, view, member);
		return;
	}
	/* Only the first counts; hostile archives could have a million of them. */
	if (!(mimetype || parts_list) || kind->declared)
		return;
	len = zip_content(view, member, content, sizeof(content));
	kind->declared =
		mimetype ? extension_by_mimetype(content, len) : extension_by_part(content, len);
}

const char *zip_kind_extension(const struct zip_kind *kind)
{
	if (kind->declared)
		return kind->declared;
	for (size_t i = 0; i < COUNT(kinds); i++)
		if ((kind->seen & kinds[i].needs) == kinds[i].needs)
			return kinds[i].extension;
	return "zip";
}
