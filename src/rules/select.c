/* Selects rules by their types, and keeps only the patterns that those use. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "rules/load.h"

/* Moves the patterns of one list to the new set and renumbers the list. moved: the new index of
 * each old one, or UINT32_MAX. */
static void move_patterns(struct pattern_set *from, struct pattern_set *to, uint32_t *moved,
	uint32_t *list, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++) {
		uint32_t old = list[i];

		if (moved[old] == UINT32_MAX)
			moved[old] = pattern_set_add(to, &from->patterns[old]);
		list[i] = moved[old];
	}
}

/* Numbers the patterns as if the remaining rules had been read alone. */
static void renumber_patterns(struct rules *rules)
{
	struct pattern_set set = { 0 };
	uint32_t *moved = xmalloc(rules->patterns.count * sizeof(*moved));

	memset(moved, 0xff, rules->patterns.count * sizeof(*moved));
	for (uint32_t i = 0; i < rules->count; i++) {
		struct rule *rule = &rules->rules[i];

		move_patterns(&rules->patterns, &set, moved, rule->headers, rule->header_count);
		move_patterns(&rules->patterns, &set, moved, rule->footers, rule->footer_count);
	}
	free(moved);
	pattern_set_free(&rules->patterns);
	rules->patterns = set;
}

/* Drops the notes about rules that are gone. Rules are kept or dropped by name, so comparing names
 * is enough. */
static void drop_notes(struct rules *rules)
{
	struct lint *notes = rules->notes;
	size_t kept = 0;

	for (size_t n = 0; n < notes->count; n++) {
		struct lint_message *message = &notes->messages[n];
		bool stays = !message->rule;

		for (uint32_t i = 0; i < rules->count && !stays; i++)
			stays = strcmp(rules->rules[i].name, message->rule) == 0;
		if (stays) {
			notes->messages[kept++] = *message;
		} else {
			free(message->rule);
			free(message->text);
		}
	}
	notes->count = kept;
}

int rules_select(struct rules *rules, char *const *names, size_t count, bool sets,
	const char *where, struct error *error)
{
	bool *stays = xcalloc(rules->count, sizeof(*stays));
	int status = choice_mark(rules, names, count, sets, where, stays, error);
	uint32_t kept = 0;

	for (uint32_t i = 0; i < rules->count && !status; i++)
		kept += stays[i];
	if (!status && !kept)
		status = error_set(error, EXIT_USAGE, EINVAL, "%s: this leaves no rule of %s",
			where, rules->path);
	if (!status) {
		kept = 0;
		for (uint32_t i = 0; i < rules->count; i++) {
			if (stays[i])
				rules->rules[kept++] = rules->rules[i];
			else
				rule_free(&rules->rules[i]);
		}
		rules->count = kept;
		renumber_patterns(rules);
		drop_notes(rules);
	}
	free(stays);
	return status;
}
