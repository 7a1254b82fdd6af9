/*
 * Manifest.mbdb, the list of the files in a backup of iOS 3 to 9 (theiphonewiki.com, ITunes Backup).
 *
 *	file:   'mbdb' 05 00; records
 *	record: five texts: domain, path, where a link leads, SHA-1 of the content, key; mode (2 bytes), inode (8), user, group (4
 *	        each), three times (4 each, seconds since 1970), length (8), class of protection (1), number of properties (1);
 *	        properties: name, value (texts)
 *	text:   length (2), bytes; length FFFF: none
 *
 * Integers are big-endian. Every record has a domain and a file, folder or link. How many records there are is not stored, and
 * nothing verifies them: the file is unverified. Its date is the newest file's.
 */
#include <inttypes.h>
#include <stdbool.h>
#include <string.h>

#include "bytes.h"
#include "plain_text.h"
#include "walk.h"

#define HEAD_LEN 6
#define NO_TEXT 0xffff
#define DOMAIN_MAX 255
#define NAME_MAX_LEN 4096 /* of a path */
#define HASH_LEN 20
#define VALUE_MAX 32767
#define FIXED_LEN 40

enum text_kind { NAME, DATA };

struct mbdb {
	struct view *view;
	uint64_t at;
	bool cut;   /* the view ends before what was to be read */
	bool begun; /* the record has a domain */
	uint32_t newest;
};

static const uint8_t *peek(struct mbdb *mbdb, size_t len)
{
	const uint8_t *p = view_peek(mbdb->view, mbdb->at, len);

	mbdb->cut = mbdb->cut || !p;
	return p;
}

/* Reads a text of at most `most` bytes, and moves past it. A name is UTF-8 without control characters. NULL: there is none; *len
 * is its length, 0 for none. */
static const uint8_t *read_text(struct mbdb *mbdb, size_t most, enum text_kind kind, size_t *len)
{
	const uint8_t *p = peek(mbdb, 2);

	if (!p)
		return NULL;
	*len = be16(p) == NO_TEXT ? 0 : be16(p);
	if (*len > most)
		return NULL;
	p = peek(mbdb, 2 + *len);
	if (!p)
		return NULL;
	mbdb->at += 2 + *len;
	p += 2;
	if (kind == DATA)
		return p;
	for (size_t i = 0; i < *len; i++)
		if (p[i] < ' ' || p[i] == 0x7f)
			return NULL;
	return utf8_valid(p, *len) ? p : NULL;
}

/* Whether there is a record's domain: "HomeDomain", "AppDomain-com.example". */
static bool read_domain(struct mbdb *mbdb)
{
	size_t len;
	const uint8_t *p = read_text(mbdb, DOMAIN_MAX, NAME, &len);

	return p && len && memmem(p, len, "Domain", 6);
}

/* Reads a record, and moves past it. False: it is invalid, or cut. */
static bool read_record(struct mbdb *mbdb)
{
	const uint8_t *p;
	size_t len;
	uint16_t kind;
	uint8_t properties;

	mbdb->begun = read_domain(mbdb);
	if (!mbdb->begun || !read_text(mbdb, NAME_MAX_LEN, NAME, &len) ||
		!read_text(mbdb, NAME_MAX_LEN, NAME, &len) ||
		!read_text(mbdb, HASH_LEN, DATA, &len) || !read_text(mbdb, VALUE_MAX, DATA, &len))
		return false;
	p = peek(mbdb, FIXED_LEN);
	kind = p ? be16(p) >> 12 : 0;
	if (kind != 4 && kind != 8 && kind != 10)
		return false;
	if (be32(p + 18) > mbdb->newest)
		mbdb->newest = be32(p + 18);
	properties = p[FIXED_LEN - 1];
	mbdb->at += FIXED_LEN;
	for (unsigned i = 0; i < properties; i++)
		if (!read_text(mbdb, DOMAIN_MAX, NAME, &len) || !len ||
			!read_text(mbdb, VALUE_MAX, DATA, &len))
			return false;
	return true;
}

static enum verdict check(struct view *view, struct finding *finding)
{
	struct mbdb mbdb = { .view = view, .at = HEAD_LEN };
	const uint8_t *p = view_peek(view, 0, HEAD_LEN);
	uint64_t size = view_size(view), valid_end = HEAD_LEN;

	if (!p || memcmp(p, "mbdb\5\0", HEAD_LEN) != 0)
		return verdict_because(CARVE_REJECT, finding, "no header at 0");
	while (mbdb.at < size && read_record(&mbdb))
		valid_end = mbdb.at;
	if (valid_end == HEAD_LEN)
		return verdict_because(CARVE_REJECT, finding, "no record at %d", HEAD_LEN);
	finding->time = mbdb.newest;
	finding->length = valid_end;
	if (mbdb.cut)
		return walk_cut(view, finding, size + 1, valid_end);
	if (mbdb.at < size && mbdb.begun)
		return verdict_because(
			CARVE_TRUNCATED, finding, "an invalid record at %" PRIu64, valid_end);
	return walk_uncounted(view, finding, HEAD_LEN, valid_end, 0, "record");
}

const struct carver mbdb_carver = {
	.name = "mbdb",
	.summary = "lists of files in iOS backups, by their records",
	.check = check,
};
