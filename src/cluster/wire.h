/* What candidates, outcomes and files look like in messages. */
#ifndef BURIN_CLUSTER_WIRE_H
#define BURIN_CLUSTER_WIRE_H

#include "carve/check.h"
#include "cluster/pack.h"
#include "report/record.h"

void wire_put_candidate(struct pack *pack, const struct candidate *candidate);
void wire_get_candidate(struct unpack *unpack, struct candidate *candidate);

void wire_put_outcome(struct pack *pack, const struct outcome *outcome);
/* keep: gives an extension that lives as long as the run. outcome_free must follow. */
void wire_get_outcome(
	struct unpack *unpack, struct outcome *outcome, const char *(*keep)(const char *text));

/* What is needed to write it: its path and runs. */
void wire_put_file(struct pack *pack, const struct file_record *record);
/* Allocates both. */
void wire_get_file(struct unpack *unpack, struct file_record *record);
/* What is known once it is written: hashes and unreadable bytes. */
void wire_put_written(struct pack *pack, const struct file_record *record);
void wire_get_written(struct unpack *unpack, struct file_record *record);

#endif
