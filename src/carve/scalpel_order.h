/*
 * What `--compat scalpel` needs beyond pairing: Scalpel 1.60 carves rule by rule, so candidates
 * are collected until the scan is over, and its Chop column depends on which footers it happened
 * to record.
 */
#ifndef BURIN_CARVE_SCALPEL_ORDER_H
#define BURIN_CARVE_SCALPEL_ORDER_H

#include "carve/pair.h"

struct scalpel_order;

/* Error (EXIT_USAGE) when a rule uses what Scalpel does not have (a carver, a length field, must,
 * ...). The rules and the store stay the caller's. */
int scalpel_order_new(struct scalpel_order **order, const struct rules *rules,
	struct fifo_store *store, struct error *error);
/* Every hit, in order. */
void scalpel_order_hit(struct scalpel_order *order, uint64_t offset, uint32_t pattern);
/* A candidate, in order of start. */
void scalpel_order_add(struct scalpel_order *order, const struct candidate *candidate);
/* After the last of both: candidates by rule, and by start within one. False at the end. */
bool scalpel_order_next(struct scalpel_order *order, struct candidate *candidate);
/* Candidates that are queued. */
uint64_t scalpel_order_pending(const struct scalpel_order *order);
/* For a checkpoint. */
void scalpel_order_save(struct scalpel_order *order, struct codec_writer *writer);
/* Into a new one of the same rules. limit: the image's size. */
void scalpel_order_load(struct scalpel_order *order, uint64_t limit, struct codec_reader *reader);
/* NULL is fine. */
void scalpel_order_free(struct scalpel_order *order);

#endif
