/* How much of what a worker has sent may be unused: both sides must agree on it. */
#ifndef BURIN_CLUSTER_CREDIT_H
#define BURIN_CLUSTER_CREDIT_H

#include <stdbool.h>
#include <stddef.h>

#define CREDIT_LEN ((size_t)2 << 20)
/* What the end of a unit costs: a worker whose units are empty gets a few dozen ahead at most. */
#define CREDIT_UNIT ((size_t)1 << 15)

/* What a result costs; len: bytes of the message. */
static inline size_t credit_of(size_t len, bool ends_unit)
{
	return len + (ends_unit ? CREDIT_UNIT : 0);
}

#endif
