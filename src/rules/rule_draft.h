/* A rule in burin's own format while it is being read: the settings of one type (libconfig.c). */
#ifndef BURIN_RULES_RULE_DRAFT_H
#define BURIN_RULES_RULE_DRAFT_H

#include "rules/setting.h"

/* Zero-initialise; rule_draft_free when done. */
struct rule_draft {
	struct rule rule;
	struct pattern *headers, *footers;
	size_t header_count, header_capacity, footer_count, footer_capacity;
};

/* Reads a type's settings; does not check that all required ones are present. Returns 0, or -EINVAL
 * with the error set. */
int rule_draft_read(
	struct rule_draft *draft, struct setting_reader *r, const config_setting_t *group);
void rule_draft_free(struct rule_draft *draft);

#endif
