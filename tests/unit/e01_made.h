/* E01 sets for tests: made with ewfacquire, found again, damaged byte by byte. */
#ifndef BURIN_TESTS_E01_MADE_H
#define BURIN_TESTS_E01_MADE_H

#include <criterion/criterion.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/endian.h"
#include "base/log.h"
#include "evidence/e01_sections.h"
#include "image_case.h"

static void e01_begin(void)
{
	log_set_level(LOG_ERROR);
	temp_make();
}

/* Blocks of 20 KiB: noise, zeros, text, one byte, in turns. */
static __attribute__((unused)) void e01_fill(uint8_t *bytes, size_t len, uint64_t seed)
{
	size_t first = seed % 5;

	for (size_t i = 0; i < len; i++) {
		size_t kind = (i / 4096 / 5 + first) % 5;

		seed = seed * 6364136223846793005u + 1442695040888963407u;
		bytes[i] = kind == 0   ? (uint8_t)(seed >> 56)
			   : kind == 1 ? 0
			   : kind == 2 ? "the quick brown fox "[i % 20]
			   : kind == 3 ? 0xff
				       : (uint8_t)('a' + (seed >> 60));
	}
}

/* Acquires the file `raw` as the set NAME with ewfacquire's options, and returns the path of the
 * first segment. */
static __attribute__((unused)) const char *e01_acquire(
	const char *raw, const char *name, const char *options)
{
	static const char *const extensions[] = { "E01", "e01", "s01" };
	char command[8192];

	snprintf(command, sizeof(command), "ewfacquire -u -q %s -t %s %s >%s 2>&1", options,
		temp_at(name), temp_at(raw), temp_at("log"));
	cr_assert_eq(system(command), 0, "%s: %s", command, temp_read("log", NULL));
	for (size_t i = 0; i < 3; i++) {
		char file[64];

		snprintf(file, sizeof(file), "%s.%s", name, extensions[i]);
		if (access(temp_at(file), F_OK) == 0)
			return temp_at(file);
	}
	cr_assert_fail("%s made no segment", command);
	return NULL;
}

/* The file's sections, found by following the chain of a good file. */
struct e01_layout {
	struct e01_section sections[64];
	size_t count;
};

/* The section of the type; NULL when there is none. */
static __attribute__((unused)) const struct e01_section *e01_find(
	const struct e01_layout *layout, const char *type)
{
	for (size_t i = 0; i < layout->count; i++)
		if (!strcmp(layout->sections[i].type, type))
			return &layout->sections[i];
	return NULL;
}

/* file: all its bytes. */
static __attribute__((unused)) struct e01_layout e01_lay_out(const uint8_t *file, size_t len)
{
	struct e01_layout layout = { .count = 0 };
	uint64_t at = E01_FILE_HEAD_LEN, next = at;

	do {
		struct e01_section *section = &layout.sections[layout.count++];

		at = next;
		cr_assert_leq(at + E01_SECTION_HEAD_LEN, len);
		next = endian_u64(file + at + 16);
		memcpy(section->type, file + at, 16);
		section->offset = at;
		section->len = next > at ? next - at : E01_SECTION_HEAD_LEN;
		if (!strcmp(section->type, "next") || !strcmp(section->type, "done"))
			break;
	} while (layout.count < 64);
	return layout;
}

#endif
