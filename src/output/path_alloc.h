/* Makes up the names of carved files for the sink, the same in every run. Serial. */
#ifndef BURIN_OUTPUT_PATH_ALLOC_H
#define BURIN_OUTPUT_PATH_ALLOC_H

#include <stdint.h>

#include "base/codec.h"

struct namer;

/* Never NULL. */
struct namer *namer_new(void);
/* As sink_name. */
char *namer_name(struct namer *namer, const char *type, uint64_t offset, const char *label,
	const char *extension, unsigned digits);
/* As sink_reserve. */
void namer_reserve(struct namer *namer, const char *name);
void namer_save(const struct namer *namer, struct state_writer *writer);
/* Into a new one. */
void namer_load(struct namer *namer, struct state_reader *reader);
/* NULL is fine. */
void namer_free(struct namer *namer);

#endif
