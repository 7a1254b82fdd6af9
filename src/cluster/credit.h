/* How much of what a helper has sent may be unused: what both sides must agree on. */
#ifndef BURIN_CLUSTER_CREDIT_H
#define BURIN_CLUSTER_CREDIT_H

#include <stdbool.h>
#include <stddef.h>

#define CREDIT_LEN ((size_t)2 << 20)
/* So a helper whose units hold nothing is ahead by some dozens of them at most. */
#define CREDIT_UNIT ((size_t)1 << 15)

/* What a piece takes of it; len: bytes of the message. */
static inline size_t credit_of(size_t len, bool ends_unit)
{
	return len + (ends_unit ? CREDIT_UNIT : 0);
}

#endif
