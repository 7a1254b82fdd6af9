/*
 * Two models. One has the strings of a few bytes that the text has, and those that any texts around it have: by them clusters of
 * it are told from others'. The other is that of data compression, prediction by partial matching with the escapes of Witten and
 * Bell (The zero-frequency problem, IEEE Transactions on Information Theory 37, 1991, method C), all contexts of one
 * byte blended: how many bits the first bytes after a joint take, with and without those before it. What they are fewer with
 * them speaks for the joint. Tables are hashed, so what is rare may be confused.
 */
#include "assemble/text_model.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "assemble/fine_log.h"
#include "base/memory.h"

#define STRING 5 /* bytes of the strings */
#define STRINGS_BITS 18
#define SHORT 3 /* the same near a joint */
#define SHORT_BITS 13
#define STRINGS ((size_t)1 << STRINGS_BITS)
#define SLOTS_BITS 20
#define SLOTS ((size_t)1 << SLOTS_BITS)
#define ONE ((uint64_t)1 << 32) /* probability 1 */
#define TIMES 0x9e3779b97f4a7c15U

struct context {
	uint16_t count, kinds; /* bytes that were seen after it, and different ones */
};

struct text_model {
	uint16_t strings[TEXT_STRINGS][STRINGS];
	uint64_t counts[TEXT_STRINGS]; /* of all of them */
	uint16_t after[SLOTS];         /* how often a byte was seen after a context */
	struct context contexts[SLOTS];
};

struct text_model *text_model_new(void)
{
	return xcalloc(1, sizeof(struct text_model));
}

void text_model_forget(struct text_model *model, enum text_strings which)
{
	memset(model->strings[which], 0, sizeof(model->strings[which]));
	model->counts[which] = 0;
}

void text_model_free(struct text_model *model)
{
	free(model);
}

/* ---- strings ------------------------------------------------------------------------------- */

static uint64_t string_at(const uint8_t *bytes, unsigned len)
{
	uint64_t value = 0;

	for (unsigned i = 0; i < len; i++)
		value = value << 8 | bytes[i];
	return value * TIMES;
}

static size_t string_slot(const uint8_t *bytes)
{
	return (size_t)(string_at(bytes, STRING) >> (64 - STRINGS_BITS));
}

/* Half of what is expected is as in the other: so what is new speaks against it by a bit at most. */
static int64_t string_bits(const struct text_model *model, enum text_strings which,
	enum text_strings other, size_t slot, unsigned less)
{
	uint64_t own = model->strings[which][slot], times;

	if (own <= less)
		return -FINE_LOG_BIT;
	times = 64 * (own - less) * (model->counts[other] + 1) /
		((model->counts[which] + 1) * ((uint64_t)model->strings[other][slot] + 1));
	return fine_log(64 + times) - fine_log(128);
}

void text_model_compare(const struct text_model *model, enum text_strings which,
	enum text_strings other, const uint8_t *bytes, size_t len, size_t step, bool was_learnt,
	int64_t *bits)
{
	int64_t sum = 0;
	size_t steps = 0;

	for (size_t i = 0; i < len; i++) {
		if (i % STRING == 0 && i + STRING <= len)
			sum += string_bits(model, which, other, string_slot(bytes + i), was_learnt);
		if ((i + 1) % step == 0 || i + 1 == len)
			bits[steps++] = sum;
	}
}

static size_t short_slot(const uint8_t *bytes)
{
	return (size_t)(string_at(bytes, SHORT) >> (64 - SHORT_BITS));
}

/* Counts strings that one side has, itself aside, and of those of the other side. */
static void count_known(
	const uint8_t *bytes, size_t count, const uint8_t *own, const uint8_t *other, int *balance)
{
	for (size_t i = 0; i < count; i++) {
		size_t slot = short_slot(bytes + i);

		*balance += (own[slot] > 1) - (other[slot] > 0);
	}
}

