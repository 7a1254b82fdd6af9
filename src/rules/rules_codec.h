/* Of a rule set, what checks use: for a process that checks and reads no rules itself. */
#ifndef BURIN_RULES_RULES_CODEC_H
#define BURIN_RULES_RULES_CODEC_H

#include "base/codec.h"
#include "rules/rules.h"

/* Adds what checks use of the rules. */
void rules_save_checks(const struct rules *rules, struct codec_writer *writer);
/* Into zeros: indexes of rules and patterns are those of the set, but it has no patterns. Its memory
 * is the process's. Invalid values fail the reader. */
void rules_load_checks(struct rules *rules, struct codec_reader *reader);

#endif
