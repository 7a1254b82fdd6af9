/*
 * Sessions and tabs of Chrome and its relatives (Chromium, components/sessions/core/command_storage_backend.cc).
 *
 *	file:    'SNSS', version (4, little-endian: 1 to 4), commands
 *	command: length of what follows (2), kind, data: a structure of whole words, or a pickle: the length of the
 *	         remaining bytes (4), and they
 *
 * Nothing marks the end. In versions 2 and 4 the data is encrypted, with four bytes more for each command's number.
 */
#include <inttypes.h>
#include <stdbool.h>
#include <string.h>

#include "bytes.h"
#include "walk.h"

#define HEAD_LEN 8
#define COMMANDS_MIN 2
#define STRUCTURE_MAX 40

/* The length of the command at `at` with its length, or 0. */
static uint32_t command_len(struct view *view, uint64_t at, bool encrypted)
{
	const uint8_t *p = view_peek(view, at, 3);
	uint32_t len = p ? le16(p) : 0;

	if (len < 2)
		return 0;
	if (encrypted)
		return len + 2;
	p = len >= 5 ? view_peek(view, at + 3, 4) : NULL;
	if (p && le32(p) == len - 5)
		return len + 2;
	return (len - 1) % 4 == 0 && len - 1 <= STRUCTURE_MAX ? len + 2 : 0;
}

static enum verdict check(struct view *view, struct finding *finding)
{
	const uint8_t *p = view_peek(view, 0, HEAD_LEN);
	uint64_t at = HEAD_LEN, size = view_size(view), commands = 0;
	uint32_t len, version = p ? le32(p + 4) : 0;

	if (!p || memcmp(p, "SNSS", 4) != 0 || version - 1 > 3)
		return verdict_because(CARVE_REJECT, finding, "no header at 0");
	for (; (len = command_len(view, at, version % 2 == 0)) && at + len <= size; commands++)
		at += len;
	if (commands < COMMANDS_MIN)
		return verdict_because(CARVE_REJECT, finding, "no command at %" PRIu64, at);
	return walk_uncounted(view, finding, HEAD_LEN, at, len, "command");
}

const struct carver snss_carver = {
	.name = "snss",
	.summary = "sessions and tabs of Chrome, by their commands",
	.check = check,
};
