#include "code_tail.h"

#include <string.h>

#define SYMBOL_WORK 6 /* units */

bool code_tail_read(struct code_tail *tail, struct view *view, uint64_t bit)
{
	const uint8_t *p;

	tail->bit = bit % 8;
	tail->len = (size_t)(view_size(view) - bit / 8);
	p = view_peek(view, bit / 8, tail->len);
	if (p)
		memcpy(tail->bytes, p, tail->len);
	return p;
}

unsigned code_tail_ask(const struct code_tail *tail, const struct evenness *evenness,
	const struct habits *habits, code_tail_decode *decode, const void *broken,
	const uint8_t *bytes, size_t len, uint64_t *work)
{
	uint8_t all[CODE_TAIL_MAX + CARVE_CODES_LEN];
	struct habits_trial trial;
	uint32_t symbols = 0;
	bool may_be;

	*work = 0;
	if (len > CARVE_CODES_LEN)
		len = CARVE_CODES_LEN;
	if (evenness_refuses(evenness, bytes, len))
		return 0;
	memcpy(all, tail->bytes, tail->len);
	memcpy(all + tail->len, bytes, len);
	habits_trial_begin(&trial, habits);
	may_be = decode(broken, all, tail->len + len, &trial, &symbols);
	*work = (uint64_t)symbols * SYMBOL_WORK;
	return may_be ? habits_trial_bits(&trial) : 0;
}
