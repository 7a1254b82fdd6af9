/*
 * BitTorrent's metainfo files (BEP 3): one dictionary in bencoding.
 *
 *	d (string value)... e; l value... e; i number e; length : bytes
 *
 * The file ends where its dictionary does. Keys are strings; the outermost dictionary has to have
 * an "info" with a "piece length" and the pieces' hashes, 20 bytes each. Nothing is nested deeper
 * than 64. What clients keep of their torrents, and of links to such, are dictionaries with keys of their own.
 *
 * At a wrong byte the valid part ends after the last whole value. The title is the torrent's name,
 * the time its creation date.
 */
#include <inttypes.h>
#include <stdbool.h>
#include <string.h>

#include "title.h"
#include "walk.h"

#define DEPTH_MAX 64
#define NUMBER_MAX 20 /* digits, with a sign */
#define KEY_MAX 64

struct torrent {
	struct view *view;
	struct finding *finding;
	uint64_t at, valid_end;
	uint64_t dictionaries; /* a bit a level: 1: a dictionary */
	int depth;
	bool at_key;       /* the next string is a key */
	char key[KEY_MAX]; /* the last one */
	bool info, pieces; /* what was found */
	bool client;       /* a key that a client's own files have */
	int64_t piece_len;
};

enum token { TOKEN_GOOD, TOKEN_BAD, TOKEN_CUT, TOKEN_LAST };

static bool in_dictionary(const struct torrent *torrent)
{
	return torrent->depth && torrent->dictionaries >> (torrent->depth - 1) & 1;
}

/* Reads a number up to `end`: its value, and *len with the end. */
static enum token read_number(struct torrent *torrent, char end, int64_t *value, size_t *len)
{
	uint64_t left = view_size(torrent->view) - torrent->at;
	size_t look = left < NUMBER_MAX + 1 ? (size_t)left : NUMBER_MAX + 1, i = 0;
	const uint8_t *p = look ? view_peek(torrent->view, torrent->at, look) : NULL;
	bool negative = p && end == 'e' && p[0] == '-';

	if (!p)
		return TOKEN_CUT;
	*value = 0;
	for (i = negative; i < look && p[i] >= '0' && p[i] <= '9'; i++) {
		if (i > 17)
			return TOKEN_BAD;
		*value = *value * 10 + (p[i] - '0');
	}
	if (i == look)
		return look <= NUMBER_MAX ? TOKEN_CUT : TOKEN_BAD;
	if (p[i] != end || i == (size_t)negative)
		return TOKEN_BAD;
	if (negative)
		*value = -*value;
	*len = i + 1;
	return TOKEN_GOOD;
}

/* Whether the key is one of uTorrent's settings and lists, libtorrent's and Transmission's states, or a link. */
static bool is_client_key(const char *key)
{
	static const char *const keys[] = { ".fileguard", "active_time", "activity-date",
		"file-format", "magnet-info" };

	for (size_t i = 0; i < sizeof(keys) / sizeof(*keys); i++)
		if (strcmp(keys[i], key) == 0)
			return true;
	return false;
}

/* Reads a string at torrent->at. Keys are kept; only relevant values are examined. */
static enum token read_string(struct torrent *torrent)
{
	int64_t len;
	size_t head;
	enum token token = read_number(torrent, ':', &len, &head);
	const uint8_t *p;

	if (token != TOKEN_GOOD)
		return token;
	torrent->at += head;
	if ((uint64_t)len > view_size(torrent->view) - torrent->at)
		return torrent->at_key ? TOKEN_BAD : TOKEN_CUT;
	if (torrent->at_key) {
		p = len > 0 && len < KEY_MAX ? view_peek(torrent->view, torrent->at, (size_t)len)
					     : NULL;
		torrent->key[0] = 0;
		if (p) {
			memcpy(torrent->key, p, (size_t)len);
			torrent->key[len] = 0;
			torrent->client |= torrent->depth == 1 && is_client_key(torrent->key);
		}
	} else if (in_dictionary(torrent) && torrent->depth == 2) {
		if (strcmp(torrent->key, "pieces") == 0) {
			if (len % 20)
				return TOKEN_BAD;
			torrent->pieces = true;
		}
		p = strcmp(torrent->key, "name") == 0 && len <= 4096
			    ? view_peek(torrent->view, torrent->at, (size_t)len)
			    : NULL;
		if (p)
			finding_set_title_latin1(torrent->finding, p, (size_t)len);
	}
	torrent->at += (uint64_t)len;
	return TOKEN_GOOD;
}

