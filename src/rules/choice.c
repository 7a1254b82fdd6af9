/*
 * What people call the files that they want. In order, the first that exists:
 *
 *	a type, by its rule's name: all that the rule finds
 *	an extension: that of a rule, or of a kind of file that a rule's carver distinguishes by content
 *	(docx: ZIP archives, but only those); both, if both exist
 *	a set: the rule file NAME.conf in the folder of the one that is used, as `pictures`
 *
 * A set's own file cannot name sets, or they could name each other without end. Case does not matter. A name with '-' leaves the same out; without any other name, all else stays.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "base/memory.h"
#include "base/suggest.h"
#include "rules/load.h"

struct choice {
	struct rules *rules;
	const char *where;
	bool sets; /* names of sets are allowed */
	struct error *error;
};

static bool same(const char *a, const char *b)
{
	return strcasecmp(a, b) == 0;
}

/* Switches everything that the rule finds. */
static void switch_rule(struct choice *choice, uint32_t index, bool on)
{
	struct rule *rule = &choice->rules->rules[index];

	for (uint32_t k = 0; k <= rule->kind_count; k++)
		rule->kinds_off[k] = !on;
}

static void switch_kind(struct choice *choice, uint32_t index, uint32_t kind, bool on)
{
	choice->rules->rules[index].kinds_off[kind] = !on;
}

static bool switch_types(struct choice *choice, const char *name, bool on)
{
	bool found = false;

	for (uint32_t i = 0; i < choice->rules->count; i++) {
		if (!same(choice->rules->rules[i].name, name))
			continue;
		switch_rule(choice, i, on);
		found = true;
	}
	return found;
}

/* A rule's extension selects all that the rule finds: jpg for jpeg. */
static bool switch_extensions(struct choice *choice, const char *name, bool on)
{
	bool found = false;

	for (uint32_t i = 0; i < choice->rules->count; i++) {
		struct rule *rule = &choice->rules->rules[i];

		if (same(rule->extension, name)) {
			switch_rule(choice, i, on);
			found = true;
			continue;
		}
		for (uint32_t k = 0; k < rule->kind_count; k++)
			if (same(rule->kinds[k], name)) {
				switch_kind(choice, i, k, on);
				found = true;
			}
	}
	return found;
}

/* Switches what the set's rule of this name takes. */
static void switch_like(struct choice *choice, const struct rule *other, bool on)
{
	for (uint32_t i = 0; i < choice->rules->count; i++) {
		struct rule *rule = &choice->rules->rules[i];

		if (strcmp(rule->name, other->name) != 0)
			continue;
		if (!other->kinds_off) {
			switch_rule(choice, i, on);
			continue;
		}
		for (uint32_t k = 0; k <= rule->kind_count; k++)
			if (rule_takes(other, k < rule->kind_count ? rule->kinds[k] : NULL))
				switch_kind(choice, i, k, on);
	}
}

/* The path of the set's file; NULL when there is none. The caller frees it. */
static char *set_path(const struct choice *choice, const char *name)
{
	const char *slash = strrchr(choice->rules->path, '/');
	size_t len = slash ? (size_t)(slash - choice->rules->path) + 1 : 0;
	char lower[RULE_NAME_MAX + 1] = "";
	char *path;

	if (!rule_name_valid(name))
		return NULL;
	for (size_t i = 0; name[i]; i++)
		lower[i] = name[i] >= 'A' && name[i] <= 'Z' ? (char)(name[i] + 32) : name[i];
	path = xasprintf("%.*s%s.conf", (int)len, choice->rules->path, lower);
	if (access(path, R_OK) == 0 && strcmp(path, choice->rules->path) != 0)
		return path;
	free(path);
	return NULL;
}

/* 1: done; 0: there is no such set; -EINVAL: it cannot be read. */
static int switch_set(struct choice *choice, const char *name, bool on)
{
	char *path = set_path(choice, name);
	struct rules *set = NULL;
	int status;

	if (!path)
		return 0;
	status = rules_load(&set, path, RULES_AUTO, NULL, choice->error);
	free(path);
	if (status)
		return status;
	for (uint32_t i = 0; i < set->count; i++)
		switch_like(choice, &set->rules[i], on);
	rules_free(set);
	return 1;
}

