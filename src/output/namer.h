/* Makes up the names of carved files for the sink, the same in every run. Serial. */
#ifndef BURIN_OUTPUT_NAMER_H
#define BURIN_OUTPUT_NAMER_H

#include <stdint.h>

struct namer;

/* Never NULL. */
struct namer *namer_new(void);
/* As sink_name. */
char *namer_name(struct namer *namer, const char *type, uint64_t offset, const char *label,
	const char *extension, unsigned digits);
/* As sink_reserve. */
void namer_reserve(struct namer *namer, const char *name);
/* NULL is fine. */
void namer_free(struct namer *namer);

#endif
