#include "scan/scan.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

extern const struct scan_engine gpu_engine;        /* gpu/scan_cuda.cu or gpu/none.c */
extern const struct scan_engine cpu_engine;        /* cpu_engine.c */
extern const struct scan_engine vectorscan_engine; /* vectorscan.c */
extern const struct scan_engine reference_engine;  /* reference.c */

const struct scan_engine *const scan_engines[] = {
	&gpu_engine,
	&cpu_engine,
	&vectorscan_engine,
	&reference_engine,
	NULL,
};

/* gpu/papers/cpu_engines.c, ended by NULL. */
extern const struct scan_engine *const scan_paper_engines[];

const struct scan_engine *scan_engine_at(unsigned number)
{
	const struct scan_engine *const *row = scan_engines;

	for (; *row && number; row++)
		number--;
	if (*row)
		return *row;
	for (row = scan_paper_engines; *row && number; row++)
		number--;
	return *row;
}

const struct scan_engine *scan_engine_find(const char *name)
{
	const struct scan_engine *engine;

	for (unsigned i = 0; (engine = scan_engine_at(i)); i++)
		if (strcmp(engine->name, name) == 0)
			return engine;
	return NULL;
}

/* Appends to text, which holds len bytes with the zero, as much as fits. */
static void append(char *text, size_t len, const char *before, const char *name, const char *what)
{
	size_t used = strnlen(text, len);

	if (used < len)
		snprintf(text + used, len - used, "%s%s%s%s", used ? before : "", name,
			*what ? ": " : "", what);
}

static const struct scan_engine *pick_first(char *reason, size_t len, struct error *error)
{
	char why[256];

	for (const struct scan_engine *const *engine = scan_engines; *engine; engine++) {
		why[0] = '\0';
		if ((*engine)->probe(why, sizeof(why)) == 0) {
			append(reason, len, "; ", (*engine)->name, "first that works");
			return *engine;
		}
		append(reason, len, "; ", (*engine)->name, why);
	}
	error_set(error, EXIT_NO_ENGINE, ENODEV, "no engine works on this machine: %s", reason);
	return NULL;
}

static const struct scan_engine *pick_named(
	const char *name, char *reason, size_t len, struct error *error)
{
	const struct scan_engine *engine = scan_engine_find(name);
	char why[256] = "";

	if (!engine && strcmp(name, "hyperscan") == 0) {
		error_set(error, EXIT_USAGE, EINVAL,
			"there is no engine 'hyperscan' any more: its name is cpu, because burin's "
			"own matchers do its work; Vectorscan alone is the engine vectorscan");
		return NULL;
	}
	if (!engine) {
		char known[256] = "";

		for (const struct scan_engine *const *e = scan_engines; *e; e++)
			append(known, sizeof(known), ", ", (*e)->name, "");
		error_set(error, EXIT_USAGE, EINVAL,
			"there is no engine '%s': known are auto, %s, and those of `burin list "
			"engines --all`",
			name, known);
		return NULL;
	}
	if (engine->probe(why, sizeof(why)) != 0) {
		error_set(error, EXIT_NO_ENGINE, ENODEV,
			"the engine '%s' is not usable on this machine: %s; leave out --engine to "
			"get the best that is",
			name, why);
		return NULL;
	}
	append(reason, len, "; ", name, "asked for");
	return engine;
}

const struct scan_engine *scan_engine_pick(
	const char *name, char *reason, size_t len, struct error *error)
{
	if (len)
		reason[0] = '\0';
	if (!name || strcmp(name, "auto") == 0)
		return pick_first(reason, len, error);
	return pick_named(name, reason, len, error);
}
