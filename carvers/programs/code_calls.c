/*
 * Code is any bytes, but what it calls are functions. A call of x86 and x64 (E8, with the distance) in bytes of another
 * program leads to anywhere in this one, or out of it. Functions begin at multiples of 16, or after the end of another one, or
 * after padding; an import's jump (FF 25) is one, too.
 *
 * Of 20,030 sectors of 100 ELF files and 1,642 of 100 PE files with at least four calls into the code elsewhere, in 2 fewer than a
 * third led to such places; of 65 clusters of 4,096 bytes from another program most had about a tenth (tests/bench/RESULTS.md).
 * Sectors of text, of one byte or of random bytes were in none of them, but tables are, seldom: more than one
 * sector is needed, and such sectors must be few.
 */
#include "code_calls.h"

#include <stdint.h>
#include <string.h>

#include "bytes.h"
#include "walk.h"

#define CALL 0xe8
#define CALL_LEN 5
#define BEFORE 5           /* bytes that are looked at before where a function may begin... */
#define AFTER 2            /* ...and from there on */
#define CALLS_MIN 4        /* that show something */
#define STARTS 3           /* one in as many of them, at least, leads to a function */
#define GROUP 8            /* sectors: one cluster, as which they are also judged */
#define ODD_MIN 2          /* sectors of something else... */
#define ODD_SHARE 2        /* ...which are one in as many, at most */
#define HALF 256           /* bytes: of as many random ones about 162 are different, */
#define NOISE_DISTINCT 140 /* and hardly ever fewer than that */

struct code {
	struct view *view;
	const struct code_part *parts;
	size_t count;
	bool is_x86;
};

/* Calls of some bytes that lead to other places in the code. */
struct calls {
	unsigned all, starts;
	uint64_t first; /* of the places in the file where no function begins */
};

/* Where an address is in the file. */
static bool find_address(const struct code *code, uint64_t address, uint64_t *at)
{
	for (size_t i = 0; i < code->count; i++) {
		const struct code_part *part = &code->parts[i];

		if (address >= part->address && address - part->address < part->len) {
			*at = part->at + (address - part->address);
			return true;
		}
	}
	return false;
}

/* Whether a function may begin after BEFORE bytes of p. */
static bool is_start(const uint8_t *p, uint64_t address)
{
	uint8_t last = p[BEFORE - 1];

	return address % 16 == 0 || last == 0xcc || last == 0x90 || last == 0xc3 || last == 0xcb ||
	       last == 0 || p[BEFORE - 3] == 0xc2 || p[BEFORE - 2] == 0xeb ||
	       p[BEFORE - 5] == 0xe8 || p[BEFORE - 5] == 0xe9 ||
	       (p[BEFORE] == 0xff && p[BEFORE + 1] == 0x25);
}

/* Adds the calls of a sector, at `at`. */
static void add_calls(const struct code *code, const struct code_part *part, uint64_t at,
	const uint8_t *sector, struct calls *calls)
{
	uint64_t seen = view_size(code->view);
	uint8_t bytes[SECTOR];

	memcpy(bytes, sector, SECTOR);
	for (size_t i = 0; i + CALL_LEN <= SECTOR; i++) {
		uint64_t to, address;
		const uint8_t *p;

		if (bytes[i] != CALL)
			continue;
		address = part->address + (at - part->at) + i + CALL_LEN +
			  (uint64_t)(int64_t)(int32_t)le32(bytes + i + 1);
		if (!find_address(code, address, &to) || to - at < SECTOR || to < BEFORE ||
			to + AFTER > seen)
			continue;
		p = view_peek(code->view, to - BEFORE, BEFORE + AFTER);
		if (!p)
			return;
		calls->all++;
		if (is_start(p, address))
			calls->starts++;
		else if (to < calls->first)
			calls->first = to;
	}
}

static bool is_text(const uint8_t *p)
{
	for (size_t i = 0; i < SECTOR; i++)
		if ((p[i] < ' ' && p[i] != '\t' && p[i] != '\r' && p[i] != '\n') || p[i] > '~')
			return false;
	return true;
}

static bool is_noise(const uint8_t *p)
{
	for (size_t half = 0; half < SECTOR; half += HALF) {
		bool seen[256] = { false };
		unsigned distinct = 0;

		for (size_t i = 0; i < HALF; i++) {
			distinct += !seen[p[half + i]];
			seen[p[half + i]] = true;
		}
		if (distinct < NOISE_DISTINCT)
			return false;
	}
	return true;
}

static bool is_odd(const uint8_t *p)
{
	return memcmp(p, p + 1, SECTOR - 1) == 0 || is_text(p) || is_noise(p);
}

static struct calls no_calls(void)
{
	return (struct calls){ .first = UINT64_MAX };
}

/* If these calls, of bytes that begin at `at`, are wrong: another file's bytes are those, or some of the places. Either begin at
 * *wrong_at or before that. */
static void judge(const struct calls *calls, uint64_t at, uint64_t *wrong_at)
{
	uint64_t first = calls->first / SECTOR * SECTOR, latest = first > at ? first : at;

	if (calls->all >= CALLS_MIN && calls->starts * STARTS < calls->all && latest < *wrong_at)
		*wrong_at = latest;
}

/* *wrong_at becomes less where a part has something else. */
static void judge_part(const struct code *code, const struct code_part *part, uint64_t *wrong_at)
{
	uint64_t from = (part->at + SECTOR - 1) / SECTOR * SECTOR, end = part->at + part->len;
	uint64_t odd = 0, run = 0, longest = 0, odd_at = 0, group_at = from;
	struct calls group = no_calls();

	for (uint64_t at = from; at + SECTOR <= end; at += SECTOR) {
		const uint8_t *p = view_peek(code->view, at, SECTOR);
		struct calls calls = no_calls();

		if (!p)
			break;
		if (at / SECTOR % GROUP == 0) {
			group = no_calls();
			group_at = at;
		}
		run = is_odd(p) ? run + 1 : 0;
		odd += run > 0;
		if (run > longest) {
			longest = run;
			odd_at = at + SECTOR - run * SECTOR;
		}
		if (!code->is_x86 || run)
			continue;
		add_calls(code, part, at, p, &calls);
		judge(&calls, at, wrong_at);
		group.all += calls.all;
		group.starts += calls.starts;
		group.first = calls.first < group.first ? calls.first : group.first;
		judge(&group, group_at, wrong_at);
	}
	if (longest >= ODD_MIN && odd * ODD_SHARE * SECTOR <= end - from && odd_at < *wrong_at)
		*wrong_at = odd_at;
}

bool code_calls_fit(struct view *view, const struct code_part *parts, size_t count, bool is_x86,
	uint64_t *wrong_at)
{
	const struct code code = { view, parts, count, is_x86 };

	*wrong_at = UINT64_MAX;
	for (size_t i = 0; i < count; i++)
		judge_part(&code, &parts[i], wrong_at);
	return *wrong_at == UINT64_MAX;
}
