/*
 * Type 1 fonts in binary form (Adobe Technical Note 5040, 3.3; Adobe Type 1 Font Format, 7).
 *
 *	segment: 80, kind, length (4 bytes, little-endian), data; 80 03 ends the file
 *	kinds:   1 text, 2 encrypted
 *
 * Segments follow each other. The text has to be text, and the encrypted part has to end, once
 * decrypted, with 'closefile', after which the text continues: that confirms the whole.
 */
#include <inttypes.h>
#include <stdbool.h>
#include <string.h>

#include "bytes.h"
#include "plain_text.h"
#include "title.h"
#include "walk.h"

#define LAST_LEN 64
#define TITLE_SEARCH_LEN 4096

struct pfb {
	struct view *view;
	uint16_t key;           /* of the cipher, after the bytes decrypted so far */
	uint8_t last[LAST_LEN]; /* decrypted, a ring */
	uint64_t decrypted;
	uint64_t problem_at;
};

/* Decrypts a segment for its last bytes. */
static bool decrypt(struct pfb *pfb, uint64_t at, uint64_t end)
{
	size_t len;

	for (; at < end; at += len) {
		const uint8_t *p = walk_window(pfb->view, at, end, &len);

		if (!p)
			return false;
		for (size_t i = 0; i < len; i++) {
			pfb->last[pfb->decrypted++ % LAST_LEN] = (uint8_t)(p[i] ^ pfb->key >> 8);
			pfb->key = (uint16_t)((p[i] + pfb->key) * 52845u + 22719u);
		}
	}
	return true;
}

static bool has_closefile(const struct pfb *pfb)
{
	uint8_t text[LAST_LEN];

	for (size_t i = 0; i < LAST_LEN; i++)
		text[i] = pfb->last[(pfb->decrypted + i) % LAST_LEN];
	for (size_t i = 0; i + 9 <= LAST_LEN; i++)
		if (memcmp(text + i, "closefile", 9) == 0)
			return true;
	return false;
}

static bool walk_text(struct pfb *pfb, uint64_t at, uint64_t end)
{
	size_t len;

	for (; at < end; at += len) {
		const uint8_t *p = walk_window(pfb->view, at, end, &len);

		for (size_t i = 0; p && i < len; i++)
			if (!plain_text_byte(p[i]) && p[i] < 0x80 && p[i] != '\f') {
				pfb->problem_at = at + i;
				return false;
			}
		if (!p)
			return false;
	}
	return true;
}

/* Sets the title to the text after the key, up to the character that ends it. */
static bool set_title_after(struct finding *finding, const uint8_t *p, size_t len, const char *key)
{
	size_t key_len = strlen(key), end;

	for (size_t i = 0; i + key_len < len; i++) {
		if (memcmp(p + i, key, key_len) != 0)
			continue;
		i += key_len;
		for (end = i;
			end < len && p[end] != ')' && (p[end] > ' ' || key[key_len - 1] == '(');)
			end++;
		finding_set_title(finding, p + i, end - i);
		return true;
	}
	return false;
}

static void read_title(struct view *view, struct finding *finding, uint64_t end)
{
	size_t len = end < TITLE_SEARCH_LEN ? (size_t)end : TITLE_SEARCH_LEN;
	const uint8_t *p = view_peek(view, 0, len);

	if (p && !set_title_after(finding, p, len, "/FullName ("))
		set_title_after(finding, p, len, "/FontName /");
}

static enum verdict judge_broken(
	struct pfb *pfb, struct finding *finding, const char *problem, uint64_t at)
{
	if (pfb->decrypted == 0)
		return verdict_because(CARVE_REJECT, finding, "%s at %" PRIu64, problem, at);
	finding->length = at;
	return verdict_because(CARVE_TRUNCATED, finding, "%s at %" PRIu64, problem, at);
}

static enum verdict check(struct view *view, struct finding *finding)
{
	struct pfb pfb = { .view = view, .key = 55665 };
	uint64_t size = view_size(view), at = 0, end, start = 0;
	const uint8_t *p = view_peek(view, 0, 8);

	if (!p || p[6] != '%' || p[7] != '!')
		return verdict_because(CARVE_REJECT, finding, "no font text at 6");
	while ((p = view_peek(view, at, 6)) && p[0] == 0x80 && p[1] - 1 < 2) {
		bool text = p[1] == 1;

		if (at == 0 && !text)
			break;
		end = at + 6 + le32(p + 2);
		pfb.problem_at = at;
		if (end > size && at == 0)
			break;
		if (end > size)
			return walk_cut(view, finding, end, view_ends_with_image(view) ? size : at);
		if (text ? !walk_text(&pfb, at + 6, end) : !decrypt(&pfb, at + 6, end))
			return judge_broken(&pfb, finding, "not text", pfb.problem_at);
		if (!text)
			start = at;
		if (at == 0)
			read_title(view, finding, end);
		at = end;
	}
	p = view_peek(view, at, 2);
	if (pfb.decrypted && p && p[0] == 0x80 && p[1] == 3) {
		finding->length = at + 2;
		return has_closefile(&pfb)
			       ? CARVE_COMPLETE
			       : verdict_because(CARVE_UNVERIFIED, finding,
					 "no closefile in the encrypted segments from %" PRIu64
					 " on",
					 start);
	}
	if (p == NULL && at == size && pfb.decrypted)
		return walk_cut(view, finding, at + 2, at);
	if (pfb.decrypted && !has_closefile(&pfb))
		return judge_broken(&pfb, finding, "no segment after the one", start);
	return judge_broken(&pfb, finding, "no segment", at);
}

const struct carver pfb_carver = {
	.name = "pfb",
	.summary = "Type 1 fonts in binary form, by their segments, decrypted",
	.check = check,
};
