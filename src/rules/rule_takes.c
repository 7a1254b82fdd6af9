/* Apart from what reads rules, which checks do without. */
#include <string.h>

#include "rules/rules.h"

bool rule_takes(const struct rule *rule, const char *extension)
{
	if (!rule->kinds_off)
		return true;
	for (uint32_t i = 0; extension && i < rule->kind_count; i++)
		if (strcmp(rule->kinds[i], extension) == 0)
			return !rule->kinds_off[i];
	return !rule->kinds_off[rule->kind_count];
}
