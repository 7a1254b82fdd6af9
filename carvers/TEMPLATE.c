/*
 * A carver to copy, for a format that was made up: TPL.
 *
 *     "TPL1"
 *     records     u16 length (little-endian, not 0), then that many bytes
 *     the end     u16 0, u32 sum of all bytes of the records' contents
 *
 * Checked: the chain of lengths, and the sum, which proves the last byte. Damage: a sum that differs makes
 * the file truncated, validated up to the sum; a chain that ends early, too. Without a whole record the
 * header may be chance: rejected.
 *
 * As a plug-in:
 *
 *     cc -shared -fPIC -O2 -I/usr/local/include/burin -o tpl.so TEMPLATE.c
 *     burin carve --plugin tpl.so -c tpl.conf -o out disk.dd
 *
 * where tpl.conf has the rule
 *
 *     types = ( { name = "tpl"; header = "'TPL1'"; carver = "tpl"; max_size = "16M"; } );
 *
 * In the program: the file goes to a family's folder, without the last lines (carvers/README.md).
 */
#include <string.h>

#include "bytes.h"
#include "plugin.h"

#define HEADER_LEN 4

static enum verdict check_end(struct view *view, uint64_t at, uint32_t sum, struct finding *finding)
{
	const uint8_t *stored = view_peek(view, at, 4);

	finding->length = at;
	if (!stored)
		return verdict_because(
			CARVE_TRUNCATED, finding, "no sum at %llu", (unsigned long long)at);
	if (le32(stored) != sum)
		return verdict_because(
			CARVE_TRUNCATED, finding, "sum wrong at %llu", (unsigned long long)at);
	finding->length = at + 4;
	return CARVE_COMPLETE;
}

static enum verdict tpl_check(struct view *view, struct finding *finding)
{
	const uint8_t *bytes = view_peek(view, 0, HEADER_LEN);
	uint64_t at = HEADER_LEN;
	uint32_t sum = 0;

	if (!bytes || memcmp(bytes, "TPL1", HEADER_LEN) != 0)
		return verdict_because(CARVE_REJECT, finding, "no header at 0");
	for (;;) {
		size_t len;

		if (!(bytes = view_peek(view, at, 2)))
			break;
		len = le16(bytes);
		if (!len && at > HEADER_LEN)
			return check_end(view, at + 2, sum, finding);
		if (!len || !(bytes = view_peek(view, at + 2, len)))
			break;
		for (size_t i = 0; i < len; i++)
			sum += bytes[i];
		at += 2 + len;
	}
	if (at == HEADER_LEN)
		return verdict_because(CARVE_REJECT, finding, "no record at %d", HEADER_LEN);
	finding->length = at;
	return verdict_because(
		CARVE_TRUNCATED, finding, "records break off at %llu", (unsigned long long)at);
}

const struct carver tpl_carver = {
	.name = "tpl",
	.summary = "the format of the template: chain of records and sum",
	.check = tpl_check,
};

/* What makes it a plug-in. */
static const struct carver *const rows[] = { &tpl_carver, NULL };
const struct carver_plugin burin_plugin = { .contract = CARVER_CONTRACT, .carvers = rows };