static void add_known(const char **known, size_t *count, const char *name)
{
	for (size_t at = 0; at < *count; at++)
		if (strcmp(known[at], name) == 0)
			return;
	known[(*count)++] = name;
}

static int refuse_unknown(const struct choice *choice, const char *name)
{
	const struct rules *rules = choice->rules;
	const char **known = xcalloc(rules->count, sizeof(*known));
	size_t known_count = 0;
	char *advice;

	for (uint32_t i = 0; i < rules->count; i++)
		add_known(known, &known_count, rules->rules[i].name);
	advice = suggest_names(name, known, known_count);
	error_set(choice->error, EXIT_USAGE, EINVAL, "%s: there is no type '%s' in %s; %s",
		choice->where, name, rules->path, advice);
	free(advice);
	free(known);
	return -EINVAL;
}

/* "all", as Foremost's users write it. */
static bool switch_all(struct choice *choice, const char *name, bool on)
{
	if (!on || !same(name, "all"))
		return false;
	for (uint32_t i = 0; i < choice->rules->count; i++)
		switch_rule(choice, i, true);
	return true;
}

static int apply_name(struct choice *choice, const char *name, bool on)
{
	int status;

	if (switch_types(choice, name, on) || switch_extensions(choice, name, on) ||
		switch_all(choice, name, on))
		return 0;
	status = choice->sets ? switch_set(choice, name, on) : 0;
	return status ? (status < 0 ? status : 0) : refuse_unknown(choice, name);
}

static size_t count_on(const struct choice *choice)
{
	size_t count = 0;

	for (uint32_t i = 0; i < choice->rules->count; i++)
		for (uint32_t k = 0; k <= choice->rules->rules[i].kind_count; k++)
			count += !choice->rules->rules[i].kinds_off[k];
	return count;
}

/* For a name with '-' among others without: -pdf,html was meant to be -pdf,-html. */
static int leave_out_of_kept(struct choice *choice, const char *name)
{
	size_t before = count_on(choice);
	int status = apply_name(choice, name, false);

	if (!status && count_on(choice) == before)
		status = error_set(choice->error, EXIT_USAGE, EINVAL,
			"%s: '-%s' leaves nothing out of what the other names choose; "
			"put '-' before each name to keep all but these",
			choice->where, name);
	return status;
}

/* Begins with the rule as if nothing (on: everything) had been selected. Returns what an earlier selection
 * left out. */
static bool *begin_rule(struct rule *rule, bool on)
{
	bool *before = rule->kinds_off;

	rule->kinds_off = xcalloc((size_t)rule->kind_count + 1, sizeof(*rule->kinds_off));
	for (uint32_t k = 0; !on && k <= rule->kind_count; k++)
		rule->kinds_off[k] = true;
	return before;
}

/* Leaves out what was left out before, drops the list of a rule that takes everything, and rules that take
 * nothing. */
static void settle(struct choice *choice, bool **before, bool *stays)
{
	for (uint32_t i = 0; i < choice->rules->count; i++) {
		struct rule *rule = &choice->rules->rules[i];
		uint32_t off = 0;

		for (uint32_t k = 0; k <= rule->kind_count; k++) {
			rule->kinds_off[k] |= before[i] && before[i][k];
			off += rule->kinds_off[k];
		}
		free(before[i]);
		stays[i] = off <= rule->kind_count;
		if (off)
			continue;
		free(rule->kinds_off);
		rule->kinds_off = NULL;
	}
}

int choice_mark(struct rules *rules, char *const *names, size_t count, bool sets, const char *where,
	bool *stays, struct error *error)
{
	struct choice choice = { .rules = rules, .where = where, .sets = sets, .error = error };
	bool **before = xcalloc(rules->count, sizeof(*before)), any_kept = false;
	int status = 0;

	for (size_t n = 0; n < count; n++)
		any_kept |= names[n][0] != '-';
	for (uint32_t i = 0; i < rules->count; i++)
		before[i] = begin_rule(&rules->rules[i], !any_kept);
	for (size_t n = 0; n < count && !status; n++)
		if (names[n][0] != '-')
			status = apply_name(&choice, names[n], true);
	for (size_t n = 0; n < count && !status; n++)
		if (names[n][0] == '-')
			status = any_kept ? leave_out_of_kept(&choice, names[n] + 1)
					  : apply_name(&choice, names[n] + 1, false);
	settle(&choice, before, stays);
	free(before);
	return status;
}
