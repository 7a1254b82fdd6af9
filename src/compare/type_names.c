/*
 * Names of types. Each tool has its own: burin uses those of the rules, other tools name files by
 * extension. Formats that share a container (ZIP, OLE, RIFF, ISO media, ...) count as one type,
 * since one tool looks into the container and another does not.
 */
#include <string.h>

#include "compare/compare.h"

static const char *const families[][28] = {
	{ "jpeg", "jpg", "jpe", "jfif" },
	{ "tiff", "tif", "dng", "nef", "cr2", "arw", "pef", "orf", "sr2", "rw2" },
	{ "html", "htm", "xhtml" },
	{ "zip", "docx", "xlsx", "pptx", "vsdx", "odt", "ods", "odp", "odg", "sxw", "sxc", "sxi",
		"jar", "apk", "epub", "kmz", "xpi", "ooxml", "3mf" },
	{ "ole", "doc", "xls", "ppt", "msg", "vsd", "pub", "msi", "mdb", "wps", "db", "thumbs" },
	{ "mp4", "mov", "m4a", "m4b", "m4p", "m4v", "3gp", "3g2", "heic", "heif", "avif", "qt",
		"cr3", "mj2", "crx" },
	{ "riff", "wav", "avi", "webp", "ani", "rmi" },
	{ "gz", "gzip", "tgz", "svgz" },
	{ "bz2", "tbz2", "bzip2" },
	{ "mpeg", "mpg", "vob" },
	{ "exe", "dll", "pe", "sys", "ocx", "scr" },
	{ "elf", "so", "o" },
	{ "ps", "eps", "ai" },
	{ "asf", "wmv", "wma" },
	{ "mkv", "webm", "mka" },
	{ "ogg", "ogm", "oga", "ogv", "opus" },
	{ "midi", "mid" },
	{ "sqlite", "sqlite3" },
	{ "regf", "reg", "dat" },
	{ "sfnt", "ttf", "otf", "ttc" },
	{ "dex", "odex" },
	{ "class", "javaclass" },
	{ "mail", "eml", "mbox", "emlx" },
	{ "aiff", "aif", "aifc" },
	{ "flv", "f4v" },
	{ "j2k", "j2c", "jpc" },
	{ "xml", "svg" },
	{ "djvu", "djv" },
	{ "swf", "swc", "swz" },
	{ "qcow2", "qcow", "cow" },
	{ "lzh", "lha" },
	{ "au", "snd" },
	{ "pcap", "cap", "dmp" },
	{ "ts", "m2ts", "mts" },
};

#define FAMILIES (sizeof(families) / sizeof(*families))

/* -1 for a name that is in no family. */
static int family_of(const char *name)
{
	for (size_t family = 0; family < FAMILIES; family++)
		for (const char *const *member = families[family]; *member; member++)
			if (strcmp(*member, name) == 0)
				return (int)family;
	return -1;
}

static bool same_name(const char *a, const char *b)
{
	int family = family_of(a);

	if (!*a || !*b)
		return false;
	return strcmp(a, b) == 0 || (family >= 0 && family == family_of(b));
}

bool compare_type_alike(const struct listed *a, const struct listed *b)
{
	return same_name(a->type, b->type) || same_name(a->extension, b->extension) ||
	       same_name(a->type, b->extension) || same_name(a->extension, b->type);
}

bool compare_rule_alike(const struct rule *rule, const struct listed *file)
{
	return same_name(rule->name, file->type) || same_name(rule->extension, file->type) ||
	       same_name(rule->name, file->extension) ||
	       same_name(rule->extension, file->extension);
}
