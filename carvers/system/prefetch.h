/* What the files of the carver of prefetch files share. */
#ifndef BURIN_CARVERS_SYSTEM_PREFETCH_H
#define BURIN_CARVERS_SYSTEM_PREFETCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "carver.h"

#define PREFETCH_HEADER_LEN 84
#define PREFETCH_INFO_LEN 68 /* the part that is needed */
#define PREFETCH_TRACE_LEN 12

/* Where the sections of a plain file are. */
struct prefetch_sections {
	uint32_t len, version;
	uint32_t metrics, metric_count, traces, trace_count;
	uint32_t names, names_len, volumes, volume_count, volumes_len;
};

/* Reads header and information from their first bytes (PREFETCH_HEADER_LEN + PREFETCH_INFO_LEN): what is wrong, or NULL. */
const char *prefetch_read_sections(const uint8_t *bytes, struct prefetch_sections *sections);
/* The length of a metric, and where its name is in it. */
uint32_t prefetch_metric_len(const struct prefetch_sections *sections);
uint32_t prefetch_name_at(const struct prefetch_sections *sections);

/* Which pages of a plain file belong together. */
extern const struct carve_pages prefetch_pages;

#endif