static enum token read_integer(struct torrent *torrent)
{
	int64_t value;
	size_t len;
	enum token token;

	torrent->at++;
	token = read_number(torrent, 'e', &value, &len);
	if (token != TOKEN_GOOD)
		return token;
	torrent->at += len;
	if (torrent->depth == 1 && strcmp(torrent->key, "creation date") == 0)
		torrent->finding->time = value;
	if (torrent->depth == 2 && strcmp(torrent->key, "piece length") == 0)
		torrent->piece_len = value;
	return TOKEN_GOOD;
}

static enum token open_level(struct torrent *torrent, bool dictionary)
{
	if (torrent->depth == DEPTH_MAX)
		return TOKEN_BAD;
	if (torrent->depth == 1 && strcmp(torrent->key, "info") == 0)
		torrent->info = true;
	torrent->dictionaries &= ~((uint64_t)1 << torrent->depth);
	torrent->dictionaries |= (uint64_t)dictionary << torrent->depth;
	torrent->depth++;
	torrent->at++;
	torrent->at_key = dictionary;
	return TOKEN_GOOD;
}

static enum token read_token(struct torrent *torrent)
{
	const uint8_t *p = view_peek(torrent->view, torrent->at, 1);
	bool dictionary = in_dictionary(torrent), was_key = torrent->at_key;
	enum token token;

	if (!p)
		return TOKEN_CUT;
	if (*p == 'e') {
		if (!torrent->depth || (dictionary && !torrent->at_key))
			return TOKEN_BAD;
		torrent->at++;
		torrent->depth--;
		torrent->at_key = in_dictionary(torrent);
		return torrent->depth ? TOKEN_GOOD : TOKEN_LAST;
	}
	if (*p >= '0' && *p <= '9') {
		token = read_string(torrent);
	} else if (torrent->at_key) {
		return TOKEN_BAD;
	} else if (*p == 'd' || *p == 'l') {
		return open_level(torrent, *p == 'd');
	} else {
		token = *p == 'i' ? read_integer(torrent) : TOKEN_BAD;
	}
	torrent->at_key = dictionary && !was_key;
	return token;
}

static enum verdict check(struct view *view, struct finding *finding)
{
	struct torrent torrent = { .view = view, .finding = finding };
	const uint8_t *p = view_peek(view, 0, 2);
	enum token token;

	if (!p || p[0] != 'd' || p[1] < '1' || p[1] > '9')
		return verdict_because(CARVE_REJECT, finding, "no dictionary at 0");
	while ((token = read_token(&torrent)) == TOKEN_GOOD)
		torrent.valid_end = torrent.at;
	if (token == TOKEN_LAST && torrent.info) {
		finding->length = torrent.at;
		if (torrent.pieces && torrent.piece_len > 0)
			return CARVE_COMPLETE;
		return verdict_because(
			CARVE_UNVERIFIED, finding, "a whole dictionary, but no hashes of pieces");
	}
	if (torrent.client)
		finding->extension = "dat";
	if (token == TOKEN_LAST && torrent.client) {
		finding->length = torrent.at;
		return verdict_because(
			CARVE_UNVERIFIED, finding, "a whole dictionary, of a client's");
	}
	if (token == TOKEN_LAST || (!torrent.info && !torrent.client))
		return verdict_because(CARVE_REJECT, finding,
			"not a torrent's dictionary, up to %" PRIu64, torrent.at);
	finding->length = torrent.valid_end;
	if (token == TOKEN_CUT)
		return walk_cut(view, finding, view_size(view) + 1,
			view_ends_with_image(view) ? view_size(view) : torrent.valid_end);
	return verdict_because(CARVE_TRUNCATED, finding, "no value at %" PRIu64, torrent.at);
}

const struct carver torrent_carver = {
	.name = "torrent",
	.summary = "BitTorrent metainfo files, by their bencoding",
	.check = check,
};