int text_model_change(const uint8_t *left, const uint8_t *right, size_t len)
{
	uint8_t sides[2][(size_t)1 << SHORT_BITS] = { 0 };
	size_t count = len < SHORT ? 0 : len - SHORT + 1;
	int balance = 0;

	left -= len;
	for (size_t i = 0; i < count; i++) {
		uint8_t *before = &sides[0][short_slot(left + i)];
		uint8_t *after = &sides[1][short_slot(right + i)];

		*before += *before < 2;
		*after += *after < 2;
	}
	count_known(left, count, sides[0], sides[1], &balance);
	count_known(right, count, sides[1], sides[0], &balance);
	return count ? balance * 100 / (int)count : 0;
}

/* ---- contexts ------------------------------------------------------------------------------ */

/* The hash of the `order` bytes before p. */
static uint64_t context_hash(const uint8_t *p, unsigned order)
{
	uint64_t value = order + 1;

	for (unsigned i = 1; i <= order; i++)
		value = (value << 8 | p[-(ptrdiff_t)i]);
	return value * TIMES;
}

static size_t context_slot(uint64_t hash)
{
	return (size_t)(hash >> (64 - SLOTS_BITS));
}

static size_t after_slot(uint64_t hash, uint8_t byte)
{
	return (size_t)(((hash ^ (byte + 1U)) * TIMES) >> (64 - SLOTS_BITS));
}

static void learn_contexts(struct text_model *model, const uint8_t *p)
{
	for (unsigned order = 0; order <= TEXT_CONTEXT; order++) {
		uint64_t hash = context_hash(p, order);
		struct context *context = &model->contexts[context_slot(hash)];
		uint16_t *after = &model->after[after_slot(hash, *p)];

		if (context->count == UINT16_MAX || *after == UINT16_MAX)
			continue;
		context->kinds += !*after;
		context->count++;
		++*after;
	}
}

void text_model_learn(
	struct text_model *model, enum text_strings which, const uint8_t *bytes, size_t len)
{
	for (size_t i = 0; i + STRING <= len; i++) {
		uint16_t *count = &model->strings[which][string_slot(bytes + i)];

		*count += *count < UINT16_MAX;
		model->counts[which]++;
	}
}

void text_model_learn_contexts(struct text_model *model, const uint8_t *bytes, size_t len)
{
	for (size_t i = TEXT_AFTER + TEXT_CONTEXT; i + TEXT_CONTEXT < len; i++)
		learn_contexts(model, bytes + i);
}

/* How likely the byte at p is, of ONE, after at most `most` bytes. */
static uint64_t likelihood(const struct text_model *model, const uint8_t *p, unsigned most)
{
	uint64_t likely = ONE / 256;

	for (unsigned order = 0; order <= most; order++) {
		uint64_t hash = context_hash(p, order);
		const struct context *context = &model->contexts[context_slot(hash)];
		uint64_t after = model->after[after_slot(hash, *p)];
		uint64_t kinds = context->kinds;

		if (!context->count)
			break;
		if (after > context->count)
			after = context->count;
		kinds = kinds ? kinds : 1;
		likely = (after * ONE + kinds * likely) / (context->count + kinds);
	}
	return likely ? likely : 1;
}

static int64_t cost(uint64_t likely)
{
	return fine_log(ONE) - fine_log(likely);
}

int64_t text_model_alone(const struct text_model *model, const uint8_t *right, size_t len)
{
	int64_t sum = 0;

	for (size_t i = 0; i < len; i++)
		sum += cost(likelihood(
			model, right + i, i < TEXT_CONTEXT ? (unsigned)i : TEXT_CONTEXT));
	return sum;
}

int64_t text_model_after(const struct text_model *model, const uint8_t *left, const uint8_t *right,
	size_t len, int64_t most, size_t *count)
{
	uint8_t bytes[TEXT_CONTEXT + TEXT_AFTER];
	int64_t sum = 0;

	memcpy(bytes, left - TEXT_CONTEXT, TEXT_CONTEXT);
	memcpy(bytes + TEXT_CONTEXT, right, len);
	for (size_t i = 0; i < len && sum <= most; i++, ++*count)
		sum += cost(likelihood(model, bytes + TEXT_CONTEXT + i, TEXT_CONTEXT));
	return sum;
}
